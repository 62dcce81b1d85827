//! Known truth: processes and threads that come and go in unusual ways, by mode. Each prints its `rounds` and how many of
//! them did not end as they should as `faults`, which must be 0, and maybe more:
//! - `kinds_of_life vforks ROUNDS`: children that share the memory and end at once, with a status each
//! - `kinds_of_life exec_race ROUNDS`: a child with four threads, of which one becomes another program at once (exit status
//!   7) while the others end, start threads, or work
//! - `kinds_of_life reaped ROUNDS`: children whose end is ignored (SIGCHLD), so that the kernel waits for them: of none may
//!   anything be left
//! - `kinds_of_life groups ROUNDS`: std's `Command` (posix_spawn) starts children in process groups of their own
//! - `kinds_of_life named MS`: thread `x) S 1 2 3 (y` works for so many milliseconds; prints its `cpu_ns`
//! - `kinds_of_life dump`: a child dies of SIGABRT; prints whether it `dumped` core
//! - `kinds_of_life prof MS`: works for so many milliseconds with a profiling timer (ITIMER_PROF) of 10 ms; prints the
//!   `signals` that came
//! - `kinds_of_life tidy`: at SIGTSTP counts, as editors tidy up the terminal, and stops itself; ends at SIGINT with 10 and
//!   the count as its exit status
//! - `kinds_of_life trace_tracer`: traces and stops who traces it, if anybody, for good; prints whether it `traced`
#![expect(unsafe_code, reason = "std has no vfork, timers, or ptrace")]

use std::env;
use std::ffi::{c_int, c_void};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::SeqCst};
use std::thread;

use traceview_workloads::clock::{process_cpu_ns, thread_cpu_ns};
use traceview_workloads::signal::{handle, set_default, unblock};
use traceview_workloads::system::{exec, exit_now, fork, nap, own_pid, signal, vfork, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::churn_for;
use traceview_workloads::{arg_or, mode};

static STATUS: AtomicI32 = AtomicI32::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let truth = match mode("vforks, exec_race, reaped, groups, named, dump, prof, tidy, trace_tracer").as_str() {
        "vforks" => count(arg_or(2, 1_000), vforked),
        "exec_race" => count(arg_or(2, 100), raced),
        "reaped" => reaped(arg_or(2, 100)),
        "groups" => count(arg_or(2, 50), |_| {
            Command::new(this_program()).arg("seven").process_group(0).status().is_ok_and(|it| it.code() == Some(7))
        }),
        "named" => named(arg_or(2, 200)),
        "dump" => dump(),
        "prof" => prof(arg_or(2, 400)),
        "trace_tracer" => trace_tracer(),
        "tidy" => return tidy(),
        // What the modes above start.
        "seven" => return ExitCode::from(7),
        other => panic!("unknown mode `{other}`"),
    };
    truth.print();
    ExitCode::SUCCESS
}

fn this_program() -> String {
    let path = env::current_exe().expect("/proc is mounted");
    path.into_os_string().into_string().expect("the workloads' path is text")
}

fn count(rounds: u64, ends_well: impl Fn(u64) -> bool) -> Truth {
    let faults = (0..rounds).filter(|&round| !ends_well(round)).count() as u64;
    Truth::new().number("rounds", rounds).number("faults", faults)
}

extern "C" fn end_with_status(_: *mut c_void) -> c_int {
    STATUS.load(SeqCst)
}

fn vforked(round: u64) -> bool {
    let status = c_int::try_from(round % 256).expect("small");
    STATUS.store(status, SeqCst);
    wait_for(vfork(end_with_status), 0) == Some(status << 8)
}

fn raced(round: u64) -> bool {
    let child = fork(|| {
        // Nobody else's threads are in this copy, so no lock is held by one.
        let program = this_program();
        let others: [fn(); 3] = [|| (), || drop(thread::spawn(|| churn_for(3, 1_000_000))), || churn_for(4, 2_000_000)];
        for work in others {
            thread::spawn(work);
        }
        let execing = thread::spawn(move || {
            churn_for(5, 20_000 * (round % 10));
            exec(&program, &["seven"])
        });
        drop(execing.join());
        1
    });
    wait_for(child, 0) == Some(7 << 8)
}

