//! Markers of threads.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::extension::{self as key, Extension};
use super::super::schema::{self, Cause, Fields, Id, MarkerSchema as InFileSchema, Payload, Real, Row};
use super::code::Code;
use super::extension::os_id;
use super::kept::compact;
use super::marker_schema;
use super::payload::field_value;
use super::repair::{Repairs, entry, stored};
use super::rows::{Rows, apply, ranges, same_length, wrong};
use super::thread::tid_of;
use crate::format::ReadError;
use crate::model::{
    CategoryId, Field, FieldValue, Kept, Marker, MarkerOrigin, MarkerSchemaId, MarkerTable, MarkerTiming, PayloadId,
    ProfileBuilder, StackId, StringId, Time,
};

/// What all threads' markers share.
pub(super) struct Markers {
    schemas: Rows<MarkerSchemaId>,
    by_name: FxHashMap<String, Known>,
    payloads: Rows<PayloadId>,
}

/// A schema of a file of another tool.
struct Known {
    id: MarkerSchemaId,
    /// The fields whose values are rows of the string table.
    string_rows: FxHashSet<String>,
}

/// The table that is being read, and what its rows refer to.
pub(super) struct Place<'p> {
    pub strings: &'p Rows<StringId>,
    pub stacks: &'p Rows<StackId>,
    pub code: &'p Code,
    pub at: &'p str,
}

impl Markers {
    pub(super) fn read(
        builder: &mut ProfileBuilder,
        code: &Code,
        schemas: Option<Vec<InFileSchema<'_>>>,
        extension: Option<&Extension>,
        repairs: &mut Repairs,
    ) -> Result<Self, ReadError> {
        let mut markers = Self {
            schemas: Rows::new("meta.traceview.markerSchemas"),
            by_name: FxHashMap::default(),
            payloads: Rows::new("meta.traceview.payloads"),
        };
        if let Some(extension) = extension {
            for (row, schema) in extension.marker_schemas.iter().enumerate() {
                let schema = marker_schema::ours(code, schema, row)?;
                markers.schemas.push(builder.add_marker_schema(schema));
            }
            markers.read_payloads(builder, code, extension)?;
            return Ok(markers);
        }
        if schemas.is_none() {
            repairs.missing(|| "meta.markerSchema".to_owned());
        }
        for (row, schema) in schemas.into_iter().flatten().enumerate() {
            let at = format!("meta.markerSchema[{row}]");
            let name = schema.name.as_ref().map_or_else(String::new, |name| name.0.to_string());
            let of_model = marker_schema::foreign(builder, &schema, &at, repairs);
            let tables = builder.tables();
            let mut string_rows: FxHashSet<String> = of_model
                .fields
                .iter()
                .filter(|field| is_string_row(tables.strings.get(field.format)))
                .map(|field| tables.strings.get(field.key).to_owned())
                .collect();
            if name == "CompositorScreenshot" {
                // No schema says so.
                string_rows.insert("url".to_owned());
            }
            let id = builder.add_marker_schema(of_model);
            if markers.by_name.insert(name, Known { id, string_rows }).is_some() {
                repairs
                    .note("schema-twice", "of marker schemas with one name the last counts", || format!("{at}.name"));
            }
        }
        Ok(markers)
    }

    /// A set of fields of `traceview`.
    pub(super) fn payload(
        &self,
        row: Option<u32>,
        at: std::fmt::Arguments<'_>,
    ) -> Result<Option<PayloadId>, ReadError> {
        self.payloads.optional(row, at)
    }

