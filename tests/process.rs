//! Running a process to its end, with a deadline: a recorder that hangs must fail its test, not stop the run.

use std::io::{Read, Write};
use std::mem;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::leftovers;

/// Far beyond what any test needs, also on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// How a process ended, and what it printed.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit status; 128+N if signal N ended it.
    pub code: i32,
    /// All of stdout.
    pub stdout: Vec<u8>,
    /// All of stderr.
    pub stderr: String,
}

impl Finished {
    /// Stdout as text.
    ///
    /// # Panics
    /// When it is not UTF-8.
    #[must_use]
    pub fn text(&self) -> &str {
        str::from_utf8(&self.stdout).expect("stdout is text")
    }
}

/// A process that runs, its output being collected. When it has ended, what it started must be as if it had never been: see
/// [`leftovers`].
pub struct Running {
    child: Child,
    mark: String,
    shown: String,
    stdout: Collected,
    stderr: Collected,
}

/// The bytes that came through a pipe up to now, and the thread that reads them.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Runs a command to its end.
#[must_use]
pub fn finish(command: &mut Command, stdin: &[u8]) -> Finished {
    start(command, stdin).finish()
}

/// Starts a command in a process group of its own.
///
/// # Panics
/// When it does not start.
#[must_use]
pub fn start(command: &mut Command, stdin: &[u8]) -> Running {
    let mark = leftovers::mark(command);
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut input = child.stdin.take().expect("piped");
    let bytes = stdin.to_vec();
    // A program that does not read its input is no failure.
    thread::spawn(move || input.write_all(&bytes));
    let stdout = Collected::from(child.stdout.take().expect("piped"));
    let stderr = Collected::from(child.stderr.take().expect("piped"));
    Running { child, mark, shown: format!("{command:?}"), stdout, stderr }
}

impl Running {
    /// Its process id, which is also that of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until this text was written to stdout.
    ///
    /// # Panics
    /// When it does not come.
    pub fn wait_for_output(&mut self, text: &str) {
        until(text, || {
            let ended = self.child.try_wait().expect("the child can be waited for");
            assert!(ended.is_none() || self.stdout.holds(text), "{} ended ({ended:?}) without `{text}`", self.shown);
            self.stdout.holds(text)
        });
    }

    /// Sends a signal to the whole group, as a terminal does for Ctrl-C.
    pub fn signal_group(&self, signal: &str) {
        kill(signal, &format!("-{}", self.id()));
    }

    /// Sends a signal to the process alone.
    pub fn signal(&self, signal: &str) {
        kill(signal, &self.id().to_string());
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it is still running after two minutes, or leaves something stopped or traced behind.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        let status = wait(&mut self.child, &self.shown);
        leftovers::assert_none(&self.mark, self.child.id());
        let stderr = self.stderr.all();
        Finished {
            code: status.code().or_else(|| status.signal().map(|signal| 128 + signal)).expect("it ended"),
            stdout: self.stdout.all(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }
}

/// Waits until the condition holds.
///
/// # Panics
/// When it does not within two minutes.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: waited in vain");
        thread::sleep(Duration::from_millis(5));
    }
}

fn wait(child: &mut Child, shown: &str) -> ExitStatus {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            // The panic tells it; what can't be killed is gone.
            kill("KILL", &format!("-{}", child.id()));
            panic!("{shown} did not end in {DEADLINE:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The shell's own `kill`, which needs neither a package nor unsafe code.
fn kill(signal: &str, target: &str) {
    let status = Command::new("sh").args(["-c", "kill -s $0 -- $1", signal, target]).status();
    assert!(status.is_ok_and(|status| status.success()), "kill -{signal} {target}");
}

impl Collected {
    fn from(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut buffer = [0; 64 * 1024];
            loop {
                let count = pipe.read(&mut buffer).expect("a pipe can be read");
                if count == 0 {
                    return;
                }
                collected.lock().expect("nobody panics with the lock").extend_from_slice(&buffer[..count]);
            }
        });
        Self { bytes, reader }
    }

    fn holds(&self, text: &str) -> bool {
        let bytes = self.bytes.lock().expect("nobody panics with the lock");
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    fn all(self) -> Vec<u8> {
        self.reader.join().expect("the reader doesn't panic");
        mem::take(&mut self.bytes.lock().expect("nobody panics with the lock"))
    }
}
