//! From what was recorded to a [`Profile`]: names for addresses, rows for records.

mod code;
mod counters;
mod kernel_share;
mod kin;
mod marker_kinds;
mod markers;
mod origins;
mod programs;
mod warnings;

use traceview_core::model::check::Invalid;
use traceview_core::model::{
    CpuDelta, Mapping, Meta, Nanos, OsId, Process, ProcessId, Profile, ProfileBuilder, SampleFlags, StackId, Thread,
    ThreadId, Time, Values, Wait, Warning,
};

use crate::sampler::arch;
use crate::symbolize::{NameBook, OriginRules};
use crate::unwind::{ProcessRecord, Recording, ThreadRecord};
use code::{Code, Names, base_svma};

/// What the number of ends is called with nobody seen waiting for them.
const WAITERS_NOT_SEEN: &str = "Waiter not seen";

/// What is known of a recording besides what was recorded.
pub struct Context {
    /// Name, command line, machine, compiler; times and quality are filled in from the recording.
    pub meta: Meta,
    /// Samples a second.
    pub rate_hz: u32,
    /// Whose code is whose.
    pub origins: OriginRules,
    /// Whether children of the program were recorded.
    pub follow_children: bool,
}

/// What of a recording goes into a profile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    All,
    /// Only what matters most, and what can hardly be wrong.
    Samples,
}

