//! What was typed: clap's view of the command line and nothing more. Files, directories and the terminal are looked at
//! later, in [`super::plan`].
//!
//! The verb is optional: without one the flags of `run` stand directly after `cargo traceview`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use traceview_core::format::{self, FlowBinding, Format, ReadOptions};

use super::picture::{PictureFlags, PictureKind};
pub use super::report::ReportArgs;
use super::size::parse_size;
use super::time::parse_duration;
use super::tips;
use crate::cargo::CargoOptions;

const ABOUT: &str = "\
Find out where a Rust program spends its time.

Builds your project, runs it, looks about a thousand times a second at what each of its threads is doing, saves what \
it saw, and opens a window that shows it. No privileges and no changes to your project are needed. Without a command, \
`run` is meant.";

const RUN_EXAMPLES: &str = "\
Examples:
  cargo traceview                         Build this project, run it, record it, open the window
  cargo traceview -- -c 'fn .*' src       The same, with arguments for your program
  cargo traceview -p server --bin api     Choose the package and the binary
  cargo traceview --example demo --dev    An example, built without optimizations
  cargo traceview -d 10 -o slow.json.gz   Record the first ten seconds into a file
  cargo traceview --no-open               Only record; `cargo traceview open @1` shows it later
  cargo traceview record -- ./tool a.txt  Record any program
  cargo traceview report --top 20         The hottest functions of the last recording
  cargo traceview export -o flame.svg     A picture of the last recording

The file opens in the Firefox Profiler too. Recordings made without -o are kept in your data directory, and @1 names \
the last one, @2 the one before. Without a display everything works but the window.

Exit status of `run` and `record`: your program's own (128+N if signal N ended it). Otherwise 2: wrong usage, \
101: the build failed, 125: recording failed, 126: program not executable, 127: program not found.";

const RECORD_EXAMPLES: &str = "\
Examples:
  cargo traceview record -- ls -lR /usr           Record it and open the window
  cargo traceview record --no-open -- ./tests.sh  Record a script with all that it starts
  cargo traceview record -d 5 --kill-after 10 -o server.json.gz -- ./server --port 8080";

const OPEN_EXAMPLES: &str = "\
Examples:
  cargo traceview open                Recent recordings to choose from
  cargo traceview open @1             The last recording
  cargo traceview open a.json.gz @1   Two, in tabs
  cargo traceview open @1 --screenshot window.png --size 1600x1000 --theme light

In the window, ? shows all keys, and Ctrl+Shift+P finds any command by its name.";

const REPORT_EXAMPLES: &str = "\
Examples:
  cargo traceview report            The hottest functions of the last recording
  cargo traceview report --by crate The same by crate, with the version
  cargo traceview report @2 --tree  Who called them, in the recording before that
  cargo traceview report slow.json.gz --top 5 --thread worker --range 1.5s..3s
  cargo traceview report --callers memmem::find
                                    Who called that function, and --callees what it called
  cargo traceview report --waits    What threads waited for, and where in the code
  cargo traceview report --threads  CPU time and waits of each thread
  cargo traceview report --ai-compact --budget 20000   For an AI assistant: what is slow, and why?
  cargo traceview report trace.json --flows --search PostTask
  cargo traceview report --fail-if 'self(parse::number) > 5%' --fail-if 'total(main) > 2s'
  cargo traceview report trace.json --ai-compact --exact --thread 73704/775 --range-us 1020034944640..1020034969035";

const EXPORT_EXAMPLES: &str = "\
Examples:
  cargo traceview export -o cpu.pb.gz                The last recording, for `go tool pprof cpu.pb.gz`
  cargo traceview export @2 -o wall.pb.gz --off-cpu  The one before, with what its threads waited for
  cargo traceview export slow.json.gz --format pprof | ssh host 'cat > slow.pb.gz'
  cargo traceview export -o run.trace.json           For Perfetto, or the Performance panel of Chrome DevTools
  cargo traceview export -o flame.svg                A picture of the busiest thread's flame chart
  cargo traceview export -o threads.png --panel timeline --size 1600x400 --scale 2 --theme light";

