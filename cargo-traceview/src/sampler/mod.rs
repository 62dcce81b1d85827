//! The sampler: starts a program under ptrace, looks at its threads at each tick, and gathers a [`Recording`].
//!
//! Two threads share the work. The *tracer* (`ptrace`) owns the traced threads (the kernel ties tracing to one thread)
//! and does only what must be done while they are held. The *unwinder* (`crate::unwind`) turns the copied stacks into
//! frames, behind it in time. They speak through events (`event::Event`).

mod activity;
pub(crate) mod arch;
pub(crate) mod clock;
pub(crate) mod event;
mod executable;
pub(crate) mod kinship;
mod own_signals;
pub(crate) mod proc_fs;
pub(crate) mod ptrace;
mod spread;
mod stack_windows;
pub(crate) mod target;
mod thread_table;

pub(crate) use thread_table::LARGEST_COPY;

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, AtomicUsize};
use std::sync::mpsc;
use std::time::Duration;

use traceview_core::model::ExitStatus;

use crate::image::AddressInImage;
use crate::unwind::{self, Recording};
use own_signals::OwnSignals;
use ptrace::crew::{Crew, Message};
use ptrace::sys::{self, ChildSignal, SignalSet, Tid};
use ptrace::{Channels, LEAD, TraceEnd, Tracer, Work};

/// How to record.
#[derive(Clone, Debug)]
pub struct Options {
    /// Looks a second.
    pub rate_hz: u32,
    /// Whether processes that the program starts are recorded too.
    pub follow_children: bool,
    /// Whether sleeps are recorded.
    pub off_cpu: bool,
    /// How long to record; `None`: until the program ends.
    pub duration: Option<Duration>,
    /// When to kill the program; `None`: never.
    pub kill_after: Option<Duration>,
    /// How many threads of ours share the program's; `None`: as many as are needed.
    pub tracers: Option<usize>,
}

/// For each so many CPUs there can be one tracer.
const CPUS_A_TRACER: usize = 4;

/// There are never more tracers than this.
const MOST_TRACERS: usize = 16;

/// What to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, searched for in `PATH` if it has no slash.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub args: Vec<OsString>,
    /// Environment variables that it gets besides (or in place of) ours.
    pub env: Vec<(OsString, OsString)>,
}

/// How far a recording is, for others to look at while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Whether the program runs (its exec worked).
    pub running: AtomicBool,
    /// Moments at which threads were looked at.
    pub ticks: AtomicU64,
    /// Samples taken.
    pub samples: AtomicU64,
    /// Samples that could not be kept.
    pub lost: AtomicU64,
    /// Threads that are traced now.
    pub threads: AtomicUsize,
    /// Processes that are traced now.
    pub processes: AtomicUsize,
    /// Time in ns that threads were held for samples, an upper bound.
    pub stopped_ns: AtomicU64,
    /// CLOCK_MONOTONIC ns at which the program started.
    pub started_ns: AtomicI64,
    /// The program's process id.
    pub pid: AtomicI32,
}

/// How a recording ended.
#[derive(Debug)]
pub struct Outcome {
    /// What became of the program.
    pub program: Ending,
    /// Threads that ran on when recording ended.
    pub survivors: usize,
}

/// What became of a program that was recorded.
#[derive(Debug)]
pub enum Ending {
    /// It ended.
    Ended(ExitStatus),
    /// Only the recording ended.
    RunsOn(RunningProgram),
}

/// A program that runs on after its recording.
#[derive(Debug)]
pub struct RunningProgram {
    pid: Tid,
    kill_at: i64,
}

impl RunningProgram {
    /// Waits for its end. Signals to us mean to it what they meant while it was recorded.
    ///
    /// # Errors
    /// When the system does not know it any more.
    pub fn wait(self, signals: &SignalGuard) -> Result<ExitStatus, SamplerError> {
        let mut own_signals = OwnSignals::new(self.pid);
        let mut kill_at = self.kill_at;
        loop {
            match sys::wait_child(self.pid).map_err(SamplerError::Wait)? {
                Some(sys::WaitStatus::Exited(code)) => return Ok(ExitStatus::Code(code)),
                Some(sys::WaitStatus::Killed(signal)) => return Ok(ExitStatus::Signal(signal)),
                _ => {}
            }
            if let Some(signal) = signals.set.wait(Duration::from_millis(50)) {
                own_signals.on(signal, sys::monotonic_ns());
                if own_signals::STOPS.contains(&signal) {
                    // The program does not depend on us any more.
                    sys::stop_self(signal);
                }
            }
            if sys::monotonic_ns() >= kill_at {
                kill_at = i64::MAX;
                let _gone_already = sys::kill(self.pid, libc::SIGKILL);
            }
        }
    }
}

