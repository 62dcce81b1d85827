//! How threads and processes come and go.

use traceview_core::model::{ExitStatus, Nanos, ThreadUsage};

use super::super::event::{Event, Exec, ProcessIndex, ThreadEnd, ThreadIndex};
use super::super::proc_fs;
use super::super::stack_windows::StackWindows;
use super::super::thread_table::Thread;
use super::crew::Message;
use super::sys::{self, Tid};
use super::{LEAD, Relaxed, Tracer, resume};

impl Tracer<'_> {
    /// Takes note of a thread that is new to us, whatever told us of it first. False if it is not to be traced (children
    /// when only the first process is), and was let go.
    pub(super) fn adopt(&mut self, tid: Tid, now: i64) -> bool {
        let Ok(status) = proc_fs::read_status(tid) else { return true };
        let process = match self.table.process_of(status.process) {
            Some(process) => process,
            None if !self.options.follow_children && status.process != self.root => {
                let _not_stopped_yet = sys::detach(tid, 0);
                return false;
            }
            None => {
                let parent = self.table.process_of(status.parent);
                let start = Event::ProcessStart { pid: status.process, parent, time: now };
                let process = self.crew.next_process(|| self.announce(start));
                self.table.add_process(process, status.process);
                self.progress.processes.fetch_add(1, Relaxed);
                // What the profiler's own child uses before it becomes the program is not the program's.
                if tid != self.root {
                    self.meter_now(process, now);
                }
                process
            }
        };
        self.start_thread(process, tid, now, tid != self.root);
        true
    }

    /// Tells the unwinder of a process or thread, at once if there are others who do that: it hears of them in order.
    fn announce(&mut self, start: Event) {
        self.send(start);
        if self.crew.size() > 1 {
            self.flush_all();
        }
    }

    fn start_thread(&mut self, process: ProcessIndex, tid: Tid, now: i64, created: bool) {
        let start = Event::ThreadStart { process, tid, time: now, created };
        let index = self.crew.next_thread(|| self.announce(start));
        self.table.add_thread(index, process, tid);
        self.progress.threads.fetch_add(1, Relaxed);
    }

    /// A thread reports an event, and is held while we look.
    pub(super) fn on_event(&mut self, tid: Tid, event: i32, now: i64) {
        if event == libc::PTRACE_EVENT_EXEC {
            self.on_exec(tid, now);
        } else {
            self.meet(tid, now);
        }
    }

    /// A thread made its process run another program. All other threads of the process are gone, and if it was not the
    /// first thread it has that one's id now.
    fn on_exec(&mut self, tid: Tid, now: i64) {
        let former = sys::event_message(tid).ok().and_then(|id| Tid::try_from(id).ok()).unwrap_or(tid);
        let Some(process) = self.table.process_of(tid) else {
            self.meet(tid, now);
            return;
        };
        let entry = self.table.process(process);
        if entry.live.load(Relaxed) > entry.threads.len() {
            self.crew.tell_others(self.seat, || Message::Exec { pid: tid, time: now });
        }
        for other in self.table.process(process).threads.clone() {
            if other != former {
                // Not looked at any more: behind its id can be the thread that made the exec.
                self.end_thread(other, now, |_gone| (0, None));
            }
        }
        let renamed = (former != tid).then(|| self.rename_thread(process, former, tid, now)).flatten();
        if self.table.get(tid).is_none() {
            self.start_thread(process, tid, now, false);
        }
        self.wake(tid, now);
        self.table.process(process).forget_memory();
        if let Some(thread) = self.table.get(tid) {
            thread.open_files();
            thread.stack_range = (0, 0);
            thread.whole_until = 0;
            thread.windows = StackWindows::default();
            thread.naming_samples = 0;
            thread.named_asleep = false;
            if tid == self.root && !self.progress.running.swap(true, Relaxed) {
                // What the profiler's own child used before it became the program is not the program's.
                let _own = thread.charge();
                thread.cpu_before_ns = thread.charged.cpu_ns;
            }
        }
        let name = proc_fs::read_comm(tid, tid).unwrap_or_default();
        let command_line = proc_fs::read_command_line(tid, tid);
        let snapshot = self.see_entry(tid);
        self.meter_now(process, now);
        if let Some(thread) = self.table.get(tid) {
            thread.reported = true;
            let thread = thread.index;
            let exec = Exec { process, time: now, name, command_line, thread, former: renamed, snapshot };
            self.send(Event::Exec(exec));
        }
        // Before it runs on: its memory map must not be taken for that of the former program.
        self.flush_all();
    }

    /// Thread `former` has the id `tid` from now on. In the recording that is another thread; its clock runs on. Which one
    /// it was.
    fn rename_thread(&mut self, process: ProcessIndex, former: Tid, tid: Tid, now: i64) -> Option<ThreadIndex> {
        let mut charged = None;
        let mut index = None;
        if let Some(thread) = self.table.get(former) {
            index = Some(thread.index);
            thread.tid = tid;
            thread.open_files();
            charged = thread.schedstat();
        }
        // In this order: the process never is without a thread.
        self.start_thread(process, tid, now, false);
        self.end_thread(former, now, read_last);
        if let (Some(thread), Some(charged)) = (self.table.get(tid), charged) {
            thread.charged = charged;
            thread.cpu_before_ns = charged.cpu_ns;
        }
        index
    }

    /// Another tracer has seen that a thread made its process run another program.
    pub(super) fn on_exec_elsewhere(&mut self, pid: Tid, now: i64) {
        let Some(process) = self.table.process_of(pid) else { return };
        for tid in self.table.process(process).threads.clone() {
            self.end_thread(tid, now, |_gone| (0, None));
        }
        self.table.remove_process(pid);
    }

    /// A thread is about to end: the last moment to see what it used. Whether it is the last of its process.
    pub(super) fn on_exit(&mut self, tid: Tid, now: i64) -> bool {
        if let Some(thread) = self.table.get(tid) {
            let (pid, process) = (thread.pid, thread.process);
            let is_last = self.table.process(process).live.load(Relaxed) == 1;
            if is_last {
                // The process's memory goes with its last thread, and the unwinder may not have seen all of it.
                self.table.process(process).mapped = false;
                self.read_maps(tid, pid, 0);
                self.meter_now(process, now);
            }
            self.see_exit(tid);
            if is_last {
                self.flush_all();
            }
        }
        self.send_name(tid);
        self.end_thread(tid, now, read_last)
    }

    /// Lets go of a thread that is about to end. While it is traced the kernel would keep it for us after its end, and its
    /// parent, who can see that it ended, could not wait for it yet. Only of the first process we are the parent. `pid` is its
    /// process's if it is the last thread of that.
    pub(super) fn part(&mut self, tid: Tid, pid: Option<Tid>, now: i64) {
        if tid == self.root {
            resume(tid, 0);
            return;
        }
        let exit = sys::exit_status(tid);
        if sys::detach(tid, 0).is_err() && pid.is_none_or(|pid| pid == tid) {
            // It was killed meanwhile, and will be reported as gone.
            return;
        }
        if let Some(pid) = pid.filter(|pid| *pid != self.root)
            && let Some(exit) = exit
        {
            self.end_process(pid, now, exit);
        }
    }

    /// A thread is gone.
    pub(super) fn on_gone(&mut self, tid: Tid, now: i64, exit: ExitStatus) {
        let pid = self.table.get(tid).map(|thread| thread.pid);
        let is_last = self.end_thread(tid, now, |_gone| (0, None));
        // A process reports by its first thread's id, once all its threads are gone, unless that was let go before.
        self.end_process(tid, now, exit);
        if let Some(pid) = pid.filter(|pid| is_last && *pid != self.root) {
            self.end_process(pid, now, exit);
        }
        if tid == self.root {
            self.root_exit = Some(exit);
            if self.seat != LEAD {
                self.crew.tell(LEAD, Message::RootExit(exit));
            }
        }
    }

    fn end_process(&mut self, pid: Tid, now: i64, exit: ExitStatus) {
        if let Some(process) = self.table.remove_process(pid) {
            self.send(Event::ProcessEnd { process, time: now, exit });
            self.progress.processes.fetch_sub(1, Relaxed);
        }
    }

    /// Takes a thread out; whether it was the last of its process. `last` gives what can still be read of it: CPU time since
    /// its last sample, and usage.
    fn end_thread(&mut self, tid: Tid, now: i64, last: impl FnOnce(&mut Thread) -> (i64, Option<ThreadUsage>)) -> bool {
        self.wake(tid, now);
        let Some(mut thread) = self.table.remove(tid) else { return false };
        self.made_again.retain(|(other, _)| *other != tid);
        self.progress.threads.fetch_sub(1, Relaxed);
        let (unsampled_ns, usage) = last(&mut thread);
        self.send(Event::ThreadEnd(ThreadEnd { thread: thread.index, time: Some(now), unsampled_ns, usage }));
        let process = self.table.process(thread.process);
        if process.live.load(Relaxed) > process.threads.len() + 1 {
            // Before others can tell of the process's end or next program: its memory is forgotten with that.
            self.flush_all();
        }
        let process = self.table.process(thread.process);
        let is_last = process.live.fetch_sub(1, Relaxed) == 1;
        if !is_last {
            self.leave_to_others(thread.process);
        }
        is_last
    }

    /// What is left of a process of which this tracer has no thread any more is for others to tell of.
    pub(super) fn leave_to_others(&mut self, process: ProcessIndex) {
        let process = self.table.process(process);
        let pid = process.pid;
        if process.threads.is_empty() && pid != self.root {
            self.table.remove_process(pid);
        }
    }

    /// Reads the thread's name.
    pub(super) fn send_name(&mut self, tid: Tid) {
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.index;
        if let Some(name) = proc_fs::read_comm(thread.pid, tid) {
            self.send(Event::ThreadName { thread: index, name });
        }
    }

    /// Recording is over: closes what is open. What is still traced is let go by the kernel when this thread ends; how
    /// many threads that are.
    pub(super) fn finish(&mut self, now: i64) -> usize {
        let mut tids: Vec<(usize, Tid)> = self.table.iter_mut().map(|thread| (thread.index, thread.tid)).collect();
        tids.sort_unstable();
        for process in self.table.living() {
            self.meter_now(process, now);
        }
        for (index, tid) in &tids {
            self.wake(*tid, now);
            self.send_name(*tid);
            let Some(thread) = self.table.get(*tid) else { continue };
            let (unsampled_ns, usage) = read_last(thread);
            self.send(Event::ThreadEnd(ThreadEnd { thread: *index, time: None, unsampled_ns, usage }));
        }
        tids.len()
    }
}

