//! What the name of a function says of its part in asynchronous code.

use crate::model::{FunctionId, FunctionKind, Profile};

/// Crates that schedule, combine or wrap futures. What they do above an async function is no business of it.
const RUNTIMES: [&str; 27] = [
    "actix_rt",
    "async_executor",
    "async_global_executor",
    "async_io",
    "async_std",
    "async_task",
    "blocking",
    "embassy_executor",
    "futures",
    "futures_core",
    "futures_executor",
    "futures_lite",
    "futures_task",
    "futures_timer",
    "futures_util",
    "glommio",
    "monoio",
    "pollster",
    "smol",
    "smol_timeout",
    "tokio",
    "tokio_stream",
    "tokio_uring",
    "tokio_util",
    "tower",
    "tracing",
    "tracing_futures",
];
/// Functions of C that start programs and threads.
const STARTS: [&str; 10] = [
    "__clone",
    "__clone3",
    "__libc_start_call_main",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__rust_try",
    "_start",
    "clone3",
    "main",
    "start_thread",
];

/// Whose code a function is, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    /// It schedules, combines or wraps futures.
    Runtime,
    /// The standard library's, or what starts programs and threads.
    Std,
    /// All else.
    Program,
}

/// The part that a function has in asynchronous code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) whose: Whose,
    /// A closure, or the body of an async function or block: names often don't tell.
    pub(super) is_closure: bool,
    /// The body of an async function or block.
    pub(super) is_async: bool,
    /// `<… as Future>::poll`.
    pub(super) is_future: bool,
    /// Whether it polls futures, or is inside of what does.
    pub(super) polls: bool,
    /// Whether it only calls a closure in place of a future's `poll`.
    pub(super) is_adapter: bool,
}

impl Part {
    pub(super) fn of(profile: &Profile, function: FunctionId) -> Self {
        let row = profile.functions.get(function);
        let name = profile.string(row.name);
        let segments = segments(name);
        let last = segments.last().copied().unwrap_or_default();
        let ends_in_closure = is_closure(last);
        let named = segments.iter().rev().find(|segment| !is_closure(segment)).copied();
        let base = base(named.unwrap_or_default());
        let origin = row.origin.map(|id| profile.string(profile.crates[id.index()].name));
        let whose = match origin.or_else(|| leading_crate(name)) {
            Some("std" | "core" | "alloc") => Whose::Std,
            Some(name) if RUNTIMES.contains(&&*name.replace('-', "_")) => Whose::Runtime,
            Some(_) => Whose::Program,
            None if STARTS.contains(&name) => Whose::Std,
            None => Whose::Program,
        };
        // What runs closures on threads of a pool calls itself a future.
        let of_pool = name.contains("BlockingTask");
        // Of a closure that was inlined not even the function may be known.
        let unknown = named.is_none_or(|named| named == "…");
        let runs_task = whose == Whose::Runtime && (base == "run" && name.contains("RawTask") || unknown);
        let polls = base.starts_with("poll") || base.starts_with("block_on") || base == "run_until" || runs_task;
        let of_trait =
            segments.first().and_then(|first| first.strip_prefix('<')?.strip_suffix('>')?.rsplit_once(" as "));
        let is_future = !ends_in_closure
            && segments.len() == 2
            && base == "poll"
            && of_trait.is_some_and(|(_, name)| name == "Future" || name.ends_with("::Future"));
        Self {
            whose,
            is_closure: ends_in_closure,
            is_async: ends_in_closure && last.contains("async_"),
            is_future,
            polls: polls && !of_pool && row.kind == FunctionKind::Native,
            is_adapter: is_future && name.contains("::PollFn<"),
        }
    }
}

/// The name of an async function's or block's body, `a::f::{closure#0}`, as that of what it is the body of: `async a::f`.
pub(super) fn body_name(name: &str) -> String {
    let segments = segments(name);
    let Some((last, path)) = segments.split_last() else { return name.to_owned() };
    // Further ones in a function are blocks, or closures.
    let is_first = matches!(braced(last), Some("closure" | "closure#0" | "async_fn#0"));
    // Without its function it has no better name.
    let is_known = path.last().is_some_and(|last| *last != "…");
    if !is_known || !is_first { format!("async {name}") } else { format!("async {}", path.join("::")) }
}

/// Whether `inner` stands directly in the function or closure `outer`.
pub(super) fn is_directly_in(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .and_then(|rest| rest.strip_prefix("::"))
        .is_some_and(|rest| segments(rest).len() == 1 && is_closure(rest))
}

/// The parts of a path. Those of types inside of `<…>` are not split.
fn segments(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let mut segments = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && at >= start && name[at..].starts_with("::") => {
                segments.push(&name[start..at]);
                start = at + 2;
            }
            _ => {}
        }
    }
    segments.push(&name[start..]);
    segments
}

