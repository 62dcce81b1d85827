//! A terminal and a shell of a few lines: runs a command in the foreground of a pseudo-terminal, types Ctrl-Z and takes note
//! that the job stopped, lets it go on in the foreground as `fg` does, so many times, and types Ctrl-C in the end. Prints how
//! often the job `stopped`, and its exit status as `code` (128+N for a signal).
//!
//! Usage: `terminal ROUNDS PROGRAM [ARGS…]`
#![expect(unsafe_code, reason = "std knows no terminals and no job control")]

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::process::Command;
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use std::os::unix::process::CommandExt as _;

use traceview_workloads::arg_or;
use traceview_workloads::signal::set_default;
use traceview_workloads::system::{Pid, fork, new_process_group, own_pid, wait_for};
use traceview_workloads::truth::Truth;

/// What the keys send.
const CTRL_C: u8 = 3;
const CTRL_Z: u8 = 26;

/// For the job to do something in the foreground.
const TURN: Duration = Duration::from_millis(200);

fn main() {
    let (mut answers, answer) = io::pipe().expect("pipes can be made");
    let (mut wishes, wish) = io::pipe().expect("pipes can be made");
    let mut master = 0;
    // SAFETY: the number is live; nothing else is asked for. No other thread is there yet.
    let child = unsafe { libc::forkpty(&raw mut master, ptr::null_mut(), ptr::null(), ptr::null()) };
    assert!(child >= 0, "forkpty: {}", io::Error::last_os_error());
    if child == 0 {
        drop((answers, wishes));
        shell(wish, answer);
        return;
    }
    drop((answer, wish));
    // SAFETY: the descriptor is new and ours.
    let mut terminal = unsafe { File::from_raw_fd(master) };
    let mut screen = terminal.try_clone().expect("descriptors can be copied");
    // What is not read would hold up who writes it.
    thread::spawn(move || io::copy(&mut screen, &mut io::sink()));
    let mut key = [0];
    while wishes.read(&mut key).expect("a pipe can be read") == 1 {
        terminal.write_all(&key).expect("the terminal is there");
    }
    let mut truth = String::new();
    answers.read_to_string(&mut truth).expect("the shell writes text");
    io::stdout().write_all(truth.as_bytes()).expect("stdout is open");
    wait_for(child, 0);
}

/// Types keys by wishing for them.
fn shell(mut keys: impl Write, mut answer: impl Write) {
    // Who is in the background may choose the foreground.
    // SAFETY: ignoring is a valid disposition.
    unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
    let rounds: u64 = arg_or(1, 3);
    let mut words = env::args_os().skip(2);
    let program = words.next().expect("the second argument is a program");
    let job = fork(|| {
        new_process_group();
        to_foreground(own_pid());
        set_default(libc::SIGTTOU);
        let error = Command::new(&program).args(words).exec();
        panic!("{}: {error}", program.display());
    });
    let mut stopped = 0;
    for _ in 0..rounds {
        thread::sleep(TURN);
        keys.write_all(&[CTRL_Z]).expect("the terminal is there");
        stopped += u64::from(hears(job, libc::WUNTRACED).is_some_and(|status| libc::WIFSTOPPED(status)));
        to_foreground(own_pid());
        thread::sleep(TURN / 4);
        to_foreground(job);
        // SAFETY: numbers only.
        unsafe { libc::killpg(job, libc::SIGCONT) };
    }
    thread::sleep(TURN);
    keys.write_all(&[CTRL_C]).expect("the terminal is there");
    let code = match hears(job, 0) {
        Some(status) if libc::WIFEXITED(status) => libc::WEXITSTATUS(status),
        Some(status) => 128 + libc::WTERMSIG(status),
        None => {
            // SAFETY: numbers only.
            unsafe { libc::killpg(job, libc::SIGKILL) };
            -1
        }
    };
    let code = u64::try_from(code).unwrap_or(u64::MAX);
    let truth = Truth::new().number("rounds", rounds).number("stopped", stopped).number("code", code);
    answer.write_all(truth.to_json().as_bytes()).expect("the terminal reads this");
}

fn to_foreground(group: Pid) {
    // SAFETY: numbers only. The job does the same; who comes second changes nothing.
    unsafe { libc::tcsetpgrp(0, group) };
}

/// What waitpid reports within some seconds.
fn hears(job: Pid, flags: i32) -> Option<i32> {
    let end = Instant::now() + Duration::from_secs(15);
    while Instant::now() < end {
        if let Some(status) = wait_for(job, flags | libc::WNOHANG) {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}
