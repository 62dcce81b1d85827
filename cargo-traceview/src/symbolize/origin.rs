//! Whose code a frame is: the user's, a dependency's, the standard library's, or the system's.
//!
//! The path of the source file tells most: cargo, git checkouts and the standard library have their places, and other
//! sources have a manifest above them. Without debug information only the function's name is left, which begins with its
//! crate in Rust; its version is in the lock file.

use rustc_hash::FxHashMap;
use std::path::{Component, Path, PathBuf};

use super::crate_path::{generated_for, git_crate, registry_crate, std_crate, vendored_crate};
use super::demangle::{defining_crate, is_rust};
use super::manifests::Manifests;
use super::resolve::Frame;
use crate::cargo::workspace::{Workspace, crate_name};

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
    /// The package's name where it is known (`serde-json`), else the crate's (`serde_json`).
    pub name: String,
    /// The version, where it is known.
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
#[derive(Debug, Default)]
pub struct OriginRules {
    workspace_root: Option<PathBuf>,
    /// By the names that symbols have.
    crates: FxHashMap<String, Known>,
    manifests: Manifests,
}

/// What is known of a crate by its name alone.
#[derive(Clone, Debug)]
struct Known {
    id: CrateId,
    is_own: bool,
}

/// What the compiler puts between a program and its allocator and panic handler.
const RUSTC: &str = "__rustc";
/// Crates that are part of the standard library but have names of their own there.
const INSIDE_STD: [&str; 13] = [
    "addr2line",
    "adler2",
    "compiler_builtins",
    "gimli",
    "hashbrown",
    "memchr",
    "miniz_oxide",
    "object",
    "panic_unwind",
    "proc_macro",
    "rustc_demangle",
    "std_detect",
    "unwind",
];

impl OriginRules {
    /// Rules for a program that was built in `workspace`; `None` where that is not known.
    #[must_use]
    pub fn new(workspace: Option<Workspace>) -> Self {
        let Some(Workspace { root, members, locked }) = workspace else { return Self::default() };
        let mut crates: FxHashMap<String, Known> = FxHashMap::default();
        for package in locked {
            let is_own = false;
            let id = CrateId { name: package.package, version: Some(package.version) };
            crates
                .entry(crate_name(&id.name))
                // Of several versions nobody knows which it is.
                .and_modify(|known| known.id.version = None)
                .or_insert(Known { id, is_own });
        }
        for member in members {
            let id = CrateId { name: member.package, version: member.version };
            crates.extend(member.crates.into_iter().map(|name| (name, Known { id: id.clone(), is_own: true })));
        }
        OriginRules { workspace_root: Some(root), crates, manifests: Manifests::default() }
    }

    /// Whether there are several versions of the crate called `name` in symbols.
    #[must_use]
    pub fn has_several(&self, name: &str) -> bool {
        self.crates.get(name).is_some_and(|known| known.id.version.is_none() && !known.is_own)
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
        let path = &without_parents(Path::new(file));
        let below_root = self.workspace_root.as_ref().and_then(|root| path.strip_prefix(root).ok());
        // From the root on, as the workspace itself can lie in a checkout of cargo's.
        let parts: Vec<&str> =
            below_root.unwrap_or(path).components().filter_map(|component| component.as_os_str().to_str()).collect();
        if let Some(crate_id) = std_crate(&parts) {
            return Some(Origin { category: Category::Std, crate_id: Some(crate_id) });
        }
        let dependency = |crate_id| Some(Origin { category: Category::Dependency, crate_id: Some(crate_id) });
        if let Some(crate_id) = registry_crate(&parts) {
            return dependency(crate_id);
        }
        if let Some(crate_id) = git_crate(&parts).or_else(|| below_root.and_then(vendored_crate)) {
            return dependency(self.manifests.of_file(path).unwrap_or_else(|| self.with_version(crate_id)));
        }
        if let Some(package) = generated_for(&parts) {
            return self.generated(package);
        }
        // Distributions build with relative paths too.
        let relative = path.is_relative() && !is_system_path(image_path);
        if let Some(root) = self.workspace_root.as_ref().filter(|_| below_root.is_some() || relative) {
            let by_name = || krate.map(|name| self.of_name(name)).filter(|(_, is_own)| *is_own).map(|(id, _)| id);
            let crate_id = self.manifests.of_file(&root.join(path)).or_else(by_name);
            return Some(Origin { category: Category::Workspace, crate_id });
        }
        // Beside the workspace.
        if path.extension().is_some_and(|extension| extension == "rs") {
            return self.manifests.of_file(path).and_then(dependency);
        }
        None
    }

