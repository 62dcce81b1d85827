//! Who started whom, who ended, who waited for that: the events of it, with their stacks unwound.

use super::recording::{Origin, ProcessRecord, RawCall, RawExec, RawExit, RawSpawn, RawUsage, ThreadRecord};
use super::{Space, Unwinder};
use crate::sampler::event::{Exec, Exit, ProcessIndex, Snapshot, Spawn, ThreadIndex, Usage};
use crate::sampler::kinship::EndedCall;
use crate::sampler::ptrace::sys::{self, Tid};

impl Unwinder<'_> {
    pub(super) fn on_process_start(&mut self, pid: Tid, parent: Option<ProcessIndex>, time: i64) {
        let (name, command_line) = parent.map_or_else(Default::default, |parent| {
            let parent = &self.processes[parent];
            (parent.name.clone(), parent.command_line.clone())
        });
        if let Some(parent) = parent
            && self.spaces[parent].code.regions().is_empty()
        {
            // The child can have come and gone, or run another program, before its own map is read.
            self.refresh(parent, time, self.processes[parent].pid);
        }
        self.processes.push(ProcessRecord {
            pid,
            parent,
            name,
            command_line,
            start: time - self.start,
            end: None,
            exit: None,
            group: None,
            usage: Vec::new(),
            hidden_looks: 0,
        });
        let space = parent.map(|parent| self.spaces[parent].clone()).unwrap_or_default();
        self.spaces.push(space);
        self.note_mappings(self.spaces.len() - 1, time);
    }

    pub(super) fn on_thread_start(&mut self, process: ProcessIndex, tid: Tid, time: i64, created: bool) {
        self.threads.push(ThreadRecord {
            process,
            tid,
            name: self.processes[process].name.clone(),
            start: time - self.start,
            end: None,
            usage: None,
            samples: Vec::new(),
            waits: Vec::new(),
            origin: if created { Origin::Created(None) } else { Origin::Present },
            spawns: Vec::new(),
            execs: Vec::new(),
            exit: None,
            calls: Vec::new(),
        });
        self.asleep.push(None);
        self.blocked.push(None);
    }

    pub(super) fn on_first_stop(&mut self, thread: ThreadIndex, snapshot: Snapshot) {
        let stack = self.stack_of(thread, snapshot);
        if let Origin::Created(first) = &mut self.threads[thread].origin {
            *first = Some(stack);
        }
    }

    pub(super) fn on_spawn(&mut self, Spawn { thread, time, child, how, snapshot }: Spawn) {
        let stack = snapshot.map(|snapshot| self.stack_of(thread, snapshot));
        self.threads[thread].spawns.push(RawSpawn { time: time - self.start, child, how, stack });
    }

    pub(super) fn on_exec(&mut self, exec: Exec) {
        let record = &mut self.processes[exec.process];
        record.name = exec.name;
        record.command_line.clone_from(&exec.command_line);
        self.spaces[exec.process] = Space::default();
        let stack = exec.snapshot.map(|snapshot| self.stack_of(exec.thread, snapshot));
        // The program's libraries are not there yet; a child must not inherit a map without them.
        self.spaces[exec.process] = Space::default();
        let (time, command_line) = (exec.time - self.start, exec.command_line);
        self.threads[exec.thread].execs.push(RawExec { time, command_line, former: exec.former, stack });
    }

    pub(super) fn on_exit(&mut self, exit: Exit) {
        let stack = exit.snapshot.map(|snapshot| self.stack_of(exit.thread, snapshot));
        let thread = &mut self.threads[exit.thread];
        thread.exit = Some(RawExit { call: exit.call, thread_pointer: exit.thread_pointer, stack });
        let group = &mut self.processes[thread.process].group;
        *group = exit.group.or(*group);
    }

    pub(super) fn on_call_end(&mut self, thread: ThreadIndex, call: EndedCall) {
        let stack = if call.seen { self.blocked[thread] } else { None };
        let (start, end) = (call.start - self.start, call.end - self.start);
        self.threads[thread].calls.push(RawCall { awaited: call.awaited, start, end, stack });
    }

    pub(super) fn on_usage(&mut self, Usage { process, time, cpu_ns, resident_bytes }: Usage) {
        let time = time - self.start;
        self.processes[process].usage.push(RawUsage { time, cpu_ns, resident_bytes });
    }

    /// The stack that a snapshot of a thread shows.
    pub(super) fn stack_of(&mut self, thread: ThreadIndex, snapshot: Snapshot) -> u32 {
        let process = self.threads[thread].process;
        self.unwind(process, sys::monotonic_ns(), snapshot).0
    }
}
