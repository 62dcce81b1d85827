//! What will be done: the typed flags checked against the world, with every default filled in.
//!
//! It happens in two steps, because all that can be wrong with the flags must be found before a long build:
//! [`RecordOptions::resolve`] before, [`RecordOptions::into_plan`] once the program is known.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::args::RecordFlags;
use super::output::OutputPlan;
use super::store::{Store, StoreError};
use crate::cargo::{WatchedPackages, Workspace};
use crate::error::Error;
use crate::symbolize::NameCache;

/// Samples per second of each running thread, unless `--rate` says otherwise.
const DEFAULT_RATE_HZ: u32 = 1000;

/// In place of a file: stdin, or stdout.
pub const STANDARD_STREAM: &str = "-";

/// What this process was started with. A value, so that tests need not change their own process.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The command line, the program's name first.
    pub args: Vec<OsString>,
    /// The working directory. Empty if that no longer exists: nothing can be reached from there then, and what is named by
    /// its whole path does not need it.
    pub cwd: PathBuf,
    /// `HOME`.
    pub home: Option<OsString>,
    /// `XDG_DATA_HOME`.
    pub xdg_data_home: Option<OsString>,
    /// `XDG_CACHE_HOME`.
    pub xdg_cache_home: Option<OsString>,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_process(args: Vec<OsString>) -> Self {
        Self {
            args,
            cwd: env::current_dir().unwrap_or_else(|_gone| PathBuf::new()),
            home: env::var_os("HOME"),
            xdg_data_home: env::var_os("XDG_DATA_HOME"),
            xdg_cache_home: env::var_os("XDG_CACHE_HOME"),
        }
    }

    /// The user's recordings directory.
    ///
    /// # Errors
    /// When the user has none.
    pub fn store(&self) -> Result<Store, StoreError> {
        Store::locate(self.xdg_data_home.as_deref(), self.home.as_deref())
    }

    /// The file that a FILE argument means; see [`Store::resolve`].
    ///
    /// # Errors
    /// When it is an `@N` without a recording, or none is given and there is none.
    pub fn resolve_file(&self, file: Option<&Path>) -> Result<PathBuf, StoreError> {
        match (self.store(), file) {
            (Ok(store), file) => store.resolve(file),
            // A path needs no store.
            (Err(_), Some(path)) if !path.as_os_str().as_encoded_bytes().starts_with(b"@") => Ok(path.to_path_buf()),
            (Err(error), _) => Err(error),
        }
    }
}

/// How to record, with all defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    /// Samples per second of each running thread.
    pub rate_hz: u32,
    /// End recording after this time.
    pub duration: Option<Duration>,
    /// End the program after this time.
    pub kill_after: Option<Duration>,
    /// How many threads of ours share the program's.
    pub tracers: Option<usize>,
    /// Where the recording goes.
    pub output: OutputPlan,
    /// Record the processes that the program starts.
    pub follow_children: bool,
    /// Record what waiting threads wait for.
    pub off_cpu: bool,
    /// Show a status line.
    pub live: bool,
    /// Open a window afterwards.
    pub open_window: bool,
    /// The name that was given; otherwise the program's is used.
    pub name: Option<String>,
}

impl RecordOptions {
    /// Fills in the defaults and tries whether the output will be possible.
    ///
    /// # Errors
    /// When the output can't be written, or there is no place for it.
    pub fn resolve(flags: &RecordFlags, surroundings: &Surroundings) -> Result<Self, Error> {
        Ok(Self {
            rate_hz: flags.rate.unwrap_or(DEFAULT_RATE_HZ),
            duration: flags.duration,
            kill_after: flags.kill_after,
            tracers: flags.tracers.map(usize::from),
            output: OutputPlan::resolve(flags.output.as_deref(), &surroundings.cwd, surroundings.store())?,
            follow_children: !flags.no_children,
            off_cpu: !flags.no_off_cpu,
            live: !flags.no_live,
            open_window: !flags.no_open,
            name: flags.name.clone(),
        })
    }

    /// Joins the options with the program that they are for.
    #[must_use]
    pub fn into_plan(self, program: ProgramPlan, surroundings: &Surroundings) -> RecordPlan {
        RecordPlan {
            name: self.name.clone().unwrap_or_else(|| program.name.clone()),
            program,
            options: self,
            command_line: surroundings.args.clone(),
            names: NameCache::locate(surroundings.xdg_cache_home.as_deref(), surroundings.home.as_deref()),
        }
    }
}

