//! What threads waited for, as text and as JSON.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::info::SystemId;
use super::json::{to_json, two_decimals};
use super::label::Labels;
use super::number::{count, format_duration, format_percent};
use super::style::{Style, printable};
use super::table::{Name, TableRow, write_table};
use crate::analysis::{Callee, TargetKind, WaitList, WaitPlace, WaitRow, WaitSum, percent};
use crate::model::{Nanos, Profile, WaitReason};

/// Functions that are listed below each kind of wait.
const MOST_PLACES: usize = 5;
/// What is called a function where the stack is not known.
const UNKNOWN: &str = "(no stack)";

/// Writes the first `most` kinds of wait of `list`, below each the functions that waited.
///
/// # Errors
/// Those of `out`.
pub fn write_waits(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    list: &WaitList,
    most: usize,
    style: Style,
) -> fmt::Result {
    let waits = count(list.sum.count, "wait");
    write!(out, "Time waited {} in {waits}", format_duration(list.sum.time))?;
    if let Some(short) = list.short {
        let (number, time) = (count(short.count, "shorter one"), format_duration(short.time));
        write!(out, ", and {time} in {number} that only the kernel counted")?;
    }
    writeln!(out)?;
    if list.rows.is_empty() {
        return Ok(());
    }
    let header = TableRow {
        numbers: ["time", "share", "waits", "longest"].map(str::to_owned).to_vec(),
        name: Name::plain("what, by whom"),
        after: "line".to_owned(),
        dim: false,
    };
    let labels = Labels::of(profile);
    let mut rows: Vec<TableRow> = Vec::new();
    for row in list.rows.iter().take(most) {
        let name = printable(&row.kind.label(profile)).into_owned();
        rows.push(TableRow {
            numbers: numbers(list, row.sum),
            name: Name::plain(name),
            after: String::new(),
            dim: false,
        });
        rows.extend(row.places.iter().take(MOST_PLACES).map(|place| place_row(&labels, list, place, style)));
        let rest = row.places.get(MOST_PLACES..).unwrap_or_default();
        if !rest.is_empty() {
            let mut sum = WaitSum::default();
            rest.iter().for_each(|place| sum += place.sum);
            // Not to be shortened from its front.
            let lead = format!("  {}", count(rest.len() as u64, "more function"));
            let name = Name { lead, ..Name::default() };
            rows.push(TableRow { numbers: numbers(list, sum), name, after: String::new(), dim: true });
        }
    }
    write_table(out, &header, &rows, style)?;
    let rest = list.rows.get(most..).unwrap_or_default();
    if rest.is_empty() {
        return Ok(());
    }
    let time: Nanos = rest.iter().map(|row| row.sum.time).sum();
    writeln!(out, "{} for {}", format_duration(time), count(rest.len() as u64, "more thing"))
}

fn numbers(list: &WaitList, sum: WaitSum) -> Vec<String> {
    vec![
        format_duration(sum.time),
        format_percent(share(list, sum)),
        sum.count.to_string(),
        format_duration(sum.longest),
    ]
}

fn share(list: &WaitList, sum: WaitSum) -> f64 {
    percent(sum.time.as_secs_f64(), list.sum.time.as_secs_f64())
}

fn place_row(labels: &Labels<'_>, list: &WaitList, place: &WaitPlace, style: Style) -> TableRow {
    let callee = place.function.map(Callee::Function);
    let name = Name {
        lead: "  ".to_owned(),
        name: callee.map_or_else(|| UNKNOWN.to_owned(), |callee| labels.printable_name(callee)),
        suffix: callee.map(|callee| labels.suffix(callee)).unwrap_or_default(),
    };
    let after = callee.filter(|_| place.line.is_some());
    let after = after.map(|callee| labels.place(callee, place.line, style.width.is_none()));
    TableRow { numbers: numbers(list, place.sum), name, after: after.unwrap_or_default(), dim: false }
}

/// The first `most` kinds of wait as JSON: `{unit, total, waits, short_waits, short_waits_total, complete, rows: [{name, reason,
/// syscall, target, total, total_percent, waits, longest, longest_start, pid, tid, functions: [{name, module, file, line, crate,
/// version, category, total, waits, longest}]}]}`. `pid` and `tid` are those of the thread of the longest. What is not known is
/// `null`.
pub fn waits_json(profile: &Profile, list: &WaitList, most: usize) -> String {
    let labels = Labels::of(profile);
    to_json(&Document {
        unit: "ns",
        total: list.sum.time.0,
        waits: list.sum.count,
        short_waits: list.short.map(|short| short.count),
        short_waits_total: list.short.map(|short| short.time.0),
        complete: list.rows.len() <= most,
        rows: list.rows.iter().take(most).map(|row| Row::of(profile, &labels, list, row)).collect(),
    })
}

#[derive(Serialize)]
struct Document<'a> {
    unit: &'a str,
    total: i64,
    waits: u64,
    short_waits: Option<u64>,
    short_waits_total: Option<i64>,
    complete: bool,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: Cow<'static, str>,
    reason: &'static str,
    syscall: Option<&'a str>,
    target: Option<&'a str>,
    total: i64,
    total_percent: f64,
    waits: u64,
    longest: i64,
    longest_start: i64,
    pid: SystemId<'a>,
    tid: SystemId<'a>,
    functions: Vec<Place<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    name: Option<Cow<'a, str>>,
    module: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    #[serde(rename = "crate")]
    origin: Option<&'a str>,
    version: Option<&'a str>,
    category: Option<&'a str>,
    total: i64,
    waits: u64,
    longest: i64,
}

impl<'a> Row<'a> {
    fn of(profile: &'a Profile, labels: &Labels<'a>, list: &WaitList, row: &WaitRow) -> Self {
        let (start, thread) = row.longest;
        let thread = &profile.threads[thread.index()];
        Self {
            name: row.kind.label(profile),
            reason: match row.kind.reason {
                WaitReason::Blocked => "blocked",
                WaitReason::Runnable => "runnable",
                WaitReason::Stopped => "stopped",
            },
            syscall: row.kind.syscall.map(|syscall| profile.string(syscall)),
            target: row.kind.target.map(|target| match target {
                TargetKind::Named(name) => profile.string(name),
                TargetKind::Any(kind) => kind,
            }),
            total: row.sum.time.0,
            total_percent: two_decimals(share(list, row.sum)),
            waits: row.sum.count,
            longest: row.sum.longest.0,
            longest_start: start.0,
            pid: SystemId::of(&profile.processes[thread.process.index()].pid),
            tid: SystemId::of(&thread.tid),
            functions: row.places.iter().map(|place| Place::of(labels, place)).collect(),
        }
    }
}

impl<'a> Place<'a> {
    fn of(labels: &Labels<'a>, place: &WaitPlace) -> Self {
        let callee = place.function.map(Callee::Function);
        Self {
            name: callee.map(|callee| labels.name(callee)),
            module: callee.and_then(|callee| labels.module(callee)),
            file: callee.and_then(|callee| labels.file(callee)),
            line: place.line,
            origin: callee.and_then(|callee| labels.origin(callee)),
            version: callee.and_then(|callee| labels.version(callee)),
            category: callee.and_then(|callee| labels.category(callee)),
            total: place.sum.time.0,
            waits: place.sum.count,
            longest: place.sum.longest.0,
        }
    }
}
