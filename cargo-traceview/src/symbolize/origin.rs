//! Whose code a frame is: the user's, a dependency's, the standard library's, or the system's.
//!
//! The path of the source file tells most: cargo, git checkouts and the standard library have their places. Without
//! debug information only the function's name is left, which begins with its crate in Rust.

use rustc_hash::FxHashSet;
use std::path::{Component, Path, PathBuf};

use super::demangle::defining_crate;
use super::resolve::Frame;

/// Whose code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// The workspace that was built.
    Workspace,
    /// A crate that it depends on.
    Dependency,
    /// Rust's standard library, and the crates inside it.
    Std,
    /// Code from outside cargo: the C library and others.
    System,
    /// The kernel. Never found here; for frames that the sampler adds.
    Kernel,
    /// Code made at run time. Never found here.
    Jit,
    /// Not known.
    Other,
}

/// The crate a function belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CrateId {
    /// The package's name where a path tells it (`serde-json`), else the crate's (`serde_json`).
    pub name: String,
    /// The version, where a path tells it.
    pub version: Option<String>,
}

/// The answer for a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Whose code it is.
    pub category: Category,
    /// The crate, where one can be told.
    pub crate_id: Option<CrateId>,
}

/// What has to be known about a build to judge its frames.
#[derive(Clone, Debug, Default)]
pub struct OriginRules {
    workspace_root: Option<PathBuf>,
    /// As crates: with underscores.
    workspace_crates: FxHashSet<String>,
}

impl OriginRules {
    /// Rules for a build of the workspace at `workspace_root` with the packages `workspace_packages`. Without a build
    /// (a running program is attached to) both can be empty.
    pub fn new(workspace_root: Option<PathBuf>, workspace_packages: impl IntoIterator<Item = String>) -> Self {
        let workspace_crates = workspace_packages.into_iter().map(|name| name.replace('-', "_")).collect();
        OriginRules { workspace_root, workspace_crates }
    }

    /// Judges a frame of code in the file `image_path`.
    #[must_use]
    pub fn classify(&self, frame: &Frame, image_path: &Path) -> Origin {
        let krate = crate_of_name(&frame.name, frame.linkage_name.as_deref());
        let by_path = frame.file.as_deref().and_then(|file| self.by_path(file, krate, image_path));
        by_path.unwrap_or_else(|| {
            let is_rust_file = frame.file.as_deref().is_some_and(|file| file.ends_with(".rs"));
            self.by_crate(krate, is_rust_file, frame.file.is_some(), image_path)
        })
    }

    fn by_path(&self, file: &str, krate: Option<&str>, image_path: &Path) -> Option<Origin> {
        let path = Path::new(file);
        let below_root = self.workspace_root.as_ref().and_then(|root| path.strip_prefix(root).ok());
        // From the root on, as the workspace itself can lie in a checkout of cargo's.
        let parts: Vec<&str> = below_root
            .unwrap_or(path)
            .components()
            .filter(|component| !matches!(component, Component::CurDir))
            .filter_map(|component| component.as_os_str().to_str())
            .collect();
        if let Some(crate_id) = std_crate(&parts) {
            return Some(Origin { category: Category::Std, crate_id: Some(crate_id) });
        }
        let crate_id =
            registry_crate(&parts).or_else(|| git_crate(&parts)).or_else(|| below_root.and_then(vendored_crate));
        if let Some(crate_id) = crate_id {
            return Some(Origin { category: Category::Dependency, crate_id: Some(crate_id) });
        }
        if let Some(package) = generated_for(&parts) {
            return self.generated(package);
        }
        // Distributions build with relative paths too.
        let relative = self.workspace_root.is_some() && path.is_relative() && !is_system_path(image_path);
        let named = |name: &&str| self.workspace_crates.contains(*name);
        (below_root.is_some() || relative).then(|| Origin {
            category: Category::Workspace,
            crate_id: krate.filter(named).map(|name| CrateId { name: name.to_owned(), version: None }),
        })
    }

    /// Code that a build script wrote belongs to the package of the script.
    fn generated(&self, package: &str) -> Option<Origin> {
        let crate_id = Some(CrateId { name: package.to_owned(), version: None });
        if self.workspace_crates.contains(&package.replace('-', "_")) {
            Some(Origin { category: Category::Workspace, crate_id })
        } else if self.workspace_crates.is_empty() {
            None
        } else {
            Some(Origin { category: Category::Dependency, crate_id })
        }
    }

