//! What is said after a recording.

use std::fmt;

use super::info::{cpu_text, quality_text, rate};
use super::label::Labels;
use super::number::{count, format_duration, format_percent};
use super::style::{Style, printable};
use super::top::write_functions;
use crate::analysis::{
    FunctionList, Measure, Selection, StackValues, Summary, ThreadActivity, crate_shares, functions,
};
use crate::model::{ExitStatus, Nanos, Profile};

/// Functions that are listed.
const MOST_FUNCTIONS: usize = 5;
/// Crates that are listed, and the least share that one must have.
const MOST_CRATES: usize = 5;
const LEAST_CRATE_PERCENT: f64 = 1.0;
/// A wait that is shorter than this share of the recording is not worth a word.
const LEAST_WAIT_SHARE: i64 = 20;

/// The rate is told if less than this part of it was reached.
const LOW_RATE: f64 = 0.95;

/// What the summary can't know from the profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SummaryLines<'a> {
    /// Where it was saved, as a sentence: `Saved as @1 (0.9 MB).`
    pub saved: Option<&'a str>,
}

/// Writes how the recording went, the hottest functions and crates, and where it was saved.
///
/// # Errors
/// Those of `out`.
pub fn write_summary(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    lines: SummaryLines<'_>,
    style: Style,
) -> fmt::Result {
    let summary = Summary::of(profile);
    writeln!(out, "{}", times(profile, &summary))?;
    writeln!(out, "{}", quality(profile, &summary))?;
    if let Some(why) = why_no_samples(profile, &summary) {
        writeln!(out, "{why}")?;
    }
    for cut in &summary.cut {
        writeln!(out, "{} with {}", count(cut.samples, "sample"), printable(profile.string(cut.reason)))?;
    }
    let labels = Labels::of(profile);
    // The threads of a recording all count CPU time; a profile that can't be added up has no hottest functions.
    if let Ok(values) = StackValues::of(profile, &Selection::default(), Measure::Cpu) {
        let list = functions(profile, &values);
        if list.rows.iter().any(|row| row.own.samples > 0) {
            write_functions(out, &labels, &list, MOST_FUNCTIONS, style)?;
            return write_end(out, crates(profile, &labels, &list), lines);
        }
    }
    write_end(out, String::new(), lines)
}

