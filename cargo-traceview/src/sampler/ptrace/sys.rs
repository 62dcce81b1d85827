//! The system calls of the sampler: the one place of this crate that calls the kernel by hand.
//!
//! Each function is a thin, safe wrapper that cannot be misused into memory unsafety: ids and addresses of other
//! processes are plain numbers to us, and what the kernel fills in is plain data.
#![expect(
    unsafe_code,
    reason = "ptrace, waitpid and the process clocks have no safe wrapper that keeps real-time signals"
)]

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use traceview_core::model::ExitStatus;

/// A thread (or process) id of the kernel.
pub(crate) type Tid = libc::pid_t;

/// What `waitpid` reports of a traced thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitStatus {
    /// It ended by itself.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
    /// It is about to receive this signal, and waits for us to hand it on.
    Signal(i32),
    /// A ptrace event other than a stop, for example `PTRACE_EVENT_CLONE`.
    Event(i32),
    /// `PTRACE_EVENT_STOP` with the signal it names: SIGTRAP for our interrupts and new threads, a stop signal for
    /// job control.
    Stop(i32),
}

impl WaitStatus {
    fn decode(status: i32) -> Option<Self> {
        if libc::WIFEXITED(status) {
            return Some(Self::Exited(libc::WEXITSTATUS(status)));
        }
        if libc::WIFSIGNALED(status) {
            return Some(Self::Killed(libc::WTERMSIG(status)));
        }
        if !libc::WIFSTOPPED(status) {
            return None;
        }
        let signal = libc::WSTOPSIG(status);
        Some(match status >> 16 {
            0 => Self::Signal(signal),
            libc::PTRACE_EVENT_STOP => Self::Stop(signal),
            event => Self::Event(event),
        })
    }
}

/// The next report of any thread that the calling thread traces or has as a child; `None` if there is none now.
///
/// # Errors
/// `ECHILD` when nothing is left to wait for.
pub(crate) fn wait_any() -> io::Result<Option<(Tid, WaitStatus)>> {
    wait(-1, libc::__WALL | libc::__WNOTHREAD)
}

/// Waits for the next report of any thread that the calling thread traces or has as a child; `None` if a signal came first
/// (its [`Alarm`]).
///
/// # Errors
/// `ECHILD` when nothing is left to wait for.
pub(crate) fn await_any() -> io::Result<Option<(Tid, WaitStatus)>> {
    let mut status = 0;
    // SAFETY: `status` is a live i32 for the kernel to fill.
    let tid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
    if tid != -1 {
        return Ok(WaitStatus::decode(status).map(|status| (tid, status)));
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted { Ok(None) } else { Err(error) }
}

/// The report of thread `tid`, which the calling thread traces; `None` if there is none now. Unlike [`wait_any`] it takes
/// no longer the more threads there are.
///
/// # Errors
/// `ECHILD` when it is not traced any more.
pub(crate) fn wait_traced(tid: Tid) -> io::Result<Option<WaitStatus>> {
    Ok(wait(tid, libc::__WALL | libc::__WNOTHREAD)?.map(|(_, status)| status))
}

/// The next report of process `pid`, a child of any of our threads; `None` if there is none now.
///
/// # Errors
/// `ECHILD` when it is not our child or was reported already.
pub(crate) fn wait_child(pid: Tid) -> io::Result<Option<WaitStatus>> {
    Ok(wait(pid, 0)?.map(|(_, status)| status))
}

fn wait(pid: Tid, flags: i32) -> io::Result<Option<(Tid, WaitStatus)>> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a live i32 for the kernel to fill.
        let tid = unsafe { libc::waitpid(pid, &raw mut status, flags | libc::WNOHANG) };
        match tid {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            _ => {
                if let Some(status) = WaitStatus::decode(status) {
                    return Ok(Some((tid, status)));
                }
            }
        }
    }
}