    /// The markers of a thread, and what is carried along of their table.
    pub(super) fn of_thread(
        &self,
        builder: &mut ProfileBuilder,
        place: &Place<'_>,
        table: &schema::Markers<'_>,
        own: Option<&key::Markers>,
        repairs: &mut Repairs,
    ) -> Result<(MarkerTable, Vec<Kept>), ReadError> {
        let at = place.at;
        let required = [
            ("data", stored(table.data.as_ref())),
            ("name", stored(table.name.as_ref())),
            ("startTime", stored(table.start_time.as_ref())),
            ("endTime", stored(table.end_time.as_ref())),
            ("phase", stored(table.phase.as_ref())),
            ("category", stored(table.category.as_ref())),
        ];
        let rows = repairs.rows(at, table.length, &required, &[("threadId", stored(table.thread_id.as_ref()))]);
        if let Some(own) = own {
            return Ok((self.ours(place, table, rows, own, repairs)?, Vec::new()));
        }
        let mut markers = MarkerTable::default();
        let mut all = true;
        for row in 0..rows {
            all &= self.foreign(builder, place, table, row, &mut markers, repairs);
        }
        let kept = table
            .kept
            .iter()
            .map(|(key, json)| Kept { path: format!("markers.{key}").into(), json: compact(json.get()).into() });
        if all {
            return Ok((markers, kept.collect()));
        }
        if let Some((key, _)) = table.kept.first() {
            let message = "columns of markers that no version of the format has are left out, as rows were dropped";
            repairs.note("column-unknown", message, || format!("{at}.{key}"));
        }
        Ok((markers, Vec::new()))
    }

