//! Known truth: while main waits in `epoll_wait`, children send it signals that mean nothing to it (SIGWINCH and, by
//! ending, SIGCHLD, neither with a handler), so no wait may end before its time: `eintr` is 0 of `waits`.
//!
//! Usage: `ignored_signals [WAITS, default 50]`
#![expect(unsafe_code, reason = "epoll has no safe wrapper in the standard library")]

use std::io;

use traceview_workloads::arg_or;
use traceview_workloads::system::{fork, nap, own_pid, signal, wait_for};
use traceview_workloads::truth::Truth;

fn main() {
    let waits: u64 = arg_or(1, 50);
    let main = own_pid();
    // SAFETY: no memory is involved.
    let epoll = unsafe { libc::epoll_create1(0) };
    assert!(epoll >= 0, "epoll_create1: {}", io::Error::last_os_error());
    let mut eintr = 0;
    for _ in 0..waits {
        let child = fork(|| {
            nap(2);
            signal(main, libc::SIGWINCH);
            nap(2);
            0
        });
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: there is room for the one event that is asked for.
        let ready = unsafe { libc::epoll_wait(epoll, &raw mut event, 1, 10) };
        eintr += u64::from(ready == -1 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted);
        wait_for(child, 0);
    }
    Truth::new().number("waits", waits).number("eintr", eintr).print();
}
