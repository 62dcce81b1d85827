//! A thread's markers: put in order, their backtraces made causes, those about allocations made tables.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use super::super::schema::{
    Allocations, Category, Fields, Flag, MarkerSchema, Markers, Numbers, Payload, Real, Row, Str, Wide,
};
use super::collect::Collector;
use super::frames::{Stacks, Uses};
use super::notes::{ALLOCATION_WITHOUT_TIME, MARKER_WITHOUT_NAME, MARKER_WITHOUT_TIME, STRING_FIELD};
use super::numbers;
use super::schema::{self, Backtrace};
use super::table::Table;
use super::upgrade::{self, Upgraded};
use crate::format::import_report::ImportReport;

/// The moments that the data of network markers tells.
const NETWORK_TIMES: [&str; 9] = [
    "domainLookupStart",
    "domainLookupEnd",
    "connectStart",
    "tcpConnectEnd",
    "secureConnectionStart",
    "connectEnd",
    "requestStart",
    "responseStart",
    "responseEnd",
];

/// What the markers of all threads of a file have in common.
pub(super) struct Kinds {
    /// By type, the fields that name a string by its row.
    string_fields: FxHashMap<String, Vec<String>>,
}

/// A marker on its way.
pub(super) struct Prepared<'a> {
    marker: Upgraded<'a>,
    /// Its row in the file.
    row: usize,
    /// The data, if it has to be changed or is about an allocation.
    kind: Option<String>,
    backtrace: Option<Taken>,
}

/// A backtrace.
struct Taken {
    stack: Row,
    time: Real,
    tid: Value,
}

/// What the markers of a thread became.
#[derive(Default)]
pub(super) struct Processed<'a> {
    pub markers: Markers<'a>,
    pub js_allocations: Option<Allocations<'a>>,
    pub native_allocations: Option<Allocations<'a>>,
}

impl Kinds {
    pub(super) fn of(schemas: &[MarkerSchema<'_>]) -> Self {
        let mut string_fields: FxHashMap<String, Vec<String>> = FxHashMap::default();
        string_fields.insert("CompositorScreenshot".to_owned(), vec!["url".to_owned()]);
        for schema in schemas {
            let Some(name) = &schema.name else { continue };
            for field in schema.fields.iter().flatten() {
                let format = field.format.map_or("", |format| format.get());
                let is_string = matches!(format, r#""unique-string""# | r#""flow-id""# | r#""terminating-flow-id""#);
                if let (Some(key), true) = (&field.key, is_string) {
                    string_fields.entry(name.0.clone().into_owned()).or_default().push(key.0.clone().into_owned());
                }
            }
        }
        Self { string_fields }
    }
}

/// Brings the markers of a thread in order and notes which stacks they use.
pub(super) fn prepare<'a>(
    version: u64,
    table: Table<schema::Marker<'a>>,
    strings: &[Str<'a>],
    uses: &mut Uses,
    at: &str,
    report: &mut ImportReport,
) -> Vec<Prepared<'a>> {
    let mut prepared = Vec::with_capacity(table.rows.len());
    for (row, marker) in table.rows.into_iter().enumerate() {
        let name = marker.name.get().and_then(|name| strings.get(name as usize));
        let name = match name {
            Some(name) => name.0.clone(),
            None => {
                report.note(MARKER_WITHOUT_NAME, || format!("{at}.markers.data[{row}]"));
                "(unknown)".into()
            }
        };
        let (first, second) = upgrade::marker(version, name, marker);
        for mut marker in std::iter::once(first).chain(second) {
            if marker.start.0.is_nan() && marker.end.0.is_nan() {
                report.note(MARKER_WITHOUT_TIME, || format!("{at}.markers.data[{row}]"));
                continue;
            }
            let kind = marker.data.fields().and_then(|fields| fields.str("type"));
            let backtrace = take_backtrace(&mut marker.data);
            if let Some(taken) = &backtrace {
                uses.backtrace(taken.stack);
            }
            prepared.push(Prepared { marker, row, kind, backtrace });
        }
    }
    // Writers put a marker down when it ends. A time of zero is none to the tools that do this.
    let time = |prepared: &Prepared<'_>| {
        let Upgraded { start, end, .. } = &prepared.marker;
        let is_there = |time: &Real| !time.0.is_nan() && time.0 != 0.0;
        if is_there(end) || start.0.is_nan() { end.0 } else { start.0 }
    };
    prepared.sort_by(|one, other| time(one).total_cmp(&time(other)));
    prepared
}