    /// Code that a build script wrote belongs to the package of the script.
    fn generated(&self, package: &str) -> Option<Origin> {
        self.workspace_root.as_ref()?;
        let (crate_id, is_own) = self.of_name(&crate_name(package));
        // The path has the package's own name.
        let crate_id = Some(CrateId { name: package.to_owned(), ..crate_id });
        Some(Origin { category: if is_own { Category::Workspace } else { Category::Dependency }, crate_id })
    }

    fn by_crate(&self, krate: Option<&str>, is_rust_file: bool, has_file: bool, image_path: &Path) -> Origin {
        let system = has_file || is_system_path(image_path);
        let Some(name) = krate else {
            let category = if system { Category::System } else { Category::Other };
            return Origin { category, crate_id: None };
        };
        let known = self.crates.get(name);
        let category = match known {
            Some(Known { is_own: true, .. }) => Category::Workspace,
            _ if matches!(name, "std" | "core" | "alloc" | RUSTC) && !is_rust_file => Category::Std,
            // Rust source in no known place: a path dependency from outside the workspace.
            _ if is_rust_file => Category::Dependency,
            Some(_) if !is_system_path(image_path) => Category::Dependency,
            None if self.workspace_root.is_some() && INSIDE_STD.contains(&name) => Category::Std,
            _ if system => Category::System,
            _ => Category::Other,
        };
        let name = if name == RUSTC { "std" } else { name };
        Origin { category, crate_id: Some(self.of_name(name).0) }
    }

    /// The crate called `name` in symbols, and whether it is the workspace's.
    fn of_name(&self, name: &str) -> (CrateId, bool) {
        match self.crates.get(name) {
            Some(known) => (known.id.clone(), known.is_own),
            None => (CrateId { name: name.to_owned(), version: None }, false),
        }
    }

    fn with_version(&self, crate_id: CrateId) -> CrateId {
        let (known, _) = self.of_name(&crate_name(&crate_id.name));
        if crate_id.version.is_none() && known.name == crate_id.name { known } else { crate_id }
    }
}

