//! Known truth: two libraries are loaded and unloaded in turn, which puts them at one address. Each has a function
//! `plugin_work` that works for a given CPU time and returns its address.
//!
//! Usage: `plugins A B [ROUNDS, default 10] [MS of CPU time in each, default 20]`
//!
//! Printed are the CPU time in both (`a`, `b`), and how many of the rounds had both at one address (`together`).
#![expect(unsafe_code, reason = "libraries are only loadable through libc")]

use std::ffi::{CStr, CString, c_void};
use std::mem;

use traceview_workloads::arg_or;
use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::truth::Truth;

type Work = extern "C" fn(u64) -> usize;

/// CPU time in the library, and where its function was.
fn work_in(library: &CStr, cpu_ns: u64) -> (u64, usize) {
    // SAFETY: the tests' libraries have no constructors, and a function of that name and type.
    unsafe {
        let handle: *mut c_void = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
        assert!(!handle.is_null(), "dlopen {library:?}");
        let function = libc::dlsym(handle, c"plugin_work".as_ptr());
        assert!(!function.is_null(), "dlsym in {library:?}");
        let work: Work = mem::transmute(function);
        let start = thread_cpu_ns();
        let address = work(cpu_ns);
        let took = thread_cpu_ns() - start;
        assert_eq!(libc::dlclose(handle), 0, "dlclose {library:?}");
        (took, address)
    }
}

fn main() {
    let [first, second] =
        [1, 2].map(|index| CString::new(arg_or(index, String::new())).expect("arguments hold no zero byte"));
    let cpu_ns = 1_000_000 * arg_or::<u64>(4, 20);
    let (mut in_first, mut in_second, mut together) = (0, 0, 0);
    for _ in 0..arg_or(3, 10) {
        let ((took_first, at_first), (took_second, at_second)) = (work_in(&first, cpu_ns), work_in(&second, cpu_ns));
        in_first += took_first;
        in_second += took_second;
        together += u64::from(at_first == at_second);
    }
    Truth::new().number("a", in_first).number("b", in_second).number("together", together).print();
}
