//! System calls that wait with a timeout and end by it, one function each: what they gave back, and how long it took.
//!
//! The first six are those that the kernel does not restart after a stop of the thread; a recorder that stops a thread
//! in one of them makes the program see `EINTR`.
#![expect(unsafe_code, reason = "std hides EINTR and the exact timeouts, which are what is observed here")]

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::ptr;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use crate::clock::timespec;
use crate::signal::set_of;

/// A wait: returns 0 or more for the end that is expected, -1 with `errno` otherwise.
type Call = fn(&Things, Duration) -> i64;

/// A kind of call.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The error with which it says that the time is over; 0 if it says so by returning normally.
    pub timeout_errno: i32,
    call: Call,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As it should.
    TimedOut,
    /// By `EINTR`.
    Interrupted,
    /// By another error.
    Failed(i32),
}

/// All kinds.
pub const KINDS: [Kind; 14] = [
    Kind { name: "epoll_wait", timeout_errno: 0, call: epoll_wait },
    Kind { name: "epoll_pwait2", timeout_errno: 0, call: epoll_pwait2 },
    Kind { name: "sigtimedwait", timeout_errno: libc::EAGAIN, call: sigtimedwait },
    Kind { name: "semtimedop", timeout_errno: libc::EAGAIN, call: semtimedop },
    Kind { name: "recv", timeout_errno: libc::EAGAIN, call: recv },
    Kind { name: "accept", timeout_errno: libc::EAGAIN, call: accept },
    Kind { name: "nanosleep", timeout_errno: 0, call: nanosleep },
    Kind { name: "clock_nanosleep", timeout_errno: 0, call: clock_nanosleep },
    Kind { name: "poll", timeout_errno: 0, call: poll },
    Kind { name: "ppoll", timeout_errno: 0, call: ppoll },
    Kind { name: "select", timeout_errno: 0, call: select },
    Kind { name: "futex", timeout_errno: libc::ETIMEDOUT, call: futex_wait },
    Kind { name: "futex_absolute", timeout_errno: libc::ETIMEDOUT, call: futex_wait_until },
    Kind { name: "pipe_read", timeout_errno: 0, call: pipe_read },
];

impl Kind {
    /// Makes the call once.
    #[must_use]
    pub fn run(&self, things: &Things, timeout: Duration) -> End {
        if (self.call)(things, timeout) >= 0 {
            // What should have ended by an error ended too well.
            return if self.timeout_errno == 0 { End::TimedOut } else { End::Failed(0) };
        }
        match io::Error::last_os_error().raw_os_error().unwrap_or(0) {
            libc::EINTR => End::Interrupted,
            errno if errno == self.timeout_errno => End::TimedOut,
            errno => End::Failed(errno),
        }
    }
}

/// The things that the calls wait for. Nothing ever happens to them, except that the pipe gets a byte when asked.
pub struct Things {
    epoll: OwnedFd,
    semaphore: i32,
    stream: UnixStream,
    _other_end: UnixStream,
    listener: UnixListener,
    pipe: File,
    feeder: Sender<Duration>,
    word: u32,
}

impl Things {
    /// Creates them.
    ///
    /// # Panics
    /// When the kernel refuses one.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: these calls take numbers only, and the new descriptor has no other owner.
        let (epoll, semaphore) = unsafe {
            let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            assert!(epoll >= 0, "epoll_create1: {}", io::Error::last_os_error());
            let semaphore = libc::semget(libc::IPC_PRIVATE, 1, 0o600);
            assert!(semaphore >= 0, "semget: {}", io::Error::last_os_error());
            (OwnedFd::from_raw_fd(epoll), semaphore)
        };
        let (stream, other_end) = UnixStream::pair().expect("socket pairs can be made");
        // A name of the abstract kind leaves no file behind.
        let address = SocketAddr::from_abstract_name(format!("tv-{}", std::process::id()));
        let listener = UnixListener::bind_addr(&address.expect("the name is short")).expect("the name is free");
        let (reader, writer) = io::pipe().expect("pipes can be made");
        let (feeder, requests) = channel::<Duration>();
        let mut writer = File::from(OwnedFd::from(writer));
        let feed = move || {
            for delay in requests {
                thread::sleep(delay);
                writer.write_all(b"x").expect("the reader is there");
            }
        };
        thread::Builder::new().name("tv-feeder".to_owned()).spawn(feed).expect("threads can be started");
        Self {
            epoll,
            semaphore,
            stream,
            _other_end: other_end,
            listener,
            pipe: File::from(OwnedFd::from(reader)),
            feeder,
            word: 0,
        }
    }
}

