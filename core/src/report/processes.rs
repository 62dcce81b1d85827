//! The processes of a profile: who started whom, what ran for how long, and how it ended.

use std::fmt;

use serde::Serialize;

use super::info::{SystemId, command_text};
use super::number::{count, format_duration};
use super::style::{Style, printable};
use super::summary::exit_text;
use super::table::{Name, TableRow, write_table};
use crate::model::{ExitStatus, Process, Profile};

/// Processes that the text lists before it only counts them.
const MOST_PROCESSES: usize = 40;

/// A process as JSON.
#[derive(Serialize)]
pub(super) struct ProcessInfo<'a> {
    pid: SystemId<'a>,
    parent: Option<usize>,
    name: &'a str,
    command: Vec<&'a str>,
    start_ns: Option<i64>,
    end_ns: Option<i64>,
    exit: Option<Exit>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Exit {
    Code(i32),
    Signal(i32),
}

impl<'a> ProcessInfo<'a> {
    pub(super) fn of(profile: &'a Profile, process: &'a Process) -> Self {
        Self {
            pid: SystemId::of(&process.pid),
            parent: process.parent.map(crate::model::ProcessId::index),
            name: profile.string(process.name),
            command: process.command_line.iter().map(|word| profile.string(*word)).collect(),
            start_ns: process.start.map(|time| time.0),
            end_ns: process.end.map(|time| time.0),
            exit: process.exit.map(|exit| match exit {
                ExitStatus::Code(code) => Exit::Code(code),
                ExitStatus::Signal(signal) => Exit::Signal(signal),
            }),
        }
    }
}

/// Writes a table of the processes, if there are several, and an empty line behind it.
pub(super) fn write_processes(out: &mut dyn fmt::Write, profile: &Profile, style: Style) -> fmt::Result {
    if profile.processes.len() < 2 {
        return Ok(());
    }
    let header = TableRow {
        numbers: ["PID", "parent", "started", "lived", "end"].map(str::to_owned).to_vec(),
        name: Name::plain("process"),
        after: String::new(),
        dim: false,
    };
    let rows: Vec<TableRow> =
        profile.processes.iter().take(MOST_PROCESSES).map(|process| row(profile, process)).collect();
    write_table(out, &header, &rows, style)?;
    let more = profile.processes.len().saturating_sub(MOST_PROCESSES);
    if more > 0 {
        writeln!(out, "and {}", count(more as u64, "more process"))?;
    }
    writeln!(out)
}

fn row(profile: &Profile, process: &Process) -> TableRow {
    let since = profile.meta.recording_start.unwrap_or_default();
    let lived = process.start.zip(process.end).map(|(start, end)| format_duration(end - start));
    let name = profile.string(process.name);
    let words: Vec<&str> = process.command_line.iter().map(|word| profile.string(*word)).collect();
    let command = command_text(&words);
    TableRow {
        numbers: vec![
            process.pid.to_string(),
            process.parent.map(|parent| profile.processes[parent.index()].pid.to_string()).unwrap_or_default(),
            process.start.map(|start| format_duration(start - since)).unwrap_or_default(),
            lived.unwrap_or_default(),
            process.exit.map(exit_text).unwrap_or_default(),
        ],
        name: Name::plain(printable(if command.is_empty() { name } else { &command })),
        after: String::new(),
        dim: false,
    }
}