/// The program to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlan {
    /// A path, or a name to be looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without its name.
    pub args: Vec<OsString>,
    /// Variables to be set in its environment besides our own.
    pub env: Vec<(OsString, OsString)>,
    /// What to call it: the target's name, or the last part of the path.
    pub name: String,
    /// Set if we built it.
    pub build: Option<BuildInfo>,
}

impl ProgramPlan {
    /// A program that is there already.
    #[must_use]
    pub fn existing(program: OsString, args: Vec<OsString>) -> Self {
        let name = Path::new(&program).file_name().unwrap_or(&program).to_string_lossy().into_owned();
        Self { program, args, env: Vec::new(), name, build: None }
    }
}

/// What is known of a program because we built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildInfo {
    /// The workspace that it is part of.
    pub workspace: Workspace,
    /// Where the recording must not look like a changed source file.
    pub watched: WatchedPackages,
    /// The package of the target.
    pub package: String,
    /// The cargo profile that it was built with.
    pub profile: String,
    /// Whether its Rust code was compiled with frame pointers because we asked for them.
    pub frame_pointers: bool,
    /// The compiler, as `rustc -V` names it.
    pub rustc_version: String,
}

/// One recording: what to run and how to record it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlan {
    /// The recording's name: the one that was given, or the program's.
    pub name: String,
    /// What to run.
    pub program: ProgramPlan,
    /// How to record it.
    pub options: RecordOptions,
    /// What the user typed.
    pub command_line: Vec<OsString>,
    /// Where names are kept for the next recording.
    pub names: Option<NameCache>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};

    fn surroundings(directory: &Path) -> Surroundings {
        Surroundings {
            args: vec!["cargo-traceview".into()],
            cwd: directory.to_path_buf(),
            home: Some(directory.into()),
            xdg_data_home: None,
            xdg_cache_home: None,
        }
    }

    fn record_flags(args: &[&str]) -> RecordFlags {
        match Cli::parse_args(args.iter().map(OsString::from)).unwrap().into_command() {
            Command::Record(record) => record.record,
            other => panic!("parsed as {other:?}"),
        }
    }

    #[test]
    fn defaults_are_filled_in() {
        let home = tempfile::tempdir().unwrap();
        let surroundings = surroundings(home.path());
        let flags = record_flags(&["cargo-traceview", "record", "--", "x"]);
        let options = RecordOptions::resolve(&flags, &surroundings).unwrap();
        let store = Store::at(home.path().join(".local/share/traceview"));
        assert!(store.recordings().is_dir());
        assert_eq!(
            options,
            RecordOptions {
                rate_hz: 1000,
                duration: None,
                kill_after: None,
                tracers: None,
                output: OutputPlan::Store(store),
                follow_children: true,
                off_cpu: true,
                live: true,
                open_window: true,
                name: None,
            }
        );
        let program = ProgramPlan::existing("/usr/bin/env".into(), vec!["-0".into()]);
        let plan = options.into_plan(program, &surroundings);
        assert_eq!(plan.name, "env");
        assert_eq!(plan.command_line, ["cargo-traceview"]);
    }

    #[test]
    fn typed_values_win() {
        let home = tempfile::tempdir().unwrap();
        let flags = record_flags(&[
            "cargo-traceview",
            "record",
            "-R250",
            "-d2",
            "--kill-after=3s",
            "-oout.json",
            "--no-children",
            "--no-off-cpu",
            "--no-live",
            "--no-open",
            "--name=slow start",
            "--",
            "x",
        ]);
        let surroundings = surroundings(home.path());
        let options = RecordOptions::resolve(&flags, &surroundings).unwrap();
        assert_eq!((options.rate_hz, options.duration), (250, Some(Duration::from_secs(2))));
        assert_eq!(options.kill_after, Some(Duration::from_secs(3)));
        assert!(!options.follow_children && !options.off_cpu && !options.live && !options.open_window);
        assert!(matches!(&options.output, OutputPlan::File { path, .. } if *path == home.path().join("out.json")));
        let plan = options.into_plan(ProgramPlan::existing("x".into(), Vec::new()), &surroundings);
        assert_eq!(plan.name, "slow start");
    }

    #[test]
    fn a_path_needs_no_home() {
        let homeless = Surroundings { home: None, ..surroundings(Path::new("/")) };
        assert_eq!(homeless.resolve_file(Some(Path::new("a.json"))).unwrap(), Path::new("a.json"));
        assert!(matches!(homeless.resolve_file(Some(Path::new("@1"))), Err(StoreError::NoHome)));
        assert!(matches!(homeless.resolve_file(None), Err(StoreError::NoHome)));
    }
}
