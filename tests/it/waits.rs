//! Waits: what a sleeping thread waits for, and the stack that led there, although it is never stopped for that.

use traceview_core::analysis::WaitKind;
use traceview_core::model::{Profile, StackId, Wait, WaitReason};

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
    let profile = recorded.profile();
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

/// The workloads keep no frame pointers but the standard library does, and threads sleep below it: the hardest case for
/// walking a stack of which the frame pointer is not known.
#[test]
fn sleepers_are_walked_through_code_with_and_without_frame_pointers() {
    let traceview = traceview();
    for (workload, args, thread, function) in
        [("threads", "0.5", "tv-sleeper", "long_sleep"), ("demo", "", "till-1", "book_sale")]
    {
        let recorded = traceview.record("", workload, args);
        let profile = recorded.profile();
        let rooted = profile.rooted_stacks();
        let thread = profile.threads.iter().find(|candidate| profile.string(candidate.name) == thread).unwrap();
        let sleeps = thread.waits.iter().filter(|wait| wait.reason == WaitReason::Blocked);
        let (mut all, mut right) = (0, 0);
        for stack in sleeps.filter_map(|wait| wait.stack) {
            all += 1;
            let functions = functions(&profile, stack);
            let has_function = functions.iter().any(|name| name.ends_with(function));
            right += usize::from(has_function && rooted[stack.index()]);
        }
        // A page fault at the start or end of the thread is a sleep elsewhere.
        let elsewhere = (all / 20).max(2);
        assert!(right > 0 && right + elsewhere >= all, "{workload}: {right} of {all} sleeps are below `{function}`");
    }
}

#[test]
fn waits_say_what_they_are_on_and_are_counted_by_kind() {
    let traceview = traceview();
    let recorded = traceview.record("", "waits_on", "");
    let truth = recorded.truth();
    let said = |name: &str| truth[name].as_str().unwrap().to_owned();
    let profile = recorded.profile();
    let targets = [
        ("tcp", "recvfrom", format!("socket tcp {}", said("tcp")), "[wait] recvfrom → socket tcp"),
        ("udp", "recvfrom", format!("socket udp on {}", said("udp")), "[wait] recvfrom → socket udp"),
        ("listener", "poll", format!("socket tcp listening on {}", said("listener")), ""),
        ("unix-listener", "poll", format!("socket unix listening on {}", said("unix")), ""),
        ("unix", "poll", "socket unix".to_owned(), ""),
        ("pipe", "poll", "pipe".to_owned(), ""),
        ("eventfd", "poll", "eventfd".to_owned(), ""),
        ("timerfd", "poll", "timerfd".to_owned(), ""),
        ("inotify", "poll", "inotify".to_owned(), ""),
        ("several", "poll", "3 descriptors".to_owned(), "[wait] poll → descriptors"),
        ("select", "pselect6", "timerfd".to_owned(), ""),
        ("epoll", "epoll_wait", "epoll".to_owned(), ""),
        ("futex", "futex", said("futex"), "[wait] futex"),
    ];
    for (name, syscall, target, kind) in targets {
        let names = || profile.threads.iter().map(|thread| profile.string(thread.name)).collect::<Vec<_>>();
        let thread = profile.threads.iter().find(|thread| profile.string(thread.name) == name);
        let thread = thread.unwrap_or_else(|| panic!("no {name} in {:?}", names()));
        let of_call = |wait: &Wait| wait.syscall.is_some_and(|id| profile.string(id) == syscall);
        let waits: Vec<Wait> = thread.waits.iter().filter(of_call).collect();
        assert!(!waits.is_empty(), "{name}: no wait in {syscall}");
        let kind = if kind.is_empty() { format!("[wait] {syscall} → {target}") } else { kind.to_owned() };
        for wait in waits {
            assert_eq!(wait.target.map(|target| profile.string(target)), Some(target.as_str()), "{name}");
            assert_eq!(WaitKind::of(&profile, &wait).label(&profile), kind, "{name}");
        }
    }
}