/// Why nothing could be recorded.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// The program is not there.
    #[error("cannot find {}", program.display())]
    NotFound {
        /// As it was given.
        program: OsString,
    },
    /// The program is there, but cannot be run.
    #[error("cannot run {}", program.display())]
    NotExecutable {
        /// As it was given.
        program: OsString,
        /// Why.
        source: io::Error,
    },
    /// Its name, arguments or environment hold a zero byte.
    #[error("an argument or environment variable of {} contains a zero byte", program.display())]
    ZeroByte {
        /// As it was given.
        program: OsString,
    },
    /// No process could be started.
    #[error("cannot start a process")]
    Fork(#[source] io::Error),
    /// No thread of our own could be started.
    #[error("cannot start a thread (is the number of processes limited, by ulimit -u or a container?)")]
    Thread(#[source] io::Error),
    /// The system does not let us trace our own child.
    #[error(
        "cannot trace the program (is ptrace forbidden here, by a container's seccomp profile or kernel.yama.ptrace_scope=3?)"
    )]
    Seize(#[source] io::Error),
    /// Waiting for the program failed.
    #[error("lost track of the program")]
    Wait(#[source] io::Error),
    /// A thread of ours panicked; its message is on stderr.
    #[error("the profiler's {0} thread failed")]
    Panicked(&'static str),
}

/// Keeps the signals that a recording wants for itself blocked, and those that would end the profiler before the recording
/// is saved (a reached limit of CPU time or file size, a timer, someone's `kill -USR1`). Gives them back when dropped.
///
/// Make it before any other thread is started: a signal to the process goes to any thread that does not block it.
pub struct SignalGuard {
    set: SignalSet,
    before: SignalSet,
    child_signal: ChildSignal,
}

impl SignalGuard {
    /// Blocks them.
    #[must_use]
    pub fn new() -> Self {
        let mut signals = vec![
            libc::SIGCHLD,
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGQUIT,
            libc::SIGUSR1,
            libc::SIGUSR2,
            libc::SIGALRM,
            libc::SIGVTALRM,
            libc::SIGPROF,
            libc::SIGXCPU,
            libc::SIGXFSZ,
            libc::SIGIO,
            libc::SIGPWR,
            libc::SIGSTKFLT,
            // We stop when the program does.
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
        ];
        signals.extend(libc::SIGRTMIN()..=libc::SIGRTMAX());
        let set = SignalSet::of(&signals);
        let before = set.block();
        // The tracer waits for stops by other means; a signal for each would only cost.
        let child_signal = ChildSignal::for_ends_only();
        Self { set, before, child_signal }
    }

    /// Waits for `limit` at most; whether a signal came that asks this process to end.
    #[must_use]
    pub fn ask_to_end(&self, limit: Duration) -> bool {
        let ends = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
        let signal = self.set.wait(limit);
        if let Some(signal) = signal.filter(|signal| own_signals::STOPS.contains(signal)) {
            sys::stop_self(signal);
        }
        signal.is_some_and(|signal| ends.contains(&signal))
    }
}

impl Default for SignalGuard {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        // What came in meanwhile was meant for the recording.
        while self.set.wait(Duration::ZERO).is_some() {}
        self.child_signal.set();
        self.before.set_as_mask();
    }
}

/// Starts the program and records it. Returns when the recording is over, with what was recorded: the program may run on.
/// Meanwhile `progress` says how far it is, and `seen` is told of the code that was met.
///
/// # Errors
/// See [`SamplerError`]; the program did not run then, except for [`SamplerError::Wait`] and `Panicked`.
pub fn record(
    launch: &Launch,
    options: &Options,
    signals: &SignalGuard,
    progress: &Progress,
    seen: mpsc::Sender<Vec<AddressInImage>>,
) -> Result<(Recording, Outcome), SamplerError> {
    let file_limit = sys::raise_file_limit();
    let child = child(launch, signals, file_limit)?;
    // On this thread, which lives on when recording ends: a program can ask to be told of the end of the thread that started
    // it (PR_SET_PDEATHSIG).
    let gated = sys::fork_gated(&child).map_err(SamplerError::Fork)?;
    let (event_sender, events) = mpsc::channel();
    let (crew, inboxes) = Crew::new(options.tracers.unwrap_or_else(most_tracers), options.tracers.is_some());
    let (recyclers, channels): (Vec<_>, Vec<_>) = inboxes
        .into_iter()
        .map(|inbox| {
            let (recycler, recycled) = mpsc::channel();
            (recycler, Channels { events: event_sender.clone(), recycled, inbox })
        })
        .unzip();
    drop(event_sender);
    let work = Work { options, progress, signals: &signals.set, crew: &crew };
    let start = (sys::monotonic_ns(), sys::realtime_ns());
    std::thread::scope(|scope| {
        let unwinder = spawn(scope, "unwinder", move || unwind::run(&events, &recyclers, start, seen))?;
        let mut channels = channels.into_iter();
        let lead = channels.next().expect("there is a first tracer");
        // Before the program runs: it must not be held up by a system that refuses us a thread.
        let assistants = channels
            .zip(LEAD + 1..)
            .map(|(channels, seat)| {
                spawn(scope, &format!("tracer {seat}"), move || assist(work, seat, channels, gated.pid))
            })
            .collect::<Result<Vec<_>, _>>();
        let traced = assistants.and_then(|assistants| {
            let tracer = spawn(scope, "tracer", || trace(&gated, launch, work, lead))?;
            Ok((tracer.join().map_err(|_panic| SamplerError::Panicked("tracer")), assistants))
        });
        // However it ended: nobody waits for messages any more.
        crew.end(LEAD);
        let (traced, assistants) = traced?;
        let (root, mut end) = traced??;
        for assistant in assistants {
            if let Some(other) = assistant.join().map_err(|_panic| SamplerError::Panicked("tracer"))?? {
                end.add(&other);
            }
        }
        let mut recording = unwinder.join().map_err(|_panic| SamplerError::Panicked("unwinder"))?;
        recording.end(&end, progress);
        let program = match end.root_exit {
            Some(exit) => Ending::Ended(exit),
            None => Ending::RunsOn(RunningProgram { pid: root, kill_at: end.kill_at }),
        };
        Ok((recording, Outcome { program, survivors: end.survivors }))
    })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<std::thread::ScopedJoinHandle<'scope, T>, SamplerError> {
    std::thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work).map_err(SamplerError::Thread)
}

