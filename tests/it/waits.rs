//! Waits: what a sleeping thread waits for, and the stack that led there, although it is never stopped for that.

use std::fs;

use traceview_core::format::{self, ReadOptions};
use traceview_core::model::{Profile, StackId, WaitReason};

use crate::traceview;

/// The functions of a stack, innermost first.
fn functions(profile: &Profile, stack: StackId) -> Vec<&str> {
    let name = |node: StackId| {
        let function = profile.leaf_function(node);
        profile.string(profile.functions.name[function.index()])
    };
    profile.stacks.ancestors(stack).map(name).collect()
}

#[test]
fn each_wait_has_the_call_and_the_stack_that_made_it() {
    let traceview = traceview();
    let recorded = traceview.record("", "idle_mix", "all 40");
    let bytes = fs::read(&recorded.path).unwrap();
    let profile = format::read(&bytes, &ReadOptions::default()).unwrap();
    let rooted = profile.rooted_stacks();
    let main = profile.threads.iter().find(|thread| thread.is_main).unwrap();
    // The system call, and the function of the workload that made it.
    let kinds = [
        ("epoll_wait", "waits::epoll_wait"),
        ("epoll_pwait2", "waits::epoll_pwait2"),
        ("rt_sigtimedwait", "waits::sigtimedwait"),
        ("semtimedop", "waits::semtimedop"),
        ("recvfrom", "waits::recv"),
        ("accept", "waits::accept"),
        ("poll", "waits::poll"),
        ("ppoll", "waits::ppoll"),
        ("pselect6", "waits::select"),
        ("read", "waits::pipe_read"),
    ];
    for (syscall, function) in kinds {
        let waits = main.waits.iter().filter(|wait| {
            wait.reason == WaitReason::Blocked && wait.syscall.is_some_and(|id| profile.string(id) == syscall)
        });
        let stacks: Vec<StackId> = waits.filter_map(|wait| wait.stack).collect();
        assert!(stacks.len() >= 5, "{syscall}: {} waits with stacks", stacks.len());
        for stack in stacks {
            let functions = functions(&profile, stack);
            assert!(rooted[stack.index()], "{syscall}: {functions:?}");
            assert!(functions.iter().any(|name| name.ends_with(function)), "{syscall}: {functions:?}");
        }
    }
    let on_pipe = main.waits.iter().any(|wait| wait.target.is_some_and(|target| profile.string(target) == "pipe"));
    assert!(on_pipe, "a read from a pipe says so");
}
