//! Stacks of asynchronous code as its authors think of them: who awaits whom.
//!
//! A task that is polled has the runtime's scheduling on its stack, and between two async functions the `poll`s of what
//! is wrapped around the inner one. Folded, `clone3 → … → tokio::runtime::task::raw::poll → … → app::serve::{closure#0} →
//! <Timeout<F> as Future>::poll → app::read::{closure#0} → memchr` is `async app::serve → async app::read → memchr`.
//!
//! The body of an async function is a closure by name. It is known as the body by who calls it: what polls, or another
//! body. What such a body calls stays as it is, and so do stacks without one, as those of a runtime's own work.

use super::async_names::{Part, Whose, body_name, is_directly_in};
use crate::model::{Frame, FrameId, Function, FunctionId, Profile, ProfileBuilder, StackId};

/// `profile` with the stacks of its async functions folded: without scheduling, wrappers and `poll`, and bodies named for
/// their functions. Functions keep their ids, new ones come behind them; stacks get other ids.
///
/// # Panics
/// Never for a profile, which keeps the rules of the model.
#[must_use]
pub fn fold_async(profile: &Profile) -> Profile {
    let nodes = Nodes::of(profile);
    let mut builder = ProfileBuilder::with_stacks_to_replace(profile);
    let frames: Vec<FrameId> = body_frames(profile, &mut builder);
    let mut folding = Folding { profile, nodes: &nodes, builder: &mut builder, frames: &frames, kept: Vec::new() };
    let stacks: Vec<_> = folding.stacks().into_iter().map(Some).collect();
    builder.replace_stacks(&stacks);
    builder.finish().expect("stacks were replaced by stacks that the builder made")
}

/// What the nodes of the stack table are in asynchronous code.
struct Nodes {
    roles: Vec<Role>,
}

/// What is done with a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// The body of an async function or block: kept, under that name.
    Body,
    /// A future of its own: kept, unless it only wraps what is polled below it.
    Future,
    /// Scheduling, wrappers, `poll`s: left out above a body or future.
    Plumbing,
    /// Kept.
    Code,
}

impl Nodes {
    fn of(profile: &Profile) -> Self {
        let parts: Vec<Part> =
            (0..profile.functions.len()).map(|row| Part::of(profile, FunctionId::new(row))).collect();
        let mut bodies = vec![false; parts.len()];
        // What an executor of its own polls may be called by that directly, so that its callers do not tell what it is.
        // Its callees do, and so do other stacks.
        Self::mark_callers(profile, &parts, &mut bodies, |callee, _| parts[callee.index()].is_future);
        Self::roles(profile, &parts, &mut bodies);
        Self::mark_callers(profile, &parts, &mut bodies, |callee, bodies| bodies[callee.index()]);
        Self { roles: Self::roles(profile, &parts, &mut bodies) }
    }

    /// Adds the closures to `bodies` that themselves call what `is_polled` is true of.
    fn mark_callers(
        profile: &Profile,
        parts: &[Part],
        bodies: &mut [bool],
        is_polled: impl Fn(FunctionId, &[bool]) -> bool,
    ) {
        // Callees before their callers: what is found of one tells of the next.
        for node in (0..profile.stacks.len()).rev() {
            let Some(caller) = profile.stacks.prefix[node].map(|caller| profile.leaf_function(caller)) else {
                continue;
            };
            let part = parts[caller.index()];
            if part.is_closure
                && part.whose == Whose::Program
                && is_polled(profile.leaf_function(StackId::new(node)), bodies)
            {
                bodies[caller.index()] = true;
            }
        }
    }

