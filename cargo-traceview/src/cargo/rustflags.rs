//! Adds `-C force-frame-pointers=yes` to the user's rustflags without losing one of them.
//!
//! Cargo knows four sources of rustflags and uses only the first that is there: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`
//! (even if it is empty), all of `target.<triple>` and `target.'cfg(…)'` that match, `build.rustflags`. A flag given
//! through another source than the user's would be ignored, or would hide theirs.

use std::ffi::OsString;

use cargo_metadata::cargo_platform::CfgExpr;
use toml::Value;

use super::config::{CargoConfig, variable_name};
use super::rustc::Rustc;

const OPTION: &str = "force-frame-pointers";
const FLAG: [&str; 2] = ["-C", "force-frame-pointers=yes"];
/// Between flags in `CARGO_ENCODED_RUSTFLAGS`.
const ENCODED_SEPARATOR: char = '\x1f';
/// Keys of `target` that match always. The second is for those who use the first themselves.
const ALWAYS: [&str; 2] = ["cfg(all())", "cfg(not(any()))"];

/// How cargo is to be started so that the program has frame pointers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rustflags {
    /// An environment variable to set.
    pub variable: Option<(&'static str, OsString)>,
    /// An argument for `--config`.
    pub config: Option<String>,
    /// Whether code is compiled with frame pointers.
    pub frame_pointers: bool,
}

impl Rustflags {
    /// The user's flags with ours added. If the user decides on frame pointers themselves, nothing is added.
    #[must_use]
    pub fn with_frame_pointers(config: &CargoConfig, rustc: &Rustc) -> Self {
        let source = Source::find(config, rustc);
        if let Some(frame_pointers) = decision(source.flags()) {
            return Self { frame_pointers, ..Self::default() };
        }
        let mut added = Self { frame_pointers: true, ..Self::default() };
        match source {
            Source::Encoded(mut flags) => {
                flags.extend(FLAG.map(str::to_owned));
                let value = flags.join(&ENCODED_SEPARATOR.to_string());
                added.variable = Some(("CARGO_ENCODED_RUSTFLAGS", value.into()));
            }
            Source::Plain(mut flags) => {
                flags.extend(FLAG.map(str::to_owned));
                added.variable = Some(("RUSTFLAGS", flags.join(" ").into()));
            }
            Source::Target(_) => added.config = Some(target_argument(config)),
            Source::Build(_) => added.config = Some(build_argument(config)),
        }
        added
    }

    /// The user's flags alone.
    #[must_use]
    pub fn unchanged(config: &CargoConfig, rustc: &Rustc) -> Self {
        let frame_pointers = decision(Source::find(config, rustc).flags()) == Some(true);
        Self { frame_pointers, ..Self::default() }
    }
}

/// Where cargo takes the flags from, and which they are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Encoded(Vec<String>),
    Plain(Vec<String>),
    Target(Vec<String>),
    Build(Vec<String>),
}

impl Source {
    fn find(config: &CargoConfig, rustc: &Rustc) -> Self {
        if let Some(encoded) = config.variables().get("CARGO_ENCODED_RUSTFLAGS") {
            let flags = encoded.split(ENCODED_SEPARATOR).filter(|_| !encoded.is_empty());
            return Self::Encoded(flags.map(str::to_owned).collect());
        }
        if let Some(plain) = config.variables().get("RUSTFLAGS") {
            return Self::Plain(words(plain));
        }
        let mut flags = flags_of(config, &["target", &rustc.target, "rustflags"]);
        for key in config.keys(&["target"]) {
            if CfgExpr::matches_key(&key, &rustc.cfg) {
                flags.extend(flags_of(config, &["target", &key, "rustflags"]));
            }
        }
        // Cargo goes on to `build.rustflags` when these are there but empty.
        if flags.is_empty() { Self::Build(flags_of(config, &["build", "rustflags"])) } else { Self::Target(flags) }
    }

    fn flags(&self) -> &[String] {
        match self {
            Self::Encoded(flags) | Self::Plain(flags) | Self::Target(flags) | Self::Build(flags) => flags,
        }
    }
}

/// What the flags say of frame pointers; the last word counts.
fn decision(flags: &[String]) -> Option<bool> {
    let value = flags.iter().rev().find_map(|flag| flag.split_once(OPTION).map(|(_, value)| value))?;
    Some(!matches!(value, "=no" | "=n" | "=off" | "=false"))
}

