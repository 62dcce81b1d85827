//! The threads and processes that are traced now.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::event::{ProcessIndex, ThreadIndex};
use super::proc_fs::{ProcFile, SchedStat, Whereabouts, parse_schedstat, parse_syscall};
use super::ptrace::CutCalls;
use super::ptrace::sys::Tid;
use crate::unwind::deep::DeepRules;

/// Stacks up to this many bytes are copied whole.
pub(crate) const SMALL_STACK: usize = 64 << 10;

/// No more than this is copied of a stack.
pub(crate) const LARGEST_COPY: usize = 256 << 10;

/// Files of each thread that are kept open.
const FILES_OF_A_THREAD: usize = 2;

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
    /// Not to be looked at before this moment: walking its stack holds it for so long that it must not happen too often.
    pub(crate) rest_until: i64,
    /// Whether its name was read since it started.
    pub(crate) named: bool,
    keeps_files: bool,
    syscall_file: Option<ProcFile>,
    schedstat_file: Option<ProcFile>,
}

/// An interrupt on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupt {
    /// When it was sent.
    pub(crate) sent: i64,
    /// The moment at which the sampler meant to look.
    pub(crate) due: i64,
    /// How long the thread had queued for CPUs by then, if that is known.
    pub(crate) queued_before_ns: Option<i64>,
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
            interrupt: None,
            restarted: None,
            cut: CutCalls::default(),
            charged: SchedStat::default(),
            cpu_before_ns: 0,
            stack_range: (0, 0),
            stack_need: LARGEST_COPY,
            rest_until: 0,
            named: false,
            keeps_files,
            syscall_file: None,
            schedstat_file: None,
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
    /// Its threads that are alive.
    pub(crate) threads: Vec<Tid>,
    /// What its clock showed at the last tick.
    pub(crate) cpu_ns: i64,
    /// Whether one of its threads was awake at the last tick, or asleep for so short that it is still looked at.
    pub(crate) busy: bool,
    /// Whether its memory map was sent to the unwinder since it started or execed.
    pub(crate) mapped: bool,
    /// Where its memory that can be written was when its map was last read, in order: stacks lie there.
    pub(crate) writable: Vec<(u64, u64)>,
    /// To walk stacks that are too large to copy; there as soon as one was met.
    pub(crate) deep: Option<Rc<DeepRules>>,
}

impl Process {
    /// The memory that can be written around `address`, as of the last map.
    pub(crate) fn writable_around(&self, address: u64) -> Option<(u64, u64)> {
        let behind = self.writable.partition_point(|(start, _)| *start <= address);
        self.writable[..behind].last().copied().filter(|(_, end)| address < *end)
    }

    /// Forgets what is known of its memory: it is another program's from now on.
    pub(crate) fn forget_memory(&mut self) {
        self.mapped = false;
        self.writable.clear();
        self.deep = None;
    }
}

/// All traced threads and processes.
#[derive(Default)]
pub(crate) struct ThreadTable {
    threads: FxHashMap<Tid, Thread>,
    processes: Vec<Process>,
    alive: FxHashMap<Tid, ProcessIndex>,
    thread_count: usize,
    keep_files: usize,
    may_keep_files: usize,
}

impl ThreadTable {
    /// An empty table that keeps the files of as many threads open as a limit of open files allows.
    pub(crate) fn new(file_limit: usize) -> Self {
        let may_keep_files = file_limit.saturating_sub(OTHER_FILES) / FILES_OF_A_THREAD;
        Self { may_keep_files, ..Self::default() }
    }

    /// The thread `tid`.
    pub(crate) fn get(&mut self, tid: Tid) -> Option<&mut Thread> {
        self.threads.get_mut(&tid)
    }

    /// All threads, in no order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.threads.values_mut()
    }

    /// How many threads there are now.
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
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
        &mut self.processes[index]
    }

    /// The processes that are alive, in order of appearance.
    pub(crate) fn living(&self) -> Vec<ProcessIndex> {
        let mut living: Vec<_> = self.alive.values().copied().collect();
        living.sort_unstable();
        living
    }

    /// Adds a process.
    pub(crate) fn add_process(&mut self, pid: Tid) -> ProcessIndex {
        let index = self.processes.len();
        self.processes.push(Process {
            pid,
            threads: Vec::new(),
            cpu_ns: 0,
            busy: true,
            mapped: false,
            writable: Vec::new(),
            deep: None,
        });
        self.alive.insert(pid, index);
        index
    }

    /// Adds a thread.
    pub(crate) fn add_thread(&mut self, process: ProcessIndex, tid: Tid) -> ThreadIndex {
        let index = self.thread_count;
        self.thread_count += 1;
        let pid = self.processes[process].pid;
        self.processes[process].threads.push(tid);
        self.processes[process].busy = true;
        let keeps_files = self.keep_files < self.may_keep_files;
        self.keep_files += usize::from(keeps_files);
        self.threads.insert(tid, Thread::new(index, process, (pid, tid), keeps_files));
        index
    }

    /// Takes a thread out.
    pub(crate) fn remove(&mut self, tid: Tid) -> Option<Thread> {
        let thread = self.threads.remove(&tid)?;
        self.keep_files -= usize::from(thread.keeps_files);
        self.processes[thread.process].threads.retain(|other| *other != tid);
        Some(thread)
    }

    /// Takes a process out; its number stays its own.
    pub(crate) fn remove_process(&mut self, pid: Tid) -> Option<ProcessIndex> {
        self.alive.remove(&pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_threads_leave_room_for_others() {
        let mut table = ThreadTable::new(OTHER_FILES + 5);
        let us = Tid::try_from(std::process::id()).unwrap();
        let process = table.add_process(us);
        // Ids beyond the largest of Linux, so that nothing is opened.
        let tids = [1 << 23, (1 << 23) + 1, (1 << 23) + 2];
        for tid in tids {
            table.add_thread(process, tid);
        }
        let kept = |table: &mut ThreadTable, tid| table.get(tid).unwrap().keeps_files;
        assert_eq!(tids.map(|tid| kept(&mut table, tid)), [true, true, false]);
        table.remove(tids[0]);
        table.add_thread(process, tids[0]);
        assert!(kept(&mut table, tids[0]), "its place is free again");
    }

    #[test]
    fn memory_is_found_by_address() {
        let mut table = ThreadTable::new(0);
        let index = table.add_process(1);
        let process = table.process(index);
        process.writable = vec![(0x1000, 0x2000), (0x2000, 0x3000), (0x5000, 0x6000)];
        let cases = [(0xfff, None), (0x1fff, Some((0x1000, 0x2000))), (0x2000, Some((0x2000, 0x3000))), (0x3000, None)];
        for (address, expected) in cases {
            assert_eq!(process.writable_around(address), expected, "{address:#x}");
        }
        process.forget_memory();
        assert_eq!(process.writable_around(0x1000), None);
    }
}
