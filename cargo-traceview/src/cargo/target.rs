//! Which binary or example to run, chosen as `cargo run` does.

use std::fmt;

use cargo_metadata::{CrateType, Metadata, Package, Target, TargetKind};
use thiserror::Error;

use super::options::CargoOptions;

/// The program to build.
#[derive(Clone, Debug)]
pub struct ChosenTarget {
    /// Its package.
    pub package: Package,
    /// Its name.
    pub name: String,
    /// Binary or example.
    pub kind: Kind,
}

/// What kinds of targets can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A binary.
    Bin,
    /// An example.
    Example,
}

/// Why no target could be chosen.
#[derive(Debug, Error)]
pub enum TargetError {
    /// `-p` names no package of the workspace.
    #[error("no package `{wanted}` in this workspace; {}", list("it has", .packages))]
    NoPackage {
        /// The value of `-p`.
        wanted: String,
        /// The names of all packages, the most similar first.
        packages: Vec<String>,
    },
    /// `--bin` or `--example` names nothing.
    #[error("no {kind} `{wanted}` here; {}", list("choose one with", .candidates))]
    NoTarget {
        /// Binary or example.
        kind: Kind,
        /// Its value.
        wanted: String,
        /// The flags that choose each target there is, the most similar first.
        candidates: Vec<String>,
    },
    /// Nothing to choose from.
    #[error("there is no binary to run in {}; {}", .packages.join(", "), list("choose with", .candidates))]
    NoBinary {
        /// The packages looked at.
        packages: Vec<String>,
        /// The flags that choose each target there is.
        candidates: Vec<String>,
    },
    /// Several to choose from.
    #[error("there are several programs to run; {}", list("choose one with", .candidates))]
    Ambiguous {
        /// The flags that choose each.
        candidates: Vec<String>,
    },
}

impl ChosenTarget {
    /// Chooses among the packages of the workspace.
    ///
    /// # Errors
    /// When nothing, or more than one target, is meant.
    pub fn new(options: &CargoOptions, metadata: &Metadata) -> Result<Self, TargetError> {
        let packages = packages(options, metadata)?;
        let wanted = match options {
            CargoOptions { bin: Some(name), .. } => Some((Kind::Bin, name.as_str())),
            CargoOptions { example: Some(name), .. } => Some((Kind::Example, name.as_str())),
            _ => default_run(&packages).map(|name| (Kind::Bin, name)),
        };
        let all: Vec<Self> = packages.iter().flat_map(|package| Self::runnable(package)).collect();
        let flags = |targets: &[Self]| targets.iter().map(|target| target.flags(packages.len() > 1)).collect();
        let Some((kind, name)) = wanted else {
            let mut bins: Vec<Self> = all.iter().filter(|target| target.kind == Kind::Bin).cloned().collect();
            return match bins.len() {
                0 => Err(TargetError::NoBinary {
                    packages: packages.iter().map(|package| format!("`{}`", package.name)).collect(),
                    candidates: flags(&all),
                }),
                1 => Ok(bins.swap_remove(0)),
                _ => Err(TargetError::Ambiguous { candidates: flags(&bins) }),
            };
        };
        let is_wanted = |target: &&Self| target.kind == kind && target.name == name;
        let mut found: Vec<Self> = all.iter().filter(is_wanted).cloned().collect();
        match found.len() {
            0 => {
                let mut all = all;
                all.sort_by_key(|target| (distance(&target.name, name), target.kind != kind));
                Err(TargetError::NoTarget { kind, wanted: name.to_owned(), candidates: flags(&all) })
            }
            1 => Ok(found.swap_remove(0)),
            _ => Err(TargetError::Ambiguous { candidates: flags(&found) }),
        }
    }

    /// All targets of a package that can be run.
    fn runnable(package: &Package) -> Vec<Self> {
        let chosen = |target: &Target| {
            let kind = if target.kind.contains(&TargetKind::Bin) {
                Kind::Bin
            // An example can also be a library.
            } else if target.kind.contains(&TargetKind::Example) && target.crate_types.contains(&CrateType::Bin) {
                Kind::Example
            } else {
                return None;
            };
            Some(Self { package: package.clone(), name: target.name.clone(), kind })
        };
        package.targets.iter().filter_map(chosen).collect()
    }

    /// The flags that choose it.
    fn flags(&self, with_package: bool) -> String {
        let package = if with_package { format!("-p {} ", self.package.name) } else { String::new() };
        format!("{package}{} {}", self.kind.flag(), self.name)
    }
}

impl Kind {
    /// The flag of cargo that chooses a target of this kind.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Self::Bin => "--bin",
            Self::Example => "--example",
        }
    }

    /// How cargo's messages name it.
    #[must_use]
    pub fn target_kind(self) -> TargetKind {
        match self {
            Self::Bin => TargetKind::Bin,
            Self::Example => TargetKind::Example,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bin => "binary",
            Self::Example => "example",
        })
    }
}

