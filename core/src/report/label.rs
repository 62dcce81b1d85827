//! What rows are called and where they belong.

use std::borrow::Cow;

use super::style::printable;
use crate::analysis::{Callee, FunctionFacts, own_binary};
use crate::model::{FunctionId, FunctionKind, LibraryId, Profile, StandardCategory};

/// Looks up names, files, crates and categories.
pub(super) struct Labels<'a> {
    profile: &'a Profile,
    facts: FunctionFacts,
    own_binary: Option<LibraryId>,
}

impl<'a> Labels<'a> {
    pub(super) fn of(profile: &'a Profile) -> Self {
        Self { profile, facts: FunctionFacts::of(profile), own_binary: own_binary(profile) }
    }

    pub(super) fn facts(&self) -> &FunctionFacts {
        &self.facts
    }

    /// The name as the profile has it.
    pub(super) fn name(&self, callee: Callee) -> Cow<'a, str> {
        callee.name(self.profile)
    }

    /// The name as a line of text can have it.
    pub(super) fn printable_name(&self, callee: Callee) -> String {
        printable(&self.name(callee)).into_owned()
    }

    /// The library.
    pub(super) fn module(&self, callee: Callee) -> Option<&'a str> {
        let library = self.facts.library(function(callee)?)?;
        Some(self.profile.string(self.profile.libraries[library.index()].name))
    }

    /// The source file.
    pub(super) fn file(&self, callee: Callee) -> Option<&'a str> {
        let source = self.profile.functions.source[function(callee)?.index()]?;
        Some(self.profile.string(self.profile.sources[source.index()].path))
    }

    /// The line on which the function starts.
    pub(super) fn first_line(&self, callee: Callee) -> Option<u32> {
        self.profile.functions.line[function(callee)?.index()]
    }

    /// The crate's name.
    pub(super) fn origin(&self, callee: Callee) -> Option<&'a str> {
        let origin = self.profile.functions.origin[function(callee)?.index()]?;
        Some(self.profile.string(self.profile.crates[origin.index()].name))
    }

    /// The crate's version.
    pub(super) fn version(&self, callee: Callee) -> Option<&'a str> {
        let origin = self.profile.functions.origin[function(callee)?.index()]?;
        Some(self.profile.string(self.profile.crates[origin.index()].version?))
    }

    /// The full name, where the readable one leaves something out.
    pub(super) fn full_name(&self, callee: Callee) -> Option<&'a str> {
        Some(self.profile.string(self.profile.functions.full_name[function(callee)?.index()]?))
    }

    /// The category's name.
    pub(super) fn category(&self, callee: Callee) -> Option<&'a str> {
        match callee {
            Callee::Function(function) => {
                let category = self.facts.category(function)?;
                Some(self.profile.string(self.profile.categories[category.index()].name))
            }
            Callee::Wait(_) => Some(StandardCategory::Idle.name()),
        }
    }

    /// What a person needs besides the name to know whose function it is: ` (memchr 2.7.4)` or ` (libc.so.6)`.
    pub(super) fn suffix(&self, callee: Callee) -> String {
        self.owner(callee).map_or_else(String::new, |owner| format!(" ({})", printable(&owner)))
    }

    /// Whose function it is: `memchr 2.7.4` or `libc.so.6`. Nothing for code of the workspace, of std, or of no crate in the
    /// program's own executable.
    pub(super) fn owner(&self, callee: Callee) -> Option<String> {
        let function = function(callee)?;
        let row = function.index();
        let is = |name: StandardCategory| self.category(callee) == Some(name.name());
        match self.profile.functions.kind[row] {
            FunctionKind::Native | FunctionKind::Script => {}
            // The names of these say all.
            FunctionKind::Unsymbolized | FunctionKind::Kernel | FunctionKind::Cut | FunctionKind::Unsampled => {
                return None;
            }
        }
        if is(StandardCategory::Workspace) || is(StandardCategory::Std) {
            return None;
        }
        match self.profile.functions.origin[row].map(|id| self.profile.crates[id.index()]) {
            // Without a version the path already starts with the crate's name.
            Some(origin) => {
                let version = self.profile.string(origin.version?);
                Some(format!("{} {version}", self.profile.string(origin.name)))
            }
            None => self.module(callee).filter(|_| self.facts.library(function) != self.own_binary).map(str::to_owned),
        }
    }

    /// What tells functions apart whose readable names are equal: ` [h3f2a1]`, the beginning of the hash in the symbol.
    pub(super) fn instance(&self, callee: Callee) -> String {
        /// Digits that are shown.
        const DIGITS: usize = 5;
        let hash = self.full_name(callee).and_then(|full| {
            let (_, hash) = full.rsplit_once("17h")?;
            hash.get(..DIGITS).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        });
        hash.map_or_else(String::new, |hash| format!(" [h{hash}]"))
    }

    /// `searcher.rs:412`, or the whole path if `full`.
    pub(super) fn place(&self, callee: Callee, line: Option<u32>, full: bool) -> String {
        let Some(path) = self.file(callee) else { return String::new() };
        let path = if full { known_path(path) } else { short_path(path) };
        match line {
            Some(line) => format!("{}:{line}", printable(path)),
            None => printable(path).into_owned(),
        }
    }
}

