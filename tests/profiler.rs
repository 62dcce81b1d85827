//! The program under test, started as a user would start it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::process::{Finished, Running, finish, start};
use crate::recording::Recorded;
use crate::workload::workload;

/// A user with the profiler, an empty data directory, and a directory for files.
#[derive(Debug)]
pub struct Profiler {
    program: PathBuf,
    before: Vec<OsString>,
    directory: TempDir,
}

impl Profiler {
    /// The profiler at this path.
    ///
    /// # Panics
    /// When there is no place for temporary files.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let directory = tempfile::Builder::new().prefix("traceview-test-").tempdir().expect("a temporary directory");
        fs::create_dir(directory.path().join("data")).expect("the directory is new");
        Self { program: program.into(), before: Vec::new(), directory }
    }

    /// The same, started by another program that these words begin with.
    #[must_use]
    pub fn behind(mut self, words: impl IntoIterator<Item: Into<OsString>>) -> Self {
        self.before = words.into_iter().map(Into::into).collect();
        self
    }

    /// Lets every user of the machine read and write this user's directories, and copies the profiler there, in case the
    /// target directory is private.
    ///
    /// # Panics
    /// When the file system refuses.
    #[must_use]
    pub fn open_to_all(mut self) -> Self {
        for path in [self.directory.path().to_path_buf(), self.path("data")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
        }
        self.program = self.copy(&self.program);
        self
    }

    /// Copies an executable into the user's directory.
    ///
    /// # Panics
    /// When the file system refuses.
    #[must_use]
    pub fn copy(&self, executable: &Path) -> PathBuf {
        let copy = self.path(executable.file_name().expect("executables have names"));
        fs::copy(executable, &copy).expect("there is room");
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).expect("it is ours");
        copy
    }

    /// A file in the user's directory.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The profiler with these arguments.
    pub fn command(&self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Command {
        let mut words = self.before.iter().map(OsString::as_os_str).chain([self.program.as_os_str()]);
        let mut command = Command::new(words.next().expect("the profiler is the last one"));
        command.args(words).args(args);
        self.surround(command)
    }

    /// A program without the profiler, but in the same surroundings.
    #[must_use]
    pub fn without(&self, program: &Path) -> Command {
        self.surround(Command::new(program))
    }

    /// Runs the profiler with these arguments.
    pub fn run(&self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Finished {
        finish(&mut self.command(args), b"")
    }

    /// Records a workload: `flags` are the profiler's, `args` the workload's, both parted at blanks.
    ///
    /// # Panics
    /// When the recording was not saved.
    #[must_use]
    pub fn record(&self, flags: &str, name: &str, args: &str) -> Recorded<'_> {
        self.record_program(flags, &workload(name), args, b"")
    }

    /// Records a program that reads `stdin`.
    ///
    /// # Panics
    /// When the recording was not saved.
    #[must_use]
    pub fn record_program(&self, flags: &str, program: &Path, args: &str, stdin: &[u8]) -> Recorded<'_> {
        let output = self.path("recorded.json.gz");
        Recorded::new(self, finish(&mut self.record_command(flags, &output, program, args), stdin), output)
    }

    /// Starts to record a workload into `output`.
    #[must_use]
    pub fn start(&self, flags: &str, output: &Path, name: &str, args: &str) -> Running {
        start(&mut self.record_command(flags, output, &workload(name), args), b"")
    }

    fn surround(&self, mut command: Command) -> Command {
        command.current_dir(self.directory.path());
        command.env("HOME", self.directory.path()).env("XDG_DATA_HOME", self.path("data"));
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    fn record_command(&self, flags: &str, output: &Path, program: &Path, args: &str) -> Command {
        let mut command = self.command(["record", "--no-open", "-o"]);
        command.arg(output).args(flags.split_whitespace()).arg("--").arg(program).args(args.split_whitespace());
        command
    }
}
