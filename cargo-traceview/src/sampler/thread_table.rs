//! The threads and processes that are traced now.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::event::{ProcessIndex, ThreadIndex};
use super::kinship::CallWatch;
use super::proc_fs::{ProcFile, SchedStat, Status, Whereabouts, parse_schedstat, parse_status, parse_syscall};
use super::ptrace::CutCalls;
use super::ptrace::code_watch::CodeWatch;
use super::ptrace::crew::LiveThreads;
use super::ptrace::meter::Meter;
use super::ptrace::sys::Tid;
use super::stack_windows::StackWindows;
use crate::unwind::deep::DeepRules;

/// Stacks up to this many bytes are copied whole.
pub(crate) const SMALL_STACK: usize = 64 << 10;

/// No more than this is copied of a stack.
pub(crate) const LARGEST_COPY: usize = 256 << 10;

/// Files of each thread that are kept open.
const FILES_OF_A_THREAD: usize = 3;

/// Open files that are left for everything else: maps, names, the program's own files.
const OTHER_FILES: usize = 128;

/// A traced thread.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Its number in the recording.
    pub(crate) index: ThreadIndex,
    /// Its process.
    pub(crate) process: ProcessIndex,
    /// The id of its process.
    pub(crate) pid: Tid,
    /// Its id.
    pub(crate) tid: Tid,
    /// What it is doing as far as we know.
    pub(crate) activity: Activity,
    /// The call that it is in, if that waits for the end of another thread or process.
    pub(crate) awaits: CallWatch,
    /// Whether it was seen where it started.
    pub(crate) reported: bool,
    /// The interrupt that it was sent and has not answered.
    pub(crate) interrupt: Option<Interrupt>,
    /// The call with a deadline that a stop interrupted last; the kernel goes on with it under another number.
    pub(crate) restarted: Option<u64>,
    /// What is known of system calls that stops cut short.
    pub(crate) cut: CutCalls,
    /// What its clock showed when it was last charged, with the other scheduler counts of then.
    pub(crate) charged: SchedStat,
    /// What its clock showed when it became part of the program: nothing, but for a child of ours before its exec.
    pub(crate) cpu_before_ns: i64,
    /// Addresses of its stack, `[low, high)`, as last looked up.
    pub(crate) stack_range: (u64, u64),
    /// How much of its stack to copy where it is large: what its last stacks needed, and some more.
    pub(crate) stack_need: usize,
    /// Whether its stack, too large to copy, had more frames than a walk where it lies has time for: copying takes less.
    pub(crate) has_many_frames: bool,
    /// The end of memory that is its stack and nothing else: of that all is copied.
    pub(crate) whole_until: u64,
    /// Where its stack goes on when it is on another.
    pub(crate) windows: StackWindows,
    /// How often the unwinder was told at once that it changed its stack.
    pub(crate) hurries: u8,
    /// Not to be looked at before this moment: walking its stack holds it for so long that it must not happen too often.
    pub(crate) rest_until: i64,
    /// Until when it was held last for something else than a look at it (a signal, a start of another thread).
    pub(crate) held_until: i64,
    /// How often it was sampled since it started, as far as its name is read at samples.
    pub(crate) naming_samples: u8,
    /// Whether its name was read while it slept, too: threads are named after they start, and can end unseen.
    pub(crate) named_asleep: bool,
    /// What the last look or stop found.
    pub(crate) looked: LastLook,
    /// Time in a queue for a CPU that was made waits of, as its clock shows it.
    pub(crate) queued_ns: i64,
    /// How often it was held, for whatever reason.
    pub(crate) stops: u64,
    /// For how long it was held for samples, in ns.
    pub(crate) stopped_ns: i64,
    /// At how many looks in a row it was found not to have run.
    pub(crate) idle_looks: u32,
    /// Whether it is [looked at in turns](Rota) only.
    is_far: bool,
    /// The number of its turn.
    turn: u64,
    keeps_files: bool,
    syscall_file: Option<ProcFile>,
    schedstat_file: Option<ProcFile>,
    status_file: Option<ProcFile>,
}

