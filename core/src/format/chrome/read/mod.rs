//! The events of a trace as a profile.

mod args;
mod asyncs;
mod categories;
mod counters;
mod flows;
mod meta;
mod nest;
mod pair;
mod stacks;
mod threads;
mod tracks;
mod v8;

use self::args::KnownArgs;
use self::categories::Categories;
use self::nest::Span;
use self::stacks::StackFrames;
use self::tracks::Tracks;
use super::arguments::Arguments;
use super::events::{EventTable, ThreadClock, TimeForm};
use super::notes;
use super::scan::Value;
use crate::format::import_report::{ImportReport, OUT_OF_RANGE};
use crate::format::{FlowBinding, ReadError};
use crate::model::{MarkerId, ProcessId, Profile, ProfileBuilder, SliceId, StringId, ThreadId};

/// Reads a decompressed trace.
///
/// # Errors
/// If it is no list of events.
pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    read_bound(bytes, FlowBinding::Auto)
}

/// The same; `binding` says what its flows are bound to.
///
/// # Errors
/// If it is no list of events.
pub fn read_bound(bytes: &[u8], binding: FlowBinding) -> Result<Profile, ReadError> {
    let mut report = ImportReport::default();
    let table = EventTable::read_with(bytes, &mut report)?;
    let mut reader = Reader::new(&table, report);
    if reader.has_flows() {
        reader.anchors = Some(vec![None; table.len()]);
    }
    reader.read_all();
    reader.read_flows(binding);
    let Reader { mut builder, report, .. } = reader;
    builder.meta_mut().warnings = report.into_warnings();
    Ok(builder.finish()?)
}

/// A trace while it becomes a profile.
struct Reader<'t, 'a> {
    table: &'t EventTable<'a>,
    builder: ProfileBuilder,
    report: ImportReport,
    tracks: Tracks,
    categories: Categories,
    known_args: KnownArgs,
    frames: StackFrames,
    /// The names of the model by the strings of the table.
    names: Vec<Option<StringId>>,
    /// The first moment of the trace, which is the profile's zero.
    origin: i64,
    /// The last moment, from there.
    end: i64,
    /// Where each event went, if something will ask.
    anchors: Option<Vec<Option<(ThreadId, Anchor)>>>,
}

/// What an event became.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Anchor {
    Slice(SliceId),
    Marker(MarkerId),
}

/// What sort of event a phase is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Metadata,
    /// On a thread.
    Thread,
    Async,
    Counter,
    Flow,
    Sample,
}

/// The rows of a trace by what they are.
#[derive(Default)]
struct Rows {
    /// Thread after thread, each in the order of the file.
    threads: Vec<u32>,
    /// Where each thread's begin in `threads`; the end of the last stands behind.
    starts: Vec<u32>,
    asyncs: Vec<u32>,
    counters: Vec<u32>,
    samples: Vec<u32>,
}

impl<'t, 'a> Reader<'t, 'a> {
    fn new(table: &'t EventTable<'a>, report: ImportReport) -> Self {
        let (first, end) = extent(table);
        let origin = meta::zero(table).unwrap_or(first);
        Self {
            builder: ProfileBuilder::with_standard_categories(),
            report,
            tracks: Tracks::new(table),
            categories: Categories::default(),
            known_args: KnownArgs::default(),
            frames: StackFrames::default(),
            names: vec![None; table.text_count()],
            origin,
            end: end.saturating_sub(origin),
            anchors: None,
            table,
        }
    }

    fn read_all(&mut self) {
        let table = self.table;
        let mut used = vec![false; self.tracks.len()];
        for row in 0..table.len() {
            match self.kind(row) {
                Kind::Metadata => {
                    tracks::metadata(self, row);
                    self.add_frames_of_metadata(row);
                }
                _ if self.nanos(row).is_none() => {
                    let note = match table.time_form[row] {
                        TimeForm::Missing => notes::NO_TIME,
                        _ => notes::BAD_TIME,
                    };
                    self.note(note, row);
                }
                _ => {
                    used[self.thread_of(row) as usize] = true;
                    if table.time[row].checked_sub(self.origin).is_none() {
                        self.note(OUT_OF_RANGE, row);
                    }
                }
            }
            if self.has_clock_elsewhere(row) {
                self.note(notes::THREAD_CLOCK, row);
            }
            if table.flags(row).has(super::events::EventFlags::BAD_DURATION) {
                self.note(notes::BAD_DURATION, row);
            }
        }
        for (thread, _) in (0_u32..).zip(&used).filter(|(_, used)| **used) {
            self.tracks.set_used(thread);
        }
        tracks::add(self);
        if let Some(Value::Object(frames)) = table.other("stackFrames") {
            self.frames.add(frames);
        }
        let mut rows = self.rows();
        for thread in 0..self.tracks.len() {
            let range = rows.starts[thread] as usize..rows.starts[thread + 1] as usize;
            let thread = u32::try_from(thread).expect("fewer threads than events");
            match self.tracks.thread(thread) {
                Some(id) => self.read_thread(id, &mut rows.threads[range]),
                None if !range.is_empty() => {
                    let count = range.len() as u64;
                    let first = rows.threads[range.start] as usize;
                    self.report.count(notes::TOO_MANY_THREADS, count, || table.place(first));
                }
                None => {}
            }
        }
        self.read_asyncs(&mut rows.asyncs);
        self.read_counters(&mut rows.counters);
        self.read_samples(rows.samples);
        self.read_system_samples();
        meta::read(self);
    }

