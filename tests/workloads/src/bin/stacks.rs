//! Known truth about stacks that are not made by plain calls, by mode (MS is CPU time in milliseconds, default 400). In
//! each nearly all of the time is spent in one function, and the stack to it from `main` is known. Printed is its CPU time.
//! - `stacks handler MS`: `handler_work` runs in a signal's handler, which interrupted `interrupted_work`
//! - `stacks alternate MS`: the same on an alternate stack
//! - `stacks trap MS`: `handler_work` runs in the handler of a trap of the first instruction of `trap_at_start`
//! - `stacks nap MS`: the handler, on an alternate stack, sleeps in `handler_nap` instead
//! - `stacks context MS`: `context_work` runs on a stack of its own by makecontext, called by nobody
//! - `stacks switched MS`: `switched_work` runs on a stack of its own to which `call_on_stack` switched
//! - `stacks coroutine MS`: `coroutine_work` runs on a stack of its own that is left by hand, and has no caller
//! - `stacks made MS`: `made_code_calls` runs below code that was made in memory, in a function of which it loops first
//!   (without a name)
//! - `stacks vforked MS`: `vforked_work` runs in a child of vfork, on its parent's stack; the parent waits in vfork
//! - `stacks never MS`: `work_and_leave` never returns, and its call is the last instruction of `calls_at_its_end`
//! - `stacks bare MS`: `called_by_bare_code` runs below `bare_code`, an assembly function without unwinding rules
#![expect(unsafe_code, reason = "stacks of all kinds are only reachable through libc and assembly")]

use std::arch::global_asm;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::signal::{alternate_stack, handle, send_to_thread, thread_id};
use traceview_workloads::system::{exit_now, nap, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn, churn_for};
use traceview_workloads::{arg_or, mode};

const STACK: usize = 256 << 10;

/// For how long the functions of the modes work.
static CPU_NS: AtomicU64 = AtomicU64::new(0);

/// How much of that a handler did.
static HANDLER_NS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let mode = mode("handler, alternate, trap, nap, context, switched, coroutine, made, vforked, never, bare");
    let cpu_ns = 1_000_000 * arg_or::<u64>(2, 400);
    CPU_NS.store(cpu_ns, SeqCst);
    let done_ns = match mode.as_str() {
        "handler" => interrupt(cpu_ns, false),
        "alternate" => interrupt(cpu_ns, true),
        "trap" => trap(),
        "nap" => nap_in_handler(),
        "context" => measured(work_in_context),
        "switched" => measured(switch),
        "coroutine" => measured(run_coroutine),
        "made" => measured(made_in_memory),
        "vforked" => vforked(),
        "never" => calls_at_its_end(),
        "bare" => measured(call_bare_code),
        other => panic!("unknown mode `{other}`"),
    };
    Truth::new().number("cpu_ns", done_ns).print();
}

fn measured(work: impl FnOnce()) -> u64 {
    let start = thread_cpu_ns();
    work();
    thread_cpu_ns() - start
}

fn rest() -> u64 {
    CPU_NS.load(SeqCst)
}

// Signals.

extern "C" fn work_in_handler(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    let start = thread_cpu_ns();
    handler_work();
    HANDLER_NS.fetch_add(thread_cpu_ns() - start, SeqCst);
}

#[inline(never)]
fn handler_work() {
    churn_for(11, 5_000_000);
}

/// Is interrupted again and again, until the handler has worked for so long.
fn interrupt(cpu_ns: u64, on_alternate_stack: bool) -> u64 {
    if on_alternate_stack {
        black_box(alternate_stack(STACK));
    }
    handle(libc::SIGUSR1, work_in_handler, on_alternate_stack);
    let this = thread_id();
    let sender = thread::spawn(move || {
        while HANDLER_NS.load(SeqCst) < cpu_ns {
            send_to_thread(this, libc::SIGUSR1);
            nap(6);
        }
    });
    while HANDLER_NS.load(SeqCst) < cpu_ns {
        interrupted_work();
    }
    sender.join().expect("the sender doesn't panic");
    HANDLER_NS.load(SeqCst)
}

