//! What any sampler by ptrace must spend here: a program's busiest thread is stopped at 1 kHz for its registers and 4 KiB of
//! its stack, by a thread that does nothing else and keeps nothing. Not a workload, but the measure that the recorder's own
//! cost is held against, as wake-ups and interrupts between CPUs cost ten times as much on one machine as on another.
//!
//! Usage: `floor SECONDS PROGRAM [ARGS]`: the program must run for longer than that
#![expect(unsafe_code, reason = "ptrace is only reachable through libc")]

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::process::{Command, Stdio};
use std::ptr;
use std::thread;
use std::time::Duration;

use traceview_workloads::arg_or;
use traceview_workloads::clock::{monotonic_ns, process_cpu_ns};
use traceview_workloads::system::Pid;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::seconds;

const PERIOD: Duration = Duration::from_millis(1);

fn main() {
    let duration = seconds(arg_or(1, 2.0));
    let mut command = std::env::args_os().skip(2);
    let program = command.next().expect("a program");
    let mut child = Command::new(program).args(command).stdout(Stdio::null()).spawn().expect("the program starts");
    // It starts its threads, and one of them gets ahead.
    thread::sleep(Duration::from_millis(300));
    let threads: Vec<Pid> = fs::read_dir(format!("/proc/{}/task", child.id()))
        .expect("it runs")
        .map(|entry| entry.expect("it runs").file_name().to_string_lossy().parse().expect("a thread id"))
        .collect();
    for &thread in &threads {
        request(libc::PTRACE_SEIZE, thread, ptr::null_mut());
    }
    let busiest = threads.into_iter().max_by_key(|&thread| cpu_ns(child.id(), thread)).expect("it has threads");

    let (start, cpu_start) = (monotonic_ns(), process_cpu_ns());
    let mut stops = Vec::new();
    while monotonic_ns() < start + duration {
        thread::sleep(PERIOD);
        let asked = monotonic_ns();
        stop_and_look(busiest);
        stops.push(monotonic_ns() - asked);
    }
    let (cpu, wall) = (process_cpu_ns() - cpu_start, monotonic_ns() - start);
    child.kill().expect("it runs");
    child.wait().expect("it is our child");
    stops.sort_unstable();
    Truth::new()
        .number("cpu_ns", cpu)
        .number("wall_ns", wall)
        .number("stops", u64::try_from(stops.len()).expect("few"))
        .number("stop_median_ns", stops.get(stops.len() / 2).copied().expect("there were some"))
        .print();
}

fn cpu_ns(process: u32, thread: Pid) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/task/{thread}/schedstat")).expect("it runs");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
}

fn stop_and_look(thread: Pid) {
    request(libc::PTRACE_INTERRUPT, thread, ptr::null_mut());
    let mut status = 0;
    // SAFETY: the pointer is valid for the status.
    let stopped = unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL) };
    assert_eq!(stopped, thread, "waitpid: {}", io::Error::last_os_error());
    let mut registers = MaybeUninit::<libc::user_regs_struct>::uninit();
    request(libc::PTRACE_GETREGS, thread, registers.as_mut_ptr().cast());
    // SAFETY: the kernel filled it, or the request had failed.
    let stack = unsafe { registers.assume_init() }.rsp;
    let mut bytes = [0_u8; 4096];
    let into = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let from = libc::iovec { iov_base: ptr::with_exposed_provenance_mut(stack as usize), iov_len: bytes.len() };
    // SAFETY: `into` is valid for writes of its length, and the kernel checks `from`, which is of the other process.
    let copied = unsafe { libc::process_vm_readv(thread, &raw const into, 1, &raw const from, 1, 0) };
    assert!(copied > 0, "process_vm_readv: {}", io::Error::last_os_error());
    request(libc::PTRACE_CONT, thread, ptr::null_mut());
}

/// A request without an address, and with `data`.
fn request(request: libc::c_uint, thread: Pid, data: *mut libc::c_void) {
    // SAFETY: `data` is what the kernel expects for the request: nothing, or room for registers.
    let result = unsafe { libc::ptrace(request, thread, ptr::null_mut::<libc::c_void>(), data) };
    assert_eq!(result, 0, "ptrace({request:#x}): {}", io::Error::last_os_error());
}