/// What a look at a thread found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LastLook {
    /// When.
    pub(crate) at: i64,
    /// What the scheduler had counted.
    pub(crate) sched: SchedStat,
    /// Whether it had a CPU.
    pub(crate) had_cpu: bool,
    /// While it is ready to run each moment counts as use of a CPU or as queueing for one: since when it would have to have
    /// been ready for its counts to be what they are. `None` if it was not stopped since it woke.
    pub(crate) ready_since: Option<i64>,
}

/// An interrupt on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupt {
    /// When it was sent.
    pub(crate) sent: i64,
    /// The moment at which the sampler meant to look.
    pub(crate) due: i64,
    /// What the scheduler had counted by then, if that is known.
    pub(crate) before: Option<SchedStat>,
    /// Whether the sampler itself had just taken the thread's CPU: it stops in the place where it was then.
    pub(crate) lost_cpu: bool,
}

impl Thread {
    /// A thread that was just met.
    fn new(index: ThreadIndex, process: ProcessIndex, (pid, tid): (Tid, Tid), keeps_files: bool) -> Self {
        let mut thread = Self {
            index,
            process,
            pid,
            tid,
            activity: Activity::new(index),
            awaits: CallWatch::default(),
            reported: false,
            interrupt: None,
            restarted: None,
            cut: CutCalls::default(),
            charged: SchedStat::default(),
            cpu_before_ns: 0,
            stack_range: (0, 0),
            stack_need: LARGEST_COPY,
            has_many_frames: false,
            whole_until: 0,
            windows: StackWindows::default(),
            hurries: 0,
            rest_until: 0,
            held_until: 0,
            naming_samples: 0,
            named_asleep: false,
            looked: LastLook { at: 0, sched: SchedStat::default(), had_cpu: false, ready_since: None },
            queued_ns: 0,
            stops: 0,
            stopped_ns: 0,
            idle_looks: 0,
            is_far: false,
            turn: 0,
            keeps_files,
            syscall_file: None,
            schedstat_file: None,
            status_file: None,
        };
        thread.open_files();
        thread
    }

    /// Opens the files that are read again and again; without them (too many open files) they are opened each time.
    pub(crate) fn open_files(&mut self) {
        if !self.keeps_files {
            return;
        }
        self.syscall_file = ProcFile::open(self.pid, self.tid, "syscall").ok();
        self.schedstat_file = ProcFile::open(self.pid, self.tid, "schedstat").ok();
        self.status_file = None;
    }

    /// Its status. Few threads are asked for it, so its file is opened when it is.
    pub(crate) fn status(&mut self) -> Option<Status> {
        let mut buffer = [0; 4096];
        if self.status_file.is_none() {
            let file = ProcFile::open(self.pid, self.tid, "status").ok()?;
            if !self.keeps_files {
                return file.read(&mut buffer).map(parse_status);
            }
            self.status_file = Some(file);
        }
        self.status_file.as_ref()?.read(&mut buffer).map(parse_status)
    }

    /// What the scheduler counted of it so far.
    pub(crate) fn schedstat(&self) -> Option<SchedStat> {
        let mut buffer = [0; 96];
        match &self.schedstat_file {
            Some(file) => parse_schedstat(file.read(&mut buffer)?),
            None => parse_schedstat(ProcFile::open(self.pid, self.tid, "schedstat").ok()?.read(&mut buffer)?),
        }
    }

    /// How often it was put on a CPU so far.
    pub(crate) fn runs(&self) -> Option<u64> {
        self.schedstat().map(|stat| stat.runs)
    }

    /// Where it is now; `None` when that cannot be read (it is gone, or we may not).
    pub(crate) fn whereabouts(&self) -> Option<Whereabouts> {
        let mut buffer = [0; 256];
        match &self.syscall_file {
            Some(file) => parse_syscall(file.read(&mut buffer)?),
            None => parse_syscall(ProcFile::open(self.pid, self.tid, "syscall").ok()?.read(&mut buffer)?),
        }
    }

    /// Takes the CPU time since it was last charged; `None` when its clock cannot be read.
    pub(crate) fn charge(&mut self) -> Option<i64> {
        self.schedstat().map(|now| self.charge_to(now))
    }

    /// Takes the CPU time between when it was last charged and `now`.
    pub(crate) fn charge_to(&mut self, now: SchedStat) -> i64 {
        let before = std::mem::replace(&mut self.charged, now);
        (now.cpu_ns - before.cpu_ns).max(0)
    }
}

