//! What happened on a thread: slices, instants, states.

use super::nest::{self, Span};
use super::pair::{Closed, OpenSpans};
use super::{Anchor, Reader};
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::{Scalar, TextId, ThreadClock};
use crate::format::chrome::{notes, thread_clock};
use crate::format::import_report::Note;
use crate::format::json_value::Number;
use crate::model::{
    Field, FieldValue, Marker, MarkerTiming, Nanos, Slice, SliceCpu, SliceId, SliceTable, StringId, ThreadId, Time,
    Wait, WaitReason,
};

impl Reader<'_, '_> {
    /// Reads the events `rows` of a thread, which are in the order of the file.
    pub(super) fn read_thread(&mut self, id: ThreadId, rows: &mut [u32]) {
        self.sort_by_time(rows);
        let mut spans = Vec::new();
        let mut open = OpenSpans::default();
        let mut states = Vec::new();
        for row in rows.iter().copied() {
            let index = row as usize;
            let Some(time) = self.nanos(index) else { continue };
            match self.table.phase[index] {
                b'X' => spans.push(self.complete(index, time)),
                b'B' => open.begin(row, time, self.table.name[index]),
                b'E' => match open.end(row, time, self.name_of_end(index)) {
                    Closed::Span(span) => spans.push(span),
                    Closed::OtherName(span) => {
                        self.note(notes::OTHER_NAME, index);
                        spans.push(span);
                    }
                    Closed::Nothing => {
                        self.note(notes::END_WITHOUT_BEGIN, index);
                        self.add_marker(id, index, Some("end without beginning"));
                    }
                },
                b'T' => states.push(row),
                _ => self.add_instant(id, index),
            }
        }
        let mut unfinished = Vec::new();
        open.finish(self.end, |span| unfinished.push(span));
        for span in &unfinished {
            self.note(notes::NEVER_ENDED, span.begin as usize);
        }
        spans.append(&mut unfinished);
        self.add_states(id, &states);
        self.add_slices(id, spans);
    }

    /// Brings rows in order of their times; those of one time stay in the order of the file.
    pub(super) fn sort_by_time(&self, rows: &mut [u32]) {
        nest::sort_nearly_sorted(rows, |row| (self.table.time[*row as usize], *row));
    }

    /// The span of an event that has a duration, or should have.
    pub(super) fn complete(&mut self, row: usize, start: i64) -> Span {
        let duration = self.table.duration(row);
        match duration {
            None => self.note(notes::NO_DURATION, row),
            Some(..0) => self.note(notes::NEGATIVE_DURATION, row),
            Some(_) => {}
        }
        let place = || self.table.place(row);
        let end = self.report.later(start, Number::Integer(duration.unwrap_or(0).max(0)), 1, place);
        let begin = u32::try_from(row).expect("fewer events than 2^32");
        Span { start, end, begin, finish: begin, incomplete: duration.is_none() }
    }

    /// Adds spans as slices of `thread`.
    fn add_slices(&mut self, thread: ThreadId, mut spans: Vec<Span>) {
        nest::sort(&mut spans);
        let nested = nest::nest(spans.iter().map(|span| (span.start, span.end)));
        let others = nested.iter().zip(&spans).filter(|(nested, _)| nested.lane > 0);
        if let Some((_, first)) = others.clone().next() {
            let place = self.table.place(first.begin as usize);
            self.report.count(notes::OVERLAP, others.count() as u64, || place);
        }
        let mut table = SliceTable::default();
        table.reserve(spans.len());
        for (span, nested) in spans.iter().zip(&nested) {
            let id = self.add_slice(&mut table, span, nested);
            self.anchor(span, thread, Anchor::Slice(id));
        }
        self.builder.thread_mut(thread).slices = table;
    }

    /// Adds a span as a slice.
    pub(super) fn add_slice(&mut self, table: &mut SliceTable, span: &Span, nested: &nest::Nested) -> SliceId {
        let begin = span.begin as usize;
        let stack = self.stack_fields(begin);
        let id = table.push(Slice {
            start: Time(span.start),
            duration: Nanos(span.end.saturating_sub(span.start)),
            name: self.name(begin),
            category: self.category(begin),
            parent: nested.parent.map(|parent| SliceId::new(parent as usize)),
            depth: nested.depth,
            lane: nested.lane,
            args: self.payload(begin, span.finish as usize, &stack),
            incomplete: span.incomplete,
        });
        let (first, last) = (self.table.thread_clock(begin), self.table.thread_clock(span.finish as usize));
        if first != ThreadClock::default() {
            let difference = || last.time?.checked_sub(first.time?).filter(|_| span.finish != span.begin);
            let duration = first.duration.or_else(difference);
            table.set_last_cpu(SliceCpu::new(first.time.map(Nanos), duration.map(Nanos)));
        }
        id
    }