const INFO_EXAMPLES: &str = "\
Examples:
  cargo traceview info             Of the last recording
  cargo traceview info @2 --json   Of the one before, for scripts";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-traceview",
    bin_name = "cargo traceview",
    version,
    about = "Find out where a Rust program spends its time",
    long_about = ABOUT,
    after_help = RUN_EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_help_heading = "Commands",
    disable_help_subcommand = true
)]
pub struct Cli {
    /// The verb, if one was typed.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The flags of `run`, for when no verb was typed.
    #[command(flatten)]
    pub run: RunArgs,
}

impl Cli {
    /// Reads the arguments of a process, the program's name first. `cargo traceview X` starts us as
    /// `cargo-traceview traceview X`; that extra word is dropped.
    ///
    /// # Errors
    /// What clap finds wrong; also `--help` and `--version`, which clap treats as errors of exit status 0.
    pub fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        let by_cargo = args.get(1).is_some_and(|arg| arg == OsStr::new("traceview"));
        if by_cargo {
            args.remove(1);
        }
        // Usage lines show the spelling that the person used.
        let command = Self::command().bin_name(if by_cargo { "cargo traceview" } else { "cargo-traceview" });
        let parsed = command.try_get_matches_from(&args).and_then(|matches| Self::from_arg_matches(&matches));
        parsed.map_err(|error| tips::add(error, args.get(1)))
    }

    /// The verb, with `run` filled in where none was typed.
    #[must_use]
    pub fn into_command(self) -> Command {
        self.command.unwrap_or_else(|| Command::Run(Box::new(self.run)))
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build the project, run it and record it (the default)
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// Record any program
    #[command(after_help = RECORD_EXAMPLES)]
    Record(RecordArgs),
    /// Look at recordings in a window
    #[command(after_help = OPEN_EXAMPLES)]
    Open(OpenArgs),
    /// Say what a recording contains: duration, threads, counts, what is missing
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Print where the time went, as text or JSON
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Box<ReportArgs>),
    /// Convert a recording for another tool, or draw it
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
}

/// `cargo traceview [run] [CARGO FLAGS] [RECORD FLAGS] [-- ARGS…]`
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// What to build, and how.
    #[command(flatten, next_help_heading = "Cargo")]
    pub cargo: CargoOptions,
    /// How to record.
    #[command(flatten, next_help_heading = "Recording")]
    pub record: RecordFlags,
    /// Arguments for your program
    #[arg(last = true, value_name = "ARGS", help_heading = "Program")]
    pub args: Vec<OsString>,
}

/// `cargo traceview record [RECORD FLAGS] -- PROGRAM [ARGS…]`
#[derive(Clone, Debug, Args)]
pub struct RecordArgs {
    /// How to record.
    #[command(flatten, next_help_heading = "Recording")]
    pub record: RecordFlags,
    /// The program (a path, or a name looked up in PATH) and its arguments
    #[arg(last = true, required = true, num_args = 1.., value_names = ["PROGRAM", "ARGS"], help_heading = "Program")]
    pub command: Vec<OsString>,
}

/// Flags that `run` and `record` share.
#[derive(Clone, Debug, Args)]
pub struct RecordFlags {
    /// Samples per second of each running thread, 1 to 10000 (default: 1000)
    #[arg(short = 'R', long, value_name = "HZ", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rate: Option<u32>,
    /// End the recording after this time (`10` or `10s`, `500ms`, `2m`); the program runs on and is waited for
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// End the program after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub kill_after: Option<Duration>,
    /// Threads of the profiler that share the program's (default: as many as needed)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=64), hide_short_help = true)]
    pub tracers: Option<u16>,
    /// Where to save it.
    #[arg(short, long, value_name = "FILE", help = output_help("Where to save"))]
    pub output: Option<PathBuf>,
    /// Do not open a window afterwards
    #[arg(long)]
    pub no_open: bool,
    /// Record only the program itself, not the processes that it starts
    #[arg(long)]
    pub no_children: bool,
    /// Record only running threads, not what waiting threads wait for
    #[arg(long)]
    pub no_off_cpu: bool,
    /// Show no status line while recording
    #[arg(long)]
    pub no_live: bool,
    /// Name of the recording (default: the program's name)
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
}

/// Flags of all that reads profiles.
#[derive(Clone, Copy, Debug, Args)]
pub struct ReadFlags {
    /// Refuse files that are larger than this when decompressed (default: 4G)
    #[arg(long, value_name = "SIZE", value_parser = parse_size, hide_short_help = true)]
    pub max_size: Option<u64>,
    /// What the flows of Chrome traces are bound to
    #[arg(long, value_enum, value_name = "RULE", default_value = "auto", hide_short_help = true)]
    pub flow_binding: FlowRule,
}