    fn by_crate(&self, krate: Option<&str>, is_rust_file: bool, has_file: bool, image_path: &Path) -> Origin {
        let crate_id = krate.map(|name| CrateId { name: name.to_owned(), version: None });
        let category = match krate {
            Some(name) if self.workspace_crates.contains(name) => Category::Workspace,
            Some("std" | "core" | "alloc") if !is_rust_file => Category::Std,
            // Rust source in no known place: a path dependency from outside the workspace.
            Some(_) if is_rust_file => Category::Dependency,
            _ if has_file || is_system_path(image_path) => Category::System,
            _ => Category::Other,
        };
        Origin { category, crate_id }
    }
}

/// `/rustc/<hash>/library/<crate>/…`, the same below an installed `rust-src`, and `/rust/deps/<crate>-<version>/…`.
fn std_crate(parts: &[&str]) -> Option<CrateId> {
    let named = |name: &str| CrateId { name: name.to_owned(), version: None };
    let library = match parts {
        ["/", "rustc", _, "library", rest @ ..] => Some(rest),
        ["/", "rust", "deps", package, ..] => return Some(split_version(package).unwrap_or_else(|| named(package))),
        _ => find(parts, &["rustlib", "src", "rust", "library"]),
    };
    match library? {
        // Parts of `core` with a repository of their own.
        ["stdarch" | "portable-simd", ..] => Some(named("core")),
        [name, ..] => Some(named(name)),
        [] => None,
    }
}

/// `…/registry/src/<index>/<name>-<version>/…`, wherever cargo's home is or was mapped to.
fn registry_crate(parts: &[&str]) -> Option<CrateId> {
    match find(parts, &["registry", "src"])? {
        [_index, package, _, ..] => split_version(package),
        _ => None,
    }
}

/// `…/git/checkouts/<repository>-<hash>/<revision>/[…/<package>/]src/…`; the package of the repository's root is named
/// after the repository.
fn git_crate(parts: &[&str]) -> Option<CrateId> {
    let [repository, _revision, below @ ..] = find(parts, &["git", "checkouts"])? else { return None };
    let package = below.iter().position(|&part| part == "src").and_then(|src| src.checked_sub(1)).map(|at| below[at]);
    let repository = repository.rsplit_once('-').map_or(*repository, |(name, _hash)| name);
    Some(CrateId { name: package.unwrap_or(repository).to_owned(), version: None })
}

/// `vendor/<name>[-<version>]/…` in a workspace, where `cargo vendor` copies dependencies.
fn vendored_crate(below_root: &Path) -> Option<CrateId> {
    let directory = below_root.strip_prefix("vendor").ok()?.components().next()?.as_os_str().to_str()?;
    Some(split_version(directory).unwrap_or_else(|| CrateId { name: directory.to_owned(), version: None }))
}

/// The package in `…/build/<package>-<16 hex digits>/out/…`.
fn generated_for<'a>(parts: &[&'a str]) -> Option<&'a str> {
    parts.windows(3).find_map(|window| {
        let ["build", directory, "out"] = window else { return None };
        let (package, hash) = directory.rsplit_once('-')?;
        (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(package)
    })
}

/// What follows `pattern` in `parts`.
fn find<'p, 'a>(parts: &'p [&'a str], pattern: &[&str]) -> Option<&'p [&'a str]> {
    let at = parts.windows(pattern.len()).position(|window| window == pattern)?;
    Some(&parts[at + pattern.len()..])
}

/// Splits `<name>-<version>` at the first dash that a full version (`1.2.3…`) follows: names hold dashes and digits,
/// and versions can hold dashes as well.
fn split_version(package: &str) -> Option<CrateId> {
    package.match_indices('-').find_map(|(at, _)| {
        let (name, version) = (&package[..at], &package[at + 1..]);
        (!name.is_empty() && is_version(version))
            .then(|| CrateId { name: name.to_owned(), version: Some(version.to_owned()) })
    })
}

/// Whether a text is `major.minor.patch`, with pre-release and build parts or without.
fn is_version(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    core.split('.').count() == 3 && core.split('.').all(number)
}

