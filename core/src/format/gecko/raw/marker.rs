//! A thread's markers: put in order, their backtraces made causes, those about allocations made tables.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::schema::{
    Allocations, Category, Fields, Flag, MarkerSchema, Markers, Numbers, Payload, Real, Row, Str, Wide,
};
use super::collect::Collector;
use super::frames::{Stacks, Uses};
use super::notes::{ALLOCATION_WITHOUT_TIME, MARKER_WITHOUT_NAME, MARKER_WITHOUT_TIME, STRING_FIELD};
use super::numbers;
use super::schema::{Backtrace, Marker};
use super::strings::Strings;
use super::table::Table;
use super::upgrade::{self, MarkerCategories};
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
    string_fields: FxHashMap<String, FxHashSet<String>>,
    categories: MarkerCategories,
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
    pub(super) fn of(schemas: &[MarkerSchema<'_>], categories: &[Category<'_>]) -> Self {
        let mut string_fields: FxHashMap<String, FxHashSet<String>> = FxHashMap::default();
        string_fields.entry("CompositorScreenshot".to_owned()).or_default().insert("url".to_owned());
        for schema in schemas {
            let Some(name) = &schema.name else { continue };
            for field in schema.fields.iter().chain(&schema.data).flatten() {
                let format = field.format.map_or("", |format| format.get());
                let is_string = matches!(format, r#""unique-string""# | r#""flow-id""# | r#""terminating-flow-id""#);
                if let (Some(key), true) = (&field.key, is_string) {
                    string_fields.entry(name.0.clone().into_owned()).or_default().insert(key.0.clone().into_owned());
                }
            }
        }
        Self { string_fields, categories: MarkerCategories::of(categories) }
    }
}

/// Brings the markers of a thread in order and notes which stacks they use.
pub(super) fn prepare<'a>(
    version: u64,
    table: Table<Marker<'a>>,
    strings: &Strings<'a>,
    uses: &mut Uses,
    at: &str,
    report: &mut ImportReport,
) -> Vec<Marker<'a>> {
    let mut markers = table.rows;
    let mut others = Vec::new();
    for (row, marker) in (0..).zip(&mut markers) {
        marker.row = row;
        let name = strings.get(marker.name).map_or("", |name| &name.0);
        others.extend(upgrade::marker(version, name, marker));
    }
    markers.append(&mut others);
    markers.retain(|marker| {
        let has_time = !marker.start_time.0.is_nan() || !marker.end_time.0.is_nan();
        if !has_time {
            report.note(MARKER_WITHOUT_TIME, || format!("{at}.markers.data[{}]", marker.row));
        }
        has_time
    });
    for marker in &markers {
        if let Some(taken) = backtrace(&marker.data) {
            uses.backtrace(taken.stack);
        }
    }
    // Writers put a marker down when it ends. A time of zero is none to the tools that do this.
    let time = |marker: &Marker<'_>| {
        let (start, end) = (marker.start_time.0, marker.end_time.0);
        let has_end = !end.is_nan() && end != 0.0;
        if has_end || start.is_nan() { end } else { start }
    };
    markers.sort_by(|one, other| time(one).total_cmp(&time(other)));
    markers
}

/// The backtrace in a marker's data. A field of the same name can be something else.
fn backtrace(data: &Payload<'_>) -> Option<Taken> {
    if !data.may_hold("\"stack\"") {
        return None;
    }
    let fields = data.fields()?;
    let found: Backtrace<'_> = serde_json::from_str(fields.get("stack")?).ok()?;
    let sample = found.samples.rows.first()?;
    let tid = found.tid.and_then(|tid| serde_json::from_str(tid.get()).ok()).unwrap_or(Value::Null);
    Some(Taken { stack: sample.stack, time: sample.time, tid })
}

/// What the markers of one thread need.
pub(super) struct Context<'c, 'a> {
    pub kinds: &'c Kinds,
    pub strings: &'c Strings<'a>,
    pub stacks: &'c Stacks,
    /// How much later than the first its process began, in milliseconds.
    pub later: f64,
    pub at: &'c str,
}