impl Default for Things {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Things {
    fn drop(&mut self) {
        // SAFETY: removes the semaphore that `new` created; the fourth argument is not used.
        unsafe { libc::semctl(self.semaphore, 0, libc::IPC_RMID) };
    }
}

fn milliseconds(timeout: Duration) -> i32 {
    i32::try_from(timeout.as_millis()).expect("short timeouts")
}

fn epoll_wait(things: &Things, timeout: Duration) -> i64 {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    // SAFETY: there is room for the one event that is asked for.
    unsafe { libc::epoll_wait(things.epoll.as_raw_fd(), &raw mut event, 1, milliseconds(timeout)).into() }
}

fn epoll_pwait2(things: &Things, timeout: Duration) -> i64 {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    let time = timespec(timeout);
    let no_mask = ptr::null::<libc::sigset_t>();
    // SAFETY: there is room for the one event that is asked for; the time is valid.
    unsafe {
        let epoll = things.epoll.as_raw_fd();
        libc::syscall(libc::SYS_epoll_pwait2, epoll, &raw mut event, 1, &raw const time, no_mask, 8)
    }
}

fn sigtimedwait(_: &Things, timeout: Duration) -> i64 {
    let set = set_of(&[libc::SIGURG]);
    let time = timespec(timeout);
    // SAFETY: set and time are valid; the information is not asked for.
    unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const time).into() }
}

fn semtimedop(things: &Things, timeout: Duration) -> i64 {
    let mut take = libc::sembuf { sem_num: 0, sem_op: -1, sem_flg: 0 };
    let time = timespec(timeout);
    // SAFETY: one operation is passed, and the time is valid. (The libc crate has no wrapper.)
    unsafe { libc::syscall(libc::SYS_semtimedop, things.semaphore, &raw mut take, 1, &raw const time) }
}

fn recv(things: &Things, timeout: Duration) -> i64 {
    things.stream.set_read_timeout(Some(timeout)).expect("a timeout can be set");
    let mut byte = 0_u8;
    // SAFETY: there is room for the one byte that is asked for.
    unsafe { libc::recv(things.stream.as_raw_fd(), (&raw mut byte).cast(), 1, 0) as i64 }
}

fn accept(things: &Things, timeout: Duration) -> i64 {
    let time = libc::timeval { tv_sec: 0, tv_usec: timeout.subsec_micros().into() };
    let listener = things.listener.as_raw_fd();
    // SAFETY: the option's value is a timeval, whose size is passed; no address is asked for.
    unsafe {
        let size = libc::socklen_t::try_from(size_of::<libc::timeval>()).expect("small");
        libc::setsockopt(listener, libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const time).cast(), size);
        libc::accept(listener, ptr::null_mut(), ptr::null_mut()).into()
    }
}

fn nanosleep(_: &Things, timeout: Duration) -> i64 {
    let time = timespec(timeout);
    // SAFETY: the time is valid; the rest is not asked for.
    unsafe { libc::nanosleep(&raw const time, ptr::null_mut()).into() }
}

fn clock_nanosleep(_: &Things, timeout: Duration) -> i64 {
    let time = timespec(timeout);
    // SAFETY: the time is valid; the rest is not asked for.
    let error = unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const time, ptr::null_mut()) };
    // This call returns its error instead of setting errno.
    if error == libc::EINTR { interrupted() } else { -i64::from(error) }
}

fn interrupted() -> i64 {
    // SAFETY: errno of this thread is always valid.
    unsafe { *libc::__errno_location() = libc::EINTR };
    -1
}

fn poll(things: &Things, timeout: Duration) -> i64 {
    let mut fd = libc::pollfd { fd: things.stream.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry is passed.
    unsafe { libc::poll(&raw mut fd, 1, milliseconds(timeout)).into() }
}

fn ppoll(things: &Things, timeout: Duration) -> i64 {
    let mut fd = libc::pollfd { fd: things.stream.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let time = timespec(timeout);
    // SAFETY: one entry is passed; the time is valid; no mask is passed.
    unsafe { libc::ppoll(&raw mut fd, 1, &raw const time, ptr::null()).into() }
}

fn select(_: &Things, timeout: Duration) -> i64 {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: timeout.subsec_micros().into() };
    // SAFETY: no sets are passed; the time is valid.
    unsafe { libc::select(0, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &raw mut time).into() }
}

fn futex_wait(things: &Things, timeout: Duration) -> i64 {
    let time = timespec(timeout);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word lives during the call and nobody wakes it; the time is valid.
    unsafe { libc::syscall(libc::SYS_futex, &raw const things.word, operation, 0, &raw const time) }
}

fn futex_wait_until(things: &Things, timeout: Duration) -> i64 {
    let time = timespec(Duration::from_nanos(crate::clock::monotonic_ns()) + timeout);
    let operation = libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG;
    let no_word = ptr::null::<u32>();
    // SAFETY: the word lives during the call and nobody wakes it; the time is valid; -1 asks for any waker.
    unsafe { libc::syscall(libc::SYS_futex, &raw const things.word, operation, 0, &raw const time, no_word, -1) }
}

fn pipe_read(things: &Things, timeout: Duration) -> i64 {
    things.feeder.send(timeout).expect("the feeder lives");
    let mut byte = mem::MaybeUninit::<u8>::uninit();
    // SAFETY: there is room for the one byte that is asked for.
    unsafe { libc::read(things.pipe.as_raw_fd(), byte.as_mut_ptr().cast(), 1) as i64 }
}
