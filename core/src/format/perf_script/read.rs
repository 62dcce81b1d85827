//! File to model: one pass over the lines, then the tables.

use rustc_hash::FxHashMap;

use super::super::ReadError;
use super::super::import_report::{ImportReport, Note, OUT_OF_RANGE};
use super::super::room::{Room, most_threads};
use super::super::text_lines::{Line, lines};
use super::code::{Code, Lines};
use super::event_line::{self, EventLine};
use super::events::Events;
use super::threads::{Row, Threads};
use super::{frame_line, header, recognize, task};
use crate::model::{Nanos, Profile, ProfileBuilder, Thread, Time};

const UNKNOWN: Note = Note { code: "line-unknown", message: "lines that are not understood are left out" };
const RECORDS: Note =
    Note { code: "records-unused", message: "what perf tells about itself and memory maps is left out" };
const LOST: Note = Note { code: "samples-lost", message: "perf lost samples while it recorded" };
const CUT: Note = Note { code: "file-cut", message: "the last sample is left out: the file ends within it" };
const NO_TIME: Note = Note { code: "sample-without-time", message: "samples without a time among others are left out" };
const UNORDERED: Note = Note { code: "samples-unordered", message: "samples were not in order of time" };
const NO_PID: Note = Note {
    code: "process-unknown",
    message: "the process of threads is not in the file (`perf script -F +pid` prints it): they are shown as one",
};

const TOO_MANY_THREADS: Note =
    Note { code: "too-many-threads", message: "samples of more threads than such a file can have are left out" };

/// Reads a file.
///
/// # Errors
/// If no sample is in it, or it has more frames than a file of its size can.
pub fn read(text: &[u8]) -> Result<Profile, ReadError> {
    let mut reader = Reader {
        builder: ProfileBuilder::with_standard_categories(),
        room: Room::of(text.len()),
        code: Code::default(),
        threads: Threads::new(most_threads(text.len())),
        events: Events::default(),
        report: ImportReport::default(),
        start: None,
        is_timed: None,
        open: None,
        frames: Vec::new(),
    };
    let mut last = None;
    for line in lines(text) {
        reader.line(line)?;
        last = Some(line);
    }
    if let Some(line) = last.filter(|line| !line.is_ended && !line.text.trim_ascii_end().ends_with(b")")) {
        reader.cut(line);
    }
    reader.close()?;
    reader.finish()
}

struct Reader<'a> {
    builder: ProfileBuilder,
    room: Room,
    code: Code<'a>,
    threads: Threads,
    events: Events<'a>,
    report: ImportReport,
    /// When the first sample was taken, on the clock of `perf`.
    start: Option<i64>,
    /// Whether samples have times, once that is known.
    is_timed: Option<bool>,
    /// The sample whose lines are being read, and where it begins.
    open: Option<(EventLine<'a>, usize)>,
    frames: Vec<Lines<'a>>,
}

const NAMELESS: EventLine<'static> =
    EventLine { comm: b"", pid: None, tid: None, time: None, period: None, event: None, text: b"" };

impl<'a> Reader<'a> {
    fn line(&mut self, line: Line<'a>) -> Result<(), ReadError> {
        let text = line.text;
        if text.trim_ascii().is_empty() {
            return if line.is_ended { self.close() } else { Ok(()) };
        }
        if self.open.is_none() && recognize::is_comment(text) {
            header::comment(text, self.builder.meta_mut());
            return Ok(());
        }
        if text.starts_with(b"\t") {
            self.frame(line);
            return Ok(());
        }
        let event = event_line::parse(text);
        let is_sure = event.is_some_and(|event| event.time.is_some() && event.tid.is_some());
        let source = frame_line::parse_source(text).filter(|_| !is_sure);
        if let (Some(source), Some(last)) = (source, self.frames.last_mut()) {
            last.frame.is_inlined |= source.is_inlined;
            last.source = Some(source);
            return Ok(());
        }
        match event {
            Some(event) if event.event.is_some_and(task::is_record) => {
                self.close()?;
                self.record(&event, line.offset);
            }
            Some(event) if event.time.is_some() || self.is_timed != Some(true) => {
                self.close()?;
                self.open = Some((event, line.offset));
            }
            _ => self.report.note(UNKNOWN, || format!("byte {}", line.offset)),
        }
        Ok(())
    }

    fn frame(&mut self, line: Line<'a>) {
        let at = || format!("byte {}", line.offset);
        let Some(frame) = frame_line::parse(line.text) else { return self.report.note(UNKNOWN, at) };
        if self.open.is_none() {
            if self.is_timed == Some(true) {
                return self.report.note(UNKNOWN, at);
            }
            // With `-F ip,sym` a sample begins with an empty line.
            self.open = Some((NAMELESS, line.offset));
        }
        self.frames.push(Lines { offset: line.offset, frame, source: None });
    }

