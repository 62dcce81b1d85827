//! What a profile contains and what is missing, as text and as JSON.

use std::fmt;

use serde::Serialize;

use super::json::{Number, to_json, two_decimals};
use super::number::{count, format_amount, format_duration, format_percent};
use super::processes::{ProcessInfo, write_processes};
use super::style::{Style, printable};
use super::table::{Name, TableRow, write_table};
use crate::analysis::{
    LabelKey, SampleType, Selection, Share, StackValues, Summary, ThreadActivity, default_measure, label_keys,
    sample_types,
};
use crate::model::{Nanos, OsId, Profile, Quality, Spread, Thread};

/// Short waits are told of if they took this long.
const NOTABLE_NS: i64 = 1_000_000;

/// Threads that the text lists before it only counts them.
const MOST_THREADS: usize = 40;

/// Where a profile came from: what only its reader knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InfoSource {
    /// The file format.
    pub format: String,
    /// The version of the format, if it has one.
    pub version: Option<u64>,
}

/// `profile` as JSON: `{format, version, name, duration_ns, start_unix_ns, cpu_ns, user_ns, system_ns, processes,
/// threads: [{name, pid, tid, samples, slices, markers, waits, short_waits,
/// short_waits_ns, cpu_ns, start_ns, end_ns}], process_list: [{pid, parent, name, command, start_ns, end_ns, exit}],
/// libraries, functions,
/// frames, stacks, flows, counters, symbolized_percent, own_symbolized_percent, rooted_percent, truncated, lost,
/// recorder: {ticks, missed_ticks, stopped_ns, stop_median_ns, stop_p99_ns, late_median_ns, late_p99_ns, cpu_ns}, cut:
/// [{reason, samples}], sample_types: [{name, unit, total, default}], labels: [{key, values}], extra: [{name, value}],
/// warnings: [{code, count, first, message}]}`.
///
/// A process's `parent` is a row of `process_list`, `command` its words, `exit` `{code}` or `{signal}`.
/// `truncated` counts the samples whose stack was cut short, `cut` says why. Process and thread ids are numbers, or
/// strings where the file has strings. What is not known is `null`.
pub fn info_json(profile: &Profile, source: &InfoSource) -> String {
    let summary = Summary::of(profile);
    let percent = |share: Share| share.percent().map(two_decimals);
    let nanos = |time: Option<Nanos>| time.map(|time| time.0);
    to_json(&Info {
        format: &source.format,
        version: source.version,
        name: &profile.meta.name,
        duration_ns: nanos(summary.wall),
        start_unix_ns: profile.meta.start_unix_ns,
        cpu_ns: nanos(summary.cpu),
        user_ns: nanos(summary.user),
        system_ns: nanos(summary.system),
        processes: profile.processes.len(),
        threads: profile.threads.iter().zip(&summary.threads).map(|row| ThreadInfo::of(profile, row)).collect(),
        process_list: profile.processes.iter().map(|process| ProcessInfo::of(profile, process)).collect(),
        libraries: profile.libraries.len(),
        functions: profile.functions.len(),
        frames: profile.frames.len(),
        stacks: profile.stacks.len(),
        flows: profile.flows.len(),
        counters: profile.counters.len(),
        symbolized_percent: percent(summary.named),
        own_symbolized_percent: percent(summary.named_own),
        rooted_percent: percent(summary.rooted),
        truncated: summary.rooted.whole - summary.rooted.part,
        lost: summary.lost,
        recorder: profile.meta.quality.map(RecorderInfo::of),
        cut: summary.cut.iter().map(|cut| Cut { reason: profile.string(cut.reason), samples: cut.samples }).collect(),
        sample_types: sample_types(profile).into_iter().map(|counted| SampleTypeInfo::of(profile, counted)).collect(),
        labels: label_keys(profile).into_iter().map(|key| LabelInfo::of(profile, key)).collect(),
        extra: profile.meta.extra.iter().map(|(name, value)| Extra { name, value }).collect(),
        warnings: profile.meta.warnings.iter().map(WarningInfo::of).collect(),
    })
}

