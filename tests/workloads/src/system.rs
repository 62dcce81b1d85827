//! Processes and memory: fork, vfork, exec, waiting, pages.
#![expect(unsafe_code, reason = "the raw calls behave in ways that std's safe ones avoid, which is what is tested")]

use std::ffi::{CString, c_int, c_void};
use std::io;
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// A process id.
pub type Pid = libc::pid_t;

/// Forks; the child runs the closure and ends with what it returns, without any clean-up.
pub fn fork(child: impl FnOnce() -> c_int) -> Pid {
    // SAFETY: the workloads fork while no other thread holds a lock that the child's closure takes.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", io::Error::last_os_error()),
        0 => exit_now(child()),
        pid => pid,
    }
}

/// Starts a child that shares this process's memory while this thread waits in the kernel until the child ends, as
/// vfork does. The function must only make system calls.
pub fn vfork(child: extern "C" fn(*mut c_void) -> c_int) -> Pid {
    let mut stack = vec![0_u128; 4096];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child runs on its own stack, which outlives it because this thread waits for its end.
    let pid = unsafe { libc::clone(child, stack.as_mut_ptr().add(stack.len()).cast(), flags, ptr::null_mut()) };
    assert!(pid > 0, "clone: {}", io::Error::last_os_error());
    pid
}

/// Sleeps by one system call, without locks or allocation.
pub fn nap(milliseconds: i64) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
    // SAFETY: the time is valid, and the rest is not asked for.
    unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) };
}

/// Ends this process at once.
pub fn exit_now(status: c_int) -> ! {
    // SAFETY: _exit does not return and runs nothing.
    unsafe { libc::_exit(status) }
}

/// Ends only the calling thread, also if it is the main one.
pub fn exit_thread() -> ! {
    // SAFETY: the thread's stack stays mapped; nothing on it is used by others.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    unreachable!("exit does not return")
}

/// Replaces this process by a program.
pub fn exec(program: &str, args: &[&str]) -> ! {
    let c_string = |text: &str| CString::new(text).expect("no zero bytes");
    let program = c_string(program);
    let args: Vec<CString> = args.iter().map(|&arg| c_string(arg)).collect();
    let mut pointers = vec![program.as_ptr()];
    pointers.extend(args.iter().map(|arg| arg.as_ptr()));
    pointers.push(ptr::null());
    // SAFETY: program and arguments are strings ending in zero, and the list ends in null.
    unsafe { libc::execv(program.as_ptr(), pointers.as_ptr()) };
    panic!("execv: {}", io::Error::last_os_error())
}

/// The status of a child that ended or, with `flags`, stopped or went on; `None` while there is nothing to report and
/// `WNOHANG` is given.
pub fn wait_for(pid: Pid, flags: c_int) -> Option<c_int> {
    loop {
        let mut status = 0;
        // SAFETY: the pointer is valid for the status.
        match unsafe { libc::waitpid(pid, &raw mut status, flags) } {
            -1 => {
                let error = io::Error::last_os_error();
                assert_eq!(error.kind(), io::ErrorKind::Interrupted, "waitpid: {error}");
            }
            0 => return None,
            _ => return Some(status),
        }
    }
}

/// Sends a signal to a process.
pub fn signal(pid: Pid, signal: c_int) {
    // SAFETY: kill has no memory effects.
    let result = unsafe { libc::kill(pid, signal) };
    assert_eq!(result, 0, "kill: {}", io::Error::last_os_error());
}

/// This process's id as libc knows it.
#[must_use]
pub fn own_pid() -> Pid {
    // SAFETY: getpid only returns a number.
    unsafe { libc::getpid() }
}

/// Makes the calling process the leader of a new session.
pub fn new_session() {
    // SAFETY: setsid has no memory effects.
    assert!(unsafe { libc::setsid() } > 0, "setsid: {}", io::Error::last_os_error());
}

