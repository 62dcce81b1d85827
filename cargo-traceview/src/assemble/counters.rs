//! What processes used, as counters.

use traceview_core::model::{
    Color, Counter, CounterDisplay, CounterGraph, ProcessId, ProfileBuilder, StringId, ThreadId, Time,
};

use crate::unwind::{ProcessRecord, RawUsage};

/// Adds the counters of a process. `is_first`: its clock ran before it became the program.
pub(super) fn add_counters(
    record: &ProcessRecord,
    (process, main_thread): (ProcessId, Option<ThreadId>),
    is_first: bool,
    builder: &mut ProfileBuilder,
) {
    let memory = changes(&record.usage, 0, |usage| usage.resident_bytes.and_then(|bytes| i64::try_from(bytes).ok()));
    let before = if is_first { record.usage.iter().find_map(|usage| usage.cpu_ns).unwrap_or(0) } else { 0 };
    let cpu = changes(&record.usage, before, |usage| usage.cpu_ns);
    let kinds = [
        (memory, "RSS", "Memory", "Resident memory", CounterGraph::Accumulated, "bytes", Color::Orange),
        (cpu, "CPU", "CPU", "CPU time of all threads, in nanoseconds", CounterGraph::Rate, "percent", Color::Blue),
    ];
    for (order, ((time, delta), name, category, description, graph, unit, color)) in (0..).zip(kinds) {
        if time.is_empty() {
            continue;
        }
        let [name, category, description, unit]: [StringId; 4] =
            [name, category, description, unit].map(|text| builder.string(text));
        builder.add_counter(Counter {
            name,
            category,
            description,
            process,
            main_thread,
            display: CounterDisplay { graph, unit, color: Some(color), label: name, sort_weight: order },
            time,
            delta,
            operations: Vec::new(),
        });
    }
}

/// The moments at which a value was seen changed, and by how much; from `before` on.
fn changes(usage: &[RawUsage], before: i64, value: impl Fn(&RawUsage) -> Option<i64>) -> (Vec<Time>, Vec<f64>) {
    let (mut times, mut deltas) = (Vec::new(), Vec::new());
    let mut last = before;
    let known: Vec<(i64, i64)> = usage.iter().filter_map(|usage| Some((usage.time, value(usage)?))).collect();
    for (row, (time, value)) in known.iter().enumerate() {
        // Where it stands still only the moment before it moves again matters, and the last.
        let matters = row == 0 || row + 1 == known.len() || *value != last || known[row + 1].1 != *value;
        if matters {
            times.push(Time(*time));
            // Exact up to 8 PiB or 104 days.
            deltas.push((value - last) as f64);
            last = *value;
        }
    }
    (times, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_add_up_to_the_last_value() {
        let values = [(0, Some(100)), (10, Some(150)), (20, None), (30, Some(150)), (40, Some(150)), (50, Some(120))];
        let usage = values.map(|(time, cpu_ns)| RawUsage { time, cpu_ns, resident_bytes: None });
        let (times, deltas) = changes(&usage, 40, |usage| usage.cpu_ns);
        assert_eq!(times, [0, 10, 40, 50].map(Time));
        assert_eq!(deltas, [60.0, 50.0, 0.0, -30.0]);
        assert_eq!(changes(&usage, 0, |_| None), (Vec::new(), Vec::new()));
    }
}
