//! Signals to the profiler itself while the program runs.

use super::ptrace::sys::{self, Tid};

/// This many interrupts in [`IMPATIENT_NS`] mean "now".
const IMPATIENT: usize = 3;

/// See [`IMPATIENT`].
const IMPATIENT_NS: i64 = 2_000_000_000;

/// Signals by which a terminal stops a process group.
pub(super) const STOPS: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// A program that takes longer than this to stop after such a signal stops for another reason.
const STOPS_WITHIN_NS: i64 = 2_000_000_000;

/// Does to the program what a signal to the profiler means for it.
pub(crate) struct OwnSignals {
    program: Tid,
    interrupts: Vec<i64>,
    stop: Option<(i32, i64)>,
    stopped_at: i64,
}

impl OwnSignals {
    /// None came so far.
    pub(crate) const fn new(program: Tid) -> Self {
        Self { program, interrupts: Vec::new(), stop: None, stopped_at: i64::MIN / 2 }
    }

    /// `signal` came at `now`. The program must not have been waited for yet: its id could be another's by now.
    pub(crate) fn on(&mut self, signal: i32, now: i64) {
        if STOPS.contains(&signal) {
            self.stop = Some((signal, now));
        }
        if let Some(signal) = self.answer(signal, now) {
            let _gone_already = sys::kill(self.program, signal);
        }
    }

    /// A thread of the program that another tracer has was stopped by job control.
    pub(crate) fn program_stopped(&mut self, time: i64) {
        self.stopped_at = time;
    }

    /// Whether that was a moment ago.
    pub(crate) fn has_program_stopped(&self, now: i64) -> bool {
        now - self.stopped_at < STOPS_WITHIN_NS
    }

    /// The program is stopped: the signal by which the terminal stopped its group and so would have stopped us, if it did.
    ///
    /// Then we stop too, for a shell to take notice, but not before: a program that catches the signal, to tidy up before it
    /// stops itself, can only do that while we hand on signals. And one that ignores it is not to be stopped at all.
    pub(crate) fn take_stop(&mut self, now: i64) -> Option<i32> {
        let (signal, came) = self.stop.take()?;
        (now - came < STOPS_WITHIN_NS).then_some(signal)
    }

    fn answer(&mut self, signal: i32, now: i64) -> Option<i32> {
        match signal {
            // The terminal sent it to the program too.
            libc::SIGINT => {
                self.interrupts.retain(|time| now - time < IMPATIENT_NS);
                self.interrupts.push(now);
                (self.interrupts.len() >= IMPATIENT).then_some(libc::SIGKILL)
            }
            // Only we got it: end what we started, and save.
            libc::SIGTERM => Some(libc::SIGTERM),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_interrupt_in_two_seconds_kills() {
        let mut signals = OwnSignals::new(1);
        let mut sent = |milliseconds: i64| signals.answer(libc::SIGINT, milliseconds * 1_000_000);
        assert_eq!([0, 1000, 2000, 3500].map(&mut sent), [None; 4]);
        assert_eq!(sent(3900), Some(libc::SIGKILL));
    }

    #[test]
    fn we_stop_once_for_a_stop_of_the_terminal_and_only_soon_after_it() {
        let mut signals = OwnSignals::new(1);
        assert_eq!(signals.take_stop(0), None);
        signals.on(libc::SIGTSTP, 1_000_000_000);
        assert_eq!(signals.take_stop(1_500_000_000), Some(libc::SIGTSTP));
        assert_eq!(signals.take_stop(1_600_000_000), None);
        signals.on(libc::SIGTTIN, 2_000_000_000);
        assert_eq!(signals.take_stop(9_000_000_000), None);
    }

    #[test]
    fn that_the_program_stopped_is_news_for_a_while() {
        let mut signals = OwnSignals::new(1);
        assert!(!signals.has_program_stopped(0));
        signals.program_stopped(1_000_000_000);
        assert!(signals.has_program_stopped(1_500_000_000) && !signals.has_program_stopped(9_000_000_000));
    }

    #[test]
    fn what_only_the_profiler_got_is_passed_on() {
        let mut signals = OwnSignals::new(1);
        assert_eq!(signals.answer(libc::SIGTERM, 0), Some(libc::SIGTERM));
        assert_eq!(signals.answer(libc::SIGCHLD, 0), None);
        assert_eq!(signals.answer(libc::SIGHUP, 0), None);
    }
}