/// The packages meant: that of `-p`, or those that cargo takes in this directory.
fn packages<'a>(options: &CargoOptions, metadata: &'a Metadata) -> Result<Vec<&'a Package>, TargetError> {
    let members = metadata.workspace_packages();
    let Some(wanted) = &options.package else {
        // Cargo before 1.71 does not say which are the default; all is what a virtual workspace without that key means.
        let default: Vec<&Package> = members
            .iter()
            .copied()
            .filter(|package| {
                !metadata.workspace_default_members.is_available()
                    || metadata.workspace_default_members.contains(&package.id)
            })
            .collect();
        return Ok(default);
    };
    let found: Vec<&Package> = members.iter().copied().filter(|package| is_meant(wanted, package)).collect();
    if found.is_empty() {
        let mut packages: Vec<String> = members.iter().map(|package| package.name.to_string()).collect();
        packages.sort_by_key(|name| distance(name, wanted));
        return Err(TargetError::NoPackage { wanted: wanted.clone(), packages });
    }
    Ok(found)
}

/// Whether a package id specification means this package: `name`, `name@version`, or a URL with or without `#…`.
fn is_meant(spec: &str, package: &Package) -> bool {
    let name = package.name.as_str();
    let versioned = |spec: &str| {
        let (spec_name, version) = spec.split_once('@').or_else(|| spec.split_once(':')).unwrap_or((spec, ""));
        let own = package.version.to_string();
        // A version can be cut at a dot.
        let version_fits = own
            .strip_prefix(version)
            .is_some_and(|rest| version.is_empty() || rest.is_empty() || rest.starts_with(['.', '-', '+']));
        spec_name == name && version_fits
    };
    if !spec.contains("://") {
        return versioned(spec);
    }
    // Ids look like `path+file:///home/me/project#name@0.1.0`; the kind in front can be left out.
    let without_kind = |id: &str| {
        id.split_once("://").map_or(id.to_owned(), |(scheme, rest)| {
            format!("{}://{rest}", scheme.rsplit_once('+').map_or(scheme, |(_, scheme)| scheme))
        })
    };
    let (spec, id) = (without_kind(spec), without_kind(&package.id.repr));
    spec == id
        || id.split_once('#').is_some_and(|(url, _)| match spec.split_once('#') {
            None => spec == url,
            Some((spec_url, fragment)) => {
                spec_url == url && (versioned(fragment) || fragment == package.version.to_string())
            }
        })
}

/// The manifest key `default-run`, if exactly one of the packages has it.
fn default_run<'a>(packages: &[&'a Package]) -> Option<&'a str> {
    let mut names = packages.iter().filter_map(|package| package.default_run.as_deref());
    names.next().filter(|_| names.next().is_none())
}

/// The items behind the lead, not too many of them.
fn list(lead: &str, items: &[String]) -> String {
    const SHOWN: usize = 12;
    if items.is_empty() {
        return "there is nothing that can be run".to_owned();
    }
    let more = items.len().saturating_sub(SHOWN);
    let tail = if more > 0 { format!(", and {more} more") } else { String::new() };
    let shown: Vec<String> = items.iter().take(SHOWN).map(|item| format!("`{item}`")).collect();
    format!("{lead} {}{tail}", shown.join(", "))
}

/// How many letters must be inserted, deleted or replaced to make one word of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
pub(super) mod tests {
    use std::ffi::OsString;

    use cargo_metadata::MetadataCommand;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn target(name: &str, kind: &str, crate_type: &str) -> String {
        format!(
            r#"{{"kind":["{kind}"],"crate_types":["{crate_type}"],"name":"{name}","src_path":"/ws/x.rs","edition":"2024"}}"#
        )
    }