/// Takes a backtrace out of a marker's data. A field of the same name that is none stays.
fn take_backtrace(data: &mut Payload<'_>) -> Option<Taken> {
    if !data.may_hold("\"stack\"") {
        return None;
    }
    let taken = {
        let fields = data.fields()?;
        let found: Backtrace<'_> = serde_json::from_str(fields.get("stack")?).ok()?;
        let sample = found.samples.rows.first()?;
        let tid = found.tid.and_then(|tid| serde_json::from_str(tid.get()).ok()).unwrap_or(Value::Null);
        Taken { stack: sample.stack, time: sample.time, tid }
    };
    data.fields_mut()?.remove("stack");
    Some(taken)
}

/// What the markers of one thread need.
pub(super) struct Context<'c, 'a> {
    pub kinds: &'c Kinds,
    pub categories: &'c [Category<'a>],
    pub strings: &'c [Str<'a>],
    pub stacks: &'c Stacks,
    /// How much later than the first its process began, in milliseconds.
    pub later: f64,
    pub at: &'c str,
}

impl<'a> Context<'_, 'a> {
    pub(super) fn process(
        &self,
        collector: &mut Collector<'a>,
        prepared: Vec<Prepared<'a>>,
        report: &mut ImportReport,
    ) -> Processed<'a> {
        let mut columns = Columns::default();
        let mut js = AllocationColumns::default();
        let mut native = AllocationColumns::default();
        for mut one in prepared {
            let stack = one.backtrace.as_ref().map_or(Row::NONE, |taken| self.stacks.backtrace(taken.stack));
            let allocations = match one.kind.as_deref() {
                Some("JS allocation") => &mut js,
                Some("Native allocation") => &mut native,
                _ => {
                    self.change(collector, &mut one, stack, report);
                    let category = match one.marker.category {
                        Row::NONE => upgrade::marker_category(&one.marker, self.categories),
                        category => category,
                    };
                    columns.name.push(collector.string(&one.marker.name));
                    columns.start.push(Real(one.marker.start.0 + self.later));
                    columns.end.push(Real(one.marker.end.0 + self.later));
                    columns.phase.push(one.marker.phase);
                    columns.category.push(category);
                    columns.data.push(one.marker.data);
                    continue;
                }
            };
            if one.marker.start.0.is_nan() {
                report.note(ALLOCATION_WITHOUT_TIME, || format!("{}.markers.data[{}]", self.at, one.row));
            } else if let Some(fields) = one.marker.data.fields() {
                allocations.push(Real(one.marker.start.0 + self.later), stack, &fields);
            }
        }
        Processed {
            markers: columns.finish(),
            js_allocations: js.finish(true),
            native_allocations: native.finish(false),
        }
    }

    /// Changes the data of a marker to what processed files have.
    fn change(&self, collector: &mut Collector<'a>, one: &mut Prepared<'a>, stack: Row, report: &mut ImportReport) {
        let kind = one.kind.as_deref().unwrap_or_default();
        let string_fields = self.kinds.string_fields.get(kind);
        let is_special = matches!(kind, "GCSlice" | "GCMajor" | "IPC");
        let is_moved = self.later != 0.0
            && (kind == "Network" || one.marker.data.may_hold("startTime") || one.marker.data.may_hold("endTime"));
        if string_fields.is_none() && !is_special && !is_moved && one.backtrace.is_none() {
            return;
        }
        let Some(fields) = one.marker.data.fields_mut() else { return };
        if let (Some(taken), true) = (&one.backtrace, stack != Row::NONE) {
            let mut cause = Map::new();
            if !taken.tid.is_null() {
                cause.insert("tid".into(), taken.tid.clone());
            }
            if !taken.time.0.is_nan() {
                cause.insert("time".into(), json!(taken.time.0 + self.later));
            }
            cause.insert("stack".into(), stack.0.into());
            fields.set("cause", &cause);
        }
        match kind {
            "GCSlice" => gc_slice(fields),
            "GCMajor" => gc_major(fields),
            "IPC" => other_pid(fields),
            _ => {}
        }
        if is_moved {
            let network = if kind == "Network" { &NETWORK_TIMES[..] } else { &[] };
            for key in ["startTime", "endTime"].iter().chain(network) {
                if let Some(time) = fields.number(key) {
                    fields.set(key, &(time + self.later));
                }
            }
        }
        for key in string_fields.into_iter().flatten() {
            let Some(row) = fields.number(key) else { continue };
            match self.strings.get(index(row)) {
                Some(text) => {
                    let row = collector.string(&text.0).0;
                    replace(fields, key, row);
                }
                None => report.note(STRING_FIELD, || format!("{}.markers.data[{}].{key}", self.at, one.row)),
            }
        }
    }
}

/// The number as an index; one that is none leads beyond every table.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only whole numbers of the range are cast")]
fn index(number: f64) -> usize {
    if number.fract() == 0.0 && (0.0..4e9).contains(&number) { number as usize } else { usize::MAX }
}