    fn ours(
        &self,
        place: &Place<'_>,
        table: &schema::Markers<'_>,
        in_file: usize,
        own: &key::Markers,
        repairs: &mut Repairs,
    ) -> Result<MarkerTable, ReadError> {
        let at = place.at;
        let rows = own.rows as usize;
        let own_at = format!("{} (traceview)", place.at);
        if rows > in_file {
            return Err(wrong(
                format_args!("{own_at}.rows"),
                format_args!("{rows} rows, but the file has only {in_file}"),
            ));
        }
        let columns = [("schema", own.schema.len()), ("payload", own.payload.len())];
        same_length(format_args!("{own_at}"), rows, &columns)?;
        let times = |column: &Option<Vec<Real>>| -> Vec<Option<Time>> {
            (0..rows).map(|row| Time::from_millis_f64(entry(column.as_ref(), row).0)).collect()
        };
        let moments = |values: &[i64]| values.iter().map(|ns| Some(Time(*ns))).collect();
        let (mut starts, mut ends) = (times(&table.start_time), times(&table.end_time));
        apply(&own.start.with(moments(&own.start.value)), &mut starts, format_args!("{own_at}.start"))?;
        apply(&own.end.with(moments(&own.end.value)), &mut ends, format_args!("{own_at}.end"))?;
        let mut categories: Vec<u32> =
            (0..rows).map(|row| entry(table.category.as_ref(), row).get().unwrap_or(u32::MAX)).collect();
        apply(&own.category, &mut categories, format_args!("{own_at}.category"))?;
        let mut markers = MarkerTable::default();
        let (mut cause_times, mut cause_threads) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let data = table.data.as_ref().and_then(|data| data.get(row));
            let fields = data.filter(|data| data.may_hold("\"cause\"")).and_then(Payload::fields);
            let cause = fields.as_ref().and_then(|fields| cause_of(fields)).unwrap_or_default();
            let phase = entry(table.phase.as_ref(), row).get();
            let timing = timing(phase, starts[row], ends[row]).ok_or_else(|| {
                wrong(format_args!("{at}.phase[{row}]"), format_args!("a marker of phase {phase:?} lacks its time"))
            })?;
            let path = |column: &str| format!("{own_at}.{column}[{row}]");
            markers.push(Marker {
                name: place.strings.get(entry(table.name.as_ref(), row).0, format_args!("{at}.name[{row}]"))?,
                timing,
                category: place.code.categories.get(categories[row], format_args!("{at}.category[{row}]"))?,
                schema: self.schemas.optional(own.schema[row], format_args!("{}", path("schema")))?,
                payload: self.payloads.optional(own.payload[row], format_args!("{}", path("payload")))?,
                stack: repairs.row(place.stacks, cause.stack, || format!("{at}.data[{row}].cause.stack")),
            });
            if own.origin {
                cause_times.push(cause.time.and_then(Time::from_millis_f64));
                let origin = origin(table, row, &cause, None);
                cause_threads.push(origin.cause_thread.clone());
                markers.set_last_origin(origin);
            }
        }
        if own.origin {
            let exact = own.cause_time.with(moments(&own.cause_time.value));
            apply(&exact, &mut cause_times, format_args!("{own_at}.causeTime"))?;
            let ids = own.cause_thread.with(own.cause_thread.value.iter().map(|id| Some(os_id(id))).collect());
            apply(&ids, &mut cause_threads, format_args!("{own_at}.causeThread"))?;
            for (origin, (time, id)) in markers.origin.iter_mut().zip(cause_times.into_iter().zip(cause_threads)) {
                (origin.cause_time, origin.cause_thread) = (time, id);
            }
        }
        Ok(markers)
    }

    /// Adds a marker of another tool; whether it could be.
    fn foreign(
        &self,
        builder: &mut ProfileBuilder,
        place: &Place<'_>,
        table: &schema::Markers<'_>,
        row: usize,
        markers: &mut MarkerTable,
        repairs: &mut Repairs,
    ) -> bool {
        let at = place.at;
        let Some(timing) = foreign_timing(table, row, at, repairs) else { return false };
        let name = repairs.row(place.strings, entry(table.name.as_ref(), row), || format!("{at}.name[{row}]"));
        let category = self.category(place, table, row, repairs);
        let data = table.data.as_ref().and_then(|data| data.get(row));
        let fields = data.and_then(Payload::fields);
        if fields.is_none() && matches!(data, Some(Payload::Text(_))) {
            let message = "data of markers that is no object is left out";
            repairs.note("marker-data-odd", message, || format!("{at}.data[{row}]"));
        }
        let cause = fields.as_ref().and_then(|fields| cause_of(fields)).unwrap_or_default();
        let (schema, payload) = match &fields {
            Some(fields) => self.data(builder, place, fields, row, repairs),
            None => (None, None),
        };
        markers.push(Marker {
            name: name.unwrap_or_else(|| builder.string("(unknown)")),
            timing,
            category,
            schema,
            payload,
            stack: repairs.row(place.stacks, cause.stack, || format!("{at}.data[{row}].cause.stack")),
        });
        let time = repairs.optional_time(cause.time, || format!("{at}.data[{row}].cause.time"));
        let origin = origin(table, row, &cause, time);
        if origin != MarkerOrigin::default() {
            markers.set_last_origin(origin);
        }
        true
    }

    fn category(
        &self,
        place: &Place<'_>,
        table: &schema::Markers<'_>,
        row: usize,
        repairs: &mut Repairs,
    ) -> CategoryId {
        let path = || format!("{}.category[{row}]", place.at);
        let category = entry(table.category.as_ref(), row);
        if category == Row::NONE && table.category.is_some() {
            repairs.note("marker-without-category", "markers without a category are given the default one", path);
        }
        repairs.row(&place.code.categories, category, path).unwrap_or(place.code.default_category)
    }

    /// Schema and fields of a marker of another tool.
    fn data(
        &self,
        builder: &mut ProfileBuilder,
        place: &Place<'_>,
        data: &Fields<'_>,
        row: usize,
        repairs: &mut Repairs,
    ) -> (Option<MarkerSchemaId>, Option<PayloadId>) {
        let schema = data.str("type").and_then(|kind| self.by_name.get(&kind));
        let mut fields = Vec::with_capacity(data.0.len());
        for (name, text) in &data.0 {
            if name == "cause" || (name == "type" && schema.is_some()) {
                continue;
            }
            let mut value = field_value(builder, text.get());
            if let FieldValue::Integer(number) = value
                && schema.is_some_and(|schema| schema.string_rows.contains(&**name))
            {
                let string = u32::try_from(number).map_or(Row::BAD, Row);
                let found = repairs.row(place.strings, string, || format!("{}.data[{row}].{name}", place.at));
                value = found.map_or(value, FieldValue::Text);
            }
            fields.push(Field { key: builder.string(name), value });
        }
        let payload = (!fields.is_empty()).then(|| builder.add_payload(fields));
        (schema.map(|schema| schema.id), payload)
    }

    fn read_payloads(
        &mut self,
        builder: &mut ProfileBuilder,
        code: &Code,
        extension: &Extension,
    ) -> Result<(), ReadError> {
        let table = &extension.payloads;
        let at = "meta.traceview.payloads";
        let count = table.key.len();
        let kinds = table.kind.as_bytes();
        same_length(format_args!("{at}"), count, &[("kind", kinds.len()), ("value", table.value.len())])?;
        for range in ranges(&table.first, count, format_args!("{at}.first"))? {
            let mut fields = Vec::with_capacity(range.len());
            for row in range {
                let number = table.value[row];
                let bad = || wrong(format_args!("{at}.value[{row}]"), format_args!("{number} is not a row"));
                let index = || u32::try_from(number).map_err(|_| bad());
                let string = || code.strings.get(index()?, format_args!("{at}.value[{row}]"));
                let value = match kinds[row] {
                    b's' => FieldValue::Text(string()?),
                    b'j' => FieldValue::Json(string()?),
                    b'i' => FieldValue::Integer(number),
                    b'b' => FieldValue::Bool(number != 0),
                    b'f' => FieldValue::Float(table.float.get(index()? as usize).ok_or_else(bad)?.0),
                    kind => {
                        let message = format!("unknown kind {:?}", char::from(kind));
                        return Err(wrong(format_args!("{at}.kind[{row}]"), message));
                    }
                };
                fields.push(Field { key: code.strings.get(table.key[row], format_args!("{at}.key[{row}]"))?, value });
            }
            self.payloads.push(builder.add_payload(fields));
        }
        Ok(())
    }
}