/// How many tracers there can be on this machine: the program needs CPUs, too.
fn most_tracers() -> usize {
    std::thread::available_parallelism().map_or(1, |cpus| (cpus.get() / CPUS_A_TRACER).clamp(1, MOST_TRACERS))
}

/// Waits for work for the tracer in `seat`; `None` if there was none.
fn assist(work: Work<'_>, seat: usize, channels: Channels, root: Tid) -> Result<Option<TraceEnd>, SamplerError> {
    let Ok(first) = channels.inbox.recv() else { return Ok(None) };
    if matches!(first, Message::End) {
        return Ok(None);
    }
    sys::ask_for_short_turns();
    let Ok(tracer) = Tracer::new(work, seat, channels, root) else {
        // The others can do without.
        work.crew.leave_out(seat);
        return Ok(None);
    };
    tracer.assist(first).map(Some).map_err(SamplerError::Wait)
}

/// Lets the program go under our eyes.
fn trace(
    gated: &sys::Gated,
    launch: &Launch,
    work: Work<'_>,
    channels: Channels,
) -> Result<(Tid, TraceEnd), SamplerError> {
    // If this fails the gate closes unopened and the child ends without having become the program.
    sys::seize(gated.pid).map_err(SamplerError::Seize)?;
    gated.open_gate().map_err(SamplerError::Fork)?;
    // After the fork: the program is scheduled as without us.
    sys::ask_for_short_turns();
    let pid = gated.pid;
    work.progress.started_ns.store(sys::monotonic_ns(), Relaxed);
    work.progress.pid.store(pid, Relaxed);
    let tracer = Tracer::new(work, LEAD, channels, pid).map_err(SamplerError::Thread)?;
    let end = tracer.lead().map_err(SamplerError::Wait)?;
    // Only now: on its way to the exec the child can stop for a signal, and must not wait for us then.
    if end.root_exit.is_some()
        && let Some(source) = gated.exec_error()
    {
        let program = launch.program.clone();
        return Err(match source.kind() {
            io::ErrorKind::NotFound => SamplerError::NotFound { program },
            _ => SamplerError::NotExecutable { program, source },
        });
    }
    Ok((pid, end))
}

fn child(launch: &Launch, signals: &SignalGuard, file_limit: Option<libc::rlimit>) -> Result<sys::Child, SamplerError> {
    let zero = |_error| SamplerError::ZeroByte { program: launch.program.clone() };
    let c_string = |text: &OsStr| CString::new(text.as_bytes()).map_err(zero);
    let path = executable::find(launch)?;
    let arguments = launch.args.iter().map(|arg| c_string(arg)).collect::<Result<Vec<_>, _>>()?;
    let mut environment = Vec::new();
    let ours = std::env::vars_os().filter(|(name, _)| !launch.env.iter().any(|(set, _)| set == name));
    for (name, value) in ours.chain(launch.env.iter().cloned()) {
        let mut variable = name;
        variable.push("=");
        variable.push(value);
        environment.push(c_string(&variable)?);
    }
    let program = c_string(path.as_os_str())?;
    let shell = executable::is_plain_script(&path)
        .then(|| [c"sh".to_owned(), program.clone()].into_iter().chain(arguments.iter().cloned()).collect());
    let arguments = std::iter::once(c_string(&launch.program)?).chain(arguments).collect();
    let (mask, ignores_children) = (signals.before, signals.child_signal.is_ignored());
    Ok(sys::Child { program, shell, arguments, environment, mask, ignores_children, file_limit })
}
