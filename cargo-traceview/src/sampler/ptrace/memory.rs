//! Memory of threads: where their stacks are, and copies of them.

use std::rc::Rc;

use super::super::arch::Registers;
use super::super::event::{Copied, Event, Stack};
use super::super::proc_fs;
use super::super::thread_table::{LARGEST_COPY, SMALL_STACK};
use super::sys::{self, Tid};
use super::{IN_FLIGHT_LIMIT, Tracer};
use crate::unwind::deep::DeepRules;
use crate::unwind::{CutReason, WalkEnd};

/// A thread that was held for long, for its stack to be walked or found, is left alone for this many times as long.
const REST_AFTER_LOOK: i64 = 5;

/// A memory map is not read again for this many times as long as it took.
pub(super) const MAP_RESTS: i64 = 50;

/// So often the unwinder is told at once of a thread that changed its stack. Those that do that all the time gain nothing.
const MOST_HURRIES: u8 = 8;

/// Until there are rules to walk a stack that is too large where it is, and where such a walk takes too long, so much of it
/// is copied. It takes less time than such a walk may.
const FIRST_COPY: usize = 2 << 20;

/// No more memory than for this many copies is kept for later.
const MOST_BUFFERS: usize = 64;

/// How large a stack is, in bytes.
#[derive(Clone, Copy)]
struct Extent {
    /// From the stack pointer to its end.
    in_use: usize,
    /// What of that will be needed.
    wanted: usize,
}

impl Extent {
    /// Whether even the largest copy would not have all that is needed.
    const fn is_too_large(self) -> bool {
        self.wanted >= LARGEST_COPY && self.wanted < self.in_use
    }
}