    fn add_frames_of_metadata(&mut self, row: usize) {
        if self.table.name[row].is_some_and(|name| self.table.text(name) == "stackFrames") {
            let args = Arguments::of(self.table.args(row).unwrap_or_default());
            if let Some(Value::Object(frames)) = args.get("stackFrames") {
                self.frames.add(frames);
            }
        }
    }

    /// The rows of each kind that have a time.
    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        let mut starts = vec![0; self.tracks.len() + 1];
        let timed = || (0..self.table.len()).filter(|row| self.nanos(*row).is_some());
        for row in timed() {
            let index = u32::try_from(row).expect("fewer events than 2^32");
            match self.kind(row) {
                Kind::Thread => starts[self.thread_of(row) as usize + 1] += 1,
                Kind::Async => rows.asyncs.push(index),
                Kind::Counter => rows.counters.push(index),
                Kind::Sample => rows.samples.push(index),
                Kind::Metadata | Kind::Flow => {}
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        rows.threads = vec![0; sum as usize];
        let mut next = starts.clone();
        rows.starts = starts;
        for row in timed().filter(|row| self.kind(*row) == Kind::Thread) {
            let place = &mut next[self.thread_of(row) as usize];
            rows.threads[*place as usize] = u32::try_from(row).expect("fewer events than 2^32");
            *place += 1;
        }
        rows
    }

    fn kind(&self, row: usize) -> Kind {
        match self.table.phase[row] {
            b'M' => Kind::Metadata,
            b'b' | b'e' | b'n' | b'S' | b'p' | b'F' => Kind::Async,
            // One letter for two things: a state of a thread lasts, a step of an asynchronous span has an id.
            b'T' if self.table.duration(row).is_none() => Kind::Async,
            b's' | b't' | b'f' => Kind::Flow,
            b'C' => Kind::Counter,
            b'P' => Kind::Sample,
            _ => Kind::Thread,
        }
    }

    /// Whether a thread's clock stands at event `row`, for which the model has no place there. Of an end its difference to
    /// the beginning is kept.
    fn has_clock_elsewhere(&self, row: usize) -> bool {
        let clock = self.table.thread_clock(row);
        match (self.kind(row), self.table.phase[row]) {
            (Kind::Thread | Kind::Async, b'E' | b'e' | b'F') => clock.duration.is_some(),
            (Kind::Thread | Kind::Async, _) => false,
            _ => clock != ThreadClock::default(),
        }
    }

    /// The time of event `row` from the profile's start, if it has one.
    fn nanos(&self, row: usize) -> Option<i64> {
        let has_time = matches!(self.table.time_form[row], TimeForm::Number | TimeForm::Text);
        has_time.then(|| self.table.time[row].saturating_sub(self.origin))
    }

    /// A moment of the file from the profile's start.
    fn since_origin(&mut self, time: i64, place: impl FnOnce() -> String) -> i64 {
        time.checked_sub(self.origin).unwrap_or_else(|| {
            self.report.note(OUT_OF_RANGE, place);
            time.saturating_sub(self.origin)
        })
    }

    /// The thread of event `row`.
    fn thread_of(&self, row: usize) -> u32 {
        self.tracks.of_ids[self.table.thread[row] as usize]
    }

    fn process_of(&self, row: usize) -> Option<ProcessId> {
        self.tracks.process(self.tracks.process_of(self.thread_of(row)))
    }

    /// Keeps what the events of a span became.
    fn anchor(&mut self, span: &Span, thread: ThreadId, anchor: Anchor) {
        if let Some(anchors) = &mut self.anchors {
            anchors[span.begin as usize] = Some((thread, anchor));
            anchors[span.finish as usize] = Some((thread, anchor));
        }
    }

    /// Keeps what event `row` became.
    fn anchor_row(&mut self, row: usize, thread: ThreadId, anchor: Anchor) {
        if let Some(anchors) = &mut self.anchors {
            anchors[row] = Some((thread, anchor));
        }
    }
}

/// The first and the last moment of a trace.
fn extent(table: &EventTable<'_>) -> (i64, i64) {
    let mut extent: Option<(i64, i64)> = None;
    for row in 0..table.len() {
        let has_time = matches!(table.time_form[row], TimeForm::Number | TimeForm::Text);
        if table.phase[row] == b'M' || !has_time {
            continue;
        }
        let start = table.time[row];
        let end = start.saturating_add(table.duration(row).unwrap_or(0).max(0));
        extent = Some(extent.map_or((start, end), |(first, last)| (first.min(start), last.max(end))));
    }
    extent.unwrap_or((0, 0))
}
