//! Paths of functions of which debug information says no more than `poll` or `{closure#0}`.
//!
//! Reduced to line tables, it names inlined functions by their last segment alone. Their source files tell crate and
//! module, though not the type: `tokio-1.54.1/src/runtime/task/raw.rs` makes `tokio::runtime::task::raw::…::poll` of `poll`.

use crate::cargo::workspace::crate_name;

/// `name`, a function in the Rust source `file` of `package`, with crate and module; `None` if it has a path already, or the
/// file is not Rust's.
#[must_use]
pub fn with_module(name: &str, file: &str, package: &str) -> Option<String> {
    if has_path(name) {
        return None;
    }
    let file = file.strip_suffix(".rs")?;
    let below_src = file.rsplit_once("/src/").map_or(file, |(_, below)| below);
    let below_src = below_src.strip_prefix("src/").unwrap_or(below_src);
    let mut modules: Vec<&str> = below_src.split('/').collect();
    if matches!(modules.last(), Some(&("mod" | "lib" | "main"))) {
        modules.pop();
    }
    // Programs are crates of their own, and what lies elsewhere is no module by its path.
    if matches!(modules.first(), Some(&"bin" | &"")) || below_src.len() == file.len() && file.starts_with('/') {
        modules.clear();
    }
    let mut path = crate_name(package);
    for module in modules {
        path.push_str("::");
        path.push_str(module);
    }
    Some(format!("{path}::…::{name}"))
}

/// Whether a name has more than its last segment.
fn has_path(name: &str) -> bool {
    let own = name.split('<').next().unwrap_or(name);
    own.contains("::") || own.is_empty()
}

#[cfg(test)]
mod tests {
    use super::with_module;

    #[test]
    fn sources_tell_crate_and_module() {
        for (name, file, package, expected) in [
            ("poll", "/r/src/i/tokio-1.54.1/src/runtime/task/raw.rs", "tokio", "tokio::runtime::task::raw::…::poll"),
            ("next<u64>", "/rustc/5/library/core/src/iter/range.rs", "core", "core::iter::range::…::next<u64>"),
            ("{async_fn#0}", "/home/me/tool/src/main.rs", "my-tool", "my_tool::…::{async_fn#0}"),
            ("{async_fn#0}", "src/net/mod.rs", "my-tool", "my_tool::net::…::{async_fn#0}"),
            ("work", "/home/me/tool/src/bin/other.rs", "my-tool", "my_tool::…::work"),
            ("work", "/home/me/tool/build.rs", "my-tool", "my_tool::…::work"),
            ("call<a::B>", "/x/src/lib.rs", "x", "x::…::call<a::B>"),
        ] {
            assert_eq!(with_module(name, file, package).as_deref(), Some(expected), "{name} in {file}");
        }
        for (name, file) in
            [("a::b", "/x/src/lib.rs"), ("<a::B>::c", "/x/src/lib.rs"), ("read", "./io/read.c"), ("", "a.rs")]
        {
            assert_eq!(with_module(name, file, "x"), None, "{name} in {file}");
        }
    }
}