/// Sets a field that is there already, whose key lives in the file.
fn replace(fields: &mut Fields<'_>, key: &str, row: u32) {
    if let Some((_, value)) = fields.0.iter_mut().rev().find(|(known, _)| known == key)
        && let Ok(text) = serde_json::value::to_raw_value(&row)
    {
        *value = Cow::Owned(text);
    }
}

/// Milliseconds per phase become microseconds.
fn phase_times(times: Option<Value>) -> Value {
    let Some(Value::Object(mut times)) = times else { return Value::Object(Map::new()) };
    for time in times.values_mut() {
        if let Some(millis) = time.as_f64() {
            *time = json!(millis * 1000.0);
        }
    }
    Value::Object(times)
}

fn gc_slice(fields: &mut Fields<'_>) {
    let Some(Value::Object(mut timings)) = fields.value("timings") else { return };
    let times = timings.remove("times");
    timings.insert("phase_times".into(), phase_times(times));
    fields.set("timings", &timings);
}

fn gc_major(fields: &mut Fields<'_>) {
    let Some(Value::Object(mut timings)) = fields.value("timings") else { return };
    if timings.get("status").and_then(Value::as_str) != Some("completed") {
        return;
    }
    let totals = timings.remove("totals");
    timings.insert("phase_times".into(), phase_times(totals));
    for key in ["mmu_20ms", "mmu_50ms"] {
        if let Some(share) = timings.get(key).and_then(Value::as_f64) {
            timings.insert(key.into(), json!(share / 100.0));
        }
    }
    fields.set("timings", &timings);
}

fn other_pid(fields: &mut Fields<'_>) {
    if let Some(Value::Number(pid)) = fields.value("otherPid") {
        fields.set("otherPid", &pid.to_string());
    }
}

#[derive(Default)]
struct Columns<'a> {
    name: Vec<Row>,
    start: Vec<Real>,
    end: Vec<Real>,
    phase: Vec<Row>,
    category: Vec<Row>,
    data: Vec<Payload<'a>>,
}

impl<'a> Columns<'a> {
    fn finish(self) -> Markers<'a> {
        Markers {
            length: Some(Wide(u64::try_from(self.name.len()).ok())),
            name: Some(self.name),
            start_time: Some(self.start),
            end_time: Some(self.end),
            phase: Some(self.phase),
            category: Some(self.category),
            data: Some(self.data),
            ..Markers::default()
        }
    }
}

#[derive(Default)]
struct AllocationColumns<'a> {
    time: Vec<Real>,
    weight: Vec<Real>,
    stack: Vec<Row>,
    class_name: Vec<Option<Str<'a>>>,
    type_name: Vec<Option<Str<'a>>>,
    coarse_type: Vec<Option<Str<'a>>>,
    in_nursery: Vec<Flag>,
    memory_address: Vec<Wide>,
    thread_id: Vec<Wide>,
    /// Whether the first says which memory it is about; then all should.
    has_address: bool,
}

impl<'a> AllocationColumns<'a> {
    fn push(&mut self, time: Real, stack: Row, fields: &Fields<'_>) {
        if self.time.is_empty() {
            self.has_address = fields.has("memoryAddress");
        }
        let text = |key: &str| fields.str(key).map(|text| Str(text.into()));
        let wide = |key: &str| Wide(fields.value(key).and_then(|value| value.as_u64()));
        self.time.push(time);
        self.stack.push(stack);
        self.weight.push(Real(fields.number("size").unwrap_or(f64::NAN)));
        self.class_name.push(text("className"));
        self.type_name.push(text("typeName"));
        self.coarse_type.push(text("coarseType"));
        self.in_nursery.push(Flag(fields.get("inNursery") == Some("true")));
        self.memory_address.push(wide("memoryAddress"));
        self.thread_id.push(wide("threadId"));
    }

    fn finish(self, is_js: bool) -> Option<Allocations<'a>> {
        if self.time.is_empty() {
            return None;
        }
        let weight: Numbers = numbers(self.weight.iter().copied());
        let mut table = Allocations {
            length: Some(Wide(u64::try_from(self.time.len()).ok())),
            time: Some(self.time),
            weight: Some(weight),
            weight_type: Some(Str("bytes".into())),
            stack: Some(self.stack),
            ..Allocations::default()
        };
        if is_js {
            table.class_name = Some(self.class_name);
            table.type_name = Some(self.type_name);
            table.coarse_type = Some(self.coarse_type);
            table.in_nursery = Some(self.in_nursery);
        } else if self.has_address {
            table.memory_address = Some(self.memory_address);
            table.thread_id = Some(self.thread_id);
        }
        Some(table)
    }
}
