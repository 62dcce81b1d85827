//! Who started whom, who ended, and who waited for that: what the tracer sees of it. What belongs together is found out
//! later, from what is reported here.
//!
//! In a stop only registers and stack are read, with no look at the memory map: where the stack ends is taken from the
//! last one, or guessed.

use super::super::arch::Registers;
use super::super::event::{Copied, Event, Exit, Snapshot, Spawn, SpawnKind};
use super::super::kinship::{Asked, Awaited, Sighting};
use super::super::proc_fs;
use super::super::thread_table::SMALL_STACK;
use super::sys::{self, Tid};
use super::{Stack, Tracer};
use crate::unwind::registers::RegisterFile;

/// How much is copied of the stack of a thread that did not do anything yet: what its first function was given.
const STACK_OF_A_NEW_THREAD: usize = 512;

/// How much is copied of the stack of a thread that ends: most end near where they started.
const STACK_OF_AN_ENDING_THREAD: usize = 8 << 10;

/// What a creator reported.
pub(super) struct Creation {
    child: Tid,
    how: SpawnKind,
    snapshot: Option<Snapshot>,
}

impl Tracer<'_> {
    /// What `event` of a thread that is held says it started.
    pub(super) fn see_creation(&mut self, tid: Tid, event: i32) -> Option<Creation> {
        let how = match event {
            libc::PTRACE_EVENT_CLONE => SpawnKind::Clone,
            libc::PTRACE_EVENT_FORK => SpawnKind::Fork,
            libc::PTRACE_EVENT_VFORK => SpawnKind::Vfork,
            _ => return None,
        };
        // The kernel says its id as we see it, whatever namespace it is in.
        let child = Tid::try_from(sys::event_message(tid).ok()?).ok()?;
        let snapshot = self.see_held(tid, SMALL_STACK).and_then(|(_, snapshot)| snapshot);
        Some(Creation { child, how, snapshot })
    }

    /// Takes note of what a thread started; the thread runs again.
    pub(super) fn on_creation(&mut self, tid: Tid, creation: Creation, now: i64) {
        let Creation { child, how, snapshot } = creation;
        if let Some(thread) = self.table.get(tid) {
            let (index, process, pid) = (thread.index, thread.process, thread.pid);
            if let Some(snapshot) = &snapshot
                && !self.table.process(process).mapped
            {
                // It can be the program's last moment, or only one, at which somebody looks.
                self.read_maps(tid, pid, snapshot.registers.sp());
            }
            self.send(Event::Spawn(Spawn { thread: index, time: now, child, how, snapshot }));
        }
        // Its own first report may have come already, or even all that it did.
        let is_known = self.unannounced.remove(&child) || self.table.get(child).is_some();
        if !is_known && self.options.follow_children {
            self.adopt(child, now);
        }
    }

    /// A thread reports for the first time, and is held: where it starts.
    pub(super) fn see_first_stop(&mut self, tid: Tid) {
        let Some(thread) = self.table.get(tid) else { return };
        if std::mem::replace(&mut thread.reported, true) {
            return;
        }
        let index = thread.index;
        // A new process has a copy of its parent's stack, a new thread an empty one.
        let guess = if thread.pid == tid { SMALL_STACK } else { STACK_OF_A_NEW_THREAD };
        if let Some((_, Some(snapshot))) = self.see_held(tid, guess) {
            self.send(Event::FirstStop { thread: index, snapshot });
        }
    }

    /// A thread is about to end, and is held: how, and what it was at.
    pub(super) fn see_exit(&mut self, tid: Tid) {
        let Some(thread) = self.table.get(tid) else { return };
        let (index, pid) = (thread.index, thread.pid);
        let guess = if pid == tid { SMALL_STACK } else { STACK_OF_AN_ENDING_THREAD };
        let Some((registers, snapshot)) = self.see_held(tid, guess) else { return };
        let call = registers.syscall().map(|call| call.number);
        let thread_pointer = registers.thread_pointer();
        let group = sys::process_group(pid);
        self.send(Event::Exit(Exit { thread: index, call, thread_pointer, group, snapshot }));
    }

    /// Where a new program starts; its thread is held.
    pub(super) fn see_entry(&self, tid: Tid) -> Option<Snapshot> {
        let registers = Registers::new(sys::registers(tid).ok()?);
        // There is nothing on its stack yet but arguments.
        Some(self.snapshot(
            tid,
            &registers,
            Stack::Copied(Copied { bytes: Vec::new(), len: 0, end: registers.sp(), others: Vec::new() }),
        ))
    }

    /// The thread sleeps in this call. If that waits for another's end: since when, and where.
    pub(super) fn watch_call(
        &mut self,
        tid: Tid,
        now: i64,
        (syscall, arguments): (Option<u64>, [u64; 3]),
        (sp, pc): (u64, u64),
        runs: Option<u64>,
    ) {
        let asked = Asked::of(syscall, arguments);
        let sighting = asked.map(|asked| Sighting { asked, arguments, runs });
        let Some(thread) = self.table.get(tid) else { return };
        let (index, pid) = (thread.index, thread.pid);
        let (ended, is_new) = thread.awaits.seen(sighting, now, sys::monotonic_ns);
        if let Some(call) = ended {
            self.send(Event::CallEnd { thread: index, call });
        }
        let Some(asked) = asked.filter(|_| is_new) else { return };
        let awaited = match asked {
            Asked::Known(awaited) => Some(awaited),
            Asked::ProcessOf { descriptor } => proc_fs::process_of_fd(tid, descriptor).map(Awaited::Process),
            Asked::OwnGroup => sys::process_group(pid).map(Awaited::Group),
        };
        let mut is_whole = false;
        if awaited.is_some()
            && !self.is_out_of_memory()
            && let Some(stack) = self.copy_asleep(tid, sp, runs)
        {
            is_whole = true;
            let registers = RegisterFile::in_call(pc, sp, arguments);
            let snapshot = Snapshot { seat: self.seat, tid, registers, was_held: false, syscall: None, stack };
            self.send(Event::Blocked { thread: index, snapshot });
        }
        if let Some(thread) = self.table.get(tid) {
            thread.awaits.settle(awaited, is_whole);
        }
    }

    /// The thread is not asleep any more, or gone.
    pub(super) fn end_call(&mut self, tid: Tid) {
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.index;
        // What released it was reported before this moment, but maybe not before the tick began.
        if let Some(call) = thread.awaits.over(sys::monotonic_ns) {
            self.send(Event::CallEnd { thread: index, call });
        }
    }

    /// Registers and, if there is memory for it, stack of a thread that is held; `guess` bytes of a stack whose end is not
    /// known.
    fn see_held(&mut self, tid: Tid, guess: usize) -> Option<(Registers, Option<Snapshot>)> {
        let mut registers = Registers::new(sys::registers(tid).ok()?);
        if self.is_out_of_memory() {
            return Some((registers, None));
        }
        if registers.is_in_vfork() {
            let mut next = [0];
            sys::read_memory(tid, registers.pc(), &mut next);
            registers = registers.in_caller_of_vfork(next[0]).unwrap_or(registers);
        }
        let stack = self.copy_known(tid, registers.sp(), guess);
        let snapshot = self.snapshot(tid, &registers, stack);
        Some((registers, Some(snapshot)))
    }

    /// The marker says what the thread did, so the system call that it is in is no frame of its stack.
    fn snapshot(&self, tid: Tid, registers: &Registers, stack: Stack) -> Snapshot {
        let registers = registers.file();
        Snapshot { seat: self.seat, tid, registers, was_held: true, syscall: None, stack }
    }
}