/// Writes the same as text.
///
/// # Errors
/// Those of `out`.
pub fn write_info(out: &mut dyn fmt::Write, profile: &Profile, source: &InfoSource, style: Style) -> fmt::Result {
    let summary = Summary::of(profile);
    let mut line = |title: &str, text: &str| {
        if text.is_empty() { Ok(()) } else { writeln!(out, "{title:<10} {}", printable(text)) }
    };
    line(
        "Format",
        &source.version.map_or_else(|| source.format.clone(), |version| format!("{} {version}", source.format)),
    )?;
    line("Name", &profile.meta.name)?;
    line("Command", &command_text(&profile.meta.command_line))?;
    line("Machine", &machine(profile))?;
    line("Compiler", profile.meta.rustc.as_deref().unwrap_or_default())?;
    line("Recorder", profile.meta.recorder.as_deref().unwrap_or_default())?;
    line("Sampling", &sampling_text(profile, &summary))?;
    line("Duration", &summary.wall.map_or_else(|| "not timed".to_owned(), format_duration))?;
    line("CPU time", &cpu_text(&summary))?;
    line("Stacks", &quality_text(&summary))?;
    for cut in &summary.cut {
        line("Cut", &format!("{} with {}", count(cut.samples, "sample"), profile.string(cut.reason)))?;
    }
    line("Counted", &counted_text(profile))?;
    line("Labels", &labels_text(profile))?;
    line("Contains", &contents(profile))?;
    let extra = profile.meta.extra.iter().map(|(name, value)| format!("{name}: {value}"));
    line("Further", &extra.collect::<Vec<_>>().join(", "))?;
    writeln!(out)?;
    write_processes(out, profile, style)?;
    write_threads(out, profile, &summary, style)?;
    for (index, warning) in profile.meta.warnings.iter().enumerate() {
        let times = if warning.count > 1 { format!(" ({} times)", warning.count) } else { String::new() };
        let first = warning.first.as_ref().map(|first| format!("; first: {first}")).unwrap_or_default();
        let text = format!("warning: {}: {}{times}{first}", warning.code, warning.message);
        writeln!(out, "{}{}", if index == 0 { "\n" } else { "" }, printable(&text))?;
    }
    Ok(())
}