fn reaped(rounds: u64) -> Truth {
    // SAFETY: ignoring is a valid disposition.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    for _ in 0..rounds {
        fork(|| 5);
    }
    let mut status = 0;
    // SAFETY: the pointer is valid for the status.
    let left = unsafe { libc::waitpid(-1, &raw mut status, 0) };
    set_default(libc::SIGCHLD);
    Truth::new().number("rounds", rounds).number("faults", u64::from(left != -1))
}

fn named(milliseconds: u64) -> Truth {
    let thread = thread::Builder::new().name("x) S 1 2 3 (y".to_owned()).spawn(move || {
        churn_for(6, milliseconds * 1_000_000);
        thread_cpu_ns()
    });
    let cpu_ns = thread.expect("threads can be started").join().expect("it doesn't panic");
    Truth::new().number("rounds", 1).number("faults", 0).number("cpu_ns", cpu_ns)
}

fn dump() -> Truth {
    let child = fork(|| {
        signal(own_pid(), libc::SIGABRT);
        1
    });
    let status = wait_for(child, 0).expect("waitpid waits");
    let good = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT;
    let truth = Truth::new().number("rounds", 1).number("faults", u64::from(!good));
    truth.number("dumped", u64::from(libc::WCOREDUMP(status)))
}

extern "C" fn see(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, SeqCst);
}

fn prof(milliseconds: u64) -> Truth {
    handle(libc::SIGPROF, see, false);
    let every = libc::timeval { tv_sec: 0, tv_usec: 10_000 };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the timer is valid; the old one is not asked for.
    assert_eq!(unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, ptr::null_mut()) }, 0, "setitimer");
    churn_for(7, milliseconds * 1_000_000);
    let expected = process_cpu_ns() / 10_000_000;
    Truth::new().number("signals", SEEN.load(SeqCst)).number("expected", expected)
}

extern "C" fn tidy_up(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, SeqCst);
    set_default(libc::SIGTSTP);
    signal(own_pid(), libc::SIGTSTP);
    // It is blocked while this handler runs: here the process stops.
    unblock(&[libc::SIGTSTP]);
    handle(libc::SIGTSTP, tidy_up, false);
}

extern "C" fn end(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    STATUS.store(1, SeqCst);
}

fn tidy() -> ExitCode {
    handle(libc::SIGTSTP, tidy_up, false);
    handle(libc::SIGINT, end, false);
    for _ in 0..6_000 {
        if STATUS.load(SeqCst) != 0 {
            break;
        }
        nap(5);
    }
    ExitCode::from(10 + u8::try_from(SEEN.load(SeqCst)).expect("a few"))
}

fn trace_tracer() -> Truth {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")?.trim().parse::<libc::pid_t>().ok());
    let tracer = tracer.filter(|&tracer| tracer != 0);
    // A plain run has nobody to trace; so much is printed before anybody can be stuck.
    let Some(tracer) = tracer else { return Truth::new().number("traced", 0) };
    // SAFETY: these requests take numbers only.
    let result = unsafe {
        if libc::ptrace(libc::PTRACE_SEIZE, tracer, 0, 0) == 0 {
            libc::ptrace(libc::PTRACE_INTERRUPT, tracer, 0, 0)
        } else {
            -1
        }
    };
    // Stopped by now; if it is not killed within ten seconds, let it go by ending.
    let end = traceview_workloads::clock::monotonic_ns() + 10_000_000_000;
    while result == 0 && traceview_workloads::clock::monotonic_ns() < end {
        nap(10);
        // SAFETY: kill with signal 0 only asks whether the thread is there.
        if unsafe { libc::kill(tracer, 0) } != 0 {
            break;
        }
        let mut status = 0;
        // SAFETY: the pointer is valid for the status.
        if unsafe { libc::waitpid(tracer, &raw mut status, libc::WNOHANG | libc::__WALL) } == tracer
            && !libc::WIFSTOPPED(status)
        {
            break;
        }
    }
    if result != 0 {
        exit_now(3);
    }
    Truth::new().number("traced", 1)
}
