//! Real builds with the real cargo: whatever the user configured stays in force, `target/release` stays fresh, and the
//! program's environment is the one that `cargo run` gives.
//!
//! The project under test prints what it was built with: cargo tells build scripts the rustflags in force, and the
//! build script hands them on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cargo_traceview::cargo::{BuildPlan, Built, CargoOptions, Error, Variables};
use cargo_traceview::exit_code::ExitCode;
use object::Object as _;

const BUILD_SCRIPT: &str = r#"
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    println!("cargo::rustc-link-search=native={out}/lib");
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rustc-link-search=/usr/lib");
    println!("cargo::rustc-env=FROM_BUILD_SCRIPT=yes");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!("cargo::rustc-env=FLAGS={}", flags.replace('\x1f', " "));
    println!("cargo::rustc-env=LEVEL={}", std::env::var("OPT_LEVEL").unwrap());
}
"#;

const PROGRAM: &str = r#"
fn main() {
    if std::env::args().any(|arg| arg == "env") {
        for (name, value) in std::env::vars_os() {
            println!("{}={}", name.display(), value.display());
        }
        println!("(cwd)={}", std::env::current_dir().unwrap().display());
    } else {
        println!("flags={}", env!("FLAGS"));
        println!("opt-level={}", env!("LEVEL"));
        println!("panic={}", if cfg!(panic = "abort") { "abort" } else { "unwind" });
        println!("overflow-checks={}", std::panic::catch_unwind(|| std::hint::black_box(255_u8) + 1).is_err());
    }
}
"#;

const MANIFEST: &str = r#"
[package]
name = "probe"
version = "1.2.3-rc.1"
edition = "2024"
authors = ["A <a@example.org>", "B"]
description = "prints what it was built with"
license-file = "docs/TERMS"
rust-version = "1.85"

[features]
extra = []
"#;

/// What everybody's shell has; the variables of the cargo that runs these tests must not reach the cargo under test.
const KEPT_VARIABLES: [&str; 6] = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "TMPDIR"];
const OURS: &str = "-C force-frame-pointers=yes";

/// A cargo project in a directory of its own.
struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    fn new(manifest_tail: &str) -> Self {
        let project = Self { directory: tempfile::tempdir().unwrap() };
        project.write("Cargo.toml", &format!("{MANIFEST}\n{manifest_tail}"));
        project.write("build.rs", BUILD_SCRIPT);
        project.write("README.md", "# Probe");
        project.write("src/main.rs", PROGRAM);
        project
    }

    fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn plan(&self, options: &CargoOptions, variables: &[(&str, &str)]) -> Result<BuildPlan, Error> {
        BuildPlan::new(options, &self.path(), environment(variables).into_iter().collect())
    }

    fn build(&self, options: &CargoOptions, variables: &[(&str, &str)]) -> Built {
        self.plan(options, variables).unwrap().build().unwrap()
    }

    fn cargo(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(self.path()).env_clear().envs(environment(variables));
        let output = command.output().unwrap();
        assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// `cargo build --release` must have nothing to compile.
    fn assert_release_is_fresh(&self, variables: &[(&str, &str)]) {
        let output = self.cargo(&["build", "--release", "-v"], variables);
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(log.contains("Fresh probe") && !log.contains("Compiling"), "{log}");
    }
}

