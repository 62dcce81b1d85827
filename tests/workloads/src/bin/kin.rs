//! Known truth: who started and waited for whom, as lists of `WAITER:WAITED-FOR` ids of threads or processes.
//! - `kin threads N MS`: 20 threads, started and joined by main, each start and join one thread after the other until there
//!   were N of those; each lies in a sleep of MS milliseconds (`lie_asleep`). `joiners` and `sleepers` list them
//! - `kin processes N MS`: four threads start N processes, each in its own way (`spawned` by std's `Command`, `forked`,
//!   `vforked`: sharing memory, `any`: forked, and waited for by a wait for any child), one after the other; each sleeps for
//!   MS milliseconds
//! - `kin lone MS`: a thread that nobody joins, and a thread and a process that ended MS milliseconds before somebody waits

use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{env, iter};

use traceview_workloads::signal::thread_id;
use traceview_workloads::system::{Pid, fork, nap, vfork, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::{arg_or, mode};

const JOINERS: usize = 20;

/// The nap of a child that shares memory: it can't be told how long.
const VFORK_NAP_MS: i64 = 5;

type Pairs = Vec<(Pid, Pid)>;

fn main() {
    match mode("threads, processes, lone").as_str() {
        "threads" => threads(arg_or(2, 1000), arg_or(3, 20)),
        "processes" => processes(arg_or(2, 100), arg_or(3, 20)),
        "lone" => lone(arg_or(2, 50)),
        // What `processes` starts.
        "nap" => nap(arg_or(2, 20)),
        other => panic!("unknown mode `{other}`"),
    }
}

fn threads(count: usize, ms: i64) {
    let joiners: Vec<_> =
        (0..JOINERS).map(|index| thread::spawn(move || start_and_join(share(count, JOINERS, index), ms))).collect();
    let (mut of_main, mut all) = (Pairs::new(), Pairs::new());
    for joiner in joiners {
        let (joiner, pairs) = joiner.join().expect("the thread doesn't panic");
        of_main.push((thread_id(), joiner));
        all.extend(pairs);
    }
    Truth::new().text("joiners", &list(&of_main)).text("sleepers", &list(&all)).print();
}

/// How many of `count` things the `index`th of `parts` gets.
fn share(count: usize, parts: usize, index: usize) -> usize {
    count / parts + usize::from(index < count % parts)
}

#[inline(never)]
fn start_and_join(count: usize, ms: i64) -> (Pid, Pairs) {
    let me = thread_id();
    let sleepers = iter::repeat_with(|| {
        let sleeper = thread::spawn(move || lie_asleep(ms));
        (me, sleeper.join().expect("the thread doesn't panic"))
    });
    (me, sleepers.take(count).collect())
}

#[inline(never)]
fn lie_asleep(ms: i64) -> Pid {
    nap(ms);
    black_box(thread_id())
}

fn processes(count: usize, ms: i64) {
    let start = |index, way: fn(i64) -> Pid| {
        let count = share(count, 4, index);
        thread::spawn(move || -> Pairs {
            let me = thread_id();
            iter::repeat_with(|| (me, way(ms))).take(count).collect()
        })
    };
    let pairs = |thread: JoinHandle<Pairs>| list(&thread.join().expect("the thread doesn't panic"));
    let [spawned, forked, vforked] = [start(0, by_spawn), start(1, by_fork), start(2, by_vfork)].map(pairs);
    // A wait for any child must not take those of others.
    let any = pairs(start(3, by_fork_and_any));
    let truth = Truth::new().text("spawned", &spawned).text("forked", &forked).text("vforked", &vforked);
    truth.text("any", &any).print();
}

#[inline(never)]
fn by_spawn(ms: i64) -> Pid {
    let program = env::current_exe().expect("/proc is mounted");
    let mut child = Command::new(program).args(["nap", &ms.to_string()]).spawn().expect("it is there");
    child.wait().expect("it is our child");
    child.id().cast_signed()
}

#[inline(never)]
fn by_fork(ms: i64) -> Pid {
    let child = fork(|| {
        nap(ms);
        3
    });
    assert_eq!(wait_for(child, 0), Some(3 << 8));
    child
}

#[inline(never)]
fn by_vfork(_: i64) -> Pid {
    let child = vfork(nap_in_vforked_child);
    assert_eq!(wait_for(child, 0), Some(0));
    child
}

extern "C" fn nap_in_vforked_child(_: *mut c_void) -> c_int {
    nap(VFORK_NAP_MS);
    0
}

#[inline(never)]
fn by_fork_and_any(ms: i64) -> Pid {
    let child = fork(|| {
        nap(ms);
        0
    });
    assert_eq!(wait_for(-1, 0), Some(0));
    child
}

fn lone(ms: i64) {
    let alone = thread::spawn(move || lie_asleep(1));
    drop(alone);
    let early = thread::spawn(move || lie_asleep(1));
    let child = fork(|| 7);
    thread::sleep(Duration::from_millis(ms.unsigned_abs()));
    early.join().expect("the thread doesn't panic");
    assert_eq!(wait_for(child, 0), Some(7 << 8));
    Truth::new().number("child", u64::from(child.unsigned_abs())).print();
}

fn list(pairs: &Pairs) -> String {
    let mut text = String::new();
    for (waiter, awaited) in pairs {
        write!(text, "{waiter}:{awaited} ").expect("a String takes any text");
    }
    text
}