    /// An instant, or an event of a phase that is shown as one.
    fn add_instant(&mut self, thread: ThreadId, row: usize) {
        let table = self.table;
        let what = match table.phase[row] {
            b'i' | b'I' => match table.link(row).map_or(0, |link| link.instant_scope) {
                b'g' => Some("global"),
                b'p' => Some("process"),
                _ => None,
            },
            b'R' => Some("mark"),
            b'N' => Some("object created"),
            b'O' => Some("object snapshot"),
            b'D' => Some("object destroyed"),
            b'V' | b'v' => Some("memory dump"),
            b'c' => Some("clock sync"),
            b'(' => Some("context entered"),
            b')' => Some("context left"),
            b'P' => Some("sample"),
            _ => {
                self.note(notes::UNKNOWN_PHASE, row);
                Some("unknown phase")
            }
        };
        self.add_marker(thread, row, what);
    }

    /// Adds event `row` as a marker, with what sort of event it is.
    pub(super) fn add_marker(&mut self, thread: ThreadId, row: usize, what: Option<&str>) {
        let Some(time) = self.time(row) else { return };
        self.add_timed_marker(thread, row, MarkerTiming::Instant(time), what);
    }

    fn add_timed_marker(&mut self, thread: ThreadId, row: usize, timing: MarkerTiming, what: Option<&str>) {
        let mut fields: Vec<Field> = Vec::new();
        let field = |reader: &mut Self, key: &str, value: &str| {
            let (key, value) = (reader.builder.string(key), reader.builder.string(value));
            Field { key, value: FieldValue::Text(value) }
        };
        if let Some(what) = what {
            fields.push(field(self, "event", what));
        }
        let id = self.table.link(row).map_or(Scalar::Missing, |link| link.id);
        if let Some(id) = super::tracks::os_id(self.table, id) {
            fields.push(field(self, "id", &id.to_string()));
        }
        let clock = self.table.thread_clock(row);
        for (key, nanos) in thread_clock::KEYS.into_iter().zip([clock.time, clock.duration]) {
            if let Some(nanos) = nanos {
                fields.push(Field { key: self.builder.string(key), value: thread_clock::field(nanos) });
            }
        }
        let stack = self.stack(row);
        let marker = Marker {
            name: self.name(row),
            timing,
            category: self.category(row),
            schema: None,
            payload: self.payload(row, row, &fields),
            stack,
        };
        let id = self.builder.thread_mut(thread).markers.push(marker);
        self.anchor_row(row, thread, Anchor::Marker(id));
    }

    /// States of the scheduler, in order of time: what was not running is a wait.
    fn add_states(&mut self, thread: ThreadId, states: &[u32]) {
        let mut last = i64::MIN;
        for row in states.iter().map(|row| *row as usize) {
            let Some(time) = self.nanos(row) else { continue };
            let span = self.complete(row, time);
            let state = self.table.name[row].map_or("", |name| self.table.text(name));
            let reason = match state.bytes().next() {
                _ if state == "Running" => None,
                Some(b'S' | b'D' | b'I') => Some(WaitReason::Blocked),
                Some(b'R') => Some(WaitReason::Runnable),
                Some(b'T' | b't') => Some(WaitReason::Stopped),
                _ => None,
            };
            let Some(reason) = reason.filter(|_| last <= span.start) else {
                let timing = MarkerTiming::Interval(Time(span.start), Time(span.end));
                self.add_timed_marker(thread, row, timing, Some("thread state"));
                continue;
            };
            last = span.end;
            let (start, duration) = (Time(span.start), Nanos(span.end.saturating_sub(span.start)));
            let args = Arguments::of(self.table.args(row).unwrap_or_default());
            let mut string = |key: &str| args.text(key).map(|text| self.builder.string(&text));
            let (syscall, target) = (string("syscall"), string("target").or_else(|| string("blocked_function")));
            let wait = Wait { start, duration, stack: None, reason, syscall, target, inferred: false };
            self.builder.thread_mut(thread).waits.push(wait);
        }
    }

    /// The name that an event ends; an empty one is none.
    pub(super) fn name_of_end(&self, row: usize) -> Option<TextId> {
        self.table.name[row].filter(|name| !self.table.text(*name).is_empty())
    }

    /// The name of event `row`.
    pub(super) fn name(&mut self, row: usize) -> StringId {
        let Some(text) = self.table.name[row] else { return self.builder.string("(no name)") };
        if let Some(name) = self.names[text.index()] {
            return name;
        }
        let name = self.builder.string(self.table.text(text));
        self.names[text.index()] = Some(name);
        name
    }

    pub(super) fn note(&mut self, note: Note, row: usize) {
        self.report.note(note, || self.table.place(row));
    }
}
