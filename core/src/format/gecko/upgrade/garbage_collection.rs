//! 9: markers of garbage collections have other names for what they tell, and other units.

use serde_json::{Map, Value};

use super::super::read::Repairs;
use super::super::schema::{Fields, File};
use super::{fields_with, threads_mut};

/// See the module.
pub(super) fn rename_fields(file: &mut File<'_>, _repairs: &mut Repairs) {
    for fields in threads_mut(file).flat_map(|thread| fields_with(thread, "\"GC")) {
        match fields.str("type").as_deref() {
            Some("GCMinor") => change(fields, "nursery", minor),
            Some("GCSlice") => change(fields, "timings", |timings| phase_times(timings, "times")),
            Some("GCMajor") => change(fields, "timings", major),
            _ => {}
        }
    }
}

fn change(fields: &mut Fields<'_>, key: &'static str, how: impl FnOnce(&mut Map<String, Value>)) {
    if let Some(Value::Object(mut object)) = fields.value(key) {
        how(&mut object);
        fields.set(key, &object);
    }
}

fn minor(nursery: &mut Map<String, Value>) {
    if let Some(status) = nursery.get_mut("status") {
        if status == "no collection" {
            *status = "nursery empty".into();
        }
        return;
    }
    nursery.insert("status".to_owned(), "complete".into());
    for (from, to) in
        [("nursery_bytes", "bytes_used"), ("new_nursery_bytes", "new_capacity"), ("timings", "phase_times")]
    {
        if let Some(value) = nursery.remove(from) {
            nursery.insert(to.to_owned(), value);
        }
    }
}

fn major(timings: &mut Map<String, Value>) {
    if !timings.contains_key("status") {
        timings.insert("status".to_owned(), "completed".into());
        if let Some(megabytes) = timings.get("allocated").and_then(Value::as_f64) {
            timings.insert("allocated_bytes".to_owned(), (megabytes * 1024.0 * 1024.0).into());
        }
    }
    if timings.get("status").is_some_and(|status| status == "completed") {
        phase_times(timings, "totals");
        for share in ["mmu_20ms", "mmu_50ms"] {
            if let Some(percent) = timings.get(share).and_then(Value::as_f64) {
                timings.insert(share.to_owned(), (percent / 100.0).into());
            }
        }
    }
}

/// Milliseconds under `from` become microseconds.
fn phase_times(timings: &mut Map<String, Value>, from: &str) {
    if let Some(Value::Object(mut phases)) = timings.remove(from) {
        for phase in phases.values_mut() {
            if let Some(millis) = phase.as_f64() {
                *phase = (millis * 1000.0).into();
            }
        }
        timings.insert("phase_times".to_owned(), phases.into());
    }
}
