//! Known truth: sleeps of 30 ms on each kind of thing, by one thread each, named after the thing. Prints the addresses and
//! ports that the recorder cannot know from the outside:
//! `tcp` (the peer that is read from), `listener` (what is accepted from), `udp` (bound), `futex` (the word)
#![expect(unsafe_code, reason = "std waits neither on several descriptors nor on a futex whose address is known")]

use std::ffi::c_int;
use std::fs;
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::thread::{self, Scope};
use std::time::Duration;

use traceview_workloads::truth::Truth;

const SLEEP: Duration = Duration::from_millis(30);

/// How often each sleeps.
const ROUNDS: usize = 4;

static WORD: AtomicU32 = AtomicU32::new(0);

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    let client = TcpStream::connect(address).expect("it listens");
    let (accepted, _) = listener.accept().expect("there is a client");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("there is a free port");
    let bound = udp.local_addr().expect("it is bound");
    let path = std::env::temp_dir().join(format!("waits-on-{}.sock", std::process::id()));
    let unix_listener = UnixListener::bind(&path).expect("the path is free");
    let (unnamed, _other_end) = UnixStream::pair().expect("there are descriptors");
    let (pipe, _writer) = io::pipe().expect("there are descriptors");
    // SAFETY: numbers only; each gives a new descriptor.
    let (event, timer, watch, poller) = unsafe {
        (
            owned(libc::eventfd(0, 0)),
            owned(libc::timerfd_create(libc::CLOCK_MONOTONIC, 0)),
            owned(libc::inotify_init1(0)),
            owned(libc::epoll_create1(0)),
        )
    };
    client.set_read_timeout(Some(SLEEP)).expect("a timeout");
    udp.set_read_timeout(Some(SLEEP)).expect("a timeout");
    thread::scope(|scope| {
        each(scope, "tcp", || drop((&client).read(&mut [0])));
        each(scope, "udp", || drop(udp.recv(&mut [0])));
        each(scope, "listener", || poll(&[listener.as_raw_fd()]));
        each(scope, "unix-listener", || poll(&[unix_listener.as_raw_fd()]));
        each(scope, "unix", || poll(&[unnamed.as_raw_fd()]));
        each(scope, "pipe", || poll(&[pipe.as_raw_fd()]));
        each(scope, "eventfd", || poll(&[event.as_raw_fd()]));
        each(scope, "timerfd", || poll(&[timer.as_raw_fd()]));
        each(scope, "inotify", || poll(&[watch.as_raw_fd()]));
        each(scope, "several", || poll(&[event.as_raw_fd(), -1, timer.as_raw_fd(), pipe.as_raw_fd()]));
        each(scope, "select", || select(timer.as_raw_fd()));
        each(scope, "epoll", || epoll(poller.as_raw_fd()));
        each(scope, "futex", futex);
    });
    drop(accepted);
    fs::remove_file(&path).expect("it is ours");
    Truth::new()
        .text("tcp", &address.to_string())
        .text("listener", &address.to_string())
        .text("udp", &bound.to_string())
        .text("unix", &path.display().to_string())
        .text("futex", &format!("{:#x}", WORD.as_ptr().addr()))
        .print();
}

/// Starts a thread that sleeps.
fn each<'scope>(scope: &'scope Scope<'scope, '_>, name: &str, sleep: impl Fn() + Send + 'scope) {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn_scoped(scope, move || (0..ROUNDS).for_each(|_| sleep())).expect("a thread starts");
}

/// # Safety
/// The descriptor is the caller's.
unsafe fn owned(fd: c_int) -> OwnedFd {
    assert!(fd >= 0, "{}", io::Error::last_os_error());
    // SAFETY: the caller says so.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn milliseconds() -> c_int {
    c_int::try_from(SLEEP.as_millis()).expect("short")
}

fn poll(descriptors: &[RawFd]) {
    let entry = |fd: &RawFd| libc::pollfd { fd: *fd, events: libc::POLLIN, revents: 0 };
    let mut list: Vec<libc::pollfd> = descriptors.iter().map(entry).collect();
    // SAFETY: the list is as long as said.
    unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, milliseconds()) };
}

fn select(descriptor: RawFd) {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: SLEEP.subsec_micros().into() };
    // SAFETY: the set is initialized, and the descriptor small enough for it.
    unsafe {
        let mut set: libc::fd_set = std::mem::zeroed();
        libc::FD_SET(descriptor, &raw mut set);
        libc::select(descriptor + 1, &raw mut set, ptr::null_mut(), ptr::null_mut(), &raw mut time);
    }
}

fn epoll(epoll: RawFd) {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    // SAFETY: there is room for the one event that is asked for.
    unsafe { libc::epoll_wait(epoll, &raw mut event, 1, milliseconds()) };
}

fn futex() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: SLEEP.subsec_nanos().into() };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is static and nobody wakes it; the time is valid.
    unsafe { libc::syscall(libc::SYS_futex, WORD.as_ptr(), operation, 0, &raw const time) };
}
