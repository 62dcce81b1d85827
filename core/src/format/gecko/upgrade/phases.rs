//! When markers begin and end.

use super::super::read::Repairs;
use super::super::schema::{Fields, File, Markers, Payload, Real, Row};
use super::{strings_of, text, threads_mut};

const INSTANT: Row = Row(0);
const INTERVAL: Row = Row(1);
const START: Row = Row(2);
const END: Row = Row(3);

/// 11: a DOM event is a start and an end.
pub(super) fn dom_events_to_pairs(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let strings = strings_of(&thread.string_array);
        let Some(markers) = &mut thread.markers else { continue };
        let (Some(times), Some(names), Some(data)) = (&mut markers.time, &mut markers.name, &mut markers.data) else {
            continue;
        };
        let mut ends: Vec<(Real, Row, Payload<'_>)> = Vec::new();
        for (row, payload) in data.iter_mut().enumerate() {
            let Some(name) = names.get(row).copied().filter(|name| text(strings, *name) == Some("DOMEvent")) else {
                continue;
            };
            let Some(fields) = payload.fields_mut() else { continue };
            let end = fields.number("endTime");
            for key in ["startTime", "endTime"] {
                fields.remove(key);
            }
            fields.set("type", "tracing");
            fields.set("category", "DOMEvent");
            fields.set("interval", "start");
            let mut at_end = fields.clone();
            at_end.set("interval", "end");
            ends.push((Real(end.unwrap_or(f64::NAN)), name, Payload::Fields(at_end)));
        }
        if ends.is_empty() {
            continue;
        }
        for (time, name, payload) in ends {
            times.push(time);
            names.push(name);
            data.push(payload);
        }
        super::threads::sort_markers(markers);
    }
}

/// 30: markers have a start, an end and a phase; before, their data told.
pub(super) fn times_to_phases(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let Some(markers) = &mut thread.markers else { continue };
        let Some(times) = markers.time.take() else { continue };
        let count = times.len();
        let (mut starts, mut ends, mut phases) =
            (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
        for (row, time) in times.into_iter().enumerate() {
            let data = markers.data.as_mut().and_then(|data| data.get_mut(row));
            let (start, end, phase) = data.and_then(Payload::fields_mut).map_or((time, NONE, INSTANT), |fields| {
                let timing = timing(time, fields);
                // The others need them for their own sake.
                if !["IPC", "Network"].contains(&&*fields.str("type").unwrap_or_default()) {
                    fields.remove("startTime");
                    fields.remove("endTime");
                }
                timing
            });
            starts.push(start);
            ends.push(end);
            phases.push(phase);
        }
        (markers.start_time, markers.end_time, markers.phase) = (Some(starts), Some(ends), Some(phases));
    }
}

const NONE: Real = Real(f64::NAN);

fn timing(time: Real, fields: &Fields<'_>) -> (Real, Real, Row) {
    if fields.str("type").as_deref() == Some("tracing") {
        // What is neither is mended by the next step.
        return if is_interval(fields, "start") { (time, NONE, START) } else { (NONE, time, END) };
    }
    match (fields.number("startTime"), fields.number("endTime")) {
        #[expect(clippy::float_cmp, reason = "equal is a moment, however close the others are")]
        (Some(start), Some(end)) if start != end => (Real(start), Real(end), INTERVAL),
        _ => (time, NONE, INSTANT),
    }
}

fn is_interval(fields: &Fields<'_>, what: &str) -> bool {
    fields.str("interval").as_deref() == Some(what)
}

/// 31: tracing markers that are neither start nor end are moments.
pub(super) fn moments_of_tracing(file: &mut File<'_>, _repairs: &mut Repairs) {
    for markers in threads_mut(file).filter_map(|thread| thread.markers.as_mut()) {
        let Markers { data, start_time, end_time, phase, .. } = markers;
        let (Some(data), Some(starts), Some(ends), Some(phases)) = (data, start_time, end_time, phase) else {
            continue;
        };
        let columns = starts.iter_mut().zip(ends).zip(phases);
        for (data, ((start, end), phase)) in data.iter_mut().zip(columns) {
            if data.may_hold("\"tracing\"")
                && let Some(fields) = data.fields()
                && fields.str("type").as_deref() == Some("tracing")
                && !is_interval(&fields, "start")
                && !is_interval(&fields, "end")
            {
                (*start, *end, *phase) = (*end, NONE, INSTANT);
            }
        }
    }
}

/// 32: DOM events are a type of their own, with how late they were handled.
pub(super) fn latency_of_dom_events(file: &mut File<'_>, _repairs: &mut Repairs) {
    for markers in threads_mut(file).filter_map(|thread| thread.markers.as_mut()) {
        let starts = markers.start_time.as_deref().unwrap_or_default();
        for (row, data) in markers.data.iter_mut().flatten().enumerate() {
            if !data.may_hold("\"DOMEvent\"") {
                continue;
            }
            let Some(fields) = data.fields_mut() else { continue };
            let is_event = fields.str("type").as_deref() == Some("tracing")
                && fields.str("category").as_deref() == Some("DOMEvent");
            if !is_event {
                continue;
            }
            fields.set("type", "DOMEvent");
            let stamp = fields.number("timeStamp");
            if let (Some(stamp), Some(Real(start))) = (stamp, starts.get(row))
                && start.is_finite()
            {
                fields.set("latency", &(start - stamp));
            }
            fields.remove("timeStamp");
        }
    }
}
