//! Known truth: things that programs may rely on and that tracing makes hard, by mode. Each prints its `rounds` and how many
//! of them went wrong as `faults`, which must be 0:
//! - `corners storm SIGNAL ROUNDS`: while `epoll_wait` waits 30 ms a child sends a signal every 2 ms that means nothing to
//!   this program (28: SIGWINCH, 17: SIGCHLD, 18: SIGCONT); a wait that fails, or lasts for less than 30 ms, or for more than
//!   200 (long enough for a busy machine, but a timeout that begins anew at each signal never ends), is a fault
//! - `corners filtered ROUNDS`: a filter refuses `restart_syscall`, which the program never makes; a `poll` that fails is a
//!   fault
//! - `corners wanted ROUNDS`: a signal is only let in by `epoll_pwait`, which it must end; a wait that does not is a fault
//! - `corners pidfd ROUNDS`: a child whose pidfd says that it ended, but of which `waitpid` does not know, is a fault
//! - `corners orphan`: lives for 600 ms, and asked to be sent SIGTERM should its parent end before; prints `faults` 0
//! - `corners sleeps ROUNDS`: `nanosleep` with a signal in the middle of every other one; a sleep that ends early without a
//!   signal, or whose rest is not what is missing of it, is a fault
#![expect(unsafe_code, reason = "std retries what is observed here, and has no filters and no pidfds")]

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use traceview_workloads::clock::monotonic_ns;
use traceview_workloads::signal::{self, block, handle_without_restart, set_of};
use traceview_workloads::system::{Pid, forbid_call, fork, nap, own_pid, signal as send, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{Random, churn, steps_per_us};
use traceview_workloads::{arg_or, mode};

static SEEN: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, SeqCst);
}

fn main() {
    let (rounds, faults) = match mode("storm, filtered, wanted, pidfd, orphan, sleeps").as_str() {
        "storm" => storm(arg_or(2, libc::SIGWINCH), arg_or(3, 20)),
        "filtered" => filtered(arg_or(2, 200)),
        "wanted" => wanted(arg_or(2, 500)),
        "pidfd" => pidfd(arg_or(2, 50)),
        "orphan" => orphan(),
        "sleeps" => sleeps(arg_or(2, 60)),
        other => panic!("unknown mode `{other}`"),
    };
    Truth::new().number("rounds", rounds).number("faults", faults).print();
}

fn new_epoll() -> c_int {
    // SAFETY: no memory is involved.
    let epoll = unsafe { libc::epoll_create1(0) };
    assert!(epoll >= 0, "epoll_create1: {}", io::Error::last_os_error());
    epoll
}

fn storm(number: c_int, rounds: u64) -> (u64, u64) {
    let (epoll, this) = (new_epoll(), own_pid());
    let child = fork(|| {
        // Until it is killed; ten seconds at most.
        for _ in 0..5_000 {
            nap(2);
            send(this, number);
        }
        0
    });
    let end = monotonic_ns() + 4_000_000_000;
    let (mut waited, mut faults) = (0, 0);
    while waited < rounds && monotonic_ns() < end {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let start = monotonic_ns();
        // SAFETY: there is room for the one event that is asked for.
        let ready = unsafe { libc::epoll_wait(epoll, &raw mut event, 1, 30) };
        let took = monotonic_ns() - start;
        waited += 1;
        faults += u64::from(ready != 0 || !(30_000_000..200_000_000).contains(&took));
    }
    send(child, libc::SIGKILL);
    wait_for(child, 0);
    (waited, faults + rounds - waited)
}

fn filtered(rounds: u64) -> (u64, u64) {
    forbid_call(libc::SYS_restart_syscall);
    let steps = steps_per_us();
    let mut random = Random::new(3);
    let mut faults = 0;
    for _ in 0..rounds {
        black_box(churn(1, steps * random.between(1, 400)));
        // SAFETY: no descriptors are passed.
        faults += u64::from(unsafe { libc::poll(ptr::null_mut(), 0, 2) } != 0);
    }
    (rounds, faults)
}

fn wanted(rounds: u64) -> (u64, u64) {
    handle_without_restart(libc::SIGUSR1, count);
    block(&[libc::SIGUSR1]);
    let (epoll, waiter) = (new_epoll(), signal::thread_id());
    let nothing = set_of(&[]);
    let steps = steps_per_us();
    let mut random = Random::new(5);
    let mut faults = 0;
    for round in 0..rounds {
        let delay = steps * random.between(1, 300);
        let sender = thread::spawn(move || {
            black_box(churn(2, delay));
            signal::send_to_thread(waiter, libc::SIGUSR1);
        });
        black_box(churn(1, steps * random.between(1, 200)));
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: there is room for the one event that is asked for, and the mask is valid.
        let ready = unsafe { libc::epoll_pwait(epoll, &raw mut event, 1, 1_000, &raw const nothing) };
        let interrupted = ready == -1 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        faults += u64::from(!interrupted || SEEN.load(SeqCst) != round + 1);
        sender.join().expect("the sender doesn't panic");
    }
    (rounds, faults)
}

fn pidfd(rounds: u64) -> (u64, u64) {
    let mut faults = 0;
    for _ in 0..rounds {
        let child: Pid = fork(|| {
            nap(1);
            3
        });
        // SAFETY: numbers only; the descriptor is closed below.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) };
        let fd = c_int::try_from(fd).expect("descriptors are small");
        let mut ended = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry is passed.
        assert_eq!(unsafe { libc::poll(&raw mut ended, 1, 10_000) }, 1, "the child ends");
        if wait_for(child, libc::WNOHANG).is_none() {
            faults += 1;
            wait_for(child, 0);
        }
        // SAFETY: it is ours.
        unsafe { libc::close(fd) };
    }
    (rounds, faults)
}

fn orphan() -> (u64, u64) {
    // SAFETY: numbers only.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) }, 0, "prctl");
    (0..60).for_each(|_| nap(10));
    (1, 0)
}

fn sleeps(rounds: u64) -> (u64, u64) {
    const SLEEP_NS: i64 = 4_000_000;
    handle_without_restart(libc::SIGUSR1, count);
    let sleeper = signal::thread_id();
    let steps = steps_per_us();
    let mut random = Random::new(7);
    let mut faults = 0;
    for round in 0..rounds {
        black_box(churn(1, steps * random.between(1, 400)));
        let sender = (round % 2 == 1).then(|| {
            thread::spawn(move || {
                nap(2);
                signal::send_to_thread(sleeper, libc::SIGUSR1);
            })
        });
        let time = libc::timespec { tv_sec: 0, tv_nsec: SLEEP_NS };
        let mut rest = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let start = monotonic_ns();
        // SAFETY: both times are live and valid.
        let result = unsafe { libc::nanosleep(&raw const time, &raw mut rest) };
        let took = i64::try_from(monotonic_ns() - start).expect("short");
        let good = match result {
            0 => took >= SLEEP_NS,
            // The rest is exact when the signal comes; until the clock is read more time passes.
            _ => sender.is_some() && rest.tv_sec == 0 && took + rest.tv_nsec >= SLEEP_NS - 100_000,
        };
        faults += u64::from(!good);
        if let Some(sender) = sender {
            sender.join().expect("the sender doesn't panic");
        }
    }
    (rounds, faults)
}