/// The crate that a Rust function belongs to, by its name; `None` for names that aren't Rust's.
fn crate_of_name<'a>(name: &'a str, linkage_name: Option<&'a str>) -> Option<&'a str> {
    let linkage_name = linkage_name?;
    if let Some(krate) = defining_crate(linkage_name) {
        return Some(krate);
    }
    // Rust by its scheme, or C++ which has no crates.
    let is_rust = linkage_name.starts_with("_R") || (linkage_name.starts_with("_ZN") && linkage_name.contains("17h"));
    if is_rust { leading_crate(name) } else { None }
}

/// The first path's first segment. In `<a::B as c::D>::f` that is `a`; where the type is a built-in one
/// (`<&[u8] as c::D>::f`) it is the trait's.
fn leading_crate(name: &str) -> Option<&str> {
    name.split([' ', '<', '>', '&', '*', '(', ')', '[', ']', ',', ';'])
        .filter_map(|word| word.split_once("::"))
        .map(|(first, _)| first)
        .find(|first| !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// Whether a file was installed with the system; the vdso is the kernel's.
fn is_system_path(path: &Path) -> bool {
    const ROOTS: [&str; 7] = ["/usr", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/snap"];
    ROOTS.iter().any(|root| path.starts_with(root)) || path.as_os_str() == "[vdso]"
}

#[cfg(test)]
mod tests {
    use super::{Category, CrateId, Origin, OriginRules};
    use crate::symbolize::Frame;
    use crate::symbolize::demangle::demangle;
    use std::path::Path;

    fn rules() -> OriginRules {
        OriginRules::new(Some("/home/u/proj".into()), ["my-app".to_owned()])
    }

    fn frame(raw: &str, file: Option<&str>) -> Frame {
        let name = demangle(raw);
        let linkage_name = (name != raw).then(|| raw.into());
        Frame { name: name.as_ref().into(), linkage_name, file: file.map(Into::into), line: None, column: None }
    }

    fn origin(category: Category, krate: Option<(&str, Option<&str>)>) -> Origin {
        let crate_id =
            krate.map(|(name, version)| CrateId { name: name.to_owned(), version: version.map(str::to_owned) });
        Origin { category, crate_id }
    }

    #[test]
    fn paths() {
        use Category::{Dependency, Other, Std, System, Workspace};
        let index = "/home/u/.cargo/registry/src/index.example.io-1949cf8c6b5b557f";
        let table = [
            (format!("{index}/sha-1-0.10.1/src/lib.rs"), Dependency, Some(("sha-1", Some("0.10.1")))),
            (
                format!("{index}/foo-1.0.0-beta.2+build/src/a/b.rs"),
                Dependency,
                Some(("foo", Some("1.0.0-beta.2+build"))),
            ),
            (format!("{index}/x-86-64-bit-2.0.0/src/lib.rs"), Dependency, Some(("x-86-64-bit", Some("2.0.0")))),
            (
                format!("{index}/zstd-sys-2.0.9+zstd.1.5.5/zstd/lib/x.c"),
                Dependency,
                Some(("zstd-sys", Some("2.0.9+zstd.1.5.5"))),
            ),
            ("/remapped/registry/src/idx/serde-1.0.0/src/lib.rs".into(), Dependency, Some(("serde", Some("1.0.0")))),
            (
                "/home/u/.cargo/git/checkouts/tokio-0123456789abcdef/1a2b3c4/tokio-util/src/lib.rs".into(),
                Dependency,
                Some(("tokio-util", None)),
            ),
            (
                "/home/u/.cargo/git/checkouts/my-lib-0123456789abcdef/1a2b3c4/src/lib.rs".into(),
                Dependency,
                Some(("my-lib", None)),
            ),
            ("/home/u/proj/vendor/rand-0.8.5/src/lib.rs".into(), Dependency, Some(("rand", Some("0.8.5")))),
            ("/home/u/proj/vendor/rand/src/lib.rs".into(), Dependency, Some(("rand", None))),
            ("/rustc/59807616e1fa/library/core/src/fmt/mod.rs".into(), Std, Some(("core", None))),
            ("/rustc/59807616e1fa/library/stdarch/crates/core_arch/src/x86/avx.rs".into(), Std, Some(("core", None))),
            ("/rust/deps/hashbrown-0.15.2/src/raw/mod.rs".into(), Std, Some(("hashbrown", Some("0.15.2")))),
            (
                "/root/.rustup/toolchains/t/lib/rustlib/src/rust/library/alloc/src/vec.rs".into(),
                Std,
                Some(("alloc", None)),
            ),
            ("/home/u/proj/src/main.rs".into(), Workspace, None),
            ("src/main.rs".into(), Workspace, None),
            ("./src/main.rs".into(), Workspace, None),
            (
                "/home/u/proj/target/debug/build/my-app-0123456789abcdef/out/gen.rs".into(),
                Workspace,
                Some(("my-app", None)),
            ),
            (
                "/home/u/proj/target/debug/build/other-0123456789abcdef/out/gen.rs".into(),
                Dependency,
                Some(("other", None)),
            ),
            ("/home/u/project/src/x.c".into(), System, None),
            ("/build/glibc-2.41/malloc/malloc.c".into(), System, None),
        ];
        for (path, category, krate) in table {
            let got = rules().classify(&frame("f", Some(&path)), Path::new("/home/u/proj/target/release/my-app"));
            assert_eq!(got, origin(category, krate), "{path}");
        }
        let relative = OriginRules::default().classify(&frame("f", Some("src/main.rs")), Path::new("/srv/app"));
        assert_eq!(relative.category, System, "without a workspace a relative path can be anyone's");
        let libc = Path::new("/usr/lib/x86_64-linux-gnu/libc.so.6");
        let distribution = rules().classify(&frame("memmove", Some("./string/../sysdeps/memmove.c")), libc);
        assert_eq!(distribution, origin(System, None));
        let nothing = rules().classify(&frame("f", None), Path::new("/srv/app"));
        assert_eq!(nothing, origin(Other, None));
    }

    #[test]
    fn names_where_there_is_no_path() {
        use Category::{Other, Std, System, Workspace};
        let table = [
            ("_ZN3std2rt10lang_start17h0123456789abcdefE", Std, Some("std")),
            (
                "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
                Std,
                Some("alloc"),
            ),
            ("_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", Std, Some("core")),
            ("_ZN6my_app4main17h0123456789abcdefE", Workspace, Some("my_app")),
            ("_ZN5tokio7runtime4park17h0123456789abcdefE", Other, Some("tokio")),
            // `impl my_app::Trait for alloc::vec::Vec`, written in my_app
            ("_RNvXs_C6my_appNtNtC5alloc3vec3VecNtB4_5Trait1f", Workspace, Some("my_app")),
            ("_RNvNtC3std2rt10lang_start", Std, Some("std")),
            ("_ZNSt6thread4joinEv", Other, None),
            ("malloc", Other, None),
        ];
        for (raw, category, krate) in table {
            let got = rules().classify(&frame(raw, None), Path::new("/home/u/proj/target/release/my-app"));
            assert_eq!(got, origin(category, krate.map(|name| (name, None))), "{raw}");
        }
        let libc = Path::new("/usr/lib/x86_64-linux-gnu/libc.so.6");
        assert_eq!(rules().classify(&frame("malloc", None), libc), origin(System, None));
        assert_eq!(rules().classify(&frame("clock_gettime", None), Path::new("[vdso]")), origin(System, None));
    }

    #[test]
    fn a_workspace_in_a_checkout_of_cargos() {
        let root = "/home/u/.cargo/git/checkouts/my-app-0123456789abcdef/1a2b3c4";
        let rules = OriginRules::new(Some(root.into()), ["my-app".to_owned()]);
        let raw = "_ZN6my_app4main17h0123456789abcdefE";
        let got = rules.classify(&frame(raw, Some(&format!("{root}/src/main.rs"))), Path::new("/srv/my-app"));
        assert_eq!(got, origin(Category::Workspace, Some(("my_app", None))));
    }

    #[test]
    fn a_path_dependency_outside_the_workspace() {
        let raw = "_ZN5tools3run17h0123456789abcdefE";
        let got = rules().classify(&frame(raw, Some("/home/u/tools/src/lib.rs")), Path::new("/home/u/proj/target/x"));
        assert_eq!(got, origin(Category::Dependency, Some(("tools", None))));
    }
}
