//! What the keys beside the events say about a trace.

use rustc_hash::FxHashMap;

use super::Reader;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::EventTable;
use crate::format::chrome::scan::Value;
use crate::format::chrome::time::nanos_of_micros;
use crate::format::chrome::{KEPT, OWN_KEY, OWN_KEYS, notes};
use crate::model::TRACE_START;

/// Longer values are no facts for people.
const LONGEST: usize = 1000;

/// A day of 2001: no clock that counts from a boot or a program's start is that late, in ns.
const CALENDAR: i64 = 1_000_000_000_000_000_000;

/// Longer values are not carried along.
const LONGEST_KEPT: usize = 1 << 20;

pub(super) fn read(reader: &mut Reader<'_, '_>) {
    let table = reader.table;
    keep(reader);
    if reader.origin >= CALENDAR {
        reader.builder.meta_mut().start_unix_ns = Some(reader.origin);
    }
    let mut facts = vec![(TRACE_START.to_owned(), micros(reader.origin))];
    for (key, value) in table.others() {
        match (&*key.decode(), value) {
            // Read elsewhere, or of no meaning without the events.
            ("stackFrames" | "samples" | "traceEvents" | OWN_KEY, _) => {}
            ("systemTraceEvents" | "powerTraceAsString" | "androidProcessDump", _) => {
                reader.report.note(notes::SYSTEM_TRACE, || key.decode().into_owned());
            }
            (key, Value::Object(object)) => {
                for (name, value) in Arguments::of(object).iter() {
                    add(&mut facts, format!("{key}.{}", name.decode()), value);
                }
            }
            (key, value) => add(&mut facts, key.to_owned(), *value),
        }
    }
    let metadata = match table.other("metadata") {
        Some(Value::Object(object)) => Arguments::of(object),
        _ => Arguments::of(b""),
    };
    let meta = reader.builder.meta_mut();
    if metadata.text("clock-domain").as_deref() == Some("LINUX_CLOCK_MONOTONIC") {
        meta.start_monotonic_ns = Some(reader.origin);
    }
    let own = own(table);
    let whole = |key: &str| own.text(key).and_then(|text| text.parse().ok());
    meta.start_unix_ns = whole("start_unix_ns").or(meta.start_unix_ns);
    meta.start_monotonic_ns = whole("start_monotonic_ns").or(meta.start_monotonic_ns);
    meta.recorder = metadata.text("product-version").or_else(|| metadata.text("source"));
    meta.machine.os = metadata.text("os-name");
    meta.machine.cpu_name = metadata.text("cpu-brand");
    meta.extra = facts;
}

/// Keeps the keys beside the events for whoever writes a trace again, of equal ones the last.
fn keep(reader: &mut Reader<'_, '_>) {
    let table = reader.table;
    reader.report.count(notes::KEYS_LEFT_OUT, table.others_left_out(), || "behind the others".to_owned());
    let mut last: FxHashMap<&[u8], usize> = FxHashMap::default();
    for (at, (key, _)) in table.others().iter().enumerate() {
        last.insert(key.raw, at);
    }
    for (_, (key, value)) in table.others().iter().enumerate().filter(|(at, (key, _))| last[key.raw] == *at) {
        let name = key.decode();
        if OWN_KEYS.contains(&&*name) {
            continue;
        }
        let json = Some(table.json(*value)).filter(|json| json.len() <= LONGEST_KEPT && name.len() <= LONGEST);
        let is_json = |json: &&str| serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
        match json.and_then(|json| std::str::from_utf8(json).ok()).filter(is_json) {
            Some(json) => reader.builder.keep(&format!("{KEPT}{name}"), json),
            None => reader.report.note(notes::KEYS_LEFT_OUT, || name.into_owned()),
        }
    }
}

/// The moment that is the profile's zero, in a trace that we wrote.
pub(super) fn zero(table: &EventTable<'_>) -> Option<i64> {
    nanos_of_micros(own(table).get("zero")?.written())
}

/// What we said of a trace that we wrote.
fn own<'a>(table: &EventTable<'a>) -> Arguments<'a> {
    match table.other(OWN_KEY) {
        Some(Value::Object(object)) => Arguments::of(object),
        _ => Arguments::of(b""),
    }
}

fn add(facts: &mut Vec<(String, String)>, key: String, value: Value<'_>) {
    let text = match value {
        Value::Text(text) => text.decode(),
        other => String::from_utf8_lossy(other.written()),
    };
    if !text.is_empty() && text.len() <= LONGEST && key.len() <= LONGEST {
        facts.push((key, text.into_owned()));
    }
}

/// Microseconds with all digits, as a trace has them.
fn micros(nanos: i64) -> String {
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    match nanos % 1000 {
        0 => format!("{sign}{}", nanos / 1000),
        rest => format!("{sign}{}.{rest:03}", nanos / 1000),
    }
}