/// CPU time of a thread that is still there since its last sample, and what the kernel accounted to it.
fn read_last(thread: &mut Thread) -> (i64, Option<ThreadUsage>) {
    (thread.charge().unwrap_or(0), read_usage(thread))
}

/// What the kernel accounted to a thread that is still there.
fn read_usage(thread: &Thread) -> Option<ThreadUsage> {
    let sched = thread.schedstat()?;
    let stat =
        proc_fs::read_thread_file(thread.pid, thread.tid, "stat").ok().and_then(|text| proc_fs::parse_stat(&text));
    let status = proc_fs::read_status(thread.tid).ok();
    let cpu = Nanos(sched.cpu_ns - thread.cpu_before_ns);
    // The kernel splits the exact CPU time in proportion to what its clock ticks met; so do we.
    let split = stat.and_then(|stat| {
        let ticks = stat.user_ticks + stat.system_ticks;
        (ticks > 0).then(|| scaled(cpu, stat.system_ticks, ticks))
    });
    Some(ThreadUsage {
        cpu,
        user: split.map(|system| Nanos(cpu.0 - system.0)),
        system: split,
        run_queue_wait: Nanos(sched.wait_ns),
        minor_faults: stat.map(|stat| stat.minor_faults),
        major_faults: stat.map(|stat| stat.major_faults),
        stopped: Some(Nanos(thread.stopped_ns)),
        // The kernel counts stops, too.
        voluntary_switches: status.map(|status| status.voluntary_switches.saturating_sub(thread.stops)),
        involuntary_switches: status.map(|status| status.involuntary_switches),
    })
}

fn scaled(cpu: Nanos, part: u64, whole: u64) -> Nanos {
    let scaled = i128::from(cpu.0) * i128::from(part) / i128::from(whole.max(1));
    Nanos(i64::try_from(scaled).unwrap_or(cpu.0))
}