fn write_end(out: &mut dyn fmt::Write, crates: String, lines: SummaryLines<'_>) -> fmt::Result {
    let parts: Vec<String> =
        [crates, lines.saved.unwrap_or_default().to_owned()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { Ok(()) } else { writeln!(out, "{}", parts.join("  ")) }
}

/// `Recorded 2.14 s wall, 14.9 s CPU (user 9.8 s, kernel 5.1 s), 8 threads; main waited 1.9 s ([wait] futex 1.8 s)`.
fn times(profile: &Profile, summary: &Summary) -> String {
    let mut parts = Vec::new();
    if let Some(wall) = summary.wall {
        parts.push(format!("{} wall", format_duration(wall)));
    }
    let cpu = cpu_text(summary);
    if !cpu.is_empty() {
        parts.push(match cpu.split_once(" (") {
            Some((all, parts)) => format!("{all} CPU ({parts}"),
            None => format!("{cpu} CPU"),
        });
    }
    parts.push(count(profile.threads.len() as u64, "thread"));
    if profile.processes.len() > 1 {
        parts.push(count(profile.processes.len() as u64, "process"));
    }
    let mut text = format!("Recorded {}", parts.join(", "));
    if let Some(main) = main_wait(profile, summary) {
        text.push_str(&main);
    }
    text
}

fn main_wait(profile: &Profile, summary: &Summary) -> Option<String> {
    let main = profile.threads.iter().position(|thread| thread.is_main)?;
    let activity: &ThreadActivity = summary.threads.get(main)?;
    let waited = activity.waited();
    let wall = summary.wall.unwrap_or(Nanos::ZERO);
    let longest = activity.waits.first().filter(|_| waited.0 > 0 && waited.0 >= wall.0 / LEAST_WAIT_SHARE)?;
    let (what, time) = (longest.kind.label(profile), format_duration(longest.time));
    Some(format!("; main waited {} ({} {time})", format_duration(waited), printable(&what)))
}

/// `14902 samples, rooted 99.8 %, named 99.9 %, lost 0, program stopped 1.6 % of its CPU time, exit 0`.
fn quality(profile: &Profile, summary: &Summary) -> String {
    let mut text = quality_text(summary);
    if let Some(percent) = summary.stopped_percent {
        text.push_str(&format!(", program stopped {} of its CPU time", format_percent(percent)));
    }
    if let Some((reached, asked)) = rate(profile).filter(|(reached, asked)| *reached < LOW_RATE * asked) {
        text.push_str(&format!(", {reached:.0} looks a second instead of {asked:.0}"));
    }
    if summary.unsampled_cpu > Nanos::ZERO {
        text.push_str(&format!(", {} of CPU time not sampled", format_duration(summary.unsampled_cpu)));
    }
    if let Some(exit) = profile.processes.first().and_then(|process| process.exit) {
        text.push_str(&format!(", {}", exit_text(exit)));
    }
    text
}

/// A program can be over before the first look at it.
fn why_no_samples(profile: &Profile, summary: &Summary) -> Option<String> {
    let interval = profile.meta.interval.filter(|_| summary.samples == 0)?;
    let cpu = summary.cpu?;
    let remedy = "give it more work, or look more often (`--rate 10000`)";
    let period = format_duration(interval);
    Some(match (cpu, cpu <= interval) {
        (Nanos::ZERO, _) => "No samples: the program used no CPU time".to_owned(),
        (_, true) => {
            format!("No samples: the program used less CPU time than the {period} between two looks; {remedy}")
        }
        (_, false) => format!("No samples: none of its threads ran when it was looked at, every {period}; {remedy}"),
    })
}

/// `exit 3`, or `ended by signal 9 (SIGKILL)`.
pub(super) fn exit_text(exit: ExitStatus) -> String {
    match exit {
        ExitStatus::Code(code) => format!("exit {code}"),
        ExitStatus::Signal(signal) => format!("ended by signal {signal}{}", signal_name(signal)),
    }
}

/// ` (SIGSEGV)`, for the signals that end programs.
fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 20] = [
        (1, "HUP"),
        (2, "INT"),
        (3, "QUIT"),
        (4, "ILL"),
        (5, "TRAP"),
        (6, "ABRT"),
        (7, "BUS"),
        (8, "FPE"),
        (9, "KILL"),
        (10, "USR1"),
        (11, "SEGV"),
        (12, "USR2"),
        (13, "PIPE"),
        (14, "ALRM"),
        (15, "TERM"),
        (24, "XCPU"),
        (25, "XFSZ"),
        (26, "VTALRM"),
        (27, "PROF"),
        (31, "SYS"),
    ];
    let name = NAMES.into_iter().find(|(number, _)| *number == signal);
    name.map_or_else(String::new, |(_, name)| format!(" (SIG{name})"))
}

/// `Crates: memchr 38 %, kernel 34 %, ignore 11 %.`
fn crates(profile: &Profile, labels: &Labels<'_>, list: &FunctionList) -> String {
    let shares = crate_shares(profile, list, labels.facts());
    let shares: Vec<String> = shares
        .iter()
        .map(|share| (&share.name, list.whole.percent(share.own.value)))
        .filter(|(_, percent)| *percent >= LEAST_CRATE_PERCENT)
        .take(MOST_CRATES)
        .map(|(name, percent)| format!("{} {percent:.0} %", printable(name)))
        .collect();
    if shares.is_empty() { String::new() } else { format!("Crates: {}.", shares.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::signal_name;

    #[test]
    fn signals_that_end_programs_have_names() {
        assert_eq!(signal_name(11), " (SIGSEGV)");
        assert_eq!(signal_name(15), " (SIGTERM)");
        assert_eq!(signal_name(34), "", "a real-time signal");
    }
}