#[inline(never)]
fn interrupted_work() {
    black_box(churn(12, 100_000));
}

global_asm!(
    ".type just_before_the_trap, @function",
    "just_before_the_trap:",
    ".cfi_startproc",
    "ret",
    ".cfi_endproc",
    ".size just_before_the_trap, . - just_before_the_trap",
    ".type trap_at_start, @function",
    "trap_at_start:",
    ".cfi_startproc",
    "ud2",
    "ret",
    ".cfi_endproc",
    ".size trap_at_start, . - trap_at_start",
);

unsafe extern "C" {
    fn trap_at_start();
    fn bare_code(callee: extern "C" fn());
    fn call_on_stack(top: *mut u8, callee: extern "C" fn());
    fn enter_coroutine(top: *mut u8, callee: extern "C" fn());
    fn leave_coroutine() -> !;
}

extern "C" fn work_and_step_over(_: c_int, _: &libc::siginfo_t, context: *mut c_void) {
    let start = thread_cpu_ns();
    churn_for(13, rest());
    HANDLER_NS.fetch_add(thread_cpu_ns() - start, SeqCst);
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel passes the interrupted registers, and the instruction takes two bytes.
    unsafe { (*context).uc_mcontext.gregs[libc::REG_RIP as usize] += 2 };
}

fn trap() -> u64 {
    handle(libc::SIGILL, work_and_step_over, false);
    // SAFETY: its trap has a handler that goes on behind it.
    unsafe { trap_at_start() };
    black_box(churn(25, 10));
    HANDLER_NS.load(SeqCst)
}

extern "C" fn nap_in_the_handler(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    handler_nap();
}

#[inline(never)]
fn handler_nap() {
    nap(i64::try_from(rest() / 1_000_000).expect("a short nap"));
    black_box(churn(14, 10));
}

fn nap_in_handler() -> u64 {
    black_box(alternate_stack(STACK));
    handle(libc::SIGUSR1, nap_in_the_handler, true);
    send_to_thread(thread_id(), libc::SIGUSR1);
    rest()
}

// Other stacks.

fn new_stack() -> *mut u8 {
    let bottom = Box::leak(vec![0_u128; STACK / 16].into_boxed_slice()).as_mut_ptr();
    // SAFETY: one past the end of the allocation.
    unsafe { bottom.add(STACK / 16).cast() }
}

extern "C" fn context_work() {
    churn_for(15, rest());
}

fn work_in_context() {
    // SAFETY: both contexts outlive the switches, and the stack is leaked.
    unsafe {
        let (mut own, mut other): (libc::ucontext_t, libc::ucontext_t) = (mem::zeroed(), mem::zeroed());
        assert_eq!(libc::getcontext(&raw mut other), 0, "getcontext");
        other.uc_stack.ss_sp = new_stack().sub(STACK).cast();
        other.uc_stack.ss_size = STACK;
        other.uc_link = &raw mut own;
        libc::makecontext(&raw mut other, context_work, 0);
        assert_eq!(libc::swapcontext(&raw mut own, &raw const other), 0, "swapcontext");
    }
}

global_asm!(
    // Calls a function on another stack; the way back is told by the frame pointer.
    ".type call_on_stack, @function",
    "call_on_stack:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdi",
    "call rsi",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size call_on_stack, . - call_on_stack",
    // Starts a function on another stack, with nobody to return to: it leaves by the other function.
    ".type enter_coroutine, @function",
    "enter_coroutine:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    "push rbx",
    ".cfi_adjust_cfa_offset 8",
    "push r12",
    ".cfi_adjust_cfa_offset 8",
    "push r13",
    ".cfi_adjust_cfa_offset 8",
    "push r14",
    ".cfi_adjust_cfa_offset 8",
    "push r15",
    ".cfi_adjust_cfa_offset 8",
    "lea rax, [rip + coroutine_caller]",
    "mov [rax], rsp",
    "mov rsp, rdi",
    "push 0",
    "jmp rsi",
    ".cfi_endproc",
    ".size enter_coroutine, . - enter_coroutine",
    ".type leave_coroutine, @function",
    "leave_coroutine:",
    ".cfi_startproc",
    "lea rax, [rip + coroutine_caller]",
    "mov rsp, [rax]",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    ".cfi_endproc",
    ".size leave_coroutine, . - leave_coroutine",
    ".local coroutine_caller",
    ".comm coroutine_caller, 8, 8",
    // No rules at all, and no frame pointer.
    ".type bare_code, @function",
    "bare_code:",
    "push rbx",
    "sub rsp, 32",
    "call rdi",
    "add rsp, 32",
    "pop rbx",
    "ret",
    ".size bare_code, . - bare_code",
);