fn ptrace(request: libc::c_uint, tid: Tid, addr: usize, data: usize) -> io::Result<()> {
    // SAFETY: callers pass requests whose `data` is a number or a pointer to memory that outlives the call.
    let result = unsafe { libc::ptrace(request, tid, addr, data) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Starts to trace `tid` without stopping it, with all that it starts. It reports what it starts, execs, and its end.
pub(crate) fn seize(tid: Tid) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEEXIT
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK;
    ptrace(libc::PTRACE_SEIZE, tid, 0, options as usize)
}

/// Asks a running thread to stop. It reports [`WaitStatus::Stop`] when it does.
pub(crate) fn interrupt(tid: Tid) -> io::Result<()> {
    ptrace(libc::PTRACE_INTERRUPT, tid, 0, 0)
}

/// Lets a stopped thread run on, receiving `signal` unless that is 0.
pub(crate) fn resume(tid: Tid, signal: i32) -> io::Result<()> {
    ptrace(libc::PTRACE_CONT, tid, 0, signal as usize)
}

/// Leaves a thread in its job-control stop, but hears of its end.
pub(crate) fn listen(tid: Tid) -> io::Result<()> {
    ptrace(libc::PTRACE_LISTEN, tid, 0, 0)
}

/// Stops tracing a stopped thread and lets it run on, receiving `signal` unless that is 0.
pub(crate) fn detach(tid: Tid, signal: i32) -> io::Result<()> {
    ptrace(libc::PTRACE_DETACH, tid, 0, signal as usize)
}

/// The number that came with a ptrace event: a new thread's id, the former id at exec, …
pub(crate) fn event_message(tid: Tid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    ptrace(libc::PTRACE_GETEVENTMSG, tid, 0, (&raw mut message).addr())?;
    Ok(message)
}

/// How a thread that is held at `PTRACE_EVENT_EXIT` will have ended.
pub(crate) fn exit_status(tid: Tid) -> Option<ExitStatus> {
    match WaitStatus::decode(i32::try_from(event_message(tid).ok()?).ok()?)? {
        WaitStatus::Exited(code) => Some(ExitStatus::Code(code)),
        WaitStatus::Killed(signal) => Some(ExitStatus::Signal(signal)),
        _ => None,
    }
}

/// The general registers of a stopped thread.
pub(crate) fn registers(tid: Tid) -> io::Result<libc::user_regs_struct> {
    let mut registers = MaybeUninit::<libc::user_regs_struct>::zeroed();
    ptrace(libc::PTRACE_GETREGS, tid, 0, registers.as_mut_ptr().expose_provenance())?;
    // SAFETY: zeroed at first, and the struct is plain numbers.
    Ok(unsafe { registers.assume_init() })
}

/// Changes the general registers of a stopped thread.
pub(crate) fn set_registers(tid: Tid, registers: &libc::user_regs_struct) -> io::Result<()> {
    ptrace(libc::PTRACE_SETREGS, tid, 0, std::ptr::from_ref(registers).expose_provenance())
}

/// Copies memory of another process, from `address` on, into `buffer`; how many bytes could be read before the first
/// page that is not there. 0 when nothing can be read (or we may not).
pub(crate) fn read_memory(tid: Tid, address: u64, buffer: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(address as usize), iov_len: buffer.len() };
    // SAFETY: `local` is `buffer`, exclusively ours; `remote` is an address of another process, checked by the kernel.
    let read = unsafe { libc::process_vm_readv(tid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// Whether the file at `path` gives capabilities to whoever runs it.
pub(crate) fn has_capabilities(path: &CStr) -> bool {
    // SAFETY: both names are strings; without room for the value only its size is asked for.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// A set of signals.
#[derive(Clone, Copy)]
pub(crate) struct SignalSet(libc::sigset_t);

impl SignalSet {
    /// The set of `signals`.
    pub(crate) fn of(signals: &[i32]) -> Self {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset initializes the set, sigaddset changes an initialized one.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                libc::sigaddset(set.as_mut_ptr(), *signal);
            }
            Self(set.assume_init())
        }
    }

    /// Blocks these signals in the calling thread and those it will start; gives the mask that was in force before.
    pub(crate) fn block(&self) -> Self {
        let mut old = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: both sets are live; a zeroed sigset_t is a valid (empty) one.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const self.0, old.as_mut_ptr());
            Self(old.assume_init())
        }
    }

    /// Makes this the signal mask of the calling thread.
    pub(crate) fn set_as_mask(&self) {
        // SAFETY: the set is live.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }

    /// Takes one pending signal of this (blocked) set, waiting up to `timeout` for it.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<i32> {
        let timeout = timespec(timeout);
        // SAFETY: set and timeout are live; no siginfo is asked for.
        let signal = unsafe { libc::sigtimedwait(&raw const self.0, std::ptr::null_mut(), &raw const timeout) };
        (signal > 0).then_some(signal)
    }
}

