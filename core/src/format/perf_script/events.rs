//! What samples of different events count.

use rustc_hash::FxHashMap;

use super::super::import_report::{ImportReport, Note};
use super::threads::{Row, ThreadRows};
use crate::model::{
    CpuDelta, Field, FieldValue, Marker, MarkerField, MarkerSchema, MarkerSchemaId, MarkerTiming, Nanos, ProcessId,
    ProfileBuilder, StandardCategory, StringId, Thread, ValueColumn, ValueType, ValueTypeId, Values,
};

/// More counting events than this, and the others become markers: a column has an entry for every sample.
const MAX_COLUMNS: usize = 8;

const AS_VALUES: Note = Note {
    code: "events-as-values",
    message: "samples of further events have no weight: what they count is in columns of values",
};
const AS_MARKERS: Note =
    Note { code: "events-as-markers", message: "what tracepoints and the rarest events tell is shown as markers" };
const TEXT: Note =
    Note { code: "event-text", message: "what the tracepoint that is counted tells besides is left out" };
const UNTIMED: Note =
    Note { code: "event-without-time", message: "what tracepoints tell is left out where it has no time" };

/// The events that were met, in order of first use.
#[derive(Default)]
pub(super) struct Events<'a> {
    as_written: FxHashMap<&'a [u8], u32>,
    /// By their names, without what says on which sort of core they were counted.
    by_name: FxHashMap<String, u32>,
    events: Vec<Event>,
}

struct Event {
    name: String,
    kind: Kind,
    rows: u64,
    has_periods: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Tracepoint,
    Counting,
    Cycles,
    /// Its periods are nanoseconds of CPU time.
    Clock,
}

/// What becomes of the rows of each event.
pub(super) struct Plan {
    roles: Vec<Role>,
    /// Whether the periods of the main event are CPU time.
    has_cpu: bool,
    columns: Vec<ValueTypeId>,
    schema: Option<MarkerSchemaId>,
    text_key: Option<StringId>,
    period_key: Option<StringId>,
}

#[derive(Clone, Copy)]
struct Role {
    name: StringId,
    is_main: bool,
    /// A sample, with this column if it has one; `None` for a marker.
    sample: Option<Option<usize>>,
}

impl<'a> Events<'a> {
    /// The number of the event `written` so; counts it.
    pub(super) fn number(&mut self, written: &'a [u8], has_period: bool) -> u32 {
        let (events, by_name) = (&mut self.events, &mut self.by_name);
        let number = *self.as_written.entry(written).or_insert_with(|| {
            let name = name(&String::from_utf8_lossy(written));
            // Cores of different kinds are one machine.
            *by_name.entry(name).or_insert_with_key(|name| {
                let number = u32::try_from(events.len()).expect("a file has fewer than u32::MAX events");
                events.push(Event { kind: Kind::of(name), name: name.clone(), rows: 0, has_periods: false });
                number
            })
        });
        let event = &mut events[number as usize];
        event.rows += 1;
        event.has_periods |= has_period;
        number
    }

    /// Whether an event tells what happened, and counts nothing.
    pub(super) fn is_tracepoint(event: &[u8]) -> bool {
        Kind::of(&String::from_utf8_lossy(event)) == Kind::Tracepoint
    }

    /// What becomes of the rows of each event.
    pub(super) fn plan(&self, builder: &mut ProfileBuilder, report: &mut ImportReport) -> Plan {
        // Of several, the first.
        let main = (0..self.events.len()).rev().max_by_key(|row| {
            let event = &self.events[*row];
            (event.kind, event.rows)
        });
        let main = main.unwrap_or_default();
        let mut further: Vec<usize> = (0..self.events.len()).collect();
        further.retain(|row| *row != main && self.events[*row].kind != Kind::Tracepoint);
        further.sort_by_key(|row| std::cmp::Reverse(self.events[*row].rows));
        further.truncate(MAX_COLUMNS - 1);
        let mut plan = Plan {
            roles: Vec::new(),
            has_cpu: false,
            columns: Vec::new(),
            schema: None,
            text_key: None,
            period_key: None,
        };
        for (row, event) in self.events.iter().enumerate() {
            let is_main = row == main;
            let is_cpu = is_main && event.kind == Kind::Clock && event.has_periods;
            plan.has_cpu |= is_cpu;
            let is_column = further.contains(&row) || (is_main && event.has_periods && !is_cpu);
            let name = builder.string(&event.name);
            let column = is_column.then(|| {
                let unit = builder.string(if event.kind == Kind::Clock { "nanoseconds" } else { "count" });
                plan.columns.push(builder.value_type(ValueType { name, unit }));
                plan.columns.len() - 1
            });
            let is_sample = is_main || is_column;
            plan.roles.push(Role { name, is_main, sample: is_sample.then_some(column) });
            if !is_main {
                report.count(if is_sample { AS_VALUES } else { AS_MARKERS }, event.rows, || event.name.clone());
            }
        }
        if plan.roles.iter().any(|role| role.sample.is_none()) {
            let [text, period] = ["text", "period"].map(|key| builder.string(key));
            plan.schema = Some(add_schema(builder, text, period));
            (plan.text_key, plan.period_key) = (Some(text), Some(period));
        }
        plan
    }
}

