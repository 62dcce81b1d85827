//! The status line on a terminal: what is going on while it takes long.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::sampler::ptrace::sys;
use crate::sampler::{Progress, proc_fs};
use crate::terminal::{self, say};

/// How often the line is drawn anew.
const REDRAW: Duration = Duration::from_millis(250);

/// A line on the terminal, below the cursor, that is drawn over and over. On anything but a terminal it does nothing.
///
/// The terminal is the program's: what stands on its line (a question, half a message) stays, nothing is drawn where the
/// program has taken over the screen or is in the background, and a program that prints has the terminal to itself.
pub(crate) struct LiveLine {
    enabled: bool,
    stdout_is_terminal: bool,
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
        Self { enabled, stdout_is_terminal: std::io::stdout().is_terminal(), state: Mutex::new(State::default()) }
    }

    /// Shows how a recording goes until `done` hangs up.
    pub(crate) fn follow(&self, progress: &Progress, done: Receiver<()>) {
        if !self.enabled {
            return;
        }
        while done.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
            if !progress.running.load(Relaxed) {
                continue;
            }
            if self.stdout_is_terminal && has_written(progress) {
                break;
            }
            self.draw(&status(progress));
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
        if std::mem::take(&mut state.drawn) && sys::is_free_terminal() {
            // All that stands behind the cursor. What the program wrote stands before it.
            say("\x1b[J");
        }
    }

    fn draw(&self, text: &str) {
        let mut state = self.lock();
        let now = Instant::now();
        if state.last.is_none_or(|last| now - last >= REDRAW / 2) && sys::is_free_terminal() {
            state.last = Some(now);
            state.drawn = true;
            say(&below_the_cursor(text, terminal::stderr_style().width));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What draws `text` on the line below the cursor, as much as fits there, and leaves the cursor where it is.
fn below_the_cursor(text: &str, width: Option<usize>) -> String {
    let fitting: String = text.chars().take(width.map_or(usize::MAX, |width| width.saturating_sub(13))).collect();
    // Down and up: where the cursor is on the last line, the screen moves up by one. Then there, and back.
    format!("\x1bD\x1b[A\x1b7\x1b[B\r\x1b[2K\x1b[2mtraceview: {fitting}\x1b[0m\x1b8")
}

/// Whether the program wrote anything yet, maybe to the terminal.
fn has_written(progress: &Progress) -> bool {
    proc_fs::read_written_bytes(progress.pid.load(Relaxed)).is_none_or(|bytes| bytes > 0)
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
