//! Crates by the places where cargo and the compiler keep their sources.

use std::path::Path;

use super::origin::CrateId;

/// `/rustc/<hash>/library/<crate>/…`, the same below an installed `rust-src`, and `/rust/deps/<crate>-<version>/…`.
pub(super) fn std_crate(parts: &[&str]) -> Option<CrateId> {
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
pub(super) fn registry_crate(parts: &[&str]) -> Option<CrateId> {
    match find(parts, &["registry", "src"])? {
        [_index, package, _, ..] => split_version(package),
        _ => None,
    }
}

/// `…/git/checkouts/<repository>-<hash>/<revision>/[…/<package>/]src/…`; the package of the repository's root is named
/// after the repository.
pub(super) fn git_crate(parts: &[&str]) -> Option<CrateId> {
    let [repository, _revision, below @ ..] = find(parts, &["git", "checkouts"])? else { return None };
    let package = below.iter().position(|&part| part == "src").and_then(|src| src.checked_sub(1)).map(|at| below[at]);
    let repository = repository.rsplit_once('-').map_or(*repository, |(name, _hash)| name);
    Some(CrateId { name: package.unwrap_or(repository).to_owned(), version: None })
}

/// `vendor/<name>[-<version>]/…` in a workspace, where `cargo vendor` copies dependencies.
pub(super) fn vendored_crate(below_root: &Path) -> Option<CrateId> {
    let directory = below_root.strip_prefix("vendor").ok()?.components().next()?.as_os_str().to_str()?;
    Some(split_version(directory).unwrap_or_else(|| CrateId { name: directory.to_owned(), version: None }))
}

/// The package in `…/build/<package>-<16 hex digits>/out/…`.
pub(super) fn generated_for<'a>(parts: &[&'a str]) -> Option<&'a str> {
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