    /// `bodies`: the functions that are known to be bodies. Those that are found are added.
    fn roles(profile: &Profile, parts: &[Part], bodies: &mut [bool]) -> Vec<Role> {
        let (stacks, name) = (&profile.stacks, |id: FunctionId| profile.string(profile.functions.name[id.index()]));
        let mut roles = Vec::with_capacity(stacks.len());
        // By node: whether a closure that it calls is a body.
        let mut polls: Vec<bool> = Vec::with_capacity(stacks.len());
        for node in 0..stacks.len() {
            let function = profile.leaf_function(StackId::new(node));
            let part = parts[function.index()];
            let caller = stacks.prefix[node];
            let is_polled = caller.is_some_and(|caller| polls[caller.index()]);
            let caller_role = caller.map(|caller| roles[caller.index()]);
            let called_by = caller.map(|caller| profile.leaf_function(caller));
            let called_by_adapter = called_by.is_some_and(|caller| parts[caller.index()].is_adapter);
            let is_inner = called_by.is_some_and(|caller| is_directly_in(name(function), name(caller)));
            let is_ours = part.is_closure && part.whose == Whose::Program;
            let role = if is_ours && called_by_adapter {
                // `poll_fn(|context| …)`, of which `select!` and `join!` are made.
                Role::Plumbing
            } else if is_ours
                && (part.is_async || bodies[function.index()] || is_polled)
                && (part.is_async || !is_inner)
            {
                bodies[function.index()] = true;
                Role::Body
            } else if part.is_future && part.whose == Whose::Program {
                Role::Future
            } else if part.whose == Whose::Program && !part.is_future {
                Role::Code
            } else {
                Role::Plumbing
            };
            // A closure in a body may be a block that is awaited.
            let in_body = is_inner && caller_role == Some(Role::Body);
            polls.push(part.polls || role == Role::Body || in_body || (is_ours && called_by_adapter));
            roles.push(role);
        }
        roles
    }
}

/// For each frame that of the body which its function may be.
fn body_frames(profile: &Profile, builder: &mut ProfileBuilder) -> Vec<FrameId> {
    let functions: Vec<FunctionId> = (0..profile.functions.len())
        .map(|row| {
            let id = FunctionId::new(row);
            let function = profile.functions.get(id);
            let name = profile.string(function.name);
            if !Part::of(profile, id).is_closure {
                return id;
            }
            let full_name = function.full_name.or(Some(function.name));
            let name = builder.string(&body_name(name));
            builder.function(Function { name, full_name, ..function })
        })
        .collect();
    (0..profile.frames.len())
        .map(|row| {
            let frame = profile.frames.get(FrameId::new(row));
            builder.frame(Frame { function: functions[frame.function.index()], ..frame })
        })
        .collect()
}

/// The making of the new stacks.
struct Folding<'a> {
    profile: &'a Profile,
    nodes: &'a Nodes,
    builder: &'a mut ProfileBuilder,
    /// For each frame the one that it becomes as a body.
    frames: &'a [FrameId],
    /// For each node: its stack above a body, without plumbing.
    kept: Vec<Option<Kept>>,
}

/// The stack of a node above a body.
#[derive(Clone, Copy)]
struct Kept {
    /// `None`: all of it was plumbing.
    stack: Option<StackId>,
}

