//! Which cargo profile to build with: the user's own if a profiler can read what it makes, otherwise `traceview`, which
//! exists only on cargo's command line and inherits from the user's. So the user's `target/release` is never touched.

use std::collections::HashSet;

use thiserror::Error;
use toml::{Table, Value};

use super::config::CargoConfig;
use super::options::CargoOptions;
use super::rustflags::quoted;

/// Our profile's name. A project may have a profile of that name: then it is the default, and its settings stand.
const OURS: &str = "traceview";
const RELEASE: &str = "release";
/// The profiles that every project has.
const BUILT_IN: [&str; 4] = ["dev", RELEASE, "test", "bench"];

/// A profile that the project does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no profile `{name}` in this workspace; choose one with --profile: {}", .known.join(", "))]
pub struct UnknownProfile {
    name: String,
    known: Vec<String>,
}

/// The profile to build with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChoice {
    /// The profile's name.
    pub name: String,
    /// Whether it is the user's, built as it is: then rustflags too must stay as they are.
    pub unchanged: bool,
    /// The user's profile: the same, or the one that ours inherits from.
    pub base: String,
    /// Arguments for `--config` that define or complete it.
    pub config: Vec<String>,
}

/// What a profile says of debug info, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DebugLevel {
    None,
    LineDirectives,
    /// Lines, but only the last part of each inlined function's name.
    LineTables,
    /// Lines and full names: enough for a profiler.
    Limited,
    Full,
}

impl ProfileChoice {
    /// Chooses for a workspace with this root manifest.
    ///
    /// # Errors
    /// When there is no profile of the name that was asked for.
    pub fn new(options: &CargoOptions, manifest: &Table, config: &CargoConfig) -> Result<Self, UnknownProfile> {
        let settings = Settings { manifest, config };
        let base = match options {
            CargoOptions { profile: Some(name), .. } => name.as_str(),
            CargoOptions { dev: true, .. } => "dev",
            CargoOptions { release: true, .. } => RELEASE,
            _ if settings.exists(OURS) => OURS,
            _ => RELEASE,
        };
        if base != OURS && !settings.exists(base) {
            return Err(UnknownProfile { name: base.to_owned(), known: settings.known() });
        }
        let chain = settings.ancestry(base);
        let changes = settings.changes(&chain);
        if changes.is_empty() && (base != OURS || settings.get(OURS, "inherits").is_some()) {
            return Ok(Self { name: base.to_owned(), unchanged: true, base: base.to_owned(), config: Vec::new() });
        }
        // `traceview` may be the user's as well: its settings count before those of the profile it now inherits from.
        let mut overlay = chain;
        let mut config = Vec::new();
        if base != OURS {
            overlay.insert(0, OURS.to_owned());
            config.push(format!("profile.{OURS}.inherits={}", quoted(base)));
        } else if settings.get(OURS, "inherits").is_none() {
            overlay = vec![OURS.to_owned(), RELEASE.to_owned()];
            config.push(format!("profile.{OURS}.inherits={}", quoted(RELEASE)));
        }
        config.extend(settings.changes(&overlay));
        Ok(Self { name: OURS.to_owned(), unchanged: false, base: base.to_owned(), config })
    }
}

/// The settings of all profiles.
#[derive(Clone, Copy)]
struct Settings<'a> {
    manifest: &'a Table,
    config: &'a CargoConfig,
}

