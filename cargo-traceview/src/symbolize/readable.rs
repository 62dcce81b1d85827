//! Demangled Rust names as people write them: `alloc::vec::Vec<T>::push`, whichever scheme they were mangled with.
//!
//! The legacy scheme prints `alloc::vec::Vec<T,A>::push` and `f::{{closure}}`, v0 `<alloc::vec::Vec<u8>>::push` and
//! `f::<u8>::{closure#0}`. What is left out here is the same for all uses of a function or can be seen in its full name.

use std::cmp::Reverse;

/// The allocator that every collection has unless it says otherwise.
const DEFAULT_ALLOCATOR: &str = "alloc::alloc::Global";
/// Crates whose types name their allocator parameter `A`.
const ALLOCATING: [&str; 3] = ["alloc::", "std::", "hashbrown::"];

/// A stretch of a name that is written differently.
struct Edit {
    start: usize,
    end: usize,
    to: &'static str,
}

/// `name`, a demangled Rust name, as people write it. Time and size grow linearly with it.
pub(super) fn readable(name: &str) -> String {
    let mut edits = spelling(name);
    edits.extend(brackets(name));
    edits.sort_by_key(|edit| (edit.start, Reverse(edit.end)));
    let mut out = String::with_capacity(name.len());
    let mut at = 0;
    for Edit { start, end, to } in edits {
        // Of two that overlap the first counts.
        if start >= at {
            out.push_str(&name[at..start]);
            out.push_str(to);
            at = end;
        }
    }
    out.push_str(&name[at..]);
    out
}

/// Spaces where people put them, single braces, no turbofish.
fn spelling(name: &str) -> Vec<Edit> {
    let bytes = name.as_bytes();
    let after = |at: usize| bytes.get(at + 1).copied();
    let mut edits = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        let edit = match byte {
            b',' if after(at).is_some_and(|next| !matches!(next, b' ' | b'>' | b')')) => (at, at + 1, ", "),
            b'+' if at > 0 && bytes[at - 1] != b' ' && after(at) != Some(b' ') => (at, at + 1, " + "),
            b'{' if after(at) == Some(b'{') => (at, at + 2, "{"),
            b'}' if after(at) == Some(b'}') && (at == 0 || bytes[at - 1] != b'}') => (at, at + 2, "}"),
            // `::<impl Display for u8>` is a path, not arguments.
            b':' if name[at..].starts_with("::<") && at > 0 && !name[at..].starts_with("::<impl ") => (at, at + 2, ""),
            _ => continue,
        };
        edits.push(Edit { start: edit.0, end: edit.1, to: edit.2 });
    }
    edits
}

/// Types in brackets that need none, and default allocators. Nothing where brackets don't match.
fn brackets(name: &str) -> Vec<Edit> {
    let bytes = name.as_bytes();
    let mut edits = Vec::new();
    // Of each open bracket: where it is, and whether an ` as ` stands right in it.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => open.push((at, false)),
            b' ' if name[at..].starts_with(" as ") => {
                if let Some((_, has_trait)) = open.last_mut() {
                    *has_trait = true;
                }
            }
            // The arrow of a function type.
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' => {
                let Some((start, has_trait)) = open.pop() else { return Vec::new() };
                let inside = &name[start + 1..at];
                if let Some(argument) = default_allocator(name, start, at) {
                    edits.push(Edit { start: argument, end: at, to: "" });
                }
                if !has_trait && begins_type(&name[..start]) && name[at..].starts_with(">::") && is_bare_type(inside) {
                    edits.push(Edit { start, end: start + 1, to: "" });
                    edits.push(Edit { start: at, end: at + 1, to: "" });
                }
            }
            _ => {}
        }
    }
    if open.is_empty() { edits } else { Vec::new() }
}

/// Where the last argument of `name[open..=close]` begins, with its comma, if it is an allocator that goes without
/// saying.
fn default_allocator(name: &str, open: usize, close: usize) -> Option<usize> {
    let inside = &name[open + 1..close];
    let argument = ["A", DEFAULT_ALLOCATOR].into_iter().find_map(|allocator| {
        let before = inside.strip_suffix(allocator)?;
        let comma = before.trim_end_matches(' ').strip_suffix(',')?.len();
        Some((allocator, open + 1 + comma))
    })?;
    let owner = name[..open].rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').map_or(0, |at| at + 1);
    let allocates = ALLOCATING.iter().any(|path| name[owner..open].starts_with(path));
    (argument.0 == DEFAULT_ALLOCATOR || allocates).then_some(argument.1)
}

/// Whether what comes after `before` begins a type: it does not go on with a path.
fn begins_type(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '}' | '>'))
}

/// Whether a type is a path, which is as clear without brackets around it.
fn is_bare_type(inside: &str) -> bool {
    let mut depth = 0_usize;
    inside.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && inside.chars().all(|c| {
            depth = match c {
                '<' => depth + 1,
                '>' => depth.saturating_sub(1),
                _ => depth,
            };
            depth > 0 || c.is_alphanumeric() || matches!(c, '_' | ':' | '>')
        })
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_are_written_as_people_write_them() {
        for (demangled, expected) in [
            ("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec<T>::push"),
            ("<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec<u8>::push"),
            (
                "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
                "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
            ),
            (
                "std::collections::hash::map::HashMap<K,V,S,A>::remove",
                "std::collections::hash::map::HashMap<K, V, S>::remove",
            ),
            ("mine::Pair<T,A>::first", "mine::Pair<T, A>::first"),
            ("drop<alloc::boxed::Box<[u8],alloc::alloc::Global>>", "drop<alloc::boxed::Box<[u8]>>"),
            ("a::f::{{closure}}::{{closure}}", "a::f::{closure}::{closure}"),
            (
                "core::ops::function::FnOnce::call_once{{vtable.shim}}",
                "core::ops::function::FnOnce::call_once{vtable.shim}",
            ),
            ("a::f::<u8, u16>::{closure#0}", "a::f<u8, u16>::{closure#0}"),
            ("<u64>::unchecked_add", "u64::unchecked_add"),
            ("<[a::B]>::sort_by::<<a::C>::cmp>", "<[a::B]>::sort_by<a::C::cmp>"),
            ("<a::B<i32> as c::D>::e::<f::G>", "<a::B<i32> as c::D>::e<f::G>"),
            ("<dyn a::B>::c", "<dyn a::B>::c"),
            ("<fn(u8) -> u16 as a::B>::c", "<fn(u8) -> u16 as a::B>::c"),
            ("<fn(u8) -> u16>::c", "<fn(u8) -> u16>::c"),
            ("<for<'a> fn(&'a u8)>::c", "<for<'a> fn(&'a u8)>::c"),
            (
                "core::fmt::num::<impl core::fmt::Debug for usize>::fmt",
                "core::fmt::num::<impl core::fmt::Debug for usize>::fmt",
            ),
            ("a<dyn F<()>+Output = ()+Send>", "a<dyn F<()> + Output = () + Send>"),
            ("a<{b}>", "a<{b}>"),
            ("a<(b,)>", "a<(b,)>"),
            ("<<a::B>::C as d::E>::f", "<a::B::C as d::E>::f"),
            ("a<b", "a<b"),
            ("a>b", "a>b"),
            ("", ""),
            ("größe::<Ü>::{{closure}}", "größe<Ü>::{closure}"),
        ] {
            assert_eq!(readable(demangled), expected, "{demangled}");
        }
    }
}