impl Folding<'_> {
    /// The new stack of each node.
    fn stacks(&mut self) -> Vec<StackId> {
        let prefixes = &self.profile.stacks.prefix;
        self.kept = vec![None; prefixes.len()];
        let mut stacks: Vec<StackId> = Vec::with_capacity(prefixes.len());
        for (node, prefix) in prefixes.iter().enumerate() {
            let above = match self.nodes.roles[node] {
                Role::Body | Role::Future => prefix.and_then(|prefix| self.above(prefix)),
                Role::Plumbing | Role::Code => prefix.map(|prefix| stacks[prefix.index()]),
            };
            let frame = self.frame(node);
            stacks.push(self.builder.stack(above, frame));
        }
        stacks
    }

    /// The stack of `node` above a body: what is kept of it.
    fn above(&mut self, node: StackId) -> Option<StackId> {
        let mut open = Vec::new();
        let mut next = Some(node);
        let mut stack = None;
        while let Some(node) = next {
            if let Some(Kept { stack: known }) = self.kept[node.index()] {
                stack = known;
                break;
            }
            open.push(node.index());
            next = self.profile.stacks.prefix[node.index()];
        }
        for node in open.into_iter().rev() {
            if matches!(self.nodes.roles[node], Role::Body | Role::Code) {
                let frame = self.frame(node);
                stack = Some(self.builder.stack(stack, frame));
            }
            self.kept[node] = Some(Kept { stack });
        }
        stack
    }

    fn frame(&self, node: usize) -> FrameId {
        let frame = self.profile.stacks.frame[node];
        if self.nodes.roles[node] == Role::Body { self.frames[frame.index()] } else { frame }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    const WORKER: &str = "clone3;start_thread;std::thread::Thread::new::thread_start;\
        core::ops::function::FnOnce::call_once{vtable.shim};tokio::runtime::blocking::pool::Inner::run;\
        <tokio::runtime::blocking::task::BlockingTask<T> as core::future::future::Future>::poll;\
        tokio::runtime::scheduler::multi_thread::worker::Launch::launch::{closure};\
        tokio::runtime::scheduler::multi_thread::worker::Context::run_task";
    const TASK: &str = "tokio::runtime::task::raw::poll;tokio::runtime::task::harness::Harness<T, S>::poll;\
        std::panicking::catch_unwind;tokio::runtime::task::core::Core<T, S>::poll::{closure}";

    fn folded(stack: &str) -> String {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("t", 1);
        fixture.samples(thread, &[(stack, 1)]);
        let folded = fold_async(&fixture.finish());
        let leaf = folded.threads[0].samples.stack[0].expect("it has a stack");
        let mut names: Vec<&str> = folded
            .stacks
            .ancestors(leaf)
            .map(|node| folded.string(folded.functions.name[folded.leaf_function(node).index()]))
            .collect();
        names.reverse();
        names.join(" → ")
    }

    #[test]
    fn tasks_of_tokio_are_shown_by_their_functions() {
        let stack = format!(
            "{WORKER};{TASK};app::serve::{{closure}};\
             <tokio::time::timeout::Timeout<T> as core::future::future::Future>::poll;\
             <tracing::instrument::Instrumented<T> as core::future::future::Future>::poll;\
             app::read::{{closure}};app::parse;memchr::find"
        );
        assert_eq!(folded(&stack), "async app::serve → async app::read → app::parse → memchr::find");
    }

    #[test]
    fn with_names_of_the_v0_scheme() {
        let stack = "tokio::runtime::scheduler::multi_thread::worker::Context::run_task;\
            tokio::runtime::task::raw::poll<names::handler::{closure#0}, alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle>>;\
            tokio::runtime::task::core::Core<names::handler::{closure#0}, alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle>>::poll;\
            names::handler::{closure#0};names::middle::{closure#0};names::leaf::{closure#0};\
            <names::Yield as core::future::future::Future>::poll;names::burn";
        assert_eq!(
            folded(stack),
            "async names::handler → async names::middle → async names::leaf → \
             <names::Yield as core::future::future::Future>::poll → names::burn"
        );
    }

    #[test]
    fn what_blocks_on_a_future_stays() {
        let stack = "_start;main;std::rt::lang_start;app::main;tokio::runtime::runtime::Runtime::block_on;\
            tokio::runtime::park::CachedParkThread::block_on::{closure};app::main::{closure};\
            app::main::{closure}::{closure};app::leaf::{closure};app::burn";
        // The inner closure may be one, or a block that is awaited.
        assert_eq!(
            folded(stack),
            "app::main → async app::main → app::main::{closure}::{closure} → async app::leaf → app::burn"
        );
    }

    #[test]
    fn tasks_of_async_std_and_of_executors_written_by_hand() {
        let stack = "clone3;async_global_executor::threading::thread_main_loop;async_executor::Executor::run::{closure};\
            async_task::runnable::Runnable<M>::run;async_task::raw::RawTask<F, T, S, M>::run;\
            <async_std::task::builder::SupportTaskLocals<F> as core::future::future::Future>::poll;\
            std::thread::local::LocalKey<T>::with;\
            <async_std::task::builder::SupportTaskLocals<F> as core::future::future::Future>::poll::{closure};\
            app::tick::{closure};app::burn";
        assert_eq!(folded(stack), "async app::tick → app::burn");
        let stack = "_start;main;app::main;app::executor::run;\
            <core::pin::Pin<P> as core::future::future::Future>::poll;\
            <alloc::boxed::Box<F, A> as core::future::future::Future>::poll;\
            <app::Traced<F> as core::future::future::Future>::poll;app::tick::{closure};app::burn";
        assert_eq!(folded(stack), "app::main → app::executor::run → async app::tick → app::burn");
        let stack = "app::main;app::block_on;app::tick::{closure};app::burn";
        assert_eq!(folded(stack), "app::main → app::block_on → async app::tick → app::burn");
        let stack = "app::main;app::run;app::refresh::{closure};app::serve::{closure};\
            <app::Watched<F> as core::future::future::Future>::poll;app::read::{closure};app::burn";
        let shown = "app::main → app::run → async app::refresh → async app::serve → async app::read → app::burn";
        assert_eq!(folded(stack), shown, "a virtual call needs no frame of its own: what they call tells");
    }

    #[test]
    fn futures_written_by_hand_are_tasks_too() {
        let stack = format!("{WORKER};{TASK};<app::Job as core::future::future::Future>::poll;app::burn");
        assert_eq!(folded(&stack), "<app::Job as core::future::future::Future>::poll → app::burn");
    }

    #[test]
    fn select_and_join_are_plumbing() {
        let stack = "tokio::runtime::park::CachedParkThread::block_on::{closure};app::main::{closure};\
            <core::future::poll_fn::PollFn<F> as core::future::future::Future>::poll;app::main::{closure}::{closure};\
            app::leaf::{closure};app::burn";
        assert_eq!(folded(stack), "async app::main → async app::leaf → app::burn");
    }

    #[test]
    fn closures_that_nobody_polls_are_closures() {
        for stack in [
            "app::main;app::sum;core::iter::Iterator::map;app::sum::{closure};app::add",
            "clone3;start_thread;std::thread::spawn;app::main::{closure};app::work",
            "clone3;tokio::runtime::scheduler::multi_thread::worker::Context::park;[kernel] epoll_wait",
            "clone3;<tokio::runtime::blocking::task::BlockingTask<T> as core::future::future::Future>::poll;\
             app::main::{closure};app::hash",
        ] {
            assert_eq!(folded(stack), stack.replace(';', " → "), "nothing to fold");
        }
        let stack =
            format!("{WORKER};{TASK};app::handler::{{closure}};app::handler::{{closure}}::{{closure}};app::burn");
        assert_eq!(folded(&stack), "async app::handler → app::handler::{closure}::{closure} → app::burn");
    }

    #[test]
    fn amounts_stay_and_functions_keep_their_ids() {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("t", 1);
        let task = format!("{TASK};app::handler::{{closure}}");
        fixture.samples(thread, &[(&format!("{task};app::burn"), 3), (&task, 2), (TASK, 1), ("main", 1)]);
        let stack = fixture.stack(&task);
        fixture.wait(thread, 10_000_000, 5, Some(stack), "read");
        let before = fixture.finish();
        let after = fold_async(&before);
        let names = |profile: &Profile| -> Vec<String> {
            profile.functions.name.iter().map(|id| profile.string(*id).to_owned()).collect()
        };
        assert!(names(&after).starts_with(&names(&before)));
        assert_eq!(after.threads[0].samples.time, before.threads[0].samples.time);
        assert_eq!(after.threads[0].samples.cpu, before.threads[0].samples.cpu);
        let function = |profile: &Profile, stack: StackId| {
            profile.string(profile.functions.name[profile.leaf_function(stack).index()]).to_owned()
        };
        let leaves: Vec<String> =
            after.threads[0].samples.stack.iter().map(|stack| function(&after, stack.expect("all have"))).collect();
        assert_eq!(leaves[2..4], ["app::burn", "async app::handler"]);
        assert_eq!(function(&after, after.threads[0].waits.get(0).stack.expect("it has")), "async app::handler");
        assert_eq!(fold_async(&after).stacks, after.stacks, "what is folded has nothing to fold");
    }

    #[test]
    fn deep_stacks_need_no_recursion() {
        let mut stack = vec!["tokio::runtime::task::raw::poll"];
        stack.extend(std::iter::repeat_n("app::deep::{closure}", 50_000));
        stack.push("app::burn");
        assert_eq!(folded(&stack.join(";")).matches("async app::deep").count(), 50_000);
    }
}