impl Kind {
    fn of(name: &str) -> Self {
        let mut parts = name.split(':');
        let base = parts.next().unwrap_or_default();
        let is_modifiers = |part: &str| part.bytes().all(|byte| b"ukhHGIpPSDWebR".contains(&byte));
        if parts.next().is_some_and(|part| !is_modifiers(part)) {
            return Self::Tracepoint;
        }
        match base {
            "cpu-clock" | "task-clock" => Self::Clock,
            "cycles" | "cpu-cycles" => Self::Cycles,
            _ => Self::Counting,
        }
    }
}

/// The name of an event as people know it: `cpu_core/cycles/P` is `cycles:P`.
fn name(written: &str) -> String {
    let of_core = ["cpu_core/", "cpu_atom/"].iter().find_map(|core| written.strip_prefix(core));
    match of_core.and_then(|rest| rest.split_once('/')) {
        Some((name, "")) => name.to_owned(),
        Some((name, modifiers)) => format!("{name}:{}", modifiers.trim_start_matches(':')),
        None => written.to_owned(),
    }
}

fn add_schema(builder: &mut ProfileBuilder, text: StringId, period: StringId) -> MarkerSchemaId {
    let mut field = |key, label, format| MarkerField {
        key,
        label: Some(builder.string(label)),
        format: builder.string(format),
        hidden: false,
    };
    let fields = vec![field(text, "Text", "string"), field(period, "Period", "integer")];
    let schema = MarkerSchema {
        name: builder.string("perf event"),
        display: ["marker-chart", "marker-table"].map(|view| builder.string(view)).to_vec(),
        chart_label: None,
        tooltip_label: None,
        table_label: Some(builder.string("{marker.data.text}")),
        description: None,
        fields,
        graphs: Vec::new(),
        color_field: None,
        stack_based: false,
    };
    builder.add_marker_schema(schema)
}

impl Plan {
    /// The periods of all samples that tell CPU time, if such are there.
    pub(super) fn clock(&self, threads: &[(ProcessId, ThreadRows)]) -> Option<impl Iterator<Item = i64>> {
        let rows = threads.iter().flat_map(|(_, thread)| &thread.rows);
        self.has_cpu.then(|| rows.filter(|row| self.roles[row.event as usize].is_main).filter_map(|row| row.period))
    }

    /// Fills the tables of `thread` from what was seen of it.
    pub(super) fn fill(
        &self,
        thread: &mut Thread,
        seen: &ThreadRows,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) {
        let is_sample = |row: &&Row| self.roles[row.event as usize].sample.is_some();
        let samples = || seen.rows.iter().filter(is_sample);
        let role = |row: &Row| self.roles[row.event as usize];
        let table = &mut thread.samples;
        if thread.timed {
            table.time = samples().map(|row| row.time).collect();
        }
        table.stack = samples().map(|row| row.stack).collect();
        if samples().any(|row| !role(row).is_main) {
            table.weight = Values::Integer(samples().map(|row| i64::from(role(row).is_main)).collect());
        }
        if self.has_cpu {
            let cpu = |row: &Row| match (role(row).is_main, row.period) {
                (true, Some(period)) => CpuDelta::new(Nanos(period)),
                (true, None) => CpuDelta::UNKNOWN,
                (false, _) => CpuDelta::new(Nanos::ZERO),
            };
            table.cpu = samples().map(cpu).collect();
        }
        for (column, value_type) in self.columns.iter().enumerate() {
            let value = |row: &Row| match role(row).sample {
                Some(Some(own)) if own == column => row.period.unwrap_or(1),
                _ => 0,
            };
            let values: Vec<i64> = samples().map(value).collect();
            if values.iter().any(|value| *value != 0) {
                table.values.push(ValueColumn { value_type: *value_type, values: Values::Integer(values) });
            }
        }
        let told = samples().filter(|row| row.text.is_some()).count();
        report.count(TEXT, told as u64, || "the first of them".to_owned());
        for row in seen.rows.iter().filter(|row| !is_sample(row)) {
            if thread.timed {
                thread.markers.push(self.marker(row, builder));
            } else {
                report.note(UNTIMED, || "the first of them".to_owned());
            }
        }
    }

    fn marker(&self, row: &Row, builder: &mut ProfileBuilder) -> Marker {
        let mut fields = Vec::new();
        if let (Some(key), Some(text)) = (self.text_key, row.text) {
            fields.push(Field { key, value: FieldValue::Text(text) });
        }
        if let (Some(key), Some(period)) = (self.period_key, row.period) {
            fields.push(Field { key, value: FieldValue::Integer(period) });
        }
        let payload = (!fields.is_empty()).then(|| builder.add_payload(fields));
        Marker {
            name: self.roles[row.event as usize].name,
            timing: MarkerTiming::Instant(row.time),
            category: StandardCategory::Other.id(),
            schema: payload.and(self.schema),
            payload,
            stack: row.stack,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_apart_by_their_names() {
        for (written, expected, kind) in [
            ("cycles", "cycles", Kind::Cycles),
            ("cycles:uppp", "cycles:uppp", Kind::Cycles),
            ("cpu_core/cycles/", "cycles", Kind::Cycles),
            ("cpu_atom/cycles/P", "cycles:P", Kind::Cycles),
            ("cpu-clock:uH", "cpu-clock:uH", Kind::Clock),
            ("page-faults", "page-faults", Kind::Counting),
            ("cpu/event=0x3c,umask=0x0/", "cpu/event=0x3c,umask=0x0/", Kind::Counting),
            ("sched:sched_switch", "sched:sched_switch", Kind::Tracepoint),
            ("", "", Kind::Counting),
        ] {
            assert_eq!((name(written).as_str(), Kind::of(&name(written))), (expected, kind), "{written}");
        }
    }
}
