//! From what was recorded to a [`Profile`]: names for addresses, rows for records.

mod code;

use traceview_core::model::check::Invalid;
use traceview_core::model::{
    CpuDelta, Mapping, Meta, Nanos, OsId, Process, ProcessId, Profile, ProfileBuilder, SampleFlags, StackId, Thread,
    Time, Values, Wait,
};

use crate::sampler::arch;
use crate::symbolize::OriginRules;
use crate::unwind::{ProcessRecord, Recording, ThreadRecord};
use code::Code;

/// What is known of a recording besides what was recorded.
pub struct Context {
    /// Name, command line, machine, compiler; times and quality are filled in from the recording.
    pub meta: Meta,
    /// Samples a second.
    pub rate_hz: u32,
    /// Whose code is whose.
    pub origins: OriginRules,
}

/// Makes a profile of a recording. `progress` is called with how many of how many addresses have names.
///
/// # Errors
/// When the recording breaks a rule of the model, which would be a fault of the recorder.
pub fn assemble(
    recording: &Recording,
    context: Context,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Profile, Invalid> {
    let mut builder = ProfileBuilder::with_standard_categories();
    let code = Code::new(recording, &context.origins, &mut builder, progress);
    let processes: Vec<ProcessId> =
        recording.processes.iter().map(|record| add_process(record, recording, &mut builder)).collect();
    for mapping in &recording.mappings {
        builder.add_mapping(Mapping {
            process: processes[mapping.process],
            library: code.libraries[mapping.image],
            start: mapping.start,
            end: mapping.end,
            file_offset: mapping.file_offset,
            from: Time(mapping.from),
            until: mapping.until.map(Time),
        });
    }
    let mut threads: Vec<&ThreadRecord> = recording.threads.iter().collect();
    // A process's threads stand together, its first thread first; the sort keeps the order of appearance otherwise.
    threads.sort_by_key(|thread| (thread.process, thread.tid != recording.processes[thread.process].pid));
    let mut last_main = None;
    for record in threads {
        let is_first = record.tid == recording.processes[record.process].pid;
        // After an exec by another thread a process has had two threads with its id; it started with the earlier one.
        let is_main = is_first && last_main != Some(record.process);
        if is_first {
            last_main = Some(record.process);
        }
        let name = builder.string(&record.name);
        let mut thread = Thread::new(processes[record.process], OsId::Number(record.tid.into()), name);
        thread.is_main = is_main;
        fill_thread(&mut thread, record, &code.stacks, &mut builder);
        builder.add_thread(thread);
    }
    fill_meta(builder.meta_mut(), context.meta, recording, context.rate_hz);
    builder.meta_mut().warnings = code.warnings;
    builder.finish()
}

fn add_process(record: &ProcessRecord, recording: &Recording, builder: &mut ProfileBuilder) -> ProcessId {
    let name = builder.string(&record.name);
    let command_line = record.command_line.iter().map(|argument| builder.string(argument)).collect();
    debug_assert!(record.parent.is_none_or(|parent| parent < recording.processes.len()));
    builder.add_process(Process {
        pid: OsId::Number(record.pid.into()),
        parent: record.parent.map(ProcessId::new),
        name,
        command_line,
        start: Some(Time(record.start)),
        end: record.end.map(Time),
        exit: record.exit,
    })
}

fn fill_thread(thread: &mut Thread, record: &ThreadRecord, stacks: &[StackId], builder: &mut ProfileBuilder) {
    thread.start = Some(Time(record.start));
    thread.end = record.end.map(Time);
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

fn fill_meta(meta: &mut Meta, known: Meta, recording: &Recording, rate_hz: u32) {
    *meta = Meta {
        start_unix_ns: Some(recording.start_unix_ns),
        start_monotonic_ns: Some(recording.start_monotonic_ns),
        recording_start: Some(Time::ZERO),
        recording_end: Some(Time(recording.end)),
        interval: Some(Nanos(1_000_000_000 / i64::from(rate_hz))),
        recorder: Some(format!("cargo-traceview {}", env!("CARGO_PKG_VERSION"))),
        quality: Some(recording.quality),
        ..known
    };
}
