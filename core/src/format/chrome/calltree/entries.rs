//! What is on a thread, in order of time: events that have a duration or are instants, and calls found by sampling.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::CallTreeError;
use super::raw_profile::number;
use crate::format::chrome::events::{EventFlags, EventTable};
use crate::format::chrome::scan::Value;

/// Something on a thread. Times are doubles in µs, as in JavaScript.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Entry {
    pub start: f64,
    /// Of events that have one.
    pub duration: Option<f64>,
    pub what: What,
}

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// An event, by its row.
    Event(u32),
    /// A call, by the node of the CPU profile.
    Call(u32),
}

impl Entry {
    /// The duration; 0 where there is none.
    pub(super) fn length(&self) -> f64 {
        self.duration.unwrap_or(0.0)
    }

    /// When it ends.
    pub(super) fn end(&self) -> f64 {
        self.start + self.length()
    }

    fn is_event(&self) -> bool {
        matches!(self.what, What::Event(_))
    }
}

/// The order of entries: what begins first, of those what ends last, of those calls first.
fn order(one: &Entry, other: &Entry) -> Ordering {
    let times = one.start.total_cmp(&other.start).then_with(|| other.end().total_cmp(&one.end()));
    times.then_with(|| one.is_event().cmp(&other.is_event()))
}

/// Both in one order; each is in order. Of equal ones those of `first` come first.
pub(super) fn merge(first: &[Entry], second: &[Entry]) -> Vec<Entry> {
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let mut rest = second;
    for entry in first {
        while let Some((next, behind)) = rest.split_first().filter(|(next, _)| order(entry, next).is_gt()) {
            merged.push(*next);
            rest = behind;
        }
        merged.push(*entry);
    }
    merged.extend_from_slice(rest);
    merged
}

/// The events of a thread that are entries, in order. What begins and ends by events of their own is paired on one stack for all
/// threads, in the order of the file; where names or categories differ it has no duration.
pub(super) fn of_thread(table: &EventTable<'_>, thread: u32) -> Result<Vec<Entry>, CallTreeError> {
    let mut entries = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut places: FxHashMap<u32, usize> = FxHashMap::default();
    for (row, at) in (0..table.len()).zip(0_u32..) {
        if table.flags(row).has(EventFlags::LONG_PHASE) {
            continue;
        }
        let is_here = table.thread[row] == thread;
        match table.phase[row] {
            b'B' => {
                open.push(at);
                if is_here {
                    places.insert(at, entries.len());
                    let (start, _) = times(table, row)?;
                    entries.push(Entry { start, duration: Some(0.0), what: What::Event(at) });
                }
            }
            b'E' => {
                let Some(begin) = open.pop() else { continue };
                let Some(place) = places.get(&begin) else { continue };
                let begin = begin as usize;
                if table.name[begin] == table.name[row] && table.category[begin] == table.category[row] {
                    entries[*place].duration = Some(times(table, row)?.0 - entries[*place].start);
                }
            }
            b'X' | b'I' if is_here => {
                let (start, duration) = times(table, row)?;
                entries.push(Entry { start, duration, what: What::Event(at) });
            }
            _ => {}
        }
    }
    entries.sort_by(order);
    Ok(entries)
}

/// `ts` and `dur` of an event, from its text: as columns they have no digits beyond nanoseconds.
fn times(table: &EventTable<'_>, row: usize) -> Result<(f64, Option<f64>), CallTreeError> {
    let bad = |field| CallTreeError::BadTime { field, offset: table.offset[row] };
    let (mut start, mut duration) = (None, None);
    for (key, value) in table.fields(row) {
        match key.raw {
            b"ts" => start = number(value),
            b"dur" => duration = Some(value),
            _ => {}
        }
    }
    let duration = match duration {
        None | Some(Value::Word(b"null")) => None,
        Some(value) => Some(number(value).ok_or_else(|| bad("dur"))?),
    };
    Ok((start.ok_or_else(|| bad("ts"))?, duration))
}

/// Whether the entry at `chosen` has a place in the tree of all: what begins inside another and ends behind it has none.
pub(super) fn is_nested(entries: &[Entry], chosen: usize) -> bool {
    let mut open: Vec<f64> = Vec::new();
    for (entry, at) in entries.iter().zip(0..=chosen) {
        while open.pop_if(|end| entry.start >= *end).is_some() {}
        let fits = open.last().is_none_or(|end| entry.end() <= *end);
        if at == chosen {
            return fits;
        }
        if fits {
            open.push(entry.end());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(start: f64, duration: f64) -> Entry {
        Entry { start, duration: Some(duration), what: What::Event(0) }
    }

    #[test]
    fn longer_entries_come_first_and_calls_before_events() {
        let call = Entry { what: What::Call(0), ..entry(1.0, 2.0) };
        let merged = merge(&[entry(1.0, 3.0), entry(1.0, 2.0), entry(5.0, 0.0)], &[call, entry(2.0, 1.0)]);
        assert_eq!(merged, [entry(1.0, 3.0), call, entry(1.0, 2.0), entry(2.0, 1.0), entry(5.0, 0.0)]);
    }

    #[test]
    fn what_ends_behind_the_entry_around_it_has_no_place() {
        let entries = [entry(0.0, 10.0), entry(2.0, 9.0), entry(3.0, 7.0), entry(10.0, 1.0)];
        assert_eq!([0, 1, 2, 3].map(|at| is_nested(&entries, at)), [true, false, true, true]);
    }

    #[test]
    fn begins_and_ends_of_all_threads_are_on_one_stack() {
        let text = r#"[{"name":"a","ph":"B","ts":1,"tid":1},{"name":"b","ph":"B","ts":2,"tid":2},
            {"name":"b","ph":"E","ts":3,"tid":1},{"name":"a","cat":"c","ph":"E","ts":9,"tid":1},
            {"name":"d","ph":"B","ts":10.5,"tid":1},{"name":"d","ph":"E","ts":12,"tid":7},{"ph":"E","ts":13,"tid":1}]"#;
        let table = EventTable::read(text.as_bytes()).unwrap();
        let lengths = |thread| -> Vec<f64> { of_thread(&table, thread).unwrap().iter().map(Entry::length).collect() };
        assert_eq!((lengths(0), lengths(1)), (vec![0.0, 1.5], vec![1.0]));
    }

    #[test]
    fn a_time_that_is_no_number_is_an_error_with_its_place() {
        let table = EventTable::read(br#"[{"ph":"X","ts":1,"dur":2},{"ph":"X","ts":"1"}]"#).unwrap();
        let error = of_thread(&table, 0).unwrap_err();
        assert_eq!(error.to_string(), "byte 27: the event's `ts` is no number, and DevTools can't compute with it");
    }
}