/// Ends the system call that the calling thread waits in at a given moment.
pub(crate) struct Alarm {
    timer: libc::timer_t,
    set_to: i64,
}

/// The signal that ends a wait.
fn wake_signal() -> libc::c_int {
    libc::SIGRTMIN() + 1
}

/// Ends the wait that thread `tid` of ours, which has an [`Alarm`], is in.
pub(crate) fn wake(tid: Tid) {
    // SAFETY: plain numbers. A thread that is gone needs no waking.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, wake_signal()) };
}

/// The calling thread's id.
pub(crate) fn own_tid() -> Tid {
    // SAFETY: takes and touches nothing.
    unsafe { libc::gettid() }
}

/// An alarm that came just before the thread began to wait must come again. (Rarely: the kernel sets a clock for each.)
const ALARM_AGAIN_NS: i64 = 4_000_000;

impl Alarm {
    /// An alarm for the calling thread.
    ///
    /// # Errors
    /// When the system has no timer left.
    pub(crate) fn new() -> io::Result<Self> {
        extern "C" fn wake(_: libc::c_int) {}
        let signal = wake_signal();
        // SAFETY: zeroed structures of these types are valid, the handler does nothing, and `timer` is live.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = wake as *const () as usize;
            if libc::sigaction(signal, &raw const action, std::ptr::null_mut()) == -1 {
                return Err(io::Error::last_os_error());
            }
            let set = SignalSet::of(&[signal]);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set.0, std::ptr::null_mut());
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer = MaybeUninit::<libc::timer_t>::uninit();
            if libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, timer.as_mut_ptr()) == -1 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { timer: timer.assume_init(), set_to: 0 })
        }
    }

    /// Sets it to `time` on CLOCK_MONOTONIC, in ns. From then on it comes again and again until it is set anew.
    pub(crate) fn set(&mut self, time: i64) {
        if std::mem::replace(&mut self.set_to, time) == time {
            return;
        }
        let spec = |ns: i64| timespec(Duration::from_nanos(ns.max(1).cast_unsigned()));
        let value = libc::itimerspec { it_interval: spec(ALARM_AGAIN_NS), it_value: spec(time) };
        // SAFETY: the timer is ours and `value` live.
        unsafe { libc::timer_settime(self.timer, libc::TIMER_ABSTIME, &raw const value, std::ptr::null_mut()) };
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: the timer is ours, and not used any more.
        unsafe { libc::timer_delete(self.timer) };
    }
}

/// What SIGCHLD does to this process.
#[derive(Clone, Copy)]
pub(crate) struct ChildSignal(libc::sigaction);

impl ChildSignal {
    /// Has it sent only when a child ends, not when one or a traced thread stops, and never ignored, as then the ends of
    /// children would not be told. Gives what it did before.
    pub(crate) fn for_ends_only() -> Self {
        // SAFETY: zeroed sigactions are valid, and mean the default.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_flags = libc::SA_NOCLDSTOP;
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGCHLD, &raw const action, &raw mut before);
            Self(before)
        }
    }

    /// Has it do this.
    pub(crate) fn set(&self) {
        // SAFETY: it is what the kernel gave.
        unsafe { libc::sigaction(libc::SIGCHLD, &raw const self.0, std::ptr::null_mut()) };
    }

    /// Whether it is ignored.
    pub(crate) fn is_ignored(&self) -> bool {
        self.0.sa_sigaction == libc::SIG_IGN
    }
}

fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(duration.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(duration.subsec_nanos()),
    }
}

/// Sends `signal` to process `pid`.
pub(crate) fn kill(pid: Tid, signal: i32) -> io::Result<()> {
    // SAFETY: plain numbers.
    if unsafe { libc::kill(pid, signal) } == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Does to this process what a stop signal, which the calling thread blocks, would have done to it; returns when the process
/// is let go on. The kernel decides whether it stops at all: nobody could let an orphaned group go on.
pub(crate) fn stop_self(signal: i32) {
    let set = SignalSet::of(&[signal]);
    // SAFETY: plain numbers and a live set. The signal has its default effect, and it is blocked again afterwards.
    unsafe {
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set.0, std::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, std::ptr::null_mut());
    }
}