extern "C" fn switched_work() {
    churn_for(16, rest());
}

fn switch() {
    // SAFETY: the stack is large enough, and the function returns.
    unsafe { call_on_stack(new_stack(), switched_work) };
    black_box(churn(23, 10));
}

extern "C" fn coroutine_work() {
    churn_for(17, rest());
    // SAFETY: it was entered by the other function, which returns now.
    unsafe { leave_coroutine() };
}

fn run_coroutine() {
    // SAFETY: the stack is large enough, and the function leaves as it must.
    unsafe { enter_coroutine(new_stack(), coroutine_work) };
}

// Code without rules.

fn call_bare_code() {
    // SAFETY: the function calls its argument once, and returns.
    unsafe { bare_code(called_by_bare_code) };
    black_box(churn(19, 10));
}

extern "C" fn called_by_bare_code() {
    churn_for(18, rest());
}

extern "C" fn made_code_calls() {
    churn_for(20, rest() / 2);
}

fn made_in_memory() {
    const CODE: [u8; 25] = [
        0x55, // push %rbp
        0x48, 0x89, 0xe5, // mov %rsp,%rbp
        0x57, 0x56, // push %rdi; push %rsi
        0x48, 0xc7, 0xc1, 0, 0, 0, 0x20, // mov $0x20000000,%rcx
        0x48, 0xff, 0xc9, // dec %rcx
        0x75, 0xfb, // jnz to the dec
        0x5e, 0x5f, // pop %rsi; pop %rdi
        0xff, 0xd7, // call *%rdi
        0x5d, // pop %rbp
        0xc3, // ret
        0xcc,
    ];
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: the mapping is new, has room for the code, and is never unmapped.
    let code: unsafe extern "C" fn(extern "C" fn()) = unsafe {
        let page = libc::mmap(ptr::null_mut(), 4096, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        assert!(page != libc::MAP_FAILED, "mmap");
        ptr::copy_nonoverlapping(CODE.as_ptr(), page.cast(), CODE.len());
        mem::transmute(page)
    };
    // SAFETY: the code calls its argument once, and returns.
    unsafe { code(made_code_calls) };
    black_box(churn(24, 10));
}

// Calls that do not return where they were made.

fn vforked() -> u64 {
    let start = thread_cpu_ns();
    black_box(start);
    let child = spawn_by_vfork();
    assert_eq!(wait_for(child, 0), Some(0), "the child ends well");
    rest()
}

#[inline(never)]
fn spawn_by_vfork() -> libc::pid_t {
    #[expect(deprecated, reason = "it is what is tested")]
    // SAFETY: the child calls a function, and leaves nothing behind that its parent would see changed.
    let child = unsafe { libc::vfork() };
    match child {
        0 => {
            vforked_work();
            exit_now(0)
        }
        child => black_box(child),
    }
}

#[inline(never)]
fn vforked_work() {
    churn_for(21, rest());
}

#[inline(never)]
fn calls_at_its_end() -> ! {
    work_and_leave()
}

#[inline(never)]
fn work_and_leave() -> ! {
    let start = thread_cpu_ns();
    churn_for(22, rest());
    Truth::new().number("cpu_ns", thread_cpu_ns() - start).print();
    exit_now(0)
}
