//! How much of a function's name a box has room for.

use std::borrow::Cow;

use crate::scene::Elide;
use crate::widget::start_of_last_segment;

/// Fewer characters of a longer name can't be told from those of another.
const FEWEST_CHARACTERS: usize = 5;
/// About how wide a character of a label is.
const CHARACTER: f32 = 6.6;

/// What of a function's name to write into a box of `width`, and where to cut it if it is still too long: the end of a
/// path says most, but of its last segment the beginning does. `None`: what fits could not be read.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a box has room for few characters")]
pub(super) fn fitting(name: &str, width: f32) -> Option<(Cow<'_, str>, Elide)> {
    let room = ((width - 6.0) / CHARACTER).max(0.0) as usize;
    let name = plain(name);
    let segment = &name[start_of_own_name(&name)..];
    let length = segment.chars().count();
    // Letters differ in width: the front is cut only where all of the segment surely stays.
    if name.chars().count() <= room || length + length / 8 + 1 < room {
        return Some((name, Elide::Front));
    }
    (length <= room || room > FEWEST_CHARACTERS).then(|| (segment.to_owned().into(), Elide::End))
}

/// `name` without the noise that compilers put around closures: `search::{{closure}}` is `search::{closure}`.
fn plain(name: &str) -> Cow<'_, str> {
    if !name.contains('{') {
        return name.into();
    }
    let mut plain = name.replace("{{closure}}", "{closure}").replace("{{vtable.shim}}", "{shim}");
    while let Some(at) = plain.find("{closure#") {
        let number = at + "{closure".len();
        match plain[number..].find('}') {
            Some(end) => plain.replace_range(number..number + end, ""),
            None => break,
        }
    }
    plain.into()
}

/// Where the last segment of a path begins; with the one before it where it says nothing on its own.
fn start_of_own_name(name: &str) -> usize {
    let start = start_of_last_segment(name);
    if start == 0 {
        // Go writes `path/of/package.function`; in brackets may stand other paths.
        let path = &name[..name.find(['<', '(', '[', '{', ' ']).unwrap_or(name.len())];
        return path.rfind('/').map_or(0, |slash| slash + 1);
    }
    let Some(path) = name[..start].strip_suffix("::").filter(|_| name[start..].starts_with("call_once")) else {
        return start;
    };
    let before = start_of_last_segment(path);
    // In brackets stands the type of a closure, which is long.
    if path[before..].contains('<') { start } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_by_their_own_names() {
        for (name, shown) in [
            ("grep::searcher::search::{{closure}}", "search::{closure}"),
            ("std::rt::lang_start_internal::{closure#0}::{closure#12}", "lang_start_internal::{closure}::{closure}"),
            ("core::ops::function::FnOnce::call_once{{vtable.shim}}", "FnOnce::call_once{shim}"),
            ("<core::panic::AssertUnwindSafe<F> as core::ops::FnOnce<()>>::call_once", "call_once"),
            ("call_once", "call_once"),
            ("a::b", "b"),
            ("cmd/compile/internal/ssa.(*regAllocState).regalloc", "ssa.(*regAllocState).regalloc"),
            ("slices.SortFunc[go.shape.[]a/b.T]", "slices.SortFunc[go.shape.[]a/b.T]"),
            ("{closure#", "{closure#"),
        ] {
            let plain = plain(name);
            assert_eq!(&plain[start_of_own_name(&plain)..], shown);
        }
    }

    #[test]
    fn names_are_cut_at_one_end_or_not_written() {
        let width = |characters: f32| 6.0 + characters * CHARACTER + 0.1;
        let (path, segment) = ("module::the_function", "the_function");
        assert_eq!(fitting(path, width(30.0)), Some((path.into(), Elide::Front)));
        assert_eq!(fitting(path, width(15.0)), Some((path.into(), Elide::Front)), "…::the_function");
        assert_eq!(fitting(path, width(12.0)), Some((segment.into(), Elide::End)));
        assert_eq!(fitting(path, width(6.0)), Some((segment.into(), Elide::End)), "the_f…");
        assert_eq!(fitting(path, width(5.0)), None);
        assert_eq!(fitting("a::main", width(4.0)), Some(("main".into(), Elide::End)));
    }
}
