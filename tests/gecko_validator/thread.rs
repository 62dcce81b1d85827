//! Threads and their samples.

use std::collections::HashMap;

use serde_json::Value;

use super::{Sizes, Violations, ascending, is_number_or_null, is_row_or_null, list, marker};

pub(super) fn check(found: &mut Violations, file: &Value, sizes: &Sizes) {
    found.field(file, "", "threads", "an array that is not empty", |threads| {
        threads.as_array().is_some_and(|threads| !threads.is_empty())
    });
    let mut main_threads: HashMap<String, usize> = HashMap::new();
    for (index, thread) in list(file, "threads").iter().enumerate() {
        let path = format!("threads[{index}]");
        *main_threads.entry(thread["pid"].to_string()).or_default() += usize::from(thread["isMainThread"] == true);
        found.field(thread, &path, "name", "a string", Value::is_string);
        found.field(thread, &path, "pid", "a string", Value::is_string);
        found.field(thread, &path, "tid", "a number or string", |tid| tid.is_number() || tid.is_string());
        found.field(thread, &path, "isMainThread", "true or false", Value::is_boolean);
        found.field(thread, &path, "processName", "a string", Value::is_string);
        found.field(thread, &path, "processType", "\"default\"", |kind| kind == "default");
        found.field(thread, &path, "showMarkersInTimeline", "true", |show| show == true);
        for key in ["processStartupTime", "registerTime"] {
            found.field(thread, &path, key, "a time", Value::is_number);
        }
        for key in ["processShutdownTime", "unregisterTime"] {
            found.field(thread, &path, key, "a time or null", is_number_or_null);
        }
        found.field(thread, &path, "pausedRanges", "an array", Value::is_array);
        samples(found, file, thread, &path, sizes);
        marker::of_thread(found, file, thread, &path, sizes);
    }
    let mut wrong: Vec<_> = main_threads.into_iter().filter(|(_, count)| *count != 1).collect();
    wrong.sort();
    for (pid, count) in wrong {
        found.add("threads", format_args!("pid {pid} has {count} main threads"));
    }
}

fn samples(found: &mut Violations, file: &Value, thread: &Value, path: &str, sizes: &Sizes) {
    found.field(thread, path, "samples", "an object", Value::is_object);
    let path = &format!("{path}.samples");
    let samples = &thread["samples"];
    found.column(samples, path, "stack", "a stack", |_, stack| is_row_or_null(stack, sizes.stacks));
    if samples.get("time").is_some() || samples.get("timeDeltas").is_none() {
        found.column(samples, path, "time", "a time", |_, time| time.is_number());
        if let Some(row) = ascending(list(samples, "time")) {
            found.add(format_args!("{path}.time[{row}]"), "before the one before it");
        }
    } else {
        found.column(samples, path, "timeDeltas", "a difference", |row, delta| {
            delta.as_f64().is_some_and(|delta| row == 0 || delta >= 0.0)
        });
    }
    if samples.get("weight").is_none_or(|weight| !weight.is_null()) {
        found.column(samples, path, "weight", "a number", |_, weight| weight.is_number());
    }
    let types = ["samples", "tracing-ms", "bytes"];
    found.field(samples, path, "weightType", "a weight type", |kind| types.iter().any(|known| kind == known));
    if samples.get("threadCPUDelta").is_some() {
        found.column(samples, path, "threadCPUDelta", "null or not negative", |_, cpu| {
            cpu.is_null() || cpu.as_f64().is_some_and(|cpu| cpu >= 0.0)
        });
        let deltas = list(samples, "threadCPUDelta");
        if !deltas.is_empty() && deltas.iter().all(Value::is_null) {
            found.add(format_args!("{path}.threadCPUDelta"), "nothing but nulls: such a column has to be left out");
        }
    }
    if let [stack] = list(samples, "stack")
        && let Some(stack) = stack.as_u64()
        && is_bare_root(&file["shared"], stack)
    {
        found.add(format_args!("{path}.stack[0]"), "the only sample is \"(root)\", which counts as no samples");
    }
}

/// Whether a stack is one frame called `(root)`.
fn is_bare_root(shared: &Value, stack: u64) -> bool {
    let row = |value: &Value| value.as_u64().and_then(|row| usize::try_from(row).ok()).unwrap_or(usize::MAX);
    let stack = usize::try_from(stack).unwrap_or(usize::MAX);
    let frame = row(&shared["stackTable"]["frame"][stack]);
    let name = row(&shared["funcTable"]["name"][row(&shared["frameTable"]["func"][frame])]);
    shared["stackTable"]["prefix"][stack].is_null() && shared["stringArray"][name] == "(root)"
}
