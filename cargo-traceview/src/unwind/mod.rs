//! The unwinder: turns what the tracer copied (registers, stack memory) into stacks of code addresses, behind the
//! tracer in time.
//!
//! Code of files is walked by their call frame information alone: it is right in prologues, in leaf functions, in
//! libraries that were built without frame pointers, and for what signals interrupted. Where it is missing the stack is cut
//! there, as a guess would show callers that never called. Code made in memory has none, and is walked by frame pointers;
//! so are large parts of files without any (Go's stripped programs, V8's built-in functions), where those lead behind calls.
//! Every return address must lead into mapped code, and a stack counts as whole only if it ends at code that has no
//! caller; else it gets a root that says why it was cut.

mod address_space;
mod asleep;
pub(crate) mod deep;
mod frame_table;
mod hole;
mod images;
mod instructions;
mod kin;
mod mappings;
mod own;
mod recording;
pub(crate) mod registers;
mod rule;
mod sockets;
mod stack_copy;
mod targets;
mod walk;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use traceview_core::model::SampleFlags;

use crate::image::AddressInImage;
use crate::sampler::LARGEST_COPY;
use crate::sampler::event::{Copied, Event, ProcessIndex, Snapshot, Stack, ThreadEnd, Wait, WaitStack};
use crate::sampler::proc_fs::{self, MapEntry};
use crate::sampler::ptrace::Recycled;
use crate::sampler::ptrace::sys;
use address_space::AddressSpace;
use deep::{DeepRules, HeldWalk};
use images::Images;
use mappings::MappingLog;
use recording::Interner;
use stack_copy::StackCopy;
use targets::Targets;
use walk::{RuleCache, Start, Walked, walk};

pub use images::{ImageIndex, LoadedImage};
pub use own::OwnStack;
pub use recording::{
    Awaited, MappingRecord, Origin, ProcessRecord, RawCall, RawExec, RawExit, RawFrame, RawSample, RawSpawn, RawUsage,
    RawWait, Recording, SpawnKind, ThreadRecord,
};
pub use walk::{CutReason, WalkEnd};

/// A memory map is read again for code at an unknown address, but no sooner than this after the last time; it doubles
/// while that brings nothing new (a program that makes code as it runs).
const REFRESH_AFTER_NS: i64 = 1_000_000;

/// Longest time between two such readings.
const REFRESH_AFTER_AT_MOST_NS: i64 = 1_000_000_000;

/// Takes events until the tracer hangs up. `start` is the recording's start on CLOCK_MONOTONIC and in Unix time, in ns.
/// `seen` is told of all code that a stack leads through.
pub(crate) fn run(
    events: &Receiver<Vec<Event>>,
    recycle: &[Sender<Recycled>],
    start: (i64, i64),
    seen: Sender<Vec<AddressInImage>>,
) -> Recording {
    let mut unwinder = Unwinder {
        start: start.0,
        events,
        pending: VecDeque::new(),
        recycle,
        seen,
        told: 0,
        images: Images::default(),
        interner: Interner::default(),
        cache: RuleCache::new(),
        addresses: Vec::new(),
        processes: Vec::new(),
        spaces: Vec::new(),
        threads: Vec::new(),
        asleep: Vec::new(),
        blocked: Vec::new(),
        targets: Targets::default(),
        mappings: MappingLog::default(),
    };
    while let Some(event) = unwinder.next_event() {
        unwinder.on_event(event);
    }
    unwinder.into_recording(start)
}

/// The code of a process, and when its map was last read.
#[derive(Clone, Default)]
struct Space {
    code: AddressSpace,
    read_at: i64,
    refresh_after: i64,
}

/// What becomes of a process's memory next.
enum NextChange {
    /// It runs another program.
    Exec,
    /// Its map was read.
    Maps(Vec<MapEntry>),
}

/// What a walk needed of a copy.
#[derive(Clone, Default)]
struct Need {
    /// How many bytes from the stack pointer on.
    used: usize,
    /// The last address that it lacked.
    missed: Option<u64>,
    /// Where the other memory starts that it read.
    others: Vec<u64>,
}