impl Settings<'_> {
    /// Whether every project, the manifest or the configuration has such a profile.
    fn exists(self, profile: &str) -> bool {
        let in_manifest = self.manifest.get("profile").and_then(|profiles| profiles.get(profile)).is_some();
        BUILT_IN.contains(&profile)
            || in_manifest
            || self.config.get_with_root(&["profile", profile]).is_some()
            || self.get(profile, "inherits").is_some()
    }

    /// The names to choose from: the manifest's own first.
    fn known(self) -> Vec<String> {
        let in_manifest = self.manifest.get("profile").and_then(Value::as_table);
        let own = in_manifest.into_iter().flat_map(Table::keys).filter(|name| !BUILT_IN.contains(&name.as_str()));
        own.cloned().chain(BUILT_IN.map(str::to_owned)).collect()
    }

    /// A profile's own value. The configuration, variables included, stands above the manifest.
    fn get(self, profile: &str, key: &str) -> Option<Value> {
        let in_manifest = || self.manifest.get("profile")?.get(profile)?.get(key).cloned();
        self.config.get(&["profile", profile, key]).or_else(in_manifest)
    }

    /// The profile and all that it inherits from, itself first.
    fn ancestry(self, profile: &str) -> Vec<String> {
        let mut chain = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(profile.to_owned());
        // A circle is cargo's to complain about.
        while let Some(profile) = next.filter(|profile| seen.insert(profile.clone())) {
            let parent = match profile.as_str() {
                "dev" | RELEASE => None,
                "test" => Some("dev".to_owned()),
                "bench" => Some(RELEASE.to_owned()),
                _ => self.get(&profile, "inherits").and_then(|parent| parent.as_str().map(str::to_owned)),
            };
            chain.push(profile);
            next = parent;
        }
        chain
    }

    fn inherited(self, chain: &[String], key: &str) -> Option<Value> {
        chain.iter().find_map(|profile| self.get(profile, key))
    }

    /// What must be set on top of this chain of profiles, for `traceview`, so that a profiler can read the result.
    fn changes(self, chain: &[String]) -> Vec<String> {
        let mut changes = Vec::new();
        let default = if chain.iter().any(|profile| profile == "dev") { DebugLevel::Full } else { DebugLevel::None };
        let debug = self.inherited(chain, "debug").map_or(default, |value| debug_level(&value));
        if debug < DebugLevel::Limited {
            changes.push(format!("profile.{OURS}.debug=1"));
        }
        let strips = self.inherited(chain, "strip").is_some_and(|value| strips(&value));
        // Without debug info cargo also strips the standard library's.
        if strips || debug == DebugLevel::None {
            changes.push(format!("profile.{OURS}.strip=\"none\""));
        }
        // Debug info outside of the executable can be moved or cleaned away before it is read.
        if self.inherited(chain, "split-debuginfo").is_some_and(|value| value.as_str() != Some("off")) {
            changes.push(format!("profile.{OURS}.split-debuginfo=\"off\""));
        }
        changes
    }
}

/// The value of `debug`. One that cargo does not know counts as none; cargo complains about it.
fn debug_level(value: &Value) -> DebugLevel {
    match value {
        Value::Boolean(true) | Value::Integer(2) => DebugLevel::Full,
        Value::Integer(1) => DebugLevel::Limited,
        Value::String(level) => match level.as_str() {
            "full" => DebugLevel::Full,
            "limited" => DebugLevel::Limited,
            "line-tables-only" => DebugLevel::LineTables,
            "line-directives-only" => DebugLevel::LineDirectives,
            _ => DebugLevel::None,
        },
        _ => DebugLevel::None,
    }
}