/// Makes a profile of a recording. `names` are completed for that; `progress` is called with how many of how many addresses have names.
///
/// A recording that breaks a rule of the model would be a fault of the recorder. Its samples are kept even then.
///
/// # Errors
/// When not even its samples keep the rules.
pub fn assemble(
    recording: &Recording,
    context: &Context,
    names: NameBook,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Profile, Invalid> {
    let names = Names::resolve(recording, names, progress);
    let invalid = match build(recording, context, &names, Parts::All).finish() {
        Ok(profile) => return Ok(profile),
        Err(invalid) => invalid,
    };
    let mut builder = build(recording, context, &names, Parts::Samples);
    builder.meta_mut().warnings.push(Warning {
        code: "recorder-fault".to_owned(),
        message: format!(
            "waits, mappings, markers, counters and times of ends were left out, because the recorder got them wrong: {invalid}"
        ),
        count: 1,
        first: None,
    });
    builder.finish()
}

fn build(recording: &Recording, context: &Context, names: &Names, parts: Parts) -> ProfileBuilder {
    let mut builder = ProfileBuilder::with_standard_categories();
    let code = Code::new(recording, &context.origins, names, &mut builder);
    let processes: Vec<ProcessId> =
        recording.processes.iter().map(|record| add_process(record, parts, &mut builder)).collect();
    for mapping in recording.mappings.iter().filter(|_| parts == Parts::All) {
        builder.add_mapping(Mapping {
            process: processes[mapping.process],
            library: code.libraries[mapping.image],
            start: mapping.start,
            end: mapping.end,
            file_offset: mapping.file_offset,
            base: Some(mapping.bias.wrapping_add(base_svma(&recording.images[mapping.image]))),
            from: Time(mapping.from),
            until: mapping.until.map(Time),
        });
    }
    let threads = add_threads(recording, &processes, &code.stacks, parts, &mut builder);
    let corrected = kernel_share::correct(recording, &threads, &mut builder);
    fill_meta(builder.meta_mut(), context, recording);
    if parts == Parts::All {
        let not_seen = markers::add_markers(recording, &threads, &code.stacks, &mut builder);
        if not_seen > 0 {
            builder.meta_mut().extra.push((WAITERS_NOT_SEEN.to_owned(), not_seen.to_string()));
        }
        let mut first_threads = vec![None; processes.len()];
        for (thread, id) in recording.threads.iter().zip(&threads) {
            first_threads[thread.process].get_or_insert(*id);
        }
        for (index, record) in recording.processes.iter().enumerate() {
            let owner = (processes[index], first_threads[index]);
            counters::add_counters(record, owner, index == 0, &mut builder);
        }
    }
    let mut warnings = warnings::warnings(recording, &code.symbols, &names.shortfalls, context.follow_children);
    warnings.extend(corrected);
    builder.meta_mut().warnings = warnings;
    builder
}

/// Adds the threads; where each row of the recording is in the profile.
fn add_threads(
    recording: &Recording,
    processes: &[ProcessId],
    stacks: &[StackId],
    parts: Parts,
    builder: &mut ProfileBuilder,
) -> Vec<ThreadId> {
    let mut threads: Vec<(usize, &ThreadRecord)> = recording.threads.iter().enumerate().collect();
    // A process's threads stand together, its first thread first; the sort keeps the order of appearance otherwise.
    threads.sort_by_key(|(_, thread)| (thread.process, thread.tid != recording.processes[thread.process].pid));
    let mut last_main = None;
    let mut ids = vec![ThreadId::new(0); threads.len()];
    for (index, record) in threads {
        let is_first = record.tid == recording.processes[record.process].pid;
        // After an exec by another thread a process has had two threads with its id; it started with the earlier one.
        let is_main = is_first && last_main != Some(record.process);
        if is_first {
            last_main = Some(record.process);
        }
        let name = builder.string(&record.name);
        let mut thread = Thread::new(processes[record.process], OsId::Number(record.tid.into()), name);
        thread.is_main = is_main;
        fill_samples(&mut thread, record, stacks);
        if parts == Parts::All {
            thread.end = record.end.map(Time);
            fill_waits(&mut thread, record, stacks, builder);
        }
        ids[index] = builder.add_thread(thread);
    }
    ids
}

fn add_process(record: &ProcessRecord, parts: Parts, builder: &mut ProfileBuilder) -> ProcessId {
    let name = builder.string(&record.name);
    let command_line = record.command_line.iter().map(|argument| builder.string(argument)).collect();
    builder.add_process(Process {
        pid: OsId::Number(record.pid.into()),
        parent: record.parent.map(ProcessId::new),
        name,
        command_line,
        start: Some(Time(record.start)),
        end: record.end.map(Time).filter(|_| parts == Parts::All),
        exit: record.exit,
    })
}

fn fill_samples(thread: &mut Thread, record: &ThreadRecord, stacks: &[StackId]) {
    thread.start = Some(Time(record.start));
    thread.usage = record.usage;
    let samples = &mut thread.samples;
    for sample in &record.samples {
        samples.time.push(Time(sample.time));
        samples.stack.push(Some(stacks[sample.stack as usize]));
        samples.cpu.push(sample.cpu_ns.map_or(CpuDelta::UNKNOWN, |cpu| CpuDelta::new(Nanos(cpu))));
        samples.flags.push(sample.flags);
    }
    if samples.flags.iter().all(|flags| *flags == SampleFlags::NONE) {
        samples.flags.clear();
    } else {
        // CPU time that no sample met counts as time, but as no sample.
        let weight = |flags: &SampleFlags| i64::from(!flags.has(SampleFlags::CHARGED_AT_EXIT));
        samples.weight = Values::Integer(samples.flags.iter().map(weight).collect());
    }
}

fn fill_waits(thread: &mut Thread, record: &ThreadRecord, stacks: &[StackId], builder: &mut ProfileBuilder) {
    for wait in &record.waits {
        let syscall = wait.syscall.map(|number| builder.string(&arch::syscall_label(number)));
        let target = wait.target.as_deref().map(|target| builder.string(target));
        thread.waits.push(Wait {
            start: Time(wait.start),
            duration: Nanos(wait.duration),
            stack: wait.stack.map(|stack| stacks[stack as usize]),
            reason: wait.reason,
            syscall,
            target,
            inferred: wait.inferred,
        });
    }
}

fn fill_meta(meta: &mut Meta, context: &Context, recording: &Recording) {
    *meta = Meta {
        start_unix_ns: Some(recording.start_unix_ns),
        start_monotonic_ns: Some(recording.start_monotonic_ns),
        recording_start: Some(Time::ZERO),
        recording_end: Some(Time(recording.end)),
        interval: Some(Nanos(1_000_000_000 / i64::from(context.rate_hz))),
        recorder: Some(format!("cargo-traceview {}", env!("CARGO_PKG_VERSION"))),
        quality: Some(recording.quality),
        ..context.meta.clone()
    };
}