/// A traced process.
pub(crate) struct Process {
    /// Its id.
    pub(crate) pid: Tid,
    /// How many threads of it are alive, whoever traces them.
    pub(crate) live: LiveThreads,
    /// Its threads that are alive and ours.
    pub(crate) threads: Vec<Tid>,
    /// What its clock showed when its threads' use of CPUs was last compared with it.
    pub(crate) cpu_ns: i64,
    /// How much of the CPU time since then can be that of the threads that were looked at.
    pub(crate) explained_ns: i64,
    /// How many of its threads are looked at in turns only.
    pub(crate) far: usize,
    /// Whether its memory map was sent to the unwinder since it started or execed.
    pub(crate) mapped: bool,
    /// Where its memory that can be written was when its map was last read, in order: stacks lie there.
    pub(crate) writable: Vec<(u64, u64)>,
    /// Its map is not to be read again for another stack before this moment.
    pub(crate) map_rests_until: i64,
    /// Its libraries.
    pub(crate) watch: CodeWatch,
    /// To walk stacks that are too large to copy; there as soon as one was met.
    pub(crate) deep: Option<Rc<DeepRules>>,
    /// What it uses.
    pub(crate) meter: Meter,
}

/// What tracers that share the threads of a process must both know of it.
pub(crate) struct SharedProcess {
    pid: Tid,
    live: LiveThreads,
    mapped: bool,
    writable: Vec<(u64, u64)>,
    watch: CodeWatch,
}

impl SharedProcess {
    /// A thread of it that nobody traced any more has ended.
    pub(crate) fn one_less(&self) {
        self.live.fetch_sub(1, Relaxed);
    }
}

impl Process {
    /// A process of which none of the threads is ours yet.
    fn new(pid: Tid, live: LiveThreads, mapped: bool, writable: Vec<(u64, u64)>) -> Self {
        Self {
            pid,
            live,
            threads: Vec::new(),
            cpu_ns: 0,
            explained_ns: 0,
            far: 0,
            mapped,
            writable,
            map_rests_until: 0,
            watch: CodeWatch::default(),
            deep: None,
            meter: Meter::default(),
        }
    }

    /// The memory that can be written around `address`, as of the last map.
    pub(crate) fn writable_around(&self, address: u64) -> Option<(u64, u64)> {
        let behind = self.writable.partition_point(|(start, _)| *start <= address);
        self.writable[..behind].last().copied().filter(|(_, end)| address < *end)
    }

    /// Forgets what is known of its memory: it is another program's from now on.
    pub(crate) fn forget_memory(&mut self) {
        self.mapped = false;
        self.writable = Vec::new();
        self.deep = None;
        self.watch = CodeWatch::default();
    }
}

/// How often a thread is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// At each tick.
    Near,
    /// In turns with others: it sleeps, and has for some time.
    Far,
}

/// Who is looked at when: threads that may run at each tick, those that sleep in turns, so that a tick's work grows with
/// the threads that run, not with all. If the time does not do for all, the next tick goes on where it ended.
///
/// A turn is good if it is the last that its thread was given.
#[derive(Default)]
struct Rota {
    near: VecDeque<(Tid, u64)>,
    far: VecDeque<(Tid, u64)>,
    last_turn: u64,
}

impl Rota {
    fn queue(&mut self, place: Place) -> &mut VecDeque<(Tid, u64)> {
        match place {
            Place::Near => &mut self.near,
            Place::Far => &mut self.far,
        }
    }

    /// Gives a thread a turn; its number.
    fn put(&mut self, place: Place, tid: Tid) -> u64 {
        self.last_turn += 1;
        let turn = self.last_turn;
        self.queue(place).push_back((tid, turn));
        turn
    }
}

/// All traced threads and processes.
#[derive(Default)]
pub(crate) struct ThreadTable {
    threads: FxHashMap<Tid, Thread>,
    processes: FxHashMap<ProcessIndex, Process>,
    alive: FxHashMap<Tid, ProcessIndex>,
    rota: Rota,
    keep_files: usize,
    may_keep_files: usize,
}