    fn package(name: &str, default_run: &str, targets: &[String]) -> String {
        let targets = targets.join(",");
        format!(
            r#"{{"name":"{name}","version":"0.1.0","id":"path+file:///ws/{name}#0.1.0","dependencies":[],"targets":[{targets}],
            "features":{{}},"manifest_path":"/ws/{name}/Cargo.toml","default_run":{default_run}}}"#
        )
    }

    fn metadata(packages: &[String], default: &[&str]) -> Metadata {
        let ids = |names: &[&str]| {
            names.iter().map(|name| format!(r#""path+file:///ws/{name}#0.1.0""#)).collect::<Vec<_>>().join(",")
        };
        let (packages, all, default) = (packages.join(","), ids(&["a", "b", "lib"]), ids(default));
        MetadataCommand::parse(format!(
            r#"{{"packages":[{packages}],"workspace_members":[{all}],"workspace_default_members":[{default}],"resolve":null,
            "workspace_root":"/ws","target_directory":"/ws/target","version":1}}"#
        ))
        .unwrap()
    }

    /// A virtual workspace: `a` with one binary and two examples, `b` with two binaries, `lib` with none.
    fn workspace(default: &[&str], b_default_run: &str) -> Metadata {
        metadata(
            &[
                package(
                    "a",
                    "null",
                    &[
                        target("app", "bin", "bin"),
                        target("demo", "example", "bin"),
                        target("plugin", "example", "cdylib"),
                        target("build-script-build", "custom-build", "bin"),
                    ],
                ),
                package("b", b_default_run, &[target("server", "bin", "bin"), target("client", "bin", "bin")]),
                package("lib", "null", &[target("lib", "lib", "lib"), target("show", "example", "bin")]),
            ],
            default,
        )
    }

    /// The same, seen from its root.
    pub(in crate::cargo) fn project() -> Metadata {
        workspace(&["a", "b", "lib"], "null")
    }

    pub(in crate::cargo) fn chosen(flags: &str, metadata: &Metadata) -> Result<ChosenTarget, TargetError> {
        let words = std::iter::once("cargo-traceview").chain(flags.split_whitespace()).map(OsString::from);
        match Cli::parse_args(words).unwrap().into_command() {
            Command::Run(run) => ChosenTarget::new(&run.cargo, metadata),
            other => panic!("parsed as {other:?}"),
        }
    }

    fn name(flags: &str, metadata: &Metadata) -> String {
        let target = chosen(flags, metadata).unwrap();
        format!("{} {} {}", target.package.name, target.kind, target.name)
    }

    fn error(flags: &str, metadata: &Metadata) -> String {
        chosen(flags, metadata).unwrap_err().to_string()
    }

    #[test]
    fn one_binary_needs_no_flag() {
        assert_eq!(name("", &workspace(&["a"], "null")), "a binary app");
        assert_eq!(name("-p a", &project()), "a binary app");
        assert_eq!(name("", &workspace(&["a", "lib"], "null")), "a binary app");
    }

    #[test]
    fn default_run_decides_unless_a_flag_does() {
        let b = workspace(&["b"], "\"client\"");
        assert_eq!(name("", &b), "b binary client");
        assert_eq!(name("--bin server", &b), "b binary server");
        // From the root of a workspace too, as long as it is the only one.
        assert_eq!(name("", &workspace(&["a", "b"], "\"client\"")), "b binary client");
    }

    #[test]
    fn flags_choose_among_all_packages() {
        assert_eq!(name("--bin client", &project()), "b binary client");
        assert_eq!(name("--example demo", &project()), "a example demo");
        assert_eq!(name("-p lib --example show", &project()), "lib example show");
        for spec in
            ["b", "b@0.1.0", "b@0.1", "b:0.1.0", "path+file:///ws/b#0.1.0", "file:///ws/b", "path+file:///ws/b#b@0.1.0"]
        {
            assert_eq!(name(&format!("-p {spec} --bin server"), &project()), "b binary server", "{spec}");
        }
        assert!(matches!(chosen("-p b@0.2", &project()), Err(TargetError::NoPackage { .. })));
        assert!(matches!(chosen("-p file:///ws/", &project()), Err(TargetError::NoPackage { .. })));
    }

    #[test]
    fn errors_list_what_could_be_meant() {
        assert_eq!(
            error("", &project()),
            "there are several programs to run; choose one with `-p a --bin app`, `-p b --bin server`, `-p b --bin client`"
        );
        assert_eq!(
            error("-p b", &project()),
            "there are several programs to run; choose one with `--bin server`, `--bin client`"
        );
        assert_eq!(
            error("-p b --bin klient", &project()),
            "no binary `klient` here; choose one with `--bin client`, `--bin server`"
        );
        // The right name under the wrong flag comes first.
        assert_eq!(
            error("-p a --bin demo", &project()),
            "no binary `demo` here; choose one with `--example demo`, `--bin app`"
        );
        assert!(error("-p a --example plugin", &project()).starts_with("no example `plugin` here"));
        assert_eq!(error("-p lib", &project()), "there is no binary to run in `lib`; choose with `--example show`");
        assert_eq!(error("-p libb", &project()), "no package `libb` in this workspace; it has `lib`, `b`, `a`");
        let empty = metadata(&[package("lib", "null", &[target("lib", "lib", "lib")])], &["lib"]);
        assert_eq!(error("", &empty), "there is no binary to run in `lib`; there is nothing that can be run");
    }

    #[test]
    fn the_same_name_in_two_packages_is_ambiguous() {
        let app = || [target("app", "bin", "bin")];
        let twins = metadata(&[package("a", "null", &app()), package("b", "null", &app())], &["a", "b"]);
        assert_eq!(
            error("--bin app", &twins),
            "there are several programs to run; choose one with `-p a --bin app`, `-p b --bin app`"
        );
        assert_eq!(name("-p b --bin app", &twins), "b binary app");
    }

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in [("", "", 0), ("server", "server", 0), ("sever", "server", 1), ("kitten", "sitting", 3)] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }
}