fn environment(variables: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
    let kept = KEPT_VARIABLES.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    kept.chain(variables.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

/// What the program says, as `name=value` lines.
fn run(
    executable: &Path,
    arguments: &[&str],
    variables: &BTreeMap<OsString, OsString>,
    cwd: &Path,
) -> BTreeMap<String, String> {
    let mut command = Command::new(executable);
    let output = command.args(arguments).env_clear().envs(variables).current_dir(cwd).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    lines(&output)
}

fn lines(output: &Output) -> BTreeMap<String, String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect()
}

fn built_with(built: &Built) -> BTreeMap<String, String> {
    run(&built.executable, &[], &environment(&[]), Path::new("/"))
}

/// The flags one by one; cargo joins lists in no order that matters.
fn sorted(flags: &str) -> Vec<&str> {
    let mut flags: Vec<&str> = flags.split_whitespace().collect();
    flags.sort_unstable();
    flags
}

fn has_section(executable: &Path, name: &str) -> bool {
    let image = fs::read(executable).unwrap();
    object::File::parse(image.as_slice()).unwrap().section_by_name(name).is_some()
}

#[test]
fn every_source_of_rustflags_stays_in_force_and_release_stays_fresh() {
    let triple = "target.x86_64-unknown-linux-gnu.rustflags";
    let user = "--cfg users";
    let variable = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS";
    // Name of the case, configuration file, variables, flags in force.
    type Case<'a> = (&'a str, String, Vec<(&'a str, &'a str)>, String);
    let cases: [Case<'_>; 9] = [
        ("none", String::new(), vec![], OURS.into()),
        ("RUSTFLAGS", format!("{triple}=['--cfg','hidden']"), vec![("RUSTFLAGS", user)], format!("{user} {OURS}")),
        ("empty RUSTFLAGS", "build.rustflags=['--cfg','hidden']".into(), vec![("RUSTFLAGS", "")], OURS.into()),
        ("encoded", String::new(), vec![("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fusers")], format!("{user} {OURS}")),
        ("build list", "build.rustflags=['--cfg','users']".into(), vec![], format!("{user} {OURS}")),
        ("build string", "build.rustflags='--cfg users'".into(), vec![], format!("{user} {OURS}")),
        (
            "target list",
            format!("{triple}=['--cfg','users']\nbuild.rustflags=['-g']"),
            vec![],
            format!("{user} {OURS}"),
        ),
        ("target string", format!("{triple}='--cfg users'"), vec![], format!("{user} {OURS}")),
        (
            "target cfg and variable",
            "target.'cfg(unix)'.rustflags=['--cfg','users']\ntarget.'cfg(windows)'.rustflags=['--cfg','w']".into(),
            vec![(variable, "--cfg triple")],
            format!("--cfg triple {user} {OURS}"),
        ),
    ];
    let project = Project::new("");
    for (name, config, variables, expected) in cases {
        project.write(".cargo/config.toml", &config);
        project.cargo(&["build", "--release", "-q"], &variables);
        let built = project.build(&CargoOptions { quiet: true, ..CargoOptions::default() }, &variables);
        assert_eq!(sorted(&built_with(&built)["flags"]), sorted(&expected), "{name}");
        assert!(built.frame_pointers, "{name}");
        project.assert_release_is_fresh(&variables);
    }
}

#[test]
fn profile_settings_stay_in_force_but_for_debug_info() {
    let project = Project::new(
        "[profile.release]\nstrip = true\nlto = 'fat'\npanic = 'abort'\nopt-level = 's'\n\
         [profile.release.build-override]\nopt-level = 1\n[profile.release.package.probe]\nopt-level = 2\n",
    );
    project.cargo(&["build", "--release", "-q"], &[]);
    let built = project.build(&CargoOptions { quiet: true, ..CargoOptions::default() }, &[]);
    assert_eq!((built.profile.name.as_str(), built.profile.base.as_str()), ("traceview", "release"));
    assert_eq!(built.executable, project.path().join("target/traceview/probe"));
    let told = run_without_panic(&built);
    assert_eq!((told["opt-level"].as_str(), told["panic"].as_str()), ("2", "abort"));
    assert!(has_section(&built.executable, ".debug_info") && has_section(&built.executable, ".symtab"));
    assert!(!has_section(&project.path().join("target/release/probe"), ".debug_info"));
    project.assert_release_is_fresh(&[]);
}

/// A program that aborts on panic ends at its last line; the ones before are what is asked for here.
fn run_without_panic(built: &Built) -> BTreeMap<String, String> {
    lines(&Command::new(&built.executable).output().unwrap())
}

#[test]
fn a_profile_with_debug_info_is_built_as_it_is() {
    let project = Project::new("[profile.fast]\ninherits = 'release'\ndebug = 1\noverflow-checks = true\n");
    let options = CargoOptions { profile: Some("fast".into()), quiet: true, ..CargoOptions::default() };
    let built = project.build(&options, &[]);
    assert!(built.profile.unchanged && !built.frame_pointers);
    assert_eq!(built.executable, project.path().join("target/fast/probe"));
    let told = built_with(&built);
    assert_eq!((told["flags"].as_str(), told["overflow-checks"].as_str()), ("", "true"));
    let log = String::from_utf8(project.cargo(&["build", "--profile=fast", "-v"], &[]).stderr).unwrap();
    assert!(log.contains("Fresh probe") && !log.contains("Compiling"), "{log}");
}