/// The flags under a key, from all sources that cargo joins, the weakest first as cargo has them.
fn flags_of(config: &CargoConfig, key: &[&str]) -> Vec<String> {
    let mut layers: Vec<Vec<String>> = Vec::new();
    for value in config.layered(key) {
        match value {
            Value::Array(flags) => layers.push(flags.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            // A string hides the weaker ones.
            Value::String(flags) => {
                layers.push(words(flags));
                break;
            }
            _ => {}
        }
    }
    let mut flags: Vec<String> = layers.into_iter().rev().flatten().collect();
    flags.extend(config.variables().get(&variable_name(key)).map(words).unwrap_or_default());
    flags
}

/// Lists join across keys that match, so a key that nobody else has changes no other.
fn target_argument(config: &CargoConfig) -> String {
    let is_string = |key: &str| config.layered(&["target", key, "rustflags"]).any(Value::is_str);
    let key = ALWAYS.into_iter().find(|key| !is_string(key)).unwrap_or(ALWAYS[0]);
    format!("target.'{key}'.rustflags={}", list(&FLAG))
}

/// Lists join, but a string takes no list: then it must be a longer string.
fn build_argument(config: &CargoConfig) -> String {
    match config.layered(&["build", "rustflags"]).next() {
        Some(Value::String(flags)) => {
            format!("build.rustflags={}", quoted(&format!("{} {}", flags.trim(), FLAG.join(" "))))
        }
        _ => format!("build.rustflags={}", list(&FLAG)),
    }
}

fn words(flags: &str) -> Vec<String> {
    flags.split_whitespace().map(str::to_owned).collect()
}

fn list(flags: &[&str]) -> String {
    format!("[{}]", flags.iter().map(|flag| quoted(flag)).collect::<Vec<_>>().join(","))
}

/// A TOML string. JSON's escapes are among TOML's.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;
    use std::str::FromStr;

    use cargo_metadata::cargo_platform::Cfg;

    use super::*;
    use crate::cargo::variables::Variables;

    fn flags(variables: &[(&str, &str)], typed: &[&str]) -> Rustflags {
        let typed: Vec<OsString> = typed.iter().map(OsString::from).collect();
        let variables: Variables = variables.iter().copied().collect();
        let config = CargoConfig::load(Path::new("/nonexistent"), &typed, variables).unwrap();
        let rustc = Rustc {
            version: "rustc 1.95.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            sysroot: "/tool".into(),
            target_libdir: "/tool/lib".into(),
            cfg: vec![Cfg::from_str("unix").unwrap(), Cfg::from_str("target_os = \"linux\"").unwrap()],
        };
        Rustflags::with_frame_pointers(&config, &rustc)
    }

    fn variable(name: &'static str, value: &str) -> Rustflags {
        Rustflags { variable: Some((name, value.into())), config: None, frame_pointers: true }
    }

    fn config(argument: &str) -> Rustflags {
        Rustflags { variable: None, config: Some(argument.to_owned()), frame_pointers: true }
    }

    const OURS_IN_TARGET: &str = "target.'cfg(all())'.rustflags=[\"-C\",\"force-frame-pointers=yes\"]";
    const OURS_IN_BUILD: &str = "build.rustflags=[\"-C\",\"force-frame-pointers=yes\"]";
    const USERS_TARGET: &str = "target.x86_64-unknown-linux-gnu.rustflags=['--cfg','t']";

    #[test]
    fn variables_come_first_even_when_they_are_empty() {
        let plain = flags(&[("RUSTFLAGS", "--cfg  a")], &[USERS_TARGET]);
        assert_eq!(plain, variable("RUSTFLAGS", "--cfg a -C force-frame-pointers=yes"));
        let empty = flags(&[("RUSTFLAGS", "")], &[USERS_TARGET]);
        assert_eq!(empty, variable("RUSTFLAGS", "-C force-frame-pointers=yes"));
        let encoded = flags(&[("RUSTFLAGS", "x"), ("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fa=\"b c\"")], &[]);
        let expected = "--cfg\x1fa=\"b c\"\x1f-C\x1fforce-frame-pointers=yes";
        assert_eq!(encoded, variable("CARGO_ENCODED_RUSTFLAGS", expected));
        let encoded = flags(&[("CARGO_ENCODED_RUSTFLAGS", "")], &[]);
        assert_eq!(encoded, variable("CARGO_ENCODED_RUSTFLAGS", "-C\x1fforce-frame-pointers=yes"));
    }

    #[test]
    fn target_flags_come_before_build_flags_if_they_match() {
        let build = "build.rustflags=['--cfg','b']";
        assert_eq!(flags(&[], &[USERS_TARGET, build]), config(OURS_IN_TARGET));
        assert_eq!(flags(&[], &["target.'cfg(unix)'.rustflags='--cfg u'", build]), config(OURS_IN_TARGET));
        let by_variable = [("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "--cfg v")];
        assert_eq!(flags(&by_variable, &[build]), config(OURS_IN_TARGET));
        for no_match in [
            "target.'cfg(windows)'.rustflags=['--cfg','w']",
            "target.x86_64-pc-windows-msvc.rustflags=['--cfg','w']",
            "target.x86_64-unknown-linux-gnu.rustflags=[]",
            "target.x86_64-unknown-linux-gnu.linker='cc'",
        ] {
            assert_eq!(flags(&[], &[no_match, build]), config(OURS_IN_BUILD), "{no_match}");
        }
        assert_eq!(flags(&[], &[]), config(OURS_IN_BUILD));
    }

    #[test]
    fn a_string_is_kept_a_string() {
        let expected = "build.rustflags=\"--cfg a=\\\"b\\\" -C force-frame-pointers=yes\"";
        assert_eq!(flags(&[], &["build.rustflags='--cfg a=\"b\" '"]), config(expected));
        let other_key = OURS_IN_TARGET.replace("all()", "not(any())");
        assert_eq!(flags(&[], &["target.'cfg(all())'.rustflags='--cfg a'"]), config(&other_key));
    }

    #[test]
    fn the_users_own_decision_stands() {
        let decided = |frame_pointers| Rustflags { frame_pointers, ..Rustflags::default() };
        assert_eq!(flags(&[("RUSTFLAGS", "-Cforce-frame-pointers")], &[]), decided(true));
        assert_eq!(flags(&[("RUSTFLAGS", "-C force-frame-pointers=no")], &[]), decided(false));
        let both = "build.rustflags=['-Cforce-frame-pointers=no','--codegen=force-frame-pointers=y']";
        assert_eq!(flags(&[], &[both]), decided(true));
        // A decision in a source that cargo ignores is none.
        let ignored = "build.rustflags=['-Cforce-frame-pointers=no']";
        assert_eq!(flags(&[], &[ignored, USERS_TARGET]), config(OURS_IN_TARGET));
    }
}