/// What `--flow-binding` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FlowRule {
    /// What a person expects: what begins where they are, else the slice around them, or the next one for ends
    Auto,
    /// What Chrome DevTools binds them to
    #[value(name = "devtools")]
    DevTools,
}

impl ReadFlags {
    /// With the defaults filled in.
    #[must_use]
    pub fn options(self) -> ReadOptions {
        let default = ReadOptions::default();
        let flow_binding = match self.flow_binding {
            FlowRule::Auto => FlowBinding::Auto,
            FlowRule::DevTools => FlowBinding::DevTools,
        };
        ReadOptions { max_size: self.max_size.unwrap_or(default.max_size), flow_binding, ..default }
    }
}

/// `cargo traceview open [FILE…] [--screenshot OUT.png]`
#[derive(Clone, Debug, Args)]
pub struct OpenArgs {
    /// Profiles: files, - for stdin, or @1 for the last recording, @2 for the one before; without any the window has a list
    /// of recent ones
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How to read.
    #[command(flatten)]
    pub read: ReadFlags,
    /// Open no window but write a picture of it; needs no display
    #[arg(long, value_name = "OUT.png", help_heading = "Picture")]
    pub screenshot: Option<PathBuf>,
    /// What the picture is to look like.
    #[command(flatten, next_help_heading = "Picture")]
    pub picture: PictureFlags,
}

/// `cargo traceview info [FILE] [--json]`
#[derive(Clone, Debug, Args)]
pub struct InfoArgs {
    /// A profile: a file, - for stdin, or @1 for the last recording, @2 for the one before (default: @1)
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How to read.
    #[command(flatten)]
    pub read: ReadFlags,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `cargo traceview export [FILE] [--format FORMAT] [-o OUT]`
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// A profile: a file, - for stdin, or @1 for the last recording, @2 for the one before (default: @1)
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How to read.
    #[command(flatten)]
    pub read: ReadFlags,
    /// What to write, where the ending of the file does not say it
    #[arg(long, value_name = "FORMAT", value_parser = export_formats())]
    pub format: Option<ExportFormat>,
    /// Where to write it.
    #[arg(short, long, value_name = "OUT", help = export_output_help())]
    pub output: Option<PathBuf>,
    /// Add what threads waited for, in formats that hold CPU time otherwise
    #[arg(long)]
    pub off_cpu: bool,
    /// Which sample type is meant, in formats that hold one or show one first; `info` lists them
    #[arg(long, value_name = "NAME")]
    pub sample_type: Option<String>,
    /// Show tasks by their async functions: without runtime, wrappers and `poll`
    #[arg(long)]
    pub fold_async: bool,
    /// What a picture is to look like.
    #[command(flatten, next_help_heading = "Pictures")]
    pub picture: PictureFlags,
}

/// What `export` can make of a profile.
#[derive(Clone, Copy, Debug)]
pub enum ExportFormat {
    /// A file of another tool.
    File(&'static Format),
    /// A picture of one panel.
    Picture(PictureKind),
}

/// The names that `--format` takes.
fn export_formats() -> impl TypedValueParser<Value = ExportFormat> {
    let files = format::written().map(|format| PossibleValue::new(format.name).help(format.title));
    let pictures = PictureKind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.title()));
    let picture = |name: &str| PictureKind::ALL.into_iter().find(|kind| kind.name() == name).map(ExportFormat::Picture);
    PossibleValuesParser::new(files.chain(pictures)).try_map(move |name| match picture(&name) {
        Some(picture) => Ok(picture),
        None => format::by_name(&name).map(ExportFormat::File),
    })
}

/// The help of `export`'s `-o`: pictures too.
fn export_output_help() -> String {
    let pictures = PictureKind::ALL.map(|kind| format!("{} ({})", kind.extension(), kind.title()));
    format!("{}, {}", output_help("Where to write (default: -, which is stdout)"), pictures.join(", "))
}