/// Whether values of a format are rows of the string table.
fn is_string_row(format: &str) -> bool {
    ["unique-string", "flow-id", "terminating-flow-id"].contains(&format)
}

/// What a marker's data names as its cause.
fn cause_of<'a>(fields: &'a Fields<'_>) -> Option<Cause<'a>> {
    serde_json::from_str(fields.get("cause")?).ok()
}

fn origin(table: &schema::Markers<'_>, row: usize, cause: &Cause<'_>, cause_time: Option<Time>) -> MarkerOrigin {
    let id = |id: &Id| (*id != Id::Missing).then(|| tid_of(id));
    let thread = table.thread_id.as_ref().and_then(|ids| ids.get(row)).and_then(id);
    MarkerOrigin { thread, cause_time, cause_thread: id(&cause.tid) }
}

fn timing(phase: Option<u32>, start: Option<Time>, end: Option<Time>) -> Option<MarkerTiming> {
    match (phase?, start, end) {
        (0, Some(start), _) => Some(MarkerTiming::Instant(start)),
        (1, Some(start), Some(end)) => Some(MarkerTiming::Interval(start, end)),
        (2, Some(start), _) => Some(MarkerTiming::Start(start)),
        (3, _, Some(end)) => Some(MarkerTiming::End(end)),
        _ => None,
    }
}

/// When a marker of another tool was, by what is known of it; `None` if nothing is.
fn foreign_timing(table: &schema::Markers<'_>, row: usize, at: &str, repairs: &mut Repairs) -> Option<MarkerTiming> {
    let Real(start) = entry(table.start_time.as_ref(), row);
    let Real(end) = entry(table.end_time.as_ref(), row);
    let (start, end) = (Time::from_millis_f64(start), Time::from_millis_f64(end));
    let phase = entry(table.phase.as_ref(), row).get();
    match timing(phase, start, end) {
        Some(MarkerTiming::Interval(start, end)) if end < start => {
            let message = "markers that end before they start are taken as moments";
            repairs.note("marker-backwards", message, || format!("{at}.endTime[{row}]"));
            Some(MarkerTiming::Instant(start))
        }
        Some(timing) => Some(timing),
        None => {
            let by_times = match (start, end) {
                (Some(start), Some(end)) if start <= end => MarkerTiming::Interval(start, end),
                (Some(start), _) => MarkerTiming::Instant(start),
                (None, Some(end)) => MarkerTiming::Instant(end),
                (None, None) => {
                    repairs.note("marker-untimed", "markers without a time are left out", || {
                        format!("{at}.startTime[{row}]")
                    });
                    return None;
                }
            };
            let message = "markers whose phase does not fit their times are taken as their times say";
            repairs.note("marker-phase", message, || format!("{at}.phase[{row}]"));
            Some(by_times)
        }
    }
}
