//! `record`: any program.

use std::io::{self, Write};
use std::time::SystemTime;

use traceview_core::format::{self, ReadOptions, WriteOptions};
use traceview_core::model::{ExitStatus, Meta, Profile, Warning};
use traceview_core::report::{SummaryLines, write_summary};

use crate::assemble::{Context, assemble};
use crate::cargo::Workspace;
use crate::cli::args::RecordArgs;
use crate::cli::output::{OutputPlan, Saved};
use crate::cli::plan::{ProgramPlan, RecordOptions, RecordPlan, Surroundings};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::live::LiveLine;
use crate::machine;
use crate::sampler::{self, Ending, Launch, Options, Outcome, Progress, SamplerError, SignalGuard};
use crate::symbolize::build_directory::build_directories;
use crate::symbolize::{Ahead, NameBook, OriginRules};
use crate::terminal;
use crate::unwind::Recording;
use crate::window::{self, Input};

/// `cargo traceview record [FLAGS] -- PROGRAM [ARGS…]`
///
/// # Errors
/// When the output is impossible, the program does not start, or recording fails.
pub fn execute(args: RecordArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let options = RecordOptions::resolve(&args.record, surroundings)?;
    let mut words = args.command.into_iter();
    let program = words.next().expect("clap requires PROGRAM");
    record(&options.into_plan(ProgramPlan::existing(program, words.collect()), surroundings))
}

/// Runs the plan's program under the sampler, saves the recording and prints its summary. `run` comes here too.
///
/// # Errors
/// When the program does not start, or the recording can't be made or saved.
pub fn record(plan: &RecordPlan) -> Result<ExitCode, Error> {
    // Until the recording is saved: an impatient Ctrl-C must not lose it.
    let signals = SignalGuard::new();
    let (recording, outcome, names) = sample(plan, &signals)?;
    let profile = name(plan, &recording, names)?;
    drop(recording);
    let kept = save(plan, &profile);
    if let OutputPlan::Temporary { why: Some(why) } = &plan.options.output {
        terminal::say(&format!("warning: the recording goes to the directory for temporary files: {why}\n"));
    }
    report(&profile, &kept, &outcome);
    if plan.options.open_window {
        open_window(profile, &kept, &signals);
    }
    let exit = match outcome.program {
        Ending::Ended(exit) => exit,
        // The recording is there to be looked at already, or whatever becomes of us.
        Ending::RunsOn(program) => program.wait(&signals).map_err(|error| Error::Recording(error.into()))?,
    };
    Ok(exit_code(exit))
}

/// Shows the recording until the window is closed. Without a window the recording can be opened elsewhere or later.
fn open_window(profile: Profile, kept: &Kept, signals: &SignalGuard) {
    let path = kept.saved.as_ref().map(|saved| saved.path.clone());
    if let Err(why) = window::show(vec![Input::Profile(Box::new(profile), path)], ReadOptions::default(), signals) {
        let last = kept.saved.as_ref().is_some_and(|saved| saved.is_last);
        let file =
            kept.saved.as_ref().map(|saved| if last { "@1".to_owned() } else { saved.path.display().to_string() });
        let later = file.map_or_else(String::new, |file| {
            format!("; open it later with `cargo traceview open {file}`, or see `cargo traceview report {file}`")
        });
        terminal::say(&format!("traceview: no window: {why}{later}\n"));
    }
}

/// Where a recording went, and what was not as planned about that.
struct Kept {
    saved: Option<Saved>,
    troubles: Vec<Error>,
    /// What the file has no place for.
    left_out: Vec<Warning>,
}

/// Saves the recording: where it was to go or, as nothing may be lost, where else it can.
fn save(plan: &RecordPlan, profile: &Profile) -> Kept {
    let mut troubles = Vec::new();
    let mut left_out = Vec::new();
    let elsewhere =
        [plan.options.output.store().cloned().map(OutputPlan::Store), Some(OutputPlan::Temporary { why: None })];
    for output in std::iter::once(plan.options.output.clone()).chain(elsewhere.into_iter().flatten()) {
        let write = |out: &mut dyn Write| {
            left_out =
                format::write(profile, output.target(), &WriteOptions::default(), out).map_err(io::Error::other)?;
            Ok(())
        };
        match output.save(&plan.name, SystemTime::now(), write) {
            Ok(saved) => {
                if let Some(build) = &plan.program.build {
                    // If its date can't be changed, the next build compiles what it need not.
                    let _unchanged = build.watched.backdate(&saved.path);
                }
                return Kept { saved: Some(saved), troubles, left_out };
            }
            Err(error) => troubles.push(error),
        }
    }
    Kept { saved: None, troubles, left_out }
}

