//! What each thread did, as text and as JSON.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::info::SystemId;
use super::json::to_json;
use super::number::{count, format_duration};
use super::style::{Style, printable};
use super::table::{Name, TableRow, write_table};
use crate::analysis::{ThreadList, ThreadRow};
use crate::model::{Nanos, Profile};

/// Short waits, and times without a CPU, are told of if they took this long.
const NOTABLE: Nanos = Nanos(1_000_000);

/// Writes the first `most` threads of `list`.
///
/// # Errors
/// Those of `out`.
pub fn write_threads(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    list: &ThreadList,
    most: usize,
    style: Style,
) -> fmt::Result {
    let mut parts = vec![count(list.rows.len() as u64, "thread")];
    parts.extend(total_cpu(&list.rows).map(|cpu| format!("CPU time {}", format_duration(cpu))));
    let samples = list.rows.iter().map(|row| row.samples).sum();
    parts.push(count(samples, "sample"));
    let waited: Nanos = list.rows.iter().map(|row| row.waits.time).sum();
    if waited > Nanos::ZERO {
        parts.push(format!("waited {}", format_duration(waited)));
    }
    writeln!(out, "{}", parts.join(", "))?;
    if list.rows.is_empty() {
        return Ok(());
    }
    let header = TableRow {
        numbers: ["CPU time", "user", "kernel", "no CPU", "samples", "waits", "waited", "PID/TID"]
            .map(str::to_owned)
            .to_vec(),
        name: Name::plain("thread"),
        after: "waited most for".to_owned(),
        dim: false,
    };
    let rows: Vec<TableRow> = list.rows.iter().take(most).map(|row| table_row(profile, row)).collect();
    write_table(out, &header, &rows, style)?;
    let rest = list.rows.get(most..).unwrap_or_default();
    if rest.is_empty() {
        return Ok(());
    }
    let cpu = total_cpu(rest).map(|cpu| format!("{} in ", format_duration(cpu))).unwrap_or_default();
    writeln!(out, "{cpu}{}", count(rest.len() as u64, "more thread"))
}

/// The CPU time of `rows`, if any of it is known.
fn total_cpu(rows: &[ThreadRow]) -> Option<Nanos> {
    rows.iter().filter_map(|row| row.cpu).reduce(|sum, cpu| sum + cpu)
}

fn table_row(profile: &Profile, row: &ThreadRow) -> TableRow {
    let thread = &profile.threads[row.thread.index()];
    let pid = &profile.processes[thread.process.index()].pid;
    let time = |time: Option<Nanos>| time.map(format_duration).unwrap_or_default();
    let number = |number: u64| if number == 0 { String::new() } else { number.to_string() };
    let most = row.by_kind.first();
    let most = most.map(|waits| format!("{} {}", waits.kind.label(profile), format_duration(waits.time)));
    let short = row.short_waits.filter(|waits| waits.time >= NOTABLE);
    let short = short.map(|waits| format!("{} {}", count(waits.count, "short wait"), format_duration(waits.time)));
    let waits: Vec<String> = [most, short].into_iter().flatten().collect();
    let ids = match (pid.to_string(), thread.tid.to_string()) {
        // Not in the file.
        (pid, tid) if pid.is_empty() && tid.is_empty() => String::new(),
        (pid, tid) => format!("{pid}/{tid}"),
    };
    TableRow {
        numbers: vec![
            time(row.cpu),
            time(row.user),
            time(row.system),
            time(row.run_queue_wait.filter(|wait| *wait >= NOTABLE)),
            row.samples.to_string(),
            number(row.waits.count),
            time(Some(row.waits.time).filter(|time| *time > Nanos::ZERO)),
            ids,
        ],
        name: Name::plain(printable(profile.string(thread.name))),
        after: printable(&waits.join("; ")).into_owned(),
        dim: false,
    }
}

/// The first `most` threads as JSON: `{unit, total, complete, rows: [{name, process, pid, tid, cpu, user, system, run_queue_wait,
/// samples, waits, waited, longest_wait, short_waits, short_waits_total, waited_for: [{name, total, waits}]}]}`; `total` is their
/// CPU time. What is not known is `null`.
pub fn threads_json(profile: &Profile, list: &ThreadList, most: usize) -> String {
    to_json(&Document {
        unit: "ns",
        total: total_cpu(&list.rows).map(|cpu| cpu.0),
        complete: list.rows.len() <= most,
        rows: list.rows.iter().take(most).map(|row| Row::of(profile, row)).collect(),
    })
}

#[derive(Serialize)]
struct Document<'a> {
    unit: &'a str,
    total: Option<i64>,
    complete: bool,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    process: &'a str,
    pid: SystemId<'a>,
    tid: SystemId<'a>,
    cpu: Option<i64>,
    user: Option<i64>,
    system: Option<i64>,
    run_queue_wait: Option<i64>,
    samples: u64,
    waits: u64,
    waited: i64,
    longest_wait: i64,
    short_waits: Option<u64>,
    short_waits_total: Option<i64>,
    waited_for: Vec<WaitedFor>,
}

#[derive(Serialize)]
struct WaitedFor {
    name: Cow<'static, str>,
    total: i64,
    waits: u64,
}

impl<'a> Row<'a> {
    fn of(profile: &'a Profile, row: &ThreadRow) -> Self {
        let thread = &profile.threads[row.thread.index()];
        let process = &profile.processes[thread.process.index()];
        let nanos = |time: Option<Nanos>| time.map(|time| time.0);
        Self {
            name: profile.string(thread.name),
            process: profile.string(process.name),
            pid: SystemId::of(&process.pid),
            tid: SystemId::of(&thread.tid),
            cpu: nanos(row.cpu),
            user: nanos(row.user),
            system: nanos(row.system),
            run_queue_wait: nanos(row.run_queue_wait),
            samples: row.samples,
            waits: row.waits.count,
            waited: row.waits.time.0,
            longest_wait: row.waits.longest.0,
            short_waits: row.short_waits.map(|short| short.count),
            short_waits_total: row.short_waits.map(|short| short.time.0),
            waited_for: row
                .by_kind
                .iter()
                .map(|waits| WaitedFor { name: waits.kind.label(profile), total: waits.time.0, waits: waits.count })
                .collect(),
        }
    }
}