/// A segment without generic arguments.
fn base(segment: &str) -> &str {
    segment.split('<').next().unwrap_or(segment)
}

/// What stands in the braces of `{closure#0}<T>` or `{{closure}}`.
fn braced(segment: &str) -> Option<&str> {
    let inner = segment.strip_prefix('{')?.trim_start_matches('{');
    Some(&inner[..inner.find('}')?])
}

fn is_closure(segment: &str) -> bool {
    const KINDS: [&str; 4] = ["closure", "async_fn", "async_block", "async_closure"];
    braced(segment).is_some_and(|inside| KINDS.contains(&inside.split('#').next().unwrap_or(inside)))
}

/// The first path's first segment: in `<a::B as c::D>::f` that is `a`, in `<&T as c::D>::f` it is `c`.
fn leading_crate(name: &str) -> Option<&str> {
    name.split([' ', '<', '>', '&', '*', '(', ')', '[', ']', ',', ';'])
        .filter_map(|word| word.split_once("::"))
        .map(|(first, _)| first)
        .find(|first| !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Function, ProfileBuilder};

    fn part(name: &str) -> Part {
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string(name);
        let function = builder.function(Function::named(name));
        Part::of(&builder.finish().expect("one function is a profile"), function)
    }

    #[test]
    fn who_polls() {
        for name in [
            "tokio::runtime::task::core::Core<T,S>::poll::{{closure}}",
            "<tokio::runtime::task::core::Core<names::handler::{closure#0}, alloc::sync::Arc<X>>>::poll",
            "<tracing::instrument::Instrumented<T> as core::future::future::Future>::poll",
            "tokio::runtime::park::CachedParkThread::block_on::{closure}",
            "<futures_util::stream::futures_unordered::FuturesUnordered<Fut> as futures_core::stream::Stream>::poll_next",
            "async_task::raw::RawTask<F, T, S, M>::run",
            "<async_std::task::builder::SupportTaskLocals<F> as core::future::future::Future>::poll::{closure}",
            "poll_inner<names::handler::{async_fn_env#0}, u8>",
            "tokio::runtime::task::core::…::{closure#0}<names::handler::{async_fn_env#0}>",
        ] {
            assert!(part(name).polls, "{name}");
        }
        for name in [
            "<tokio::runtime::blocking::task::BlockingTask<T> as core::future::future::Future>::poll",
            "tokio::runtime::scheduler::multi_thread::worker::run::{closure}",
            "<F as futures_util::fns::FnOnce1<A>>::call_once",
            "mine::run",
            "mine::work::{closure}",
            "clone3",
        ] {
            assert!(!part(name).polls, "{name}");
        }
    }

    #[test]
    fn whose_code_it_is() {
        for (name, whose) in [
            ("tokio::runtime::task::raw::poll", Whose::Runtime),
            ("<tracing::instrument::Instrumented<T> as core::future::future::Future>::poll", Whose::Runtime),
            ("<core::pin::Pin<P> as core::future::future::Future>::poll", Whose::Std),
            ("<&mut F as core::future::future::Future>::poll", Whose::Std),
            ("start_thread", Whose::Std),
            ("mine::main", Whose::Program),
            ("qsort", Whose::Program),
        ] {
            assert_eq!(part(name).whose, whose, "{name}");
        }
        assert!(part("<mine::Sleep as core::future::future::Future>::poll").is_future);
        assert!(!part("<mine::Sleep as core::future::future::Future>::poll::{closure}").is_future);
        assert!(!part("<mine::Log as mine::Poller>::poll").is_future);
        assert!(part("<core::future::poll_fn::PollFn<F> as core::future::future::Future>::poll").is_adapter);
    }

    #[test]
    fn bodies_are_named_for_their_functions() {
        for (name, expected) in [
            ("mine::handler::{{closure}}", "async mine::handler"),
            ("mine::handler::{closure#0}", "async mine::handler"),
            ("mine::main::{closure}::{closure}", "async mine::main::{closure}"),
            ("mine::main::{closure#1}", "async mine::main::{closure#1}"),
            ("<mine::Svc<T> as mine::Serve>::call::{closure#0}", "async <mine::Svc<T> as mine::Serve>::call"),
            ("{async_fn#0}", "async {async_fn#0}"),
            ("{async_fn#0}<u8>", "async {async_fn#0}<u8>"),
            ("mine::net::…::{async_fn#0}", "async mine::net::…::{async_fn#0}"),
        ] {
            assert_eq!(body_name(name), expected);
        }
        assert!(is_directly_in("a::f::{closure}::{closure#1}", "a::f::{closure}"));
        assert!(!is_directly_in("a::g::{closure}", "a::f::{closure}"));
        assert!(!is_directly_in("a::f::{closure}::g", "a::f::{closure}"));
    }
}