/// Connects stdin, stdout and stderr to /dev/null, as daemons do, lest somebody waits for their end.
pub fn close_standard_files() {
    // SAFETY: the path ends in zero; the descriptors are numbers.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for standard in 0..3 {
            assert_eq!(libc::dup2(null, standard), standard, "dup2: {}", io::Error::last_os_error());
        }
    }
}

/// Makes the calling process the leader of a process group of its own.
pub fn new_process_group() {
    // SAFETY: setpgid has no memory effects.
    assert_eq!(unsafe { libc::setpgid(0, 0) }, 0, "setpgid: {}", io::Error::last_os_error());
}

/// A counter in memory that forked children share with their parent.
#[must_use]
pub fn shared_counter() -> &'static AtomicU64 {
    let page = map_page(libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: the page is zeroed, aligned, and never unmapped.
    unsafe { &*page.cast::<AtomicU64>() }
}

/// Makes this many mappings that the kernel can't join, for ever.
pub fn scatter_mappings(count: usize) {
    for _ in 0..count / 2 {
        // Neighbours differ in what they allow.
        map_page(libc::PROT_READ, libc::MAP_PRIVATE);
        map_page(libc::PROT_NONE, libc::MAP_PRIVATE);
    }
}

/// A page of memory to which access is allowed or not.
#[derive(Debug)]
pub struct Page(AtomicPtr<c_void>);

impl Page {
    /// A new one that may not be touched. It is never unmapped.
    #[must_use]
    pub fn forbidden() -> Self {
        Self(AtomicPtr::new(map_page(libc::PROT_NONE, libc::MAP_PRIVATE)))
    }

    /// Allows access. Can be called in a signal handler.
    pub fn allow(&self) {
        self.protect(libc::PROT_READ | libc::PROT_WRITE);
    }

    /// Forbids access.
    pub fn forbid(&self) {
        self.protect(libc::PROT_NONE);
    }

    /// Reads a byte: SIGSEGV, unless it is allowed or the handler allows it.
    #[must_use]
    pub fn read(&self) -> u8 {
        // SAFETY: the page is mapped and nobody writes to it; whether access is allowed is what the caller tests.
        unsafe { self.0.load(Ordering::Relaxed).cast::<u8>().read_volatile() }
    }

    fn protect(&self, protection: c_int) {
        // SAFETY: the page is mapped, and there are no references to it.
        let result = unsafe { libc::mprotect(self.0.load(Ordering::Relaxed), 4096, protection) };
        assert_eq!(result, 0, "mprotect failed");
    }
}

fn map_page(protection: c_int, sharing: c_int) -> *mut c_void {
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let page = unsafe { libc::mmap(ptr::null_mut(), 4096, protection, sharing | libc::MAP_ANONYMOUS, -1, 0) };
    assert!(page != libc::MAP_FAILED, "mmap: {}", io::Error::last_os_error());
    page
}

/// Has this process, and all that it starts, be refused a system call from now on: `EPERM`, by a seccomp filter.
///
/// # Panics
/// When the kernel takes no filter.
pub fn forbid_call(call: i64) {
    let code = |class: u32, mode: u32| u16::try_from(class | mode).expect("BPF codes are small");
    let number_at = u32::try_from(offset_of!(libc::seccomp_data, nr)).expect("small");
    let call = u32::try_from(call).expect("system calls have small numbers");
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let instruction = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut filter = [
        instruction(code(libc::BPF_LD, libc::BPF_W | libc::BPF_ABS), 0, 0, number_at),
        instruction(code(libc::BPF_JMP, libc::BPF_JEQ | libc::BPF_K), 0, 1, call),
        instruction(code(libc::BPF_RET, libc::BPF_K), 0, 0, refuse),
        instruction(code(libc::BPF_RET, libc::BPF_K), 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: the filter's four instructions live during the calls; the kernel copies them.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    assert!(installed, "seccomp: {}", io::Error::last_os_error());
}
