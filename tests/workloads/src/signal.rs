//! Signals: handlers, masks, sending.
#![expect(unsafe_code, reason = "signal handlers and masks are only reachable through libc")]

use std::ffi::{c_int, c_void};
use std::io;
use std::mem;
use std::ptr;
use std::time::{Duration, Instant};

/// A handler that gets the signal's information. It must only do what is safe in a signal handler: atomics and
/// system calls.
pub type Handler = extern "C" fn(c_int, &libc::siginfo_t, *mut c_void);

/// Installs a handler. System calls are restarted; with `on_alternate_stack` it runs there.
pub fn handle(signal: c_int, handler: Handler, on_alternate_stack: bool) {
    install(signal, handler, libc::SA_RESTART | if on_alternate_stack { libc::SA_ONSTACK } else { 0 });
}

/// Installs a handler that ends the system call which it interrupts.
pub fn handle_without_restart(signal: c_int, handler: Handler) {
    install(signal, handler, 0);
}

fn install(signal: c_int, handler: Handler, flags: c_int) {
    // SAFETY: all bytes zero is a valid sigaction; the handler has the type that SA_SIGINFO demands.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | flags;
        check(libc::sigaction(signal, &raw const action, ptr::null_mut()), "sigaction");
    }
}

/// Gives the signal its default effect again.
pub fn set_default(signal: c_int) {
    // SAFETY: SIG_DFL is a valid disposition of every signal.
    let old = unsafe { libc::signal(signal, libc::SIG_DFL) };
    assert!(old != libc::SIG_ERR, "signal {signal} can't be set to its default");
}

/// Blocks the signals in the calling thread.
pub fn block(signals: &[c_int]) {
    change_mask(libc::SIG_BLOCK, signals);
}

/// Lets the signals through in the calling thread.
pub fn unblock(signals: &[c_int]) {
    change_mask(libc::SIG_UNBLOCK, signals);
}

fn change_mask(how: c_int, signals: &[c_int]) {
    let set = set_of(signals);
    // SAFETY: the set is valid, and no old mask is asked for.
    let result = unsafe { libc::pthread_sigmask(how, &raw const set, ptr::null_mut()) };
    assert_eq!(result, 0, "pthread_sigmask failed");
}

/// The set of these signals.
#[must_use]
pub fn set_of(signals: &[c_int]) -> libc::sigset_t {
    // SAFETY: all bytes zero is a valid (empty) set, and the numbers are those of signals.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        for &signal in signals {
            check(libc::sigaddset(&raw mut set, signal), "sigaddset");
        }
        set
    }
}

/// Sends a signal to this process: any thread that does not block it may take it.
pub fn send_to_process(signal: c_int) {
    // SAFETY: kill has no memory effects; the handler is in place.
    check(unsafe { libc::kill(libc::getpid(), signal) }, "kill");
}

/// Sends a signal to one thread of this process.
pub fn send_to_thread(thread: libc::pid_t, signal: c_int) {
    // SAFETY: tgkill has no memory effects; the handler is in place.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal) };
    assert_eq!(result, 0, "tgkill failed");
}

/// Queues a real-time signal with a number for this process; waits while the queue is full.
pub fn queue(signal: c_int, number: usize) {
    let value = libc::sigval { sival_ptr: ptr::without_provenance_mut(number) };
    loop {
        // SAFETY: sigqueue copies the value, which is used as a number only.
        if unsafe { libc::sigqueue(libc::getpid(), signal, value) } == 0 {
            return;
        }
        let error = io::Error::last_os_error();
        assert_eq!(error.raw_os_error(), Some(libc::EAGAIN), "sigqueue: {error}");
        std::thread::yield_now();
    }
}

/// The number that came with a queued signal.
#[must_use]
pub fn queued_number(info: &libc::siginfo_t) -> usize {
    // SAFETY: the kernel fills these bytes for signals of every kind, and any value is one.
    unsafe { info.si_value().sival_ptr.addr() }
}

/// The calling thread's kernel id.
#[must_use]
pub fn thread_id() -> libc::pid_t {
    // SAFETY: gettid only returns a number.
    unsafe { libc::gettid() }
}

/// Executes a breakpoint instruction: SIGTRAP.
pub fn breakpoint() {
    // SAFETY: the kernel delivers SIGTRAP, for which the caller has a handler; execution goes on behind the instruction.
    unsafe { std::arch::asm!("int3") };
}

/// Gives the calling thread an alternate stack of this many bytes, for ever, and returns its address.
#[must_use]
pub fn alternate_stack(bytes: usize) -> usize {
    let mut stack = AlternateStack::new(bytes);
    stack.install();
    stack.0.as_ptr().addr()
}

/// Memory for signal handlers to run on.
#[derive(Debug)]
pub struct AlternateStack(&'static mut [u8]);

impl AlternateStack {
    /// This many bytes, which are never freed.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(Box::leak(vec![0_u8; bytes].into_boxed_slice()))
    }

    /// Makes it that of the calling thread.
    pub fn install(&mut self) {
        let stack = libc::stack_t { ss_sp: self.0.as_mut_ptr().cast(), ss_flags: 0, ss_size: self.0.len() };
        // SAFETY: the memory is leaked, so it lives as long as the thread.
        check(unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) }, "sigaltstack");
    }
}

/// Waits until the condition holds, without sleeping. Returns whether it came true within half a minute: what is lost
/// must end as a wrong count, not as a test that hangs. (On a very busy machine 2,000 signals can take some seconds.)
pub fn wait_until(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn check(result: c_int, call: &str) {
    assert_eq!(result, 0, "{call}: {}", io::Error::last_os_error());
}