/// Whether a value of `strip` removes anything.
fn strips(value: &Value) -> bool {
    match value {
        Value::Boolean(strips) => *strips,
        Value::String(what) => what != "none",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::*;
    use crate::cargo::variables::Variables;

    fn options(flag: &str) -> CargoOptions {
        match flag {
            "" => CargoOptions::default(),
            "--dev" => CargoOptions { dev: true, ..CargoOptions::default() },
            "-r" => CargoOptions { release: true, ..CargoOptions::default() },
            name => CargoOptions { profile: Some(name.to_owned()), ..CargoOptions::default() },
        }
    }

    fn choose(flag: &str, manifest: &str, typed: &[&str], variables: &[(&str, &str)]) -> ProfileChoice {
        let typed: Vec<OsString> = typed.iter().map(OsString::from).collect();
        let variables: Variables = variables.iter().copied().collect();
        let config = CargoConfig::load(Path::new("/nonexistent"), &typed, variables).unwrap();
        ProfileChoice::new(&options(flag), &manifest.parse().unwrap(), &config).unwrap()
    }

    #[test]
    fn a_profile_that_is_not_there() {
        let manifest = "[profile.profiling]\ninherits='release'".parse().unwrap();
        let config = CargoConfig::load(Path::new("/nonexistent"), &[], Variables::default()).unwrap();
        let error = ProfileChoice::new(&options("proflng"), &manifest, &config).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no profile `proflng` in this workspace; choose one with --profile: profiling, dev, release, test, bench"
        );
    }

    fn unchanged(name: &str) -> ProfileChoice {
        ProfileChoice { name: name.to_owned(), unchanged: true, base: name.to_owned(), config: Vec::new() }
    }

    fn ours(base: &str, config: &[&str]) -> ProfileChoice {
        let config = config.iter().map(|setting| format!("profile.traceview.{setting}")).collect();
        ProfileChoice { name: "traceview".to_owned(), unchanged: false, base: base.to_owned(), config }
    }

    const PLAIN: [&str; 3] = ["inherits=\"release\"", "debug=1", "strip=\"none\""];

    #[test]
    fn without_settings_release_gets_debug_info_and_dev_has_it() {
        assert_eq!(choose("", "", &[], &[]), ours("release", &PLAIN));
        assert_eq!(choose("-r", "", &[], &[]), ours("release", &PLAIN));
        assert_eq!(choose("--dev", "", &[], &[]), unchanged("dev"));
        assert_eq!(choose("test", "", &[], &[]), unchanged("test"));
        let bench = ["inherits=\"bench\"", "debug=1", "strip=\"none\""];
        assert_eq!(choose("bench", "", &[], &[]), ours("bench", &bench));
    }

    #[test]
    fn a_profile_with_enough_debug_info_is_built_unchanged() {
        for enough in ["debug=1", "debug=2", "debug=true", "debug='limited'", "debug='full'\nstrip='none'"] {
            assert_eq!(choose("", &format!("[profile.release]\n{enough}"), &[], &[]), unchanged("release"), "{enough}");
        }
        for little in ["debug=0", "debug=false", "debug='none'"] {
            assert_eq!(choose("", &format!("[profile.release]\n{little}"), &[], &[]), ours("release", &PLAIN));
        }
        for lines in ["line-tables-only", "line-directives-only"] {
            let manifest = format!("[profile.release]\ndebug='{lines}'");
            assert_eq!(choose("", &manifest, &[], &[]), ours("release", &PLAIN[..2]), "{lines}");
        }
        let profiling = "[profile.profiling]\ninherits='fast'\n[profile.fast]\ninherits='release'\ndebug=1";
        assert_eq!(choose("profiling", profiling, &[], &[]), unchanged("profiling"));
    }

    #[test]
    fn what_strips_or_splits_is_undone_and_more_debug_info_kept() {
        for strip in ["true", "'symbols'", "'debuginfo'"] {
            let manifest = format!("[profile.release]\ndebug=2\nstrip={strip}");
            let expected = ours("release", &["inherits=\"release\"", "strip=\"none\""]);
            assert_eq!(choose("", &manifest, &[], &[]), expected, "{strip}");
        }
        let split = "[profile.release]\ndebug=1\nsplit-debuginfo='packed'";
        let expected = ours("release", &["inherits=\"release\"", "split-debuginfo=\"off\""]);
        assert_eq!(choose("", split, &[], &[]), expected);
    }

    #[test]
    fn the_command_line_variables_and_files_are_asked_before_the_manifest() {
        let manifest = "[profile.release]\ndebug=1";
        assert_eq!(choose("", manifest, &["profile.release.debug=0"], &[]), ours("release", &PLAIN));
        assert_eq!(choose("", manifest, &[], &[("CARGO_PROFILE_RELEASE_DEBUG", "false")]), ours("release", &PLAIN));
        let typed = ["profile.release.debug='full'"];
        assert_eq!(choose("", "", &typed, &[("CARGO_PROFILE_RELEASE_DEBUG", "0")]), unchanged("release"));
        let strip = ours("release", &["inherits=\"release\"", "strip=\"none\""]);
        assert_eq!(choose("", manifest, &[], &[("CARGO_PROFILE_RELEASE_STRIP", "symbols")]), strip);
        let dashed = [("CARGO_PROFILE_REL_LTO_DEBUG", "1")];
        assert_eq!(choose("rel-lto", "[profile.rel-lto]\ninherits='release'", &[], &dashed), unchanged("rel-lto"));
    }

    #[test]
    fn a_projects_own_profile_of_our_name_is_the_default_and_keeps_its_settings() {
        let good = "[profile.traceview]\ninherits='dev'\nopt-level=3";
        assert_eq!(choose("", good, &[], &[]), unchanged("traceview"));
        let stripped = "[profile.traceview]\ninherits='release'\nstrip=true";
        assert_eq!(choose("", stripped, &[], &[]), ours("traceview", &PLAIN[1..]));
        // Without `inherits` cargo would refuse it.
        let orphan = "[profile.traceview]\ndebug=1";
        assert_eq!(choose("", orphan, &[], &[]), ours("traceview", &PLAIN[..1]));
        assert_eq!(choose("traceview", "", &[], &[]), ours("traceview", &PLAIN));
        // Another profile that was asked for takes its place, and meets its settings.
        let full = "[profile.traceview]\ninherits='dev'\ndebug=2";
        assert_eq!(choose("-r", full, &[], &[]), ours("release", &PLAIN[..1]));
        assert_eq!(choose("--dev", good, &[], &[]), unchanged("dev"));
    }

    #[test]
    fn a_circle_ends() {
        let circle = "[profile.a]\ninherits='b'\n[profile.b]\ninherits='a'";
        assert_eq!(choose("a", circle, &[], &[]).base, "a");
    }
}