/// Says how it went. The program's exit status is passed on whatever happened to the recording.
fn report(profile: &Profile, kept: &Kept, outcome: &Outcome) {
    for trouble in &kept.troubles {
        terminal::say(&trouble.to_message());
    }
    if let (Some(saved), false) = (&kept.saved, kept.troubles.is_empty()) {
        terminal::say(&format!("traceview: saved it as {} instead\n", saved.path.display()));
    }
    match outcome.survivors {
        0 => {}
        _ if matches!(outcome.program, Ending::RunsOn(_)) => {
            terminal::say("traceview: the program runs on, unrecorded; its end is waited for\n");
        }
        1 => terminal::say("traceview: a process that it left behind runs on, unrecorded\n"),
        threads => terminal::say(&format!("traceview: {threads} threads that it left behind run on, unrecorded\n")),
    }
    for warning in profile.meta.warnings.iter().chain(&kept.left_out) {
        terminal::say(&format!("warning: {}\n", warning.message));
    }
    let saved = kept.saved.as_ref().map(|saved| {
        if let Some(error) = &saved.store_error {
            terminal::say(&format!("warning: {error}\n"));
        }
        let size = std::fs::metadata(&saved.path).map_or(0, |metadata| metadata.len());
        let name = if saved.is_last { "@1, " } else { "" };
        format!("Saved as {name}{} ({}).", saved.path.display(), megabytes(size))
    });
    let mut text = String::new();
    let lines = SummaryLines { saved: saved.as_deref() };
    write_summary(&mut text, profile, lines, terminal::stderr_style()).expect("a String takes any text");
    terminal::say(&text);
}

pub(super) fn megabytes(bytes: u64) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    if tenths == 0 { format!("{} kB", bytes.div_ceil(1000)) } else { format!("{}.{} MB", tenths / 10, tenths % 10) }
}

/// Runs the program; what was recorded, how that ended, and the names that were found by then.
fn sample(plan: &RecordPlan, signals: &SignalGuard) -> Result<(Recording, Outcome, NameBook), Error> {
    let ProgramPlan { program, args, env, .. } = plan.program.clone();
    let launch = Launch { program, args, env };
    let options = Options {
        rate_hz: plan.options.rate_hz,
        follow_children: plan.options.follow_children,
        off_cpu: plan.options.off_cpu,
        duration: plan.options.duration,
        kill_after: plan.options.kill_after,
        tracers: plan.options.tracers,
    };
    let progress = Progress::default();
    let line = LiveLine::new(plan.options.live);
    let (seen, is_seen) = std::sync::mpsc::channel();
    let ahead = Ahead::start(plan.names.clone(), is_seen);
    let recorded = std::thread::scope(|scope| {
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        // A system that refuses this thread may have room for those that record.
        let _no_line = std::thread::Builder::new().spawn_scoped(scope, || line.follow(&progress, is_done));
        let recorded = sampler::record(&launch, &options, signals, &progress, seen);
        drop(done);
        recorded
    });
    let names = ahead.finish();
    let recorded = recorded.map(|(recording, outcome)| (recording, outcome, names));
    recorded.map_err(|error| match error {
        SamplerError::NotFound { program } => Error::from_spawn(&program, io::ErrorKind::NotFound.into()),
        SamplerError::NotExecutable { program, source } => Error::from_spawn(&program, source),
        other => Error::Recording(other.into()),
    })
}

fn name(plan: &RecordPlan, recording: &Recording, names: NameBook) -> Result<Profile, Error> {
    let build = plan.program.build.as_ref();
    let meta = Meta {
        name: plan.name.clone(),
        command_line: std::iter::once(&plan.program.program)
            .chain(&plan.program.args)
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        machine: machine::this_machine(),
        rustc: build.map(|build| build.rustc_version.clone()),
        extra: build
            .map(|build| {
                vec![("cargo profile".to_owned(), build.profile.clone()), ("package".to_owned(), build.package.clone())]
            })
            .unwrap_or_default(),
        ..Meta::default()
    };
    // What others built says by its place where it was built; so does what a script starts.
    let workspace = build.map(|build| build.workspace.clone());
    let of_images = || recording.images.iter().find_map(|image| Workspace::of_executable(&image.path));
    // Wherever it was copied to, it may say itself where it was built.
    let of_debug_info = || {
        recording.images.iter().find_map(|loaded| {
            let directories = build_directories(loaded.image.as_ref().ok()?);
            directories.iter().find_map(|directory| Workspace::around(directory, &loaded.path))
        })
    };
    let origins = OriginRules::new(workspace.or_else(of_images).or_else(of_debug_info));
    let context =
        Context { meta, rate_hz: plan.options.rate_hz, origins, follow_children: plan.options.follow_children };
    let line = LiveLine::new(plan.options.live);
    let profile = assemble(recording, &context, names, &|done, total| line.names(done, total));
    line.clear();
    profile.map_err(|error| Error::Recording(error.into()))
}

fn exit_code(exit: ExitStatus) -> ExitCode {
    let code = match exit {
        ExitStatus::Code(code) => code,
        ExitStatus::Signal(signal) => 128 + signal,
    };
    ExitCode::Program(u8::try_from(code).unwrap_or(u8::MAX))
}