struct Unwinder<'a> {
    start: i64,
    events: &'a Receiver<Vec<Event>>,
    /// Events that were received, but not taken yet.
    pending: VecDeque<Event>,
    /// To each tracer.
    recycle: &'a [Sender<Recycled>],
    /// Who wants to know of new frames.
    seen: Sender<Vec<AddressInImage>>,
    /// How many frames it knows of.
    told: usize,
    images: Images,
    interner: Interner,
    cache: RuleCache,
    addresses: Vec<u64>,
    processes: Vec<ProcessRecord>,
    spaces: Vec<Space>,
    threads: Vec<ThreadRecord>,
    /// The stack of each thread's current (or last) sleep, and whether it was inferred.
    asleep: Vec<Option<(u32, bool)>>,
    /// The stack of each thread in its current (or last) call that waits for another's end.
    blocked: Vec<Option<u32>>,
    targets: Targets,
    mappings: MappingLog,
}

impl Unwinder<'_> {
    /// The next event; `None` when the tracer hung up.
    fn next_event(&mut self) -> Option<Event> {
        while self.pending.is_empty() {
            self.tell_of_new_frames();
            self.pending.extend(self.events.recv().ok()?);
        }
        self.pending.pop_front()
    }

    fn tell_of_new_frames(&mut self) {
        let new = &self.interner.frames[self.told..];
        if new.is_empty() {
            return;
        }
        let code = new.iter().filter_map(|frame| match frame {
            RawFrame::Code { image, svma } => Some((Arc::clone(self.images.loaded(*image)?), *svma)),
            _ => None,
        });
        // Nobody has to want it.
        let _nobody = self.seen.send(code.collect());
        self.told = self.interner.frames.len();
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::ProcessStart { pid, parent, time } => self.on_process_start(pid, parent, time),
            Event::Exec(exec) => self.on_exec(exec),
            Event::Maps { process, tid, time, maps } => {
                self.update(process, time, &maps, tid);
            }
            Event::ProcessEnd { process, time, exit } => {
                let record = &mut self.processes[process];
                record.end = Some(time - self.start);
                record.exit = Some(exit);
                // Its rules are of no more use; what it had mapped is kept in `mappings`.
                self.spaces[process] = Space::default();
            }
            Event::ThreadStart { process, tid, time, created } => self.on_thread_start(process, tid, time, created),
            Event::FirstStop { thread, snapshot } => self.on_first_stop(thread, snapshot),
            Event::Spawn(spawn) => self.on_spawn(spawn),
            Event::Exit(exit) => self.on_exit(exit),
            Event::Blocked { thread, snapshot } => self.blocked[thread] = Some(self.stack_of(thread, snapshot)),
            Event::CallEnd { thread, call } => self.on_call_end(thread, call),
            Event::Usage(usage) => self.on_usage(usage),
            Event::ThreadName { thread, name } => self.threads[thread].name = name,
            Event::ThreadEnd(end) => self.on_thread_end(&end),
            Event::Sample(sample) => {
                let process = self.threads[sample.thread].process;
                let (stack, _) = self.unwind(process, sample.time, sample.snapshot);
                let samples = &mut self.threads[sample.thread].samples;
                let time = (sample.time - self.start).max(samples.last().map_or(i64::MIN, |last| last.time));
                samples.push(RawSample { time, stack, cpu_ns: sample.cpu_ns, flags: SampleFlags::NONE });
            }
            Event::Asleep { thread, snapshot } => {
                // The syscall is named by the wait, and is no frame of its stack.
                let snapshot = Snapshot { syscall: None, ..snapshot };
                let process = self.threads[thread].process;
                self.asleep[thread] = Some(self.unwind(process, sys::monotonic_ns(), snapshot));
            }
            Event::Target { thread, tid, target } => self.targets.note(thread, tid, &target),
            Event::Wait(wait) => self.on_wait(&wait),
            Event::Hidden { process } => self.processes[process].hidden_looks += 1,
        }
    }

    fn on_wait(&mut self, wait: &Wait) {
        let target = wait.has_target.then(|| self.targets.text(wait.thread)).flatten();
        let stack = match wait.stack {
            WaitStack::Unseen => None,
            WaitStack::Asleep => self.asleep[wait.thread],
            WaitStack::Sample => self.threads[wait.thread].latest_stack().map(|stack| (stack, false)),
        };
        self.threads[wait.thread].waits.push(RawWait {
            start: wait.start - self.start,
            duration: wait.end - wait.start,
            stack: stack.map(|(stack, _)| stack),
            inferred: stack.is_some_and(|(_, inferred)| inferred),
            reason: wait.reason,
            syscall: wait.syscall,
            target,
        });
    }

    fn on_thread_end(&mut self, end: &ThreadEnd) {
        let stack = self.interner.stack([RawFrame::Unsampled]);
        let thread = &mut self.threads[end.thread];
        thread.end = end.time.map(|time| time - self.start);
        thread.usage = end.usage;
        if let (Some(stack), 1..) = (stack, end.unsampled_ns) {
            let last = thread.samples.last().map_or(thread.start, |sample| sample.time);
            thread.samples.push(RawSample {
                time: thread.end.unwrap_or(last).max(last),
                stack,
                cpu_ns: Some(end.unsampled_ns),
                flags: SampleFlags::CHARGED_AT_EXIT,
            });
        }
    }

    /// Unwinds a copied stack and stores it. The stack, and whether it was inferred.
    fn unwind(&mut self, process: ProcessIndex, time: i64, snapshot: Snapshot) -> (u32, bool) {
        let (mut walked, mut need) = self.walk(process, &snapshot);
        let has_news =
            self.leads_out_of_code(process, &snapshot, walked.end) && self.refresh(process, time, snapshot.tid);
        if has_news {
            (walked, need) = self.walk(process, &snapshot);
        }
        let inferred = walked.end == WalkEnd::Cut(CutReason::NotStopped) && self.infer(process, &snapshot, walked.last);
        let end = if inferred { WalkEnd::Root } else { walked.end };
        let cut = match end {
            WalkEnd::Root => None,
            WalkEnd::Cut(reason) => Some(RawFrame::Cut(reason)),
        };
        let code = &self.spaces[process].code;
        let frames = self.addresses.iter().rev().map(|avma| frame(code, *avma));
        let kernel = snapshot.syscall.map(|syscall| RawFrame::Kernel { syscall });
        let stack = self.interner.stack(cut.into_iter().chain(frames).chain(kernel));
        self.give_back(process, snapshot, (end, need), has_news);
        (stack.expect("a walk has at least the frame it starts with"), inferred)
    }

    /// Gives the tracer its memory back, and tells it what to copy from now on.
    fn give_back(&self, process: ProcessIndex, snapshot: Snapshot, (end, need): (WalkEnd, Need), has_news: bool) {
        let code = &self.spaces[process].code;
        let has_new_libraries = has_news && code.has_new_files();
        let (tid, seat) = (snapshot.tid, snapshot.seat);
        let recycled = match snapshot.stack {
            Stack::Copied(Copied { bytes: buffer, len, end: high, others }) => {
                let others = others.iter().map(|(start, _)| (*start, need.others.contains(start))).collect();
                let ran_out = end == WalkEnd::Cut(CutReason::TooDeep);
                let elsewhere = need.missed.filter(|_| end == WalkEnd::Cut(CutReason::Elsewhere));
                let is_deep = need.used > LARGEST_COPY || (ran_out && len >= LARGEST_COPY);
                let deep = is_deep.then(|| Box::new(DeepRules::of(code)));
                let in_use = high - snapshot.registers.sp();
                // Above the outermost frame are only a thread's own data, or the program's arguments.
                let needs_all = ran_out || (end == WalkEnd::Root && need.used as u64 >= in_use - in_use / 8);
                let whole_until = needs_all.then_some(high);
                Recycled {
                    tid,
                    used: need.used,
                    ran_out,
                    whole_until,
                    elsewhere,
                    others,
                    has_new_libraries,
                    deep,
                    buffer,
                }
            }
            // It was walked by the rules of code that is not all there is by now, or was unloaded, and whoever met the
            // change first need not have been this thread: the next walk needs those of now.
            Stack::Walked(walk) if walk.is_outdated(code) => Recycled {
                tid,
                used: LARGEST_COPY,
                ran_out: true,
                whole_until: None,
                elsewhere: None,
                others: Vec::new(),
                has_new_libraries,
                deep: Some(Box::new(DeepRules::of(code))),
                buffer: Vec::new(),
            },
            Stack::Walked(_) => return,
        };
        // The tracer hung up if it does not want its memory back.
        let _tracer_gone = self.recycle[seat].send(recycled);
    }

    /// Walks a stack into `self.addresses`, unless that was done already. How it ended, and what it needed.
    fn walk(&mut self, process: ProcessIndex, snapshot: &Snapshot) -> (Walked, Need) {
        let start = Start::innermost(snapshot.registers);
        match &snapshot.stack {
            Stack::Copied(_) => self.walk_copy(process, snapshot, start),
            Stack::Walked(HeldWalk { addresses, end, .. }) => {
                self.addresses.clone_from(addresses);
                (Walked { end: *end, last: start }, Need::default())
            }
        }
    }

    /// Walks a copied stack from `start` on.
    fn walk_copy(&mut self, process: ProcessIndex, snapshot: &Snapshot, start: Start) -> (Walked, Need) {
        let code = &self.spaces[process].code;
        let mut copy = StackCopy::of(snapshot);
        let mut walked = walk((code, &mut self.cache), start, &mut copy, &mut self.addresses);
        if walked.end == WalkEnd::Root && copy.is_outdated(snapshot) {
            walked.end = WalkEnd::Cut(CutReason::Elsewhere);
        }
        (walked, Need { used: copy.used(), missed: copy.missed(), others: copy.used_others() })
    }

    /// Whether code is met at an address where none is known.
    fn leads_out_of_code(&self, process: ProcessIndex, snapshot: &Snapshot, end: WalkEnd) -> bool {
        end == WalkEnd::Cut(CutReason::LeftCode)
            || self.spaces[process].code.region_at(snapshot.registers.pc()).is_none()
    }

    /// Reads a process's memory map again, if that was long enough ago; whether it brought new code.
    fn refresh(&mut self, process: ProcessIndex, time: i64, tid: sys::Tid) -> bool {
        let space = &self.spaces[process];
        if time < space.read_at.saturating_add(space.refresh_after) {
            return false;
        }
        // Before it is known what was reported: what is read after an exec is the new program's.
        let text = proc_fs::read_thread_file(tid, tid, "maps").unwrap_or_default();
        let maps = match self.next_change(process) {
            Some(NextChange::Exec) => Vec::new(),
            // There can be an exec behind that, or the end.
            Some(NextChange::Maps(maps)) => maps,
            None => proc_fs::parse_maps(&text),
        };
        let has_news = self.update(process, sys::monotonic_ns(), &maps, tid);
        let space = &mut self.spaces[process];
        space.refresh_after =
            if has_news { 0 } else { (space.refresh_after * 2).clamp(REFRESH_AFTER_NS, REFRESH_AFTER_AT_MOST_NS) };
        has_news
    }

    /// What the tracer has reported of a process's memory that was not taken in yet. It reports an exec, and the last map
    /// of a process that ends, before it lets go of the process.
    fn next_change(&mut self, process: ProcessIndex) -> Option<NextChange> {
        while let Ok(batch) = self.events.try_recv() {
            self.pending.extend(batch);
        }
        self.pending.iter().find_map(|event| match event {
            Event::Exec(exec) if exec.process == process => Some(NextChange::Exec),
            Event::Maps { process: of, maps, .. } if *of == process => Some(NextChange::Maps(maps.clone())),
            _ => None,
        })
    }

    fn update(&mut self, process: ProcessIndex, time: i64, maps: &[MapEntry], tid: sys::Tid) -> bool {
        if maps.is_empty() {
            // A process that is ending has no memory any more; what was known of it stays true.
            return false;
        }
        let space = &mut self.spaces[process];
        space.read_at = time;
        let has_news = space.code.update(maps, &mut self.images, tid);
        self.note_mappings(process, time);
        has_news
    }

    /// Keeps what is mapped now, and since when.
    fn note_mappings(&mut self, process: ProcessIndex, time: i64) {
        self.mappings.note(process, time - self.start, self.spaces[process].code.regions());
    }

    fn into_recording(mut self, start: (i64, i64)) -> Recording {
        for process in &mut self.processes {
            // Several tracers can have read it.
            process.usage.sort_by_key(|usage| usage.time);
        }
        Recording {
            start_monotonic_ns: start.0,
            start_unix_ns: start.1,
            end: 0,
            processes: self.processes,
            threads: self.threads,
            images: self.images.into_rows(),
            mappings: self.mappings.into_rows(),
            frames: self.interner.frames,
            stacks: self.interner.stacks,
            quality: traceview_core::model::Quality::default(),
        }
    }
}

fn frame(code: &AddressSpace, avma: u64) -> RawFrame {
    match code.region_at(avma) {
        Some(region) => match region.image {
            Some(image) => RawFrame::Code { image, svma: avma.wrapping_sub(region.bias) },
            None => RawFrame::Anonymous { avma },
        },
        None => RawFrame::Anonymous { avma },
    }
}
