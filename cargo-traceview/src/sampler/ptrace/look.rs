//! Looking at threads: who runs, who sleeps, and in what.

use std::io;

use super::super::activity::{Sleep, Step};
use super::super::arch::RESTART_SYSCALL;
use super::super::event::{Event, Snapshot, Wait};
use super::super::proc_fs::{self, Whereabouts};
use super::super::thread_table::Interrupt;
use super::sys::{self, Tid};
use super::{IN_FLIGHT_LIMIT, Tracer};

/// An unanswered interrupt is sent again after this long, should it have been lost in a way that nobody thought of.
const INTERRUPT_AGAIN_NS: i64 = 50_000_000;

/// At how many threads a tick looks before it takes the reports that came meanwhile.
const LOOKS_BETWEEN_REPORTS: usize = 32;

impl Tracer<'_> {
    /// Looks at every thread that may have moved since the last tick.
    pub(super) fn tick(&mut self, now: i64) -> io::Result<()> {
        self.unanswered = 0;
        self.tick_started = now;
        let mut now = now;
        let mut looks = 0_usize;
        for index in self.table.living() {
            let process = self.table.process(index);
            // A process whose clock stands still has no thread that ran: one call tells that of all of them.
            let cpu_ns = sys::process_cpu_ns(process.pid);
            if !process.busy && cpu_ns == Some(process.cpu_ns) {
                continue;
            }
            process.cpu_ns = cpu_ns.unwrap_or(process.cpu_ns);
            let threads = process.threads.clone();
            let mut busy = false;
            for tid in threads {
                busy |= self.look(tid, now);
                looks += 1;
                // Nobody is held while thousands of others are looked at.
                if self.unanswered > 0 && looks.is_multiple_of(LOOKS_BETWEEN_REPORTS) {
                    self.take_reports()?;
                    now = sys::monotonic_ns();
                }
            }
            self.table.process(index).busy = busy;
        }
        Ok(())
    }

    /// Looks at one thread; whether it has to be looked at again even if its process's clock stands still.
    fn look(&mut self, tid: Tid, now: i64) -> bool {
        let Some(thread) = self.table.get(tid) else { return false };
        if let Some(interrupt) = &mut thread.interrupt {
            if now - interrupt.sent > INTERRUPT_AGAIN_NS {
                interrupt.sent = now;
                let _gone_already = sys::interrupt(tid);
            }
            return true;
        }
        if now < thread.rest_until {
            return true;
        }
        if thread.activity.is_stopped() {
            return false;
        }
        // Before its place: if it was not put on a CPU since, that still is its place.
        let sched = thread.schedstat();
        let runs = sched.map(|sched| sched.runs);
        if thread.activity.sleeps_on(runs) {
            return false;
        }
        match thread.whereabouts() {
            None => {
                // A thread that is there, but hides.
                self.hidden_looks += u64::from(sched.is_some());
                true
            }
            Some(Whereabouts::Running) => {
                self.wake(tid, now);
                self.interrupt(tid, sched.map(|sched| sched.wait_ns));
                true
            }
            Some(Whereabouts::Asleep { number, first_argument, sp, pc }) => {
                // A call that a stop interrupted goes on under another number.
                let syscall = if number == Some(RESTART_SYSCALL) { thread.restarted.or(number) } else { number };
                self.asleep(tid, Sleep::new(now, (syscall, first_argument), (sp, pc), runs))
            }
        }
    }

    fn interrupt(&mut self, tid: Tid, queued_before_ns: Option<i64>) {
        let due = self.ticker.last_deadline();
        let Some(thread) = self.table.get(tid) else { return };
        let sent = sys::monotonic_ns();
        if sys::interrupt(tid).is_ok() {
            thread.interrupt = Some(Interrupt { sent, due, queued_before_ns });
            self.unanswered += 1;
        }
    }

    /// The thread was seen asleep; whether it has to be looked at again.
    fn asleep(&mut self, tid: Tid, seen: Sleep) -> bool {
        let Some(thread) = self.table.get(tid) else { return false };
        let (wait, step) = thread.activity.seen_asleep(seen);
        self.send_wait(wait);
        match step {
            Step::LookAgain => true,
            Step::SeeStack => self.see_sleep(tid),
            Step::LeaveAlone => false,
        }
    }

    /// The thread's sleep, if it was in one, is over.
    pub(super) fn wake(&mut self, tid: Tid, now: i64) {
        let wait = self.table.get(tid).and_then(|thread| thread.activity.wake(now));
        self.send_wait(wait);
    }

    pub(super) fn send_wait(&mut self, wait: Option<Wait>) {
        if self.options.off_cpu
            && let Some(wait) = wait
        {
            self.send(Event::Wait(wait));
        }
    }

    /// The thread has slept for long enough to see what it sleeps in; whether it has to be looked at again.
    fn see_sleep(&mut self, tid: Tid) -> bool {
        if !self.options.off_cpu {
            return false;
        }
        let Some(thread) = self.table.get(tid) else { return false };
        let index = thread.index;
        let Some(sleep) = thread.activity.sleep() else { return false };
        if sleep.syscall.is_some_and(takes_descriptor) {
            sleep.target = proc_fs::describe_fd(tid, sleep.first_argument);
        }
        if self.in_flight > IN_FLIGHT_LIMIT {
            return false;
        }
        let (syscall, (sp, pc), runs) = (sleep.syscall, sleep.place, sleep.runs);
        let stack = self.copy_stack(tid, sp);
        let Some(thread) = self.table.get(tid) else { return false };
        // If it woke while its stack was copied, the copy is of no moment that ever was.
        let is_whole = thread.runs() == runs;
        thread.activity.stack_seen(is_whole);
        if is_whole {
            self.send(Event::Asleep { thread: index, snapshot: Snapshot { tid, pc, sp, fp: None, syscall, stack } });
        } else {
            self.recycle(stack);
        }
        !is_whole
    }
}

/// Whether the first argument of the call is a file descriptor.
fn takes_descriptor(number: u64) -> bool {
    // read write ioctl pread64 pwrite64 readv writev sendfile accept connect sendto recvfrom sendmsg recvmsg flock fsync
    // fdatasync epoll_wait epoll_pwait accept4 preadv recvmmsg epoll_pwait2
    matches!(
        number,
        0 | 1 | 16..=20 | 40 | 42..=47 | 73..=75 | 232 | 281 | 288 | 295 | 299 | 441
    )
}