/// The words as a shell takes them, so that the line can be copied and run.
pub(crate) fn command_text(words: &[impl AsRef<str>]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=+:,@%".contains(c);
    let quoted = words.iter().map(|word| {
        let word = word.as_ref();
        if !word.is_empty() && word.chars().all(is_plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// `14.9 s (user 9.8 s, kernel 5.1 s)`; empty if not known.
pub(super) fn cpu_text(summary: &Summary) -> String {
    match (summary.cpu, summary.user, summary.system) {
        (None, ..) => String::new(),
        (Some(cpu), Some(user), Some(system)) => {
            format!("{} (user {}, kernel {})", format_duration(cpu), format_duration(user), format_duration(system))
        }
        (Some(cpu), ..) => format_duration(cpu),
    }
}

/// `14902 samples, rooted 99.8 %, named 99.9 %, lost 0`.
pub(super) fn quality_text(summary: &Summary) -> String {
    let mut text = count(summary.samples, "sample");
    let shares = [("rooted", summary.rooted), ("named", summary.named), ("own code named", summary.named_own)];
    for (title, share) in shares {
        if let Some(percent) = share.percent() {
            text.push_str(&format!(", {title} {}", format_percent(rounded_down(percent))));
        }
    }
    if let Some(lost) = summary.lost {
        text.push_str(&format!(", lost {lost}"));
    }
    text
}

/// `977 looks a second of 1000, 60 µs late (median; 99 %: 0.2 ms), stops of 20 µs (median; 99 %: 0.1 ms), own CPU 80 ms (5.9 % of a core)`.
fn sampling_text(profile: &Profile, summary: &Summary) -> String {
    let Some(quality) = profile.meta.quality else { return String::new() };
    let mut parts = Vec::new();
    if let Some((reached, asked)) = rate(profile) {
        parts.push(format!("{reached:.0} looks a second of {asked:.0}"));
    }
    let spread =
        |spread: Spread| format!("{} (median; 99 %: {})", format_duration(spread.median), format_duration(spread.p99));
    parts.extend(quality.lateness.map(|late| format!("{} late", spread(late))));
    parts.extend(quality.stops.map(|stops| format!("stops of {}", spread(stops))));
    if quality.ticks > 0 {
        parts.push(format!("own CPU {}", recorder_cpu_text(quality.recorder_cpu, summary.wall)));
    }
    parts.join(", ")
}

/// `80.0 ms (5.9 % of a core)`. What the profiler used before and after a short recording says nothing of a longer one.
fn recorder_cpu_text(cpu: Nanos, wall: Option<Nanos>) -> String {
    /// Of what it uses in a longer recording, nearly all is for looking.
    const LONG_NS: i64 = 100_000_000;
    match wall.filter(|wall| wall.0 >= LONG_NS) {
        Some(wall) => {
            let percent = 100.0 * cpu.as_secs_f64() / wall.as_secs_f64();
            format!("{} ({} of a core)", format_duration(cpu), format_percent(percent))
        }
        None => format_duration(cpu),
    }
}

/// Looks a second, and how many there were to be.
pub(super) fn rate(profile: &Profile) -> Option<(f64, f64)> {
    let quality = profile.meta.quality.filter(|quality| quality.ticks > 0)?;
    let interval = profile.meta.interval.filter(|interval| interval.0 > 0)?;
    let asked = 1.0 / interval.as_secs_f64();
    Some((asked * quality.ticks as f64 / (quality.ticks + quality.missed_ticks) as f64, asked))
}

/// To one decimal, and never up to a perfect 100.
fn rounded_down(percent: f64) -> f64 {
    if percent < 100.0 { percent.min(99.9) } else { percent }
}

/// `objects 80, space 3.20 MB (shown first)`; nothing of a recording, whose samples count CPU time and nothing else.
fn counted_text(profile: &Profile) -> String {
    if profile.value_types.is_empty() && profile.threads.iter().all(|thread| thread.timed) {
        return String::new();
    }
    let default = default_measure(profile);
    let text = |counted: SampleType| {
        let values = StackValues::of(profile, &Selection::default(), counted.measure);
        let amount = values.map_or_else(|error| error.to_string(), |sum| format_amount(sum.total.value, sum.unit));
        let first = if counted.measure == default { " (shown first)" } else { "" };
        format!("{} {amount}{first}", counted.name)
    };
    sample_types(profile).into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// `request (30 values), user (2 values)`
fn labels_text(profile: &Profile) -> String {
    let keys = label_keys(profile).into_iter();
    let text = |key: LabelKey| format!("{} ({})", profile.string(key.key), count(key.values as u64, "value"));
    keys.map(text).collect::<Vec<_>>().join(", ")
}

fn machine(profile: &Profile) -> String {
    let machine = &profile.meta.machine;
    let cpus = machine.logical_cpus.map(|cpus| format!("{cpus} CPUs"));
    let parts = [machine.os.clone(), machine.arch.clone(), machine.cpu_name.clone(), cpus];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn contents(profile: &Profile) -> String {
    let sum = |len: fn(&Thread) -> usize| profile.threads.iter().map(len).sum::<usize>();
    let parts = [
        (profile.processes.len(), "process"),
        (profile.threads.len(), "thread"),
        (profile.libraries.len(), "library"),
        (profile.functions.len(), "function"),
        (profile.frames.len(), "frame"),
        (profile.stacks.len(), "stack"),
        (sum(|thread| thread.waits.len()), "wait"),
        (sum(|thread| thread.slices.len()), "slice"),
        (sum(|thread| thread.markers.len()), "marker"),
        (profile.flows.len(), "flow"),
        (profile.counters.len(), "counter"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    parts.map(|(number, thing)| count(number as u64, thing)).collect::<Vec<_>>().join(", ")
}

fn write_threads(out: &mut dyn fmt::Write, profile: &Profile, summary: &Summary, style: Style) -> fmt::Result {
    let mut order: Vec<&ThreadActivity> = summary.threads.iter().collect();
    // Stable: threads without CPU time keep their order.
    order.sort_by_key(|activity| std::cmp::Reverse(activity.cpu));
    let header = TableRow {
        numbers: ["CPU time", "samples", "waited", "PID/TID"].map(str::to_owned).to_vec(),
        name: Name::plain("thread"),
        after: "waited most for".to_owned(),
        dim: false,
    };
    let rows: Vec<TableRow> = order
        .iter()
        .take(MOST_THREADS)
        .map(|activity| {
            let thread = &profile.threads[activity.thread.index()];
            let process = &profile.processes[thread.process.index()];
            let waited = activity.waited();
            let longest = activity.waits.first();
            let longest = longest.map(|waits| format!("{} {}", waits.kind.label(profile), format_duration(waits.time)));
            let short = activity.short_waits.filter(|waits| waits.time.0 >= NOTABLE_NS);
            let short =
                short.map(|waits| format!("{} {}", count(waits.count, "short wait"), format_duration(waits.time)));
            let waits: Vec<String> = [longest, short].into_iter().flatten().collect();
            TableRow {
                numbers: vec![
                    activity.cpu.map(format_duration).unwrap_or_default(),
                    activity.samples.to_string(),
                    if waited == Nanos::ZERO { String::new() } else { format_duration(waited) },
                    format!("{}/{}", process.pid, thread.tid),
                ],
                name: Name::plain(printable(profile.string(thread.name))),
                after: printable(&waits.join("; ")).into_owned(),
                dim: false,
            }
        })
        .collect();
    if rows.is_empty() {
        return writeln!(out, "No threads.");
    }
    write_table(out, &header, &rows, style)?;
    let more = order.len().saturating_sub(MOST_THREADS);
    if more > 0 { writeln!(out, "and {}", count(more as u64, "more thread")) } else { Ok(()) }
}

#[derive(Serialize)]
struct Info<'a> {
    format: &'a str,
    version: Option<u64>,
    name: &'a str,
    duration_ns: Option<i64>,
    start_unix_ns: Option<i64>,
    cpu_ns: Option<i64>,
    user_ns: Option<i64>,
    system_ns: Option<i64>,
    processes: usize,
    threads: Vec<ThreadInfo<'a>>,
    process_list: Vec<ProcessInfo<'a>>,
    libraries: usize,
    functions: usize,
    frames: usize,
    stacks: usize,
    flows: usize,
    counters: usize,
    symbolized_percent: Option<f64>,
    own_symbolized_percent: Option<f64>,
    rooted_percent: Option<f64>,
    truncated: u64,
    lost: Option<u64>,
    recorder: Option<RecorderInfo>,
    cut: Vec<Cut<'a>>,
    sample_types: Vec<SampleTypeInfo>,
    labels: Vec<LabelInfo<'a>>,
    extra: Vec<Extra<'a>>,
    warnings: Vec<WarningInfo<'a>>,
}

#[derive(Serialize)]
struct ThreadInfo<'a> {
    name: &'a str,
    pid: SystemId<'a>,
    tid: SystemId<'a>,
    samples: u64,
    slices: usize,
    markers: usize,
    waits: usize,
    short_waits: Option<u64>,
    short_waits_ns: Option<i64>,
    cpu_ns: Option<i64>,
    start_ns: Option<i64>,
    end_ns: Option<i64>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SystemId<'a> {
    Number(i64),
    Text(&'a str),
}

#[derive(Serialize)]
struct Cut<'a> {
    reason: &'a str,
    samples: u64,
}

#[derive(Serialize)]
struct RecorderInfo {
    ticks: u64,
    missed_ticks: u64,
    stopped_ns: i64,
    stop_median_ns: Option<i64>,
    stop_p99_ns: Option<i64>,
    late_median_ns: Option<i64>,
    late_p99_ns: Option<i64>,
    cpu_ns: i64,
}

impl RecorderInfo {
    fn of(quality: Quality) -> Self {
        Self {
            ticks: quality.ticks,
            missed_ticks: quality.missed_ticks,
            stopped_ns: quality.stopped.0,
            stop_median_ns: quality.stops.map(|stops| stops.median.0),
            stop_p99_ns: quality.stops.map(|stops| stops.p99.0),
            late_median_ns: quality.lateness.map(|late| late.median.0),
            late_p99_ns: quality.lateness.map(|late| late.p99.0),
            cpu_ns: quality.recorder_cpu.0,
        }
    }
}

#[derive(Serialize)]
struct SampleTypeInfo {
    name: String,
    unit: String,
    total: Option<Number>,
    default: bool,
}

impl SampleTypeInfo {
    fn of(profile: &Profile, counted: SampleType) -> Self {
        let values = StackValues::of(profile, &Selection::default(), counted.measure).ok();
        Self {
            name: counted.name,
            unit: values.as_ref().map_or(counted.unit, |values| values.unit.name().to_owned()),
            total: values.map(|values| Number(values.total.value)),
            default: counted.measure == default_measure(profile),
        }
    }
}

#[derive(Serialize)]
struct LabelInfo<'a> {
    key: &'a str,
    values: usize,
}

impl<'a> LabelInfo<'a> {
    fn of(profile: &'a Profile, key: LabelKey) -> Self {
        Self { key: profile.string(key.key), values: key.values }
    }
}

#[derive(Serialize)]
struct Extra<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct WarningInfo<'a> {
    code: &'a str,
    count: u64,
    first: Option<&'a str>,
    message: &'a str,
}

impl<'a> ThreadInfo<'a> {
    fn of(profile: &'a Profile, (thread, activity): (&'a Thread, &ThreadActivity)) -> Self {
        Self {
            name: profile.string(thread.name),
            pid: SystemId::of(&profile.processes[thread.process.index()].pid),
            tid: SystemId::of(&thread.tid),
            samples: activity.samples,
            slices: thread.slices.len(),
            markers: thread.markers.len(),
            waits: thread.waits.len(),
            short_waits: activity.short_waits.map(|waits| waits.count),
            short_waits_ns: activity.short_waits.map(|waits| waits.time.0),
            cpu_ns: activity.cpu.map(|cpu| cpu.0),
            start_ns: thread.start.map(|time| time.0),
            end_ns: thread.end.map(|time| time.0),
        }
    }
}

impl<'a> SystemId<'a> {
    pub(super) fn of(id: &'a OsId) -> Self {
        match id {
            OsId::Number(number) => Self::Number(*number),
            OsId::Text(text) => Self::Text(text),
        }
    }
}

impl<'a> WarningInfo<'a> {
    fn of(warning: &'a crate::model::Warning) -> Self {
        Self { code: &warning.code, count: warning.count, first: warning.first.as_deref(), message: &warning.message }
    }
}

#[cfg(test)]
mod tests {
    use super::command_text;

    #[test]
    fn a_command_can_be_copied_into_a_shell() {
        let words = ["./rg", "-c", r"fn .*\(", "it's", "", "--x=a,b"].map(str::to_owned);
        assert_eq!(command_text(&words), r"./rg -c 'fn .*\(' 'it'\''s' '' --x=a,b");
    }
}