impl<'a> Context<'_, 'a> {
    pub(super) fn process(
        &self,
        collector: &mut Collector<'a>,
        markers: Vec<Marker<'a>>,
        report: &mut ImportReport,
    ) -> Processed<'a> {
        let mut columns = Columns::default();
        let mut js = AllocationColumns::default();
        let mut native = AllocationColumns::default();
        for mut marker in markers {
            let kind = marker.data.fields().and_then(|fields| fields.str("type")).unwrap_or_default();
            let taken = backtrace(&marker.data);
            let stack = taken.as_ref().map_or(Row::NONE, |taken| self.stacks.backtrace(taken.stack));
            let start = Real(marker.start_time.0 + self.later);
            let allocations = match &*kind {
                "JS allocation" => &mut js,
                "Native allocation" => &mut native,
                _ => {
                    self.change(collector, &mut marker, &kind, taken.as_ref().map(|taken| (taken, stack)), report);
                    let (name, category) = self.name_and_category(collector, &marker, report);
                    columns.name.push(name);
                    columns.start.push(start);
                    columns.end.push(Real(marker.end_time.0 + self.later));
                    columns.phase.push(marker.phase);
                    columns.category.push(category);
                    columns.data.push(marker.data);
                    continue;
                }
            };
            if start.0.is_nan() {
                report.note(ALLOCATION_WITHOUT_TIME, || format!("{}.markers.data[{}]", self.at, marker.row));
            } else if let Some(fields) = marker.data.fields() {
                allocations.push(start, stack, &fields);
            }
        }
        Processed {
            markers: columns.finish(),
            js_allocations: js.finish(true),
            native_allocations: native.finish(false),
        }
    }

    fn name_and_category(
        &self,
        collector: &mut Collector<'a>,
        marker: &Marker<'a>,
        report: &mut ImportReport,
    ) -> (Row, Row) {
        let name = match marker.name {
            upgrade::FILE_IO => collector.text("FileIO"),
            name => self.strings.shared(collector, name).unwrap_or_else(|| {
                report.note(MARKER_WITHOUT_NAME, || format!("{}.markers.data[{}]", self.at, marker.row));
                collector.text("(unknown)")
            }),
        };
        let category = match marker.category {
            Row::NONE => {
                let name = self.strings.get(marker.name).map_or("", |name| &name.0);
                self.kinds.categories.guess(name, &marker.data)
            }
            category => category,
        };
        (name, category)
    }

    /// Changes the data of a marker to what processed files have.
    fn change(
        &self,
        collector: &mut Collector<'a>,
        marker: &mut Marker<'a>,
        kind: &str,
        taken: Option<(&Taken, Row)>,
        report: &mut ImportReport,
    ) {
        let string_fields = self.kinds.string_fields.get(kind);
        let is_special = matches!(kind, "GCSlice" | "GCMajor" | "IPC");
        let is_moved = self.later != 0.0
            && (kind == "Network" || marker.data.may_hold("startTime") || marker.data.may_hold("endTime"));
        if string_fields.is_none() && !is_special && !is_moved && taken.is_none() {
            return;
        }
        let Some(fields) = marker.data.fields_mut() else { return };
        if let Some((taken, stack)) = taken {
            fields.remove("stack");
            self.add_cause(fields, taken, stack);
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
        for (key, value) in &mut fields.0 {
            if !string_fields.is_some_and(|keys| keys.contains(&**key)) {
                continue;
            }
            // What is no number is no row either.
            let Ok(row) = serde_json::from_str::<Row>(value.get()) else { continue };
            match self.strings.shared(collector, row) {
                Some(row) => replace(value, row),
                None if row == Row::NONE || value.get().starts_with('"') => {}
                None => report.note(STRING_FIELD, || format!("{}.markers.data[{}].{key}", self.at, marker.row)),
            }
        }
    }

    fn add_cause(&self, fields: &mut Fields<'_>, taken: &Taken, stack: Row) {
        if stack == Row::NONE {
            return;
        }
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
}

fn replace(value: &mut Cow<'_, RawValue>, row: Row) {
    if let Ok(text) = serde_json::value::to_raw_value(&row.0) {
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
            table.class_name = Some(self.class_name.into());
            table.type_name = Some(self.type_name.into());
            table.coarse_type = Some(self.coarse_type.into());
            table.in_nursery = Some(self.in_nursery);
        } else if self.has_address {
            table.memory_address = Some(self.memory_address);
            table.thread_id = Some(self.thread_id);
        }
        Some(table)
    }
}