    /// What `perf` tells about tasks and itself.
    fn record(&mut self, line: &EventLine<'a>, offset: usize) {
        let event = line.event.unwrap_or_default();
        let told = match event {
            b"PERF_RECORD_COMM" => task::comm(line.text),
            _ => task::fork(event),
        };
        if let Some(told) = told {
            self.threads.belongs(told.tid, told.pid);
        } else if event == b"PERF_RECORD_LOST" {
            let count = line.text.split(|byte| !byte.is_ascii_digit()).find(|word| !word.is_empty());
            let count = count.and_then(|count| std::str::from_utf8(count).ok()?.parse().ok()).unwrap_or(1);
            self.report.count(LOST, count, || format!("byte {offset}"));
        } else if !event.starts_with(b"PERF_RECORD_EXIT") {
            self.report.note(RECORDS, || format!("byte {offset}"));
        }
    }

    /// Drops the sample that the file ends within.
    fn cut(&mut self, line: Line<'a>) {
        if self.open.take().is_some() {
            self.report.note(CUT, || format!("byte {}", line.offset));
        }
        self.frames.clear();
    }

    /// Ends the sample whose lines were read.
    fn close(&mut self) -> Result<(), ReadError> {
        let Some((line, offset)) = self.open.take() else { return Ok(()) };
        let is_tracepoint = line.event.is_some_and(Events::is_tracepoint);
        if self.frames.is_empty() && !is_tracepoint {
            // Without call chains the one frame stands on the same line.
            let frame = frame_line::parse(line.text).filter(|frame| !frame.symbol.is_empty() || frame.file.is_some());
            self.frames.extend(frame.map(|frame| Lines { offset, frame, source: None }));
        }
        let is_timed = *self.is_timed.get_or_insert(line.time.is_some());
        let time = match line.time.filter(|_| is_timed) {
            Some(time) => Time(time.saturating_sub(*self.start.get_or_insert(time))),
            None if is_timed => {
                self.frames.clear();
                self.report.note(NO_TIME, || format!("byte {offset}"));
                return Ok(());
            }
            None => Time::ZERO,
        };
        let stack = self.code.stack(&self.frames, self.room, &mut self.builder, &mut self.report)?;
        self.frames.clear();
        let text =
            (is_tracepoint && !line.text.is_empty()).then(|| self.builder.string(&String::from_utf8_lossy(line.text)));
        if line.period == Some(i64::MAX) {
            self.report.note(OUT_OF_RANGE, || format!("byte {offset}"));
        }
        let event = self.events.number(line.event.unwrap_or_default(), line.period.is_some());
        let ids = (line.pid, line.tid);
        let Some(thread) = self.threads.named(ids, line.comm, time, &mut self.builder) else {
            self.report.note(TOO_MANY_THREADS, || format!("byte {offset}"));
            return Ok(());
        };
        thread.rows.push(Row { time, stack, event, period: line.period, text });
        Ok(())
    }

    fn finish(self) -> Result<Profile, ReadError> {
        let Self { mut builder, threads, events, mut report, start, is_timed, .. } = self;
        let plan = events.plan(&mut builder, &mut report);
        let mut threads = threads.finish(&mut builder);
        let Some((_, busiest)) = threads.iter().max_by_key(|(_, thread)| thread.rows.len()) else {
            return Err(ReadError::Syntax { offset: 0, message: "no sample is in it".to_owned() });
        };
        let name = builder.tables().strings.get(busiest.name).to_owned();
        let is_timed = is_timed == Some(true);
        let mut end = Time::ZERO;
        let mut first = Time::ZERO;
        for (_, thread) in &mut threads {
            let unordered = thread.rows.windows(2).filter(|pair| pair[1].time < pair[0].time).count();
            report.count(UNORDERED, unordered as u64, || "the first of them".to_owned());
            if unordered > 0 {
                thread.rows.sort_by_key(|row| row.time);
            }
            end = end.max(thread.rows.last().map_or(end, |row| row.time));
            first = first.min(thread.rows.first().map_or(first, |row| row.time));
        }
        let interval = plan.clock(&threads).and_then(common_period);
        for (process, mut seen) in threads {
            let mut thread = Thread::new(process, seen.tid(), seen.name);
            thread.is_main = seen.is_main();
            thread.timed = is_timed;
            if is_timed {
                thread.earlier_names = std::mem::take(&mut seen.earlier_names);
            }
            if matches!(seen.key, super::threads::Key::Id(None, _)) {
                report.note(NO_PID, || format!("thread {}", builder.tables().strings.get(seen.name)));
            }
            plan.fill(&mut thread, &seen, &mut builder, &mut report);
            builder.add_thread(thread);
        }
        let meta = builder.meta_mut();
        meta.name = name;
        meta.interval = interval;
        if let Some(start) = start {
            meta.recording_start = Some(first);
            meta.recording_end = Some(end);
            let seconds = format!("{}.{:09} s", start / 1_000_000_000, start % 1_000_000_000);
            meta.extra.push(("perf clock at the first sample".to_owned(), seconds));
        }
        meta.warnings = report.into_warnings();
        Ok(builder.finish()?)
    }
}

/// The period of most samples of a clock: the time between them.
fn common_period(periods: impl Iterator<Item = i64>) -> Option<Nanos> {
    let mut counts: FxHashMap<i64, u64> = FxHashMap::default();
    periods.for_each(|period| *counts.entry(period).or_default() += 1);
    let all: u64 = counts.values().sum();
    let (period, count) = counts.into_iter().max_by_key(|(period, count)| (*count, *period))?;
    (count * 2 > all && period > 0).then_some(Nanos(period))
}