/// The help of an `-o`: what each ending means.
fn output_help(what: &str) -> String {
    let formats = format::written().map(|format| format!("{} ({})", format.extensions.join(" or "), format.title));
    format!("{what}; the ending chooses the format: {}", formats.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::super::time::TimeRange;
    use super::*;

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Cli::parse_args(line.split_whitespace().map(OsString::from)).map(Cli::into_command)
    }

    fn run(line: &str) -> RunArgs {
        match parse(line).unwrap() {
            Command::Run(run) => *run,
            other => panic!("`{line}` parsed as {other:?}"),
        }
    }

    fn refused(line: &str) -> ErrorKind {
        parse(line).expect_err(line).kind()
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_is_meant_without_a_verb_in_every_spelling() {
        for line in [
            "cargo-traceview traceview -p x --bin y -- -p args --bin",
            "cargo-traceview traceview run -p x --bin y -- -p args --bin",
            "cargo-traceview -p x --bin y -- -p args --bin",
            "/usr/bin/cargo-traceview run --package=x --bin=y -- -p args --bin",
        ] {
            let run = run(line);
            assert_eq!(run.cargo.package.as_deref(), Some("x"), "{line}");
            assert_eq!(run.cargo.bin.as_deref(), Some("y"), "{line}");
            assert_eq!(run.args, ["-p", "args", "--bin"], "{line}");
        }
        assert!(run("cargo-traceview").args.is_empty());
        // Only the word that cargo adds is dropped, not a program's argument.
        assert_eq!(run("cargo-traceview traceview -- traceview").args, ["traceview"]);
    }

    #[test]
    fn every_flag_of_cargo_is_taken() {
        let cargo = run("cargo-traceview --example e --features a,b -F c --all-features --no-default-features \
             --profile bench --manifest-path m/Cargo.toml --target-dir t -j -1 --locked --offline --frozen \
             --config net.retry=1 --config f.toml -vv")
        .cargo;
        assert_eq!(cargo.example.as_deref(), Some("e"));
        assert_eq!(cargo.features, ["a,b", "c"]);
        assert!(cargo.all_features && cargo.no_default_features);
        assert_eq!(cargo.profile.as_deref(), Some("bench"));
        assert_eq!(cargo.manifest_path, Some(PathBuf::from("m/Cargo.toml")));
        assert_eq!(cargo.target_dir, Some(PathBuf::from("t")));
        assert_eq!(cargo.jobs.as_deref(), Some("-1"));
        assert!(cargo.locked && cargo.offline && cargo.frozen);
        assert_eq!(cargo.config, ["net.retry=1", "f.toml"]);
        assert_eq!((cargo.verbose, cargo.quiet), (2, false));
        assert!(run("cargo-traceview -r -q").cargo.release);
        assert!(run("cargo-traceview --release").cargo.release);
        assert!(run("cargo-traceview --dev --quiet").cargo.dev);
    }

    #[test]
    fn every_flag_of_recording_is_taken() {
        let flags = run("cargo-traceview -R 100 -d 500ms --kill-after 2m -o x.json --no-open --no-children \
             --no-off-cpu --no-live --name n")
        .record;
        assert_eq!((flags.rate, flags.duration), (Some(100), Some(Duration::from_millis(500))));
        assert_eq!((flags.kill_after, flags.output), (Some(Duration::from_secs(120)), Some(PathBuf::from("x.json"))));
        assert!(flags.no_open && flags.no_children && flags.no_off_cpu && flags.no_live);
        assert_eq!(flags.name.as_deref(), Some("n"));
        assert_eq!(run("cargo-traceview --rate 10000 --duration 1.5").record.rate, Some(10_000));
    }

    #[test]
    fn record_takes_everything_behind_the_dashes() {
        let Command::Record(record) = parse("cargo-traceview traceview record -d1 -- ls -d / -- x").unwrap() else {
            panic!("not record");
        };
        assert_eq!(record.command, ["ls", "-d", "/", "--", "x"]);
        assert_eq!(refused("cargo-traceview record"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("cargo-traceview record --"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("cargo-traceview record ls"), ErrorKind::UnknownArgument);
        assert_eq!(refused("cargo-traceview record --bin x -- ls"), ErrorKind::UnknownArgument);
    }

    #[test]
    fn info_and_report_have_a_default_file() {
        let Command::Info(info) = parse("cargo-traceview info --json").unwrap() else { panic!("not info") };
        assert!(info.json && info.file.is_none());
        let line = "cargo-traceview report @2 --inverted --json --thread a --thread b --process 7 --range 1s..";
        let Command::Report(report) = parse(line).unwrap() else { panic!("not report") };
        assert_eq!(report.file, Some(PathBuf::from("@2")));
        assert!(report.inverted && report.json && !report.tree);
        assert_eq!((report.threads, report.processes), (vec!["a".into(), "b".into()], vec!["7".into()]));
        assert_eq!(report.range, Some(TimeRange { start: Some(Duration::from_secs(1)), end: None }));
        let Command::Report(report) = parse("cargo-traceview report --top 5").unwrap() else { panic!("not report") };
        assert_eq!((report.file, report.top), (None, Some(5)));
        assert_eq!(refused("cargo-traceview report --top 5 --tree"), ErrorKind::ArgumentConflict);
        for other in ["--fold-async", "--label a=b", "--sample-type wall"] {
            let line = format!("cargo-traceview report --slices {other}");
            assert_eq!(refused(&line), ErrorKind::ArgumentConflict, "{line}");
        }
        assert_eq!(refused("cargo-traceview report --range 1..2"), ErrorKind::ValueValidation);
        let event = "--event ts=1,pid=2,tid=3,name=x";
        for incomplete in
            ["--budget 9", "--min-percent 1", "--exact", "--ai --exact", event, "--ai-compact --exact --range-us 1..2"]
        {
            let line = format!("cargo-traceview report {incomplete}");
            assert_eq!(refused(&line), ErrorKind::MissingRequiredArgument, "{line}");
        }
        for other in [
            "--tree",
            "--json",
            "--ai-compact",
            "--thread 2/3",
            "--thread 2/3 --range-us 1..2",
            "--budget 9",
            "--slices",
        ] {
            let line = format!("cargo-traceview report --ai --exact {event} {other}");
            assert_eq!(refused(&line), ErrorKind::ArgumentConflict, "{line}");
        }
    }

    #[test]
    fn export_takes_what_can_be_written() {
        let line = "cargo-traceview export @2 --format pprof -o - --off-cpu";
        let Command::Export(export) = parse(line).unwrap() else { panic!("not export") };
        assert!(export.off_cpu && matches!(export.format, Some(ExportFormat::File(format)) if format.name == "pprof"));
        assert_eq!((export.file, export.output), (Some(PathBuf::from("@2")), Some(PathBuf::from("-"))));
        let error = parse("cargo-traceview export --format word").unwrap_err().to_string();
        assert!(
            error.contains("[possible values: firefox, pprof, chrome, speedscope, collapsed, svg, png]"),
            "{error}"
        );
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("export").unwrap().render_long_help().to_string();
        let endings = ".json.gz or .json (Firefox Profiler), .pb.gz (pprof), .trace.json or .trace.json.gz (Chrome trace), \
                       .speedscope.json (speedscope), .folded or .collapsed (collapsed stacks)";
        assert!(help.replace("\n          ", " ").contains(endings), "{help}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (line, kind) in [
            ("cargo-traceview --rate 0", ErrorKind::ValueValidation),
            ("cargo-traceview --rate 10001", ErrorKind::ValueValidation),
            ("cargo-traceview -d 0", ErrorKind::ValueValidation),
            ("cargo-traceview -d soon", ErrorKind::ValueValidation),
            ("cargo-traceview --bin a --example b", ErrorKind::ArgumentConflict),
            ("cargo-traceview --dev --release", ErrorKind::ArgumentConflict),
            ("cargo-traceview --dev --profile x", ErrorKind::ArgumentConflict),
            ("cargo-traceview -q -v", ErrorKind::ArgumentConflict),
            ("cargo-traceview frobnicate", ErrorKind::UnknownArgument),
            ("cargo-traceview --bin a record -- ls", ErrorKind::UnknownArgument),
            ("cargo-traceview --help", ErrorKind::DisplayHelp),
            ("cargo-traceview --version", ErrorKind::DisplayVersion),
        ] {
            assert_eq!(refused(line), kind, "{line}");
        }
    }

    #[test]
    fn the_help_names_every_verb_and_heading() {
        let help = Cli::command().render_long_help().to_string();
        for text in
            ["run", "record", "open", "info", "report", "export", "Cargo:", "Recording:", "Examples:", "Exit status"]
        {
            assert!(help.contains(text), "{text} is missing in:\n{help}");
        }
    }
}
