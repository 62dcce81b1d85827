//! Markers: instants where they are moments, pairs of asynchronous events where they last, as they may overlap anything.
//!
//! What the reader made a marker of another event, and said so in its field `event`, is such an event again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::flows::Binds;
use super::merge::Source;
use super::plan::Plan;
use super::text::{self, Text};
use crate::model::{Field, FieldValue, FlowAnchor, Marker, MarkerId, MarkerTiming, SliceTable, StringId, Time};

/// The markers of a thread.
pub(super) struct Markers<'a> {
    plan: &'a Plan<'a>,
    binds: &'a Binds,
    thread: usize,
    /// By time.
    order: Vec<(Time, u32)>,
    next: usize,
    /// For starts and ends that have each other, the row of the start.
    pairs: FxHashMap<u32, u32>,
    open: BinaryHeap<Reverse<(Time, Reverse<u32>)>>,
    /// The number of the first marker; the others follow.
    first: u64,
    /// Markers inside asynchronous spans, by their places in `order`, have the numbers of these.
    inside: Vec<Option<u64>>,
}

/// The words of the reader for events, and the phase of each; `true` for those that have an id in any case.
const EVENTS: [(&str, u8, bool); 12] = [
    ("mark", b'R', false),
    ("object created", b'N', false),
    ("object snapshot", b'O', false),
    ("object destroyed", b'D', false),
    ("memory dump", b'v', false),
    ("clock sync", b'c', false),
    ("context entered", b'(', false),
    ("context left", b')', false),
    ("async instant", b'n', true),
    ("step", b'T', true),
    ("global", b'I', false),
    ("process", b'I', false),
];

impl<'a> Markers<'a> {
    /// `next` is the next number that nothing has, `spans` are the numbers of the thread's slices if these are asynchronous.
    pub(super) fn new(
        plan: &'a Plan<'a>,
        binds: &'a Binds,
        thread: usize,
        spans: Option<&[u64]>,
        next: &mut u64,
    ) -> Self {
        let markers = &plan.profile.threads[thread].markers;
        let mut order: Vec<(Time, u32)> =
            (0..).zip(&markers.timing).map(|(row, timing)| (time_of(timing), row)).collect();
        order.sort_unstable();
        let mut open: FxHashMap<StringId, Vec<u32>> = FxHashMap::default();
        let mut pairs = FxHashMap::default();
        for (_, row) in &order {
            let name = markers.name[*row as usize];
            match markers.timing[*row as usize] {
                MarkerTiming::Start(_) => open.entry(name).or_default().push(*row),
                MarkerTiming::End(_) => {
                    if let Some(start) = open.get_mut(&name).and_then(Vec::pop) {
                        pairs.insert(*row, start);
                        pairs.insert(start, start);
                    }
                }
                MarkerTiming::Instant(_) | MarkerTiming::Interval(..) => {}
            }
        }
        let first = *next;
        *next += markers.len() as u64;
        let slices = &plan.profile.threads[thread].slices;
        let inside = spans.map_or_else(Vec::new, |numbers| numbers_around(slices, numbers, &order));
        Self { plan, binds, thread, order, next: 0, pairs, open: BinaryHeap::new(), first, inside }
    }

    fn event(&self, phase: u8, row: u32, marker: &Marker, time: Time, text: &mut Text<'_>) {
        let name = self.plan.profile.string(marker.name);
        let ids = self.binds.ids(self.plan, self.thread, || FlowAnchor::Marker(MarkerId::new(row as usize)));
        text.event(phase, name, self.plan.category(marker.category), ids);
        text.time(time);
    }

    fn number(&self, row: u32, text: &mut Text<'_>) {
        id_field(self.first + u64::from(row), text);
    }

    fn field(&self, marker: &Marker, key: &str) -> Option<(StringId, StringId)> {
        let profile = self.plan.profile;
        let fields = marker.payload.map_or(&[][..], |payload| profile.payloads.get(payload));
        let field = fields.iter().find(|field| profile.string(field.key) == key)?;
        if let FieldValue::Text(value) = field.value { Some((field.key, value)) } else { None }
    }

    /// What is the same for all phases, behind what only some have.
    fn finish(&self, marker: &Marker, is_elsewhere: impl Fn(&Field) -> bool, text: &mut Text<'_>) {
        if let Some(stack) = marker.stack {
            text.raw(",\"sf\":");
            text::integer(&mut text.buffer, i64::try_from(stack.index()).unwrap_or_default());
        }
        self.plan.thread_clock(text, marker.payload);
        self.plan.args(text, marker.payload, |field| is_elsewhere(field) || self.plan.is_thread_clock(field));
        text.end();
    }

