//! `record`: any program.

use std::io;

use traceview_core::model::{ExitStatus, Meta, Profile};

use crate::assemble::{Context, assemble};
use crate::cli::args::RecordArgs;
use crate::cli::plan::{ProgramPlan, RecordOptions, RecordPlan, Surroundings};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::live::LiveLine;
use crate::machine;
use crate::sampler::{self, Launch, Options, Outcome, Progress, SamplerError, SignalGuard};
use crate::symbolize::OriginRules;
use crate::unwind::Recording;

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
    let (recording, outcome) = sample(plan, &signals)?;
    let profile = name(plan, &recording)?;
    drop(recording);
    debug_dump(&profile);
    Ok(exit_code(outcome.exit))
}

fn sample(plan: &RecordPlan, signals: &SignalGuard) -> Result<(Recording, Outcome), Error> {
    let launch = Launch { program: plan.program.clone(), args: plan.args.clone(), env: plan.env.clone() };
    let options = Options {
        rate_hz: plan.rate_hz,
        follow_children: plan.follow_children,
        off_cpu: plan.off_cpu,
        duration: plan.duration,
        kill_after: plan.kill_after,
    };
    let progress = Progress::default();
    let line = LiveLine::new(plan.live);
    let recorded = std::thread::scope(|scope| {
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        scope.spawn(|| line.follow(&progress, is_done));
        let recorded = sampler::record(&launch, &options, signals, &progress);
        drop(done);
        recorded
    });
    recorded.map_err(|error| match error {
        SamplerError::NotFound { program } => Error::from_spawn(&program, io::ErrorKind::NotFound.into()),
        SamplerError::NotExecutable { program, source } => Error::from_spawn(&program, source),
        other => Error::Recording(other.into()),
    })
}

fn name(plan: &RecordPlan, recording: &Recording) -> Result<Profile, Error> {
    let build = plan.build.as_ref();
    let meta = Meta {
        name: plan.name.clone(),
        command_line: std::iter::once(&plan.program).chain(&plan.args).map(|word| word.to_string_lossy().into_owned()).collect(),
        machine: machine::this_machine(),
        rustc: build.map(|build| build.rustc_version.clone()),
        extra: build
            .map(|build| {
                vec![
                    ("cargo profile".to_owned(), build.profile.clone()),
                    ("package".to_owned(), build.package.clone()),
                ]
            })
            .unwrap_or_default(),
        ..Meta::default()
    };
    let origins = OriginRules::new(
        build.map(|build| build.workspace_root.clone()),
        build.map(|build| build.package.clone()),
    );
    let context = Context { meta, rate_hz: plan.rate_hz, origins };
    let line = LiveLine::new(plan.live);
    let profile = assemble(recording, context, &|done, total| line.names(done, total));
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

/// TEMPORARY
fn debug_dump(profile: &Profile) {
    for thread in profile.threads.iter().take(6) {
        eprintln!("thread {} {} samples {} cpu {:?} usage {:?} waits {}", thread.tid, profile.string(thread.name), thread.samples.len(), thread.sampled_cpu(), thread.usage.map(|u| u.cpu), thread.waits.len());
    }
    let rooted = profile.rooted_stacks();
    let mut selfs = std::collections::HashMap::new();
    let (mut ok, mut all) = (0, 0);
    for thread in &profile.threads {
        for (i, stack) in thread.samples.stack.iter().enumerate() {
            let Some(stack) = stack else { continue };
            all += 1;
            ok += usize::from(rooted[stack.index()]);
            *selfs.entry(profile.leaf_function(*stack)).or_insert(0) += thread.samples.cpu_of(i).map_or(0, |c| c.0);
        }
    }
    let mut list: Vec<_> = selfs.into_iter().collect();
    list.sort_by_key(|(_, cpu)| -cpu);
    for (f, cpu) in list.iter().take(15) {
        eprintln!("{:9.3} ms {}", *cpu as f64 / 1e6, profile.string(profile.functions.name[f.index()]));
    }
    eprintln!("rooted {ok}/{all}; quality {:?}", profile.meta.quality);
    let mut waits = std::collections::HashMap::new();
    for thread in &profile.threads { for w in thread.waits.iter() {
        let e = waits.entry((w.syscall.map(|s| profile.string(s)), w.target.map(|s| profile.string(s)), w.stack.map(|s| (profile.string(profile.functions.name[profile.leaf_function(s).index()]), rooted[s.index()], profile.stacks.ancestors(s).count())))).or_insert((0,0)); e.0 += 1; e.1 += w.duration.0; } }
    let mut waits: Vec<_> = waits.into_iter().collect();
    waits.sort_by_key(|w| -w.1.1);
    for w in waits.iter().take(15) { eprintln!("{w:?}"); }
}