/// Whether stderr is a terminal whose screen nobody has taken over: our process group is in its foreground, and it edits
/// and shows lines as they are typed (not so under an editor, a pager, or a question for a password).
pub(crate) fn is_free_terminal() -> bool {
    let mut modes = MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: plain numbers, and `modes` is live; zeroed is a valid termios.
    let modes = unsafe {
        if libc::tcgetpgrp(libc::STDERR_FILENO) != libc::getpgrp()
            || libc::tcgetattr(libc::STDERR_FILENO, modes.as_mut_ptr()) == -1
        {
            return false;
        }
        modes.assume_init()
    };
    let wanted = libc::ICANON | libc::ECHO;
    modes.c_lflag & wanted == wanted
}

/// Has all that is written to stderr go to another file.
// Only the making of a window has anybody to keep quiet.
#[cfg(feature = "viewer")]
pub(crate) fn redirect_stderr(to: std::os::fd::BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: plain numbers; nobody owns descriptor 2 so that its change could surprise them.
    if unsafe { libc::dup2(to.as_raw_fd(), libc::STDERR_FILENO) } == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Gives an open file without a name this one, which nothing has yet.
///
/// # Errors
/// What `linkat` says.
pub(crate) fn name_file(file: std::os::fd::BorrowedFd<'_>, path: &CStr) -> io::Result<()> {
    let number = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // SAFETY: both paths end in NUL and outlive the call.
    let result = unsafe {
        libc::linkat(libc::AT_FDCWD, number.as_ptr(), libc::AT_FDCWD, path.as_ptr(), libc::AT_SYMLINK_FOLLOW)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// ns on CLOCK_MONOTONIC.
pub(crate) fn monotonic_ns() -> i64 {
    clock(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// ns since 1970.
pub(crate) fn realtime_ns() -> i64 {
    clock(libc::CLOCK_REALTIME).unwrap_or(0)
}

/// CPU time of the calling process in ns.
pub(crate) fn own_cpu_ns() -> i64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0)
}

/// CPU time of process `pid` in ns, to the moment; `None` when it is gone.
pub(crate) fn process_cpu_ns(pid: Tid) -> Option<i64> {
    // The clock id of another process's CPU time, as `clock_getcpuclockid` computes it.
    clock((!pid << 3) | 2)
}

/// The process group of process `pid`; `None` when it is gone.
pub(crate) fn process_group(pid: Tid) -> Option<Tid> {
    // SAFETY: takes and gives numbers only.
    let group = unsafe { libc::getpgid(pid) };
    (group >= 0).then_some(group)
}

/// Bytes in a page of memory.
pub(crate) fn page_size() -> u64 {
    // SAFETY: takes and gives numbers only.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

fn clock(id: libc::clockid_t) -> Option<i64> {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: `time` is live; zeroed is a valid timespec.
    let time = unsafe {
        if libc::clock_gettime(id, time.as_mut_ptr()) == -1 {
            return None;
        }
        time.assume_init()
    };
    Some(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

/// What `sched_getattr` fills: the first version of the kernel's `struct sched_attr`.
#[repr(C)]
#[derive(Default)]
struct SchedulingAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Asks the scheduler to give the calling thread short turns, and so to give it one soon when it wakes (Linux 6.12 and
/// newer; others ignore it). Any user may. Who may also gets it ahead of others: where many threads are busy, its fair
/// share of the CPUs is too small to look at them a thousand times a second.
pub(crate) fn ask_for_short_turns() {
    let mut attributes = SchedulingAttributes::default();
    let size = size_of::<SchedulingAttributes>() as u32;
    // SAFETY: `attributes` is live and as long as said.
    if unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) } == -1 {
        return;
    }
    attributes.size = size;
    // The shortest that the kernel takes.
    attributes.runtime = 100_000;
    for nice in [attributes.nice.min(-10), attributes.nice] {
        attributes.nice = nice;
        // SAFETY: as above. If it is refused nothing has changed.
        if unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) } == 0 {
            break;
        }
    }
}

/// Has the calling thread run only where a processor has nothing else to do; whether that is so now.
pub(crate) fn run_only_when_idle() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameters` is live; the policy is the calling thread's alone.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) == 0 }
}

/// Raises the number of files this process may have open as far as it may; gives the limit that was in force before.
pub(crate) fn raise_file_limit() -> Option<libc::rlimit> {
    let mut limit = MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: `limit` is live; zeroed is a valid rlimit.
    let old = unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()) == -1 {
            return None;
        }
        limit.assume_init()
    };
    let raised = libc::rlimit { rlim_cur: old.rlim_max, rlim_max: old.rlim_max };
    // SAFETY: `raised` is live.
    (unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0).then_some(old)
}

/// How many files this process may have open.
pub(crate) fn file_limit() -> usize {
    let mut limit = MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: `limit` is live; zeroed is a valid rlimit.
    let limit = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr());
        limit.assume_init()
    };
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
}

/// Everything a child needs between fork and exec, prepared before: afterwards only calls that are safe in the child
/// of a program with threads are made.
pub(crate) struct Child {
    /// The path of the program.
    pub(crate) program: CString,
    /// The arguments of a shell that runs it, where it is a script that names no interpreter.
    pub(crate) shell: Option<Vec<CString>>,
    /// Its arguments, the program's name first.
    pub(crate) arguments: Vec<CString>,
    /// Its environment, as `NAME=value`.
    pub(crate) environment: Vec<CString>,
    /// Its signal mask.
    pub(crate) mask: SignalSet,
    /// Whether it ignores SIGCHLD, as we were told to.
    pub(crate) ignores_children: bool,
    /// Its limit of open files; `None` leaves ours.
    pub(crate) file_limit: Option<libc::rlimit>,
}

/// What this process was started with before Rust's runtime changed it: it ignores SIGPIPE, and opens what of stdin, stdout
/// and stderr is closed.
mod inherited {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    static IGNORES_SIGPIPE: AtomicBool = AtomicBool::new(false);
    static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

    /// The loader calls what is listed in this section before the runtime starts.
    // SAFETY: the section holds pointers to C functions.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEFORE_MAIN: extern "C" fn() = look;

    extern "C" fn look() {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: `action` is live, and a zeroed one is valid; the other calls take numbers.
        unsafe {
            libc::sigaction(libc::SIGPIPE, std::ptr::null(), action.as_mut_ptr());
            IGNORES_SIGPIPE.store(action.assume_init().sa_sigaction == libc::SIG_IGN, Relaxed);
            for (number, closed) in (0..).zip(&CLOSED) {
                closed.store(libc::fcntl(number, libc::F_GETFD) == -1, Relaxed);
            }
        }
    }

    /// Gives the calling process back what it was started with. Makes only calls that are safe after a fork.
    pub(super) fn restore() {
        let disposition = if IGNORES_SIGPIPE.load(Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: both are valid dispositions, and the descriptors are those that the runtime opened.
        unsafe {
            libc::signal(libc::SIGPIPE, disposition);
            for (number, closed) in (0..).zip(&CLOSED) {
                if closed.load(Relaxed) {
                    libc::close(number);
                }
            }
        }
    }
}

/// A child that waits to be let go.
pub(crate) struct Gated {
    /// Its process id.
    pub(crate) pid: Tid,
    gate: OwnedFd,
    report: OwnedFd,
}

impl Gated {
    /// Lets the child exec its program.
    pub(crate) fn open_gate(&self) -> io::Result<()> {
        write_byte(&self.gate)
    }

    /// The error of the child's exec; `None` if it worked, or the child ended before. Blocks until one of these is so.
    pub(crate) fn exec_error(&self) -> Option<io::Error> {
        let mut bytes = [0; 4];
        let mut filled = 0;
        while filled < bytes.len() {
            // SAFETY: the buffer is live and as long as said.
            let read = unsafe {
                libc::read(self.report.as_raw_fd(), bytes[filled..].as_mut_ptr().cast(), bytes.len() - filled)
            };
            match usize::try_from(read) {
                // End of file: exec closed the pipe, so it worked.
                Ok(0) => return None,
                Ok(read) => filled += read,
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(io::Error::from_raw_os_error(i32::from_ne_bytes(bytes)))
    }
}

fn write_byte(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: one live byte.
    let written = unsafe { libc::write(fd.as_raw_fd(), [1_u8].as_ptr().cast(), 1) };
    if written == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: room for two descriptors; on success both are new and ours.
    unsafe {
        if libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// Forks a child that waits at a gate (a pipe: no stop signal that its relatives could notice) before it execs.
///
/// # Errors
/// When the system has no room for a pipe or a process.
pub(crate) fn fork_gated(child: &Child) -> io::Result<Gated> {
    let (gate_read, gate) = pipe()?;
    let (report, report_write) = pipe()?;
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let arguments = pointers(&child.arguments);
    let shell = child.shell.as_deref().map(pointers);
    let environment = pointers(&child.environment);
    // SAFETY: the child only makes calls that are allowed after fork in a program with threads, on memory that was
    // prepared before, and never returns from this function.
    unsafe {
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // Our end of the gate must close with us, or the child would wait for ever if we die.
                libc::close(gate.as_raw_fd());
                let mut byte = 0_u8;
                loop {
                    match libc::read(gate_read.as_raw_fd(), (&raw mut byte).cast(), 1) {
                        1 => break,
                        -1 if *libc::__errno_location() == libc::EINTR => {}
                        _ => libc::_exit(127),
                    }
                }
                inherited::restore();
                if child.ignores_children {
                    libc::signal(libc::SIGCHLD, libc::SIG_IGN);
                }
                if let Some(limit) = &child.file_limit {
                    libc::setrlimit(libc::RLIMIT_NOFILE, limit);
                }
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const child.mask.0, std::ptr::null_mut());
                libc::execve(child.program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
                let error = *libc::__errno_location();
                if let Some(shell) = &shell
                    && error == libc::ENOEXEC
                {
                    libc::execve(c"/bin/sh".as_ptr(), shell.as_ptr(), environment.as_ptr());
                }
                libc::write(report_write.as_raw_fd(), error.to_ne_bytes().as_ptr().cast(), 4);
                libc::_exit(127)
            }
            pid => Ok(Gated { pid, gate, report }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_statuses_are_told_apart() {
        let stopped = |signal: i32, event: i32| (event << 16) | (signal << 8) | 0x7f;
        let cases = [
            (3 << 8, Some(WaitStatus::Exited(3))),
            (9, Some(WaitStatus::Killed(9))),
            (stopped(libc::SIGTRAP, 0), Some(WaitStatus::Signal(libc::SIGTRAP))),
            // A real-time signal that many wrappers cannot decode.
            (stopped(40, 0), Some(WaitStatus::Signal(40))),
            (stopped(libc::SIGTRAP, libc::PTRACE_EVENT_STOP), Some(WaitStatus::Stop(libc::SIGTRAP))),
            (stopped(libc::SIGTSTP, libc::PTRACE_EVENT_STOP), Some(WaitStatus::Stop(libc::SIGTSTP))),
            (stopped(libc::SIGTRAP, libc::PTRACE_EVENT_EXEC), Some(WaitStatus::Event(libc::PTRACE_EVENT_EXEC))),
            (0xffff, None),
        ];
        for (status, expected) in cases {
            assert_eq!(WaitStatus::decode(status), expected, "status {status:#x}");
        }
    }

    #[test]
    fn our_own_clock_is_reached_by_process_id() {
        let pid = Tid::try_from(std::process::id()).unwrap();
        let before = own_cpu_ns();
        let by_pid = process_cpu_ns(pid).expect("we are alive");
        // Other tests run on other CPUs meanwhile, and the kernel adds their times up one after the other.
        let slack = 100_000_000;
        assert!((before - slack..=own_cpu_ns() + slack).contains(&by_pid), "{before} {by_pid}");
        // Beyond the largest id that Linux gives.
        assert_eq!(process_cpu_ns(1 << 22), None);
    }

    #[test]
    fn memory_is_read_up_to_the_first_missing_page() {
        let pid = Tid::try_from(std::process::id()).unwrap();
        let source = [7_u8; 64];
        let mut copy = [0; 64];
        assert_eq!(read_memory(pid, source.as_ptr().addr() as u64, &mut copy), 64);
        assert_eq!(copy, source);
        assert_eq!(read_memory(pid, 8, &mut copy), 0);
    }
}