/// A path without `.` and, as far as they have something to take away, `..`.
fn without_parents(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The crate that a Rust function belongs to, by its name; `None` for names that aren't Rust's.
fn crate_of_name<'a>(name: &'a str, linkage_name: Option<&'a str>) -> Option<&'a str> {
    // A crate alone is no function: `_RC1a` is a name of C that the newer scheme could have made as well.
    let linkage_name = linkage_name.filter(|raw| name.contains("::") && is_rust(raw))?;
    defining_crate(linkage_name).or_else(|| leading_crate(name))
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
    use crate::cargo::workspace::{Locked, Member, Workspace};
    use crate::symbolize::Frame;
    use crate::symbolize::demangle::demangle;
    use std::path::Path;

    fn rules() -> OriginRules {
        let locked =
            [("my-app", "0.3.0"), ("tokio", "1.54.1"), ("tokio-util", "0.7.1"), ("rand", "0.8.5"), ("rand", "0.9.0")];
        let locked = locked.map(|(package, version)| Locked {
            package: package.to_owned(),
            version: version.to_owned(),
            is_local: package == "my-app",
        });
        let (package, version) = ("my-app".to_owned(), Some("0.3.0".to_owned()));
        let members = vec![Member { package, version, crates: vec!["my_app".to_owned(), "app".to_owned()] }];
        OriginRules::new(Some(Workspace { root: "/home/u/proj".into(), members, locked: locked.to_vec() }))
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
                Some(("tokio-util", Some("0.7.1"))),
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
            ("/home/u/proj/tests/../src/main.rs".into(), Workspace, None),
            ("/home/u/proj/../other/src/main.c".into(), System, None),
            (
                "/home/u/proj/target/debug/build/my-app-0123456789abcdef/out/gen.rs".into(),
                Workspace,
                Some(("my-app", Some("0.3.0"))),
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
        use Category::{Dependency, Other, Std, System, Workspace};
        let table = [
            ("_ZN3std2rt10lang_start17h0123456789abcdefE", Std, Some(("std", None))),
            (
                "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
                Std,
                Some(("alloc", None)),
            ),
            ("_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", Std, Some(("core", None))),
            ("_ZN6my_app4main17h0123456789abcdefE", Workspace, Some(("my-app", Some("0.3.0")))),
            ("_ZN3app4main17h0123456789abcdefE", Workspace, Some(("my-app", Some("0.3.0")))),
            ("_ZN5tokio7runtime4park17h0123456789abcdefE", Dependency, Some(("tokio", Some("1.54.1")))),
            ("_ZN4rand4fill17h0123456789abcdefE", Dependency, Some(("rand", None))),
            ("_ZN7strange1f17h0123456789abcdefE", Other, Some(("strange", None))),
            ("_ZN9hashbrown3raw4find17h0123456789abcdefE", Std, Some(("hashbrown", None))),
            // `impl my_app::Trait for alloc::vec::Vec`, written in my_app
            ("_RNvXs_C6my_appNtNtC5alloc3vec3VecNtB4_5Trait1f", Workspace, Some(("my-app", Some("0.3.0")))),
            ("_RNvNtC3std2rt10lang_start", Std, Some(("std", None))),
            ("_RNvC7___rustc12___rust_alloc", Std, Some(("std", None))),
            ("_ZNSt6thread4joinEv", Other, None),
            // C++ with parts that look like a hash, and C that looks like the newer scheme.
            ("_ZN5tokio17h0123456789abcdef3runEv", Other, None),
            ("_ZN5tokio17has_seventeen_ltr3runEv", Other, None),
            ("_RNvC5tokio", Other, None),
            ("_RC5tokio@VERSION_1", Other, None),
            ("_RNtokio.cold", Other, None),
            ("malloc", Other, None),
        ];
        for (raw, category, krate) in table {
            let got = rules().classify(&frame(raw, None), Path::new("/home/u/proj/target/release/my-app"));
            assert_eq!(got, origin(category, krate), "{raw}");
        }
        let libc = Path::new("/usr/lib/x86_64-linux-gnu/libc.so.6");
        assert_eq!(rules().classify(&frame("malloc", None), libc), origin(System, None));
        assert_eq!(rules().classify(&frame("clock_gettime", None), Path::new("[vdso]")), origin(System, None));
    }

    #[test]
    fn a_workspace_in_a_checkout_of_cargos() {
        let root = "/home/u/.cargo/git/checkouts/my-app-0123456789abcdef/1a2b3c4";
        let member = Member { package: "my-app".to_owned(), version: None, crates: vec!["my_app".to_owned()] };
        let workspace = Workspace { root: root.into(), members: vec![member], locked: Vec::new() };
        let raw = "_ZN6my_app4main17h0123456789abcdefE";
        let got = OriginRules::new(Some(workspace))
            .classify(&frame(raw, Some(&format!("{root}/src/main.rs"))), Path::new("/srv/my-app"));
        assert_eq!(got, origin(Category::Workspace, Some(("my-app", None))));
    }

    #[test]
    fn packages_by_the_manifests_above_their_sources() {
        let directory = tempfile::tempdir().unwrap();
        for (package, version) in [("proj/member", "1.1.0"), ("beside", "2.2.0"), ("proj/vendor/rand", "0.8.5")] {
            let root = directory.path().join(package);
            std::fs::create_dir_all(&root).unwrap();
            let name = package.rsplit('/').next().unwrap();
            let manifest = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n");
            std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
        }
        let root = directory.path().join("proj");
        let rules = OriginRules::new(Some(Workspace { root, members: Vec::new(), locked: Vec::new() }));
        let classify = |rules: &OriginRules, file: &str| {
            let file = match file.strip_prefix("../") {
                Some(below) => directory.path().join(below).display().to_string(),
                None => file.to_owned(),
            };
            rules.classify(&frame("f", Some(&file)), Path::new("/srv/app"))
        };
        for (file, category, krate) in [
            ("../proj/member/src/lib.rs", Category::Workspace, Some(("member", Some("1.1.0")))),
            ("member/src/lib.rs", Category::Workspace, Some(("member", Some("1.1.0")))),
            ("../proj/member/c/fast.c", Category::Workspace, Some(("member", Some("1.1.0")))),
            ("../beside/src/lib.rs", Category::Dependency, Some(("beside", Some("2.2.0")))),
            ("../beside/c/fast.c", Category::System, None),
            ("../proj/vendor/rand/src/lib.rs", Category::Dependency, Some(("rand", Some("0.8.5")))),
        ] {
            assert_eq!(classify(&rules, file), origin(category, krate), "{file}");
        }
        let unknown = OriginRules::default();
        let expected = origin(Category::Dependency, Some(("beside", Some("2.2.0"))));
        assert_eq!(
            classify(&unknown, "../beside/src/lib.rs"),
            expected,
            "nobody knows whose it is, but it is a package"
        );
    }

    #[test]
    fn a_path_dependency_outside_the_workspace() {
        let raw = "_ZN5tools3run17h0123456789abcdefE";
        let got = rules().classify(&frame(raw, Some("/home/u/tools/src/lib.rs")), Path::new("/home/u/proj/target/x"));
        assert_eq!(got, origin(Category::Dependency, Some(("tools", None))));
    }
}