/// A source path without the directory that cargo or the compiler's build keeps such sources in: from the crate on.
pub fn known_path(path: &str) -> &str {
    let behind = |marker: &str| path.split_once(marker).and_then(|(_, rest)| Some(rest.split_once('/')?.1));
    // A part of `core` lies in a repository beside it: `core/src/../../stdarch/crates/core_arch/src/x86/sse2.rs`
    let within_std = |rest| str::split_once(rest, "/../../stdarch/crates/").map_or(rest, |(_, part)| part);
    let of_std = path.strip_prefix("/rustc/").and_then(|rest| Some(within_std(rest.split_once("/library/")?.1)));
    let of_deps = || path.strip_prefix("/rust/deps/");
    let installed = || path.split_once("/lib/rustlib/src/rust/library/").map(|(_, rest)| within_std(rest));
    // Distributions build in the sources, `./malloc/malloc.c`, or beside: `./string/../sysdeps/x86_64/memmove.S`
    let beside = || {
        let rest = path.strip_prefix("./")?;
        let up = rest.split_once("/../").filter(|(directory, _)| !directory.contains('/'));
        Some(up.map_or(rest, |(_, rest)| rest))
    };
    let known = of_std.or_else(of_deps).or_else(|| behind("/registry/src/")).or_else(installed).or_else(beside);
    known.unwrap_or(path)
}

/// The end of a source path that a person knows it by: its name, and its directory where many files have that name.
pub fn short_path(path: &str) -> &str {
    let mut parts = path.rmatch_indices(['/', '\\']).map(|(at, separator)| at + separator.len());
    let name = parts.next().unwrap_or(0);
    if !matches!(&path[name..], "mod.rs" | "lib.rs" | "main.rs") {
        return &path[name..];
    }
    let directory = parts.next().unwrap_or(0);
    let start = if path[directory..].starts_with("src") { parts.next().unwrap_or(0) } else { directory };
    &path[start..]
}

fn function(callee: Callee) -> Option<FunctionId> {
    match callee {
        Callee::Function(function) => Some(function),
        Callee::Wait(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_from_where_people_know_them() {
        let registry = "/home/me/.cargo/registry/src/index-1949cf8c/memchr-2.8.3/src/memmem/mod.rs";
        assert_eq!(known_path(registry), "memchr-2.8.3/src/memmem/mod.rs");
        assert_eq!(known_path("/rustc/59807616e1fa/library/core/src/cmp.rs"), "core/src/cmp.rs");
        assert_eq!(known_path("/rust/deps/hashbrown-0.16.1/src/raw.rs"), "hashbrown-0.16.1/src/raw.rs");
        let installed = "/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/cmp.rs";
        assert_eq!(known_path(installed), "core/src/cmp.rs");
        assert_eq!(known_path("./string/../sysdeps/x86_64/memmove.S"), "sysdeps/x86_64/memmove.S");
        assert_eq!(known_path("./string/strlen.c"), "string/strlen.c");
        let simd = "/rustc/59807616e1fa/library/core/src/../../stdarch/crates/core_arch/src/x86/sse2.rs";
        assert_eq!(known_path(simd), "core_arch/src/x86/sse2.rs");
        assert_eq!(known_path("/home/me/tool/src/main.rs"), "/home/me/tool/src/main.rs");
        assert_eq!(known_path("/registry/src/odd"), "/registry/src/odd");
        assert_eq!(short_path(registry), "memmem/mod.rs");
        assert_eq!(short_path("/home/me/tool/src/main.rs"), "tool/src/main.rs");
        assert_eq!(short_path("/home/me/tool/src/parse.rs"), "parse.rs");
        for whole in ["main.rs", "src/main.rs", "", "/"] {
            assert!(whole.ends_with(short_path(whole)));
        }
    }
}