impl ThreadTable {
    /// An empty table, one of `tables`, that keeps the files of as many threads open as its share of a limit allows.
    pub(crate) fn new(file_limit: usize, tables: usize) -> Self {
        let may_keep_files = file_limit.saturating_sub(OTHER_FILES) / FILES_OF_A_THREAD / tables;
        Self { may_keep_files, ..Self::default() }
    }

    /// The thread `tid`.
    pub(crate) fn get(&mut self, tid: Tid) -> Option<&mut Thread> {
        self.threads.get_mut(&tid)
    }

    /// The id of the process of thread `tid`.
    pub(crate) fn pid_of(&self, tid: Tid) -> Option<Tid> {
        self.threads.get(&tid).map(|thread| thread.pid)
    }

    /// All threads, in no order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.threads.values_mut()
    }

    /// How many processes there are now.
    pub(crate) fn process_count(&self) -> usize {
        self.alive.len()
    }

    /// The process with id `pid` that is alive.
    pub(crate) fn process_of(&self, pid: Tid) -> Option<ProcessIndex> {
        self.alive.get(&pid).copied()
    }

    /// Process `index`.
    pub(crate) fn process(&mut self, index: ProcessIndex) -> &mut Process {
        self.processes.get_mut(&index).expect("processes are never forgotten")
    }

    /// The processes that are alive, in order of appearance.
    pub(crate) fn living(&self) -> Vec<ProcessIndex> {
        let mut living: Vec<_> = self.alive.values().copied().collect();
        living.sort_unstable();
        living
    }

    /// The processes that are alive and have more than `far` threads that are looked at in turns only.
    pub(crate) fn with_more_far_than(&self, far: usize) -> Vec<ProcessIndex> {
        self.alive.values().copied().filter(|index| self.processes[index].far > far).collect()
    }

    /// Has a thread looked at each tick (`Place::Near`), or in turns only, from now on.
    pub(crate) fn place(&mut self, tid: Tid, place: Place) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let was_far = std::mem::replace(&mut thread.is_far, place == Place::Far);
        let Some(process) = self.processes.get_mut(&thread.process) else { return };
        process.far = process.far + usize::from(place == Place::Far) - usize::from(was_far);
        thread.turn = self.rota.put(place, tid);
    }

    /// Has a thread looked at each tick if it was not so far.
    pub(crate) fn bring_near(&mut self, tid: Tid) {
        if self.is_far(tid) {
            self.place(tid, Place::Near);
        }
    }

    /// Whether a thread is looked at in turns only.
    pub(crate) fn is_far(&self, tid: Tid) -> bool {
        self.threads.get(&tid).is_some_and(|thread| thread.is_far)
    }

    /// Takes the thread whose turn it is in `place`. `None` if it is gone, or elsewhere by now.
    pub(crate) fn next(&mut self, place: Place) -> Option<Tid> {
        let (tid, turn) = self.rota.queue(place).pop_front()?;
        self.threads.get(&tid).is_some_and(|thread| thread.turn == turn).then_some(tid)
    }

    /// How many turns there are in `place`.
    pub(crate) fn turns(&mut self, place: Place) -> usize {
        self.rota.queue(place).len()
    }

    /// Adds a process by its number.
    pub(crate) fn add_process(&mut self, index: ProcessIndex, pid: Tid) {
        let process = Process::new(pid, LiveThreads::default(), false, Vec::new());
        self.processes.insert(index, process);
        self.alive.insert(pid, index);
    }

    /// Adds a thread by its number.
    pub(crate) fn add_thread(&mut self, index: ThreadIndex, process: ProcessIndex, tid: Tid) {
        let entry = self.process(process);
        let pid = entry.pid;
        entry.threads.push(tid);
        entry.live.fetch_add(1, Relaxed);
        let keeps_files = self.keep_files < self.may_keep_files;
        self.keep_files += usize::from(keeps_files);
        self.threads.insert(tid, Thread::new(index, process, (pid, tid), keeps_files));
        self.place(tid, Place::Near);
    }

    /// Takes a thread out that another tracer gets, with what that must know of its process.
    pub(crate) fn release(&mut self, tid: Tid) -> Option<(Thread, SharedProcess)> {
        let thread = self.remove(tid)?;
        let process = self.process(thread.process);
        let shared = SharedProcess {
            pid: process.pid,
            live: Arc::clone(&process.live),
            mapped: process.mapped,
            writable: process.writable.clone(),
            watch: process.watch.clone(),
        };
        Some((thread, shared))
    }

    /// Adds a thread that another tracer released.
    pub(crate) fn take(&mut self, thread: Thread, shared: SharedProcess) {
        let (tid, process) = (thread.tid, thread.process);
        let SharedProcess { pid, live, mapped, writable, watch } = shared;
        if self.alive.insert(pid, process) != Some(process) {
            let new = || Process { watch, ..Process::new(pid, live, mapped, writable) };
            self.processes.entry(process).or_insert_with(new);
        }
        self.process(process).threads.push(tid);
        self.keep_files += usize::from(thread.keeps_files);
        self.threads.insert(tid, Thread { is_far: false, ..thread });
        self.place(tid, Place::Near);
    }

    /// Takes a thread out.
    pub(crate) fn remove(&mut self, tid: Tid) -> Option<Thread> {
        let thread = self.threads.remove(&tid)?;
        self.keep_files -= usize::from(thread.keeps_files);
        let process = self.process(thread.process);
        process.threads.retain(|other| *other != tid);
        process.far -= usize::from(thread.is_far);
        Some(thread)
    }

    /// Takes a process out; its number stays its own.
    pub(crate) fn remove_process(&mut self, pid: Tid) -> Option<ProcessIndex> {
        let index = self.alive.remove(&pid)?;
        // Nothing of it stays open, and little in memory: a program can start very many.
        self.process(index).forget_memory();
        self.process(index).meter = Meter::default();
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_threads_leave_room_for_others() {
        let mut table = ThreadTable::new(OTHER_FILES + 2 * FILES_OF_A_THREAD + 1, 1);
        let us = Tid::try_from(std::process::id()).unwrap();
        let process = 0;
        table.add_process(process, us);
        // Ids beyond the largest of Linux, so that nothing is opened.
        let tids = [1 << 23, (1 << 23) + 1, (1 << 23) + 2];
        for (index, tid) in tids.into_iter().enumerate() {
            table.add_thread(index, process, tid);
        }
        let kept = |table: &mut ThreadTable, tid| table.get(tid).unwrap().keeps_files;
        assert_eq!(tids.map(|tid| kept(&mut table, tid)), [true, true, false]);
        table.remove(tids[0]);
        table.add_thread(3, process, tids[0]);
        assert!(kept(&mut table, tids[0]), "its place is free again");
    }

    #[test]
    fn each_thread_has_one_turn_at_a_time() {
        let mut table = ThreadTable::new(0, 1);
        let process = 0;
        table.add_process(process, 1 << 23);
        let tids = [1 << 23, (1 << 23) + 1];
        for (index, tid) in tids.into_iter().enumerate() {
            table.add_thread(index, process, tid);
        }
        assert_eq!([table.next(Place::Near), table.next(Place::Near)], tids.map(Some));
        table.place(tids[0], Place::Far);
        table.place(tids[1], Place::Far);
        assert_eq!((table.process(process).far, table.turns(Place::Near)), (2, 0));
        table.bring_near(tids[0]);
        assert_eq!(table.next(Place::Far), None, "it has a turn among the near now");
        assert_eq!(table.next(Place::Far), Some(tids[1]));
        table.remove(tids[0]);
        assert_eq!(table.next(Place::Near), None, "it is gone");
        assert_eq!(table.process(process).far, 1);
    }

    #[test]
    fn memory_is_found_by_address() {
        let mut table = ThreadTable::new(0, 1);
        table.add_process(0, 1);
        let process = table.process(0);
        process.writable = vec![(0x1000, 0x2000), (0x2000, 0x3000), (0x5000, 0x6000)];
        let cases = [(0xfff, None), (0x1fff, Some((0x1000, 0x2000))), (0x2000, Some((0x2000, 0x3000))), (0x3000, None)];
        for (address, expected) in cases {
            assert_eq!(process.writable_around(address), expected, "{address:#x}");
        }
        process.forget_memory();
        assert_eq!(process.writable_around(0x1000), None);
    }
}
