//! The status line on a terminal: what is going on while it takes long.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::sampler::Progress;
use crate::sampler::ptrace::sys;
use crate::terminal::say;

/// How often the line is drawn anew.
const REDRAW: Duration = Duration::from_millis(250);

/// A line at the bottom of the terminal that is drawn over and over. On anything but a terminal it does nothing.
pub(crate) struct LiveLine {
    enabled: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    drawn: bool,
    last: Option<Instant>,
}

impl LiveLine {
    /// A line, if it is `wanted` and stderr is a terminal.
    pub(crate) fn new(wanted: bool) -> Self {
        let enabled = wanted && std::io::stderr().is_terminal();
        Self { enabled, state: Mutex::new(State::default()) }
    }

    /// Shows how a recording goes until `done` hangs up.
    pub(crate) fn follow(&self, progress: &Progress, done: Receiver<()>) {
        if !self.enabled {
            return;
        }
        while done.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
            if progress.running.load(Relaxed) {
                self.draw(&status(progress));
            }
        }
        drop(done);
        self.clear();
    }

    /// Shows how many of how many addresses have names.
    pub(crate) fn names(&self, done: usize, total: usize) {
        if self.enabled && done < total {
            self.draw(&format!("naming functions: {done} of {total} addresses"));
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        if std::mem::take(&mut state.drawn) {
            say("\r\x1b[K");
        }
    }

    /// Draws the line. The cursor goes back to its start, so that what the program prints next covers it.
    fn draw(&self, text: &str) {
        let mut state = self.lock();
        let now = Instant::now();
        if state.last.is_none_or(|last| now - last >= REDRAW / 2) {
            state.last = Some(now);
            state.drawn = true;
            say(&format!("\r\x1b[K\x1b[2mtraceview: {text}\x1b[0m\r"));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn status(progress: &Progress) -> String {
    let elapsed = sys::monotonic_ns() - progress.started_ns.load(Relaxed);
    let seconds = Duration::from_nanos(elapsed.unsigned_abs()).as_secs_f64();
    let samples = progress.samples.load(Relaxed);
    let (threads, processes) = (progress.threads.load(Relaxed), progress.processes.load(Relaxed));
    let mut text =
        format!("{seconds:.1} s, {samples} samples, {threads} thread{}", if threads == 1 { "" } else { "s" });
    if processes > 1 {
        text += &format!(" in {processes} processes");
    }
    let lost = progress.lost.load(Relaxed);
    if lost > 0 {
        text += &format!(", {lost} lost");
    }
    let stopped = Duration::from_nanos(progress.stopped_ns.load(Relaxed)).as_secs_f64();
    if seconds > 0.0 {
        text += &format!(", stopped {:.1} % of the time", 100.0 * stopped / seconds);
    }
    text
}