#[test]
fn the_environment_is_that_of_cargo_run() {
    let project = Project::new("[[example]]\nname = 'tool'\npath = 'src/main.rs'\n");
    project.write(
        ".cargo/config.toml",
        "[env]\nPLAIN = 'a'\nHOME = 'kept'\nFORCED = { value = 'b', force = true }\n\
         REL = { value = 'c', relative = true }\nCARGO_PKG_NAME = { value = 'never', force = true }\n",
    );
    project.write("below/here", "");
    let set = [("LD_LIBRARY_PATH", "/before"), ("FORCED", "not this"), ("PLAIN", "mine")];
    for (flag, kind) in [("--bin=probe", "bin"), ("--example=tool", "example")] {
        // The profile's name is in the paths, so that of both must be the same: dev is built unchanged.
        let options = CargoOptions {
            dev: true,
            quiet: true,
            bin: (kind == "bin").then(|| "probe".into()),
            example: (kind == "example").then(|| "tool".into()),
            ..CargoOptions::default()
        };
        let below = project.path().join("below");
        let plan = BuildPlan::new(&options, &below, environment(&set).into_iter().collect()).unwrap();
        let built = plan.build().unwrap();
        let mut variables = environment(&set);
        variables.extend(built.env.clone());
        let ours = run(&built.executable, &["env"], &variables, &below);

        let mut cargo = Command::new("cargo");
        cargo.args(["run", "-q", flag, "--", "env"]).current_dir(&below).env_clear().envs(environment(&set));
        let mut theirs = lines(&cargo.output().unwrap());
        // rustup's proxy of cargo adds these when cargo is not started by another cargo, and one directory behind ours.
        theirs.retain(|name, _| ours.contains_key(name) || !(name.starts_with("RUST") || name.starts_with("SSL_CERT")));
        theirs.retain(|name, _| ours.contains_key(name) || name != "CARGO_HOME");
        let by_rustup = Path::new(&theirs["CARGO"]).parent().unwrap().with_file_name("lib").display().to_string();
        let path = theirs["LD_LIBRARY_PATH"].split(':').filter(|directory| *directory != by_rustup);
        let path = path.collect::<Vec<_>>().join(":");
        theirs.insert("LD_LIBRARY_PATH".into(), path);
        assert_eq!(ours, theirs, "{kind}");
        assert_eq!(ours["FROM_BUILD_SCRIPT"], "yes");
        assert!(ours["LD_LIBRARY_PATH"].ends_with(":/before"), "{}", ours["LD_LIBRARY_PATH"]);
    }
}

#[test]
fn what_cannot_be_built_has_a_status_and_a_sentence() {
    let nowhere = tempfile::tempdir().unwrap();
    let variables: Variables = environment(&[]).into_iter().collect();
    let error = BuildPlan::new(&CargoOptions::default(), nowhere.path(), variables).unwrap_err();
    assert!(error.to_string().contains("cargo traceview record -- PROGRAM"), "{error}");
    assert_eq!(error.exit_code(), ExitCode::Usage);

    let project = Project::new("");
    let wrong = CargoOptions { bin: Some("prob".into()), ..CargoOptions::default() };
    let error = project.plan(&wrong, &[]).unwrap_err();
    assert_eq!(error.to_string(), "no binary `prob` here; choose one with `--bin probe`");
    assert_eq!(error.exit_code(), ExitCode::Usage);

    project.write("src/main.rs", "fn main() { not rust }");
    let quiet = CargoOptions { quiet: true, ..CargoOptions::default() };
    let error = project.plan(&quiet, &[]).unwrap().build().unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::BuildFailed);

    project.write("Cargo.toml", "[package]\nname = 1\n");
    let error = project.plan(&quiet, &[]).unwrap_err();
    assert!(error.to_string().starts_with("cargo can't read this project: "), "{error}");
    assert_eq!(error.exit_code(), ExitCode::BuildFailed);
}

#[test]
fn flags_reach_cargo() {
    let project = Project::new("[workspace]\nmembers = ['member']\n");
    project.write("member/Cargo.toml", "[package]\nname = 'member'\nedition = '2024'\n[features]\nneeded = []\n");
    project.write("member/src/main.rs", "#[cfg(feature = \"needed\")]\nfn main() {}\n");
    let options = CargoOptions {
        package: Some("member".into()),
        features: vec!["needed".into()],
        target_dir: Some("elsewhere".into()),
        manifest_path: Some(project.path().join("Cargo.toml")),
        jobs: Some("-1".into()),
        config: vec!["profile.release.opt-level=1".into()],
        offline: true,
        quiet: true,
        ..CargoOptions::default()
    };
    let built = project.build(&options, &[]);
    assert_eq!(built.executable, project.path().join("elsewhere/traceview/member"));
    assert_eq!((built.package.as_str(), built.target.as_str()), ("member", "member"));
    assert_eq!(built.workspace.root, project.path());
    let members = &built.workspace.members;
    let member = members.iter().find(|member| member.package == "member").expect("it is one of the workspace");
    assert_eq!((member.version.as_deref(), &member.crates), (Some("0.0.0"), &vec!["member".to_owned()]));
    // Without the lock file that the build has made, --locked refuses.
    fs::remove_file(project.path().join("Cargo.lock")).unwrap();
    let locked = CargoOptions { locked: true, ..options };
    let error = project.plan(&locked, &[]).and_then(BuildPlan::build).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::BuildFailed);
}

#[test]
fn a_recording_among_the_sources_does_not_cause_a_build() {
    let project = Project::new("");
    project.cargo(&["build", "--release"], &[]);
    let (traceview, output) = (crate::traceview(), project.path().join("out.json.gz"));
    let manifest = project.path().join("Cargo.toml");
    let flags = ["run".as_ref(), "--manifest-path".as_ref(), manifest.as_os_str(), "-o".as_ref(), output.as_os_str()];
    let finished = traceview.run(flags);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(output.is_file());
    project.assert_release_is_fresh(&[]);
}