impl Tracer<'_> {
    /// The stack of a thread that is held: copied, or walked at once if it is too large for that.
    pub(super) fn see_stack(&mut self, tid: Tid, registers: &Registers) -> Stack {
        let sp = registers.sp();
        let mut extent = self.extent_of_stack(tid, sp);
        if !extent.is_too_large() {
            return self.copy(tid, sp, extent);
        }
        let Some(deep) = self.deep_rules(tid) else {
            // The unwinder is to send the rules for that soon.
            self.is_in_a_hurry = true;
            extent.wanted = extent.in_use.min(FIRST_COPY);
            return self.copy(tid, sp, extent);
        };
        let has_many_frames = self.table.get(tid).is_some_and(|thread| thread.has_many_frames);
        let started = sys::monotonic_ns();
        let stack = if has_many_frames && extent.in_use <= FIRST_COPY {
            extent.wanted = extent.in_use;
            self.copy(tid, sp, extent)
        } else {
            let walk = deep.walk_held(tid, registers.file());
            if let Some(thread) = self.table.get(tid) {
                thread.has_many_frames = walk.end == WalkEnd::Cut(CutReason::TooDeep);
            }
            Stack::Walked(walk)
        };
        let ended = sys::monotonic_ns();
        if let Some(thread) = self.table.get(tid) {
            thread.rest_until = ended + REST_AFTER_LOOK * (ended - started);
        }
        stack
    }

    /// Copies the stack of a thread that sleeps, as far as it will be needed. `None` if it woke meanwhile (it was put on a
    /// CPU more often than `runs` times): then the copy is of no moment that ever was.
    pub(super) fn copy_asleep(&mut self, tid: Tid, sp: u64, runs: Option<u64>) -> Option<Stack> {
        let extent = self.extent_of_stack(tid, sp);
        let stack = self.copy(tid, sp, extent);
        if self.table.get(tid).is_some_and(|thread| thread.runs() == runs) {
            Some(stack)
        } else {
            self.recycle(stack);
            None
        }
    }

    /// Copies the stack of a thread that is held, as far as it will be needed, without a look at the memory map: `guess`
    /// bytes of it if its end is not known.
    pub(super) fn copy_known(&mut self, tid: Tid, sp: u64, guess: usize) -> Stack {
        let extent = self.known_extent(tid, sp).unwrap_or(Extent { in_use: usize::MAX, wanted: guess });
        self.copy(tid, sp, extent)
    }

    fn known_extent(&mut self, tid: Tid, sp: u64) -> Option<Extent> {
        let thread = self.table.get(tid)?;
        let ((low, high), index, need) = (thread.stack_range, thread.process, thread.stack_need);
        let whole_until = thread.whole_until;
        let range =
            if (low..high).contains(&sp) { (low, high) } else { self.table.process(index).writable_around(sp)? };
        let in_use = usize::try_from(range.1 - sp).unwrap_or(usize::MAX);
        let is_whole = in_use <= SMALL_STACK || range.1 == whole_until;
        let wanted = if is_whole { in_use.min(LARGEST_COPY) } else { in_use.min(need) };
        Some(Extent { in_use, wanted })
    }

    /// Whether the copies of stacks that wait for the unwinder take all the memory that they may.
    pub(super) fn is_out_of_memory(&self) -> bool {
        self.in_flight > IN_FLIGHT_LIMIT / self.crew.working().max(1)
    }

    /// Takes back the memory of a stack that is not needed.
    pub(super) fn recycle(&mut self, stack: Stack) {
        if let Stack::Copied(Copied { bytes, .. }) = stack {
            self.keep_buffer(bytes);
        }
    }

    /// Keeps memory that held the copy of a stack for the next one, if there is not enough of it.
    pub(super) fn keep_buffer(&mut self, buffer: Vec<u8>) {
        self.in_flight -= buffer.capacity();
        if self.buffers.len() < MOST_BUFFERS {
            self.buffers.push(buffer);
        }
    }

    fn deep_rules(&mut self, tid: Tid) -> Option<Rc<DeepRules>> {
        let process = self.table.get(tid)?.process;
        self.table.process(process).deep.clone()
    }

    fn extent_of_stack(&mut self, tid: Tid, sp: u64) -> Extent {
        self.find_stack(tid, sp);
        // What lies behind a stack whose end is not known cannot be read, or is of no use.
        self.known_extent(tid, sp).unwrap_or(Extent { in_use: usize::MAX, wanted: SMALL_STACK })
    }

    fn copy(&mut self, tid: Tid, sp: u64, Extent { in_use, wanted }: Extent) -> Stack {
        let mut bytes = self.buffers.pop().unwrap_or_default();
        bytes.resize(wanted, 0);
        let len = sys::read_memory(tid, sp, &mut bytes);
        bytes.truncate(len);
        let end = sp.saturating_add(in_use as u64);
        let others = self.copy_others(tid, (sp, end), &mut bytes);
        self.in_flight += bytes.capacity();
        Stack::Copied(Copied { bytes, len, end, others })
    }

    /// Copies other memory that the thread's stack goes on in, behind `bytes`.
    fn copy_others(&mut self, tid: Tid, (sp, end): (u64, u64), bytes: &mut Vec<u8>) -> Vec<(u64, usize)> {
        let Some(thread) = self.table.get(tid) else { return Vec::new() };
        let (low, high) = thread.stack_range;
        let own = if (low..high).contains(&sp) { (low, high) } else { (sp, end) };
        let copy = |(start, wanted)| {
            let from = bytes.len();
            bytes.resize(from + wanted, 0);
            let len = sys::read_memory(tid, start, &mut bytes[from..]);
            bytes.truncate(from + len);
            (start, len)
        };
        thread.windows.apart_from(own).map(copy).collect()
    }

    /// Finds out which memory the thread's stack is in. Threads come with new stacks, and some change theirs all the time
    /// (coroutines); reading the map of a process that has many takes long, so it is looked up in the last one first, and
    /// where it is in none a new one is read only now and then.
    fn find_stack(&mut self, tid: Tid, sp: u64) {
        let Some(thread) = self.table.get(tid) else { return };
        let (process, pid, (low, high)) = (thread.process, thread.pid, thread.stack_range);
        let process = self.table.process(process);
        if !process.mapped {
            self.read_maps(tid, pid, sp);
        } else if !(low..high).contains(&sp) {
            match process.writable_around(sp) {
                Some(range) => self.note_stack(tid, range),
                None if sys::monotonic_ns() < process.map_rests_until => {}
                None => self.read_maps(tid, pid, sp),
            }
        }
    }

    /// The thread's stack is in this memory. When it changed, the unwinder is to say soon what it needs of both.
    fn note_stack(&mut self, tid: Tid, range: (u64, u64)) {
        let Some(thread) = self.table.get(tid) else { return };
        let before = std::mem::replace(&mut thread.stack_range, range);
        if before != (0, 0) && before.0 != range.0 && thread.hurries < MOST_HURRIES {
            thread.hurries += 1;
            self.is_in_a_hurry = true;
        }
    }

    /// Reads the memory map of a thread's process: for the unwinder if it has none yet, and for where `sp` is in. The
    /// longer that takes the longer the thread is left alone, as it may be held meanwhile.
    pub(super) fn read_maps(&mut self, tid: Tid, pid: Tid, sp: u64) {
        let started = sys::monotonic_ns();
        let Ok(text) = proc_fs::read_thread_file(pid, tid, "maps") else { return };
        let maps = proc_fs::parse_maps(&text);
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.process;
        let process = self.table.process(index);
        process.writable.clear();
        process.writable.extend(maps.iter().filter(|map| map.writable).map(|map| (map.start, map.end)));
        let stack_range = process.writable_around(sp).unwrap_or_default();
        process.watch.note(&maps);
        let is_news = !std::mem::replace(&mut process.mapped, true);
        let now = sys::monotonic_ns();
        process.map_rests_until = now + MAP_RESTS * (now - started);
        if let Some(thread) = self.table.get(tid) {
            thread.rest_until = now + REST_AFTER_LOOK * (now - started);
        }
        self.note_stack(tid, stack_range);
        if is_news {
            self.send(Event::Maps { process: index, tid, time: sys::monotonic_ns(), maps });
        }
    }
}