    fn instant(&self, row: u32, marker: &Marker, time: Time, text: &mut Text<'_>) {
        let profile = self.plan.profile;
        let event = self.field(marker, "event");
        let is_async = self.plan.is_async[self.thread];
        let known = event.and_then(|(_, word)| EVENTS.iter().find(|event| event.0 == profile.string(word)));
        let known = known.filter(|(.., has_id)| is_async || !has_id);
        let &(word, phase, has_id) = match known {
            Some(event) => event,
            None if is_async => &("", b'n', true),
            None => &("", b'I', false),
        };
        self.event(phase, row, marker, time, text);
        match word {
            "global" => text.raw(",\"s\":\"g\""),
            "process" => text.raw(",\"s\":\"p\""),
            _ if phase == b'I' => text.raw(",\"s\":\"t\""),
            _ => {}
        }
        let id = self.field(marker, "id").filter(|_| known.is_some());
        match id {
            // Asynchronous spans have new ones.
            Some((_, id)) if !has_id => {
                text.raw(",\"id\":");
                text::string(&mut text.buffer, profile.string(id));
            }
            _ if has_id => {
                let around = self.inside.get(self.next - 1).copied().flatten().filter(|_| phase == b'n');
                id_field(around.unwrap_or(self.first + u64::from(row)), text);
            }
            _ => {}
        }
        self.binds.write_marker(text, self.thread, row as usize);
        let said = [event.filter(|_| known.is_some()), id].map(|field| field.map(|(key, _)| key));
        self.finish(marker, |field| said.contains(&Some(field.key)), text);
    }

    /// A span whose end is at a known moment, or comes of itself, or never.
    fn span(&mut self, row: u32, marker: &Marker, start: Time, end: Option<Time>, text: &mut Text<'_>) {
        let profile = self.plan.profile;
        let event = self.field(marker, "event").filter(|(_, word)| profile.string(*word) == "thread state");
        if let (Some((key, _)), Some(end)) = (event, end) {
            self.event(b'T', row, marker, start, text);
            text.raw(",\"dur\":");
            text::micros(&mut text.buffer, (end - start).0);
            self.finish(marker, |field| field.key == key, text);
            return;
        }
        self.event(b'b', row, marker, start, text);
        self.number(row, text);
        self.binds.write_marker(text, self.thread, row as usize);
        self.finish(marker, |_| false, text);
        if let Some(end) = end {
            self.open.push(Reverse((end, Reverse(row))));
        }
    }
}

impl Source for Markers<'_> {
    fn time(&self) -> Option<Time> {
        let start = self.order.get(self.next).map(|(time, _)| *time);
        let end = self.open.peek().map(|Reverse((end, _))| *end);
        match (start, end) {
            (Some(start), Some(end)) => Some(start.min(end)),
            (start, end) => start.or(end),
        }
    }

    fn write(&mut self, text: &mut Text<'_>) {
        let markers = &self.plan.profile.threads[self.thread].markers;
        let next = self.order.get(self.next).copied();
        if let Some(Reverse((end, Reverse(row)))) = self.open.peek().copied()
            && next.is_none_or(|(time, _)| end <= time)
        {
            self.open.pop();
            self.event(b'e', row, &markers.get(row as usize), end, text);
            self.number(row, text);
            self.plan.args(text, None, |_| false);
            text.end();
            return;
        }
        let Some((time, row)) = next else { return };
        self.next += 1;
        let marker = markers.get(row as usize);
        match (marker.timing, self.pairs.get(&row)) {
            (MarkerTiming::Interval(start, end), _) => self.span(row, &marker, start, Some(end), text),
            (MarkerTiming::Start(_), _) => self.span(row, &marker, time, None, text),
            (MarkerTiming::End(_), Some(start)) => {
                // What belongs together is of one category.
                self.event(b'e', row, &markers.get(*start as usize), time, text);
                self.number(*start, text);
                self.finish(&marker, |_| false, text);
            }
            (MarkerTiming::Instant(_) | MarkerTiming::End(_), _) => self.instant(row, &marker, time, text),
        }
    }
}

fn id_field(number: u64, text: &mut Text<'_>) {
    text.raw(",\"id\":");
    text::hexadecimal(&mut text.buffer, number);
}

/// For each moment the number of a slice that is open then.
fn numbers_around(slices: &SliceTable, numbers: &[u64], order: &[(Time, u32)]) -> Vec<Option<u64>> {
    let mut row = 0;
    let mut longest: Option<(Time, u64)> = None;
    let around = |(time, _): &(Time, u32)| {
        while row < slices.len() && slices.start[row] <= *time {
            let end = slices.start[row] + slices.duration[row];
            if longest.is_none_or(|(other, _)| end >= other) {
                longest = Some((end, numbers[row]));
            }
            row += 1;
        }
        longest.filter(|(end, _)| end > time).map(|(_, number)| number)
    };
    order.iter().map(around).collect()
}

/// When a marker comes up.
pub(super) fn time_of(timing: &MarkerTiming) -> Time {
    let (MarkerTiming::Instant(time)
    | MarkerTiming::Interval(time, _)
    | MarkerTiming::Start(time)
    | MarkerTiming::End(time)) = *timing;
    time
}
