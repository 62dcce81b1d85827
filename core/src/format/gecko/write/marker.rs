//! Markers of a thread, and its slices as markers.

use rustc_hash::FxHashSet;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::extension::{id, optional_millis, os_id, time_patch};
use super::layout::{Layout, PLAIN_TYPE, SLICE_TYPE, row};
use super::schema::{FieldShape, OWN_KEYS, shape};
use super::shared::index as optional_index;
use super::{Out, Written, is_exact, kept};
use crate::format::gecko::extension::{Markers, Patch};
use crate::model::{
    Field, FieldValue, FlowAnchor, Marker, MarkerId, MarkerOrigin, MarkerTiming, OsId, PayloadId, SliceId, Thread, Time,
};

pub(super) fn write(json: &mut Out<'_>, layout: &Layout<'_>, index: usize) -> Written {
    let thread = &layout.profile.threads[index];
    let (markers, slices) = (&thread.markers, &thread.slices);
    let of_marker = |row| {
        let place = (index, FlowAnchor::Marker(MarkerId::new(row)));
        MarkerData { layout, marker: markers.get(row), origin: markers.origin.get(row), place }
    };
    let of_slice =
        |row| SliceData { layout, args: slices.args[row], place: (index, FlowAnchor::Slice(SliceId::new(row))) };
    let data = (0..markers.len()).map(of_marker);
    let args = (0..slices.len()).map(of_slice);
    json.column("data", data.map(Either::Left).chain(args.map(Either::Right)))?;
    json.column("name", markers.name.iter().chain(&slices.name).map(|name| id(*name)))?;
    let starts = slices.start.iter().map(|start| Some(*start));
    json.column("startTime", markers.timing.iter().map(start).chain(starts).map(optional_millis))?;
    let ends = slices.start.iter().zip(&slices.duration).map(|(start, duration)| Some(*start + *duration));
    json.column("endTime", markers.timing.iter().map(end).chain(ends).map(optional_millis))?;
    json.column("phase", markers.timing.iter().map(phase).chain(slices.start.iter().map(|_| 1)))?;
    let categories = markers.category.iter().chain(&slices.category);
    json.column("category", categories.map(|category| layout.category(*category)))?;
    if markers.origin.iter().any(|origin| origin.thread.is_some()) {
        let ids = markers.origin.iter().map(|origin| origin.thread.as_ref().map(thread_id));
        json.column("threadId", ids.chain(slices.start.iter().map(|_| None)))?;
    }
    kept::thread(json, thread, "markers")?;
    json.field("length", &(markers.len() + slices.len()))
}

pub(super) fn extension(layout: &Layout<'_>, thread: &Thread) -> Markers {
    let markers = &thread.markers;
    let (mut cause_time, mut cause_thread) = (Patch::default(), Patch::default());
    for (row, (origin, stack)) in (0..).zip(markers.origin.iter().zip(&markers.stack)) {
        // In the file a cause is a stack first of all.
        if let Some(time) = origin.cause_time.filter(|time| stack.is_none() || !is_exact(*time)) {
            cause_time.push(row, time.0);
        }
        if let Some(id) = origin.cause_thread.as_ref().filter(|_| stack.is_none()) {
            cause_thread.push(row, os_id(id));
        }
    }
    let moments = |moment: fn(&MarkerTiming) -> Option<Time>| {
        // A time that is not used needs no correction.
        time_patch(markers.timing.iter().map(move |timing| moment(timing).unwrap_or_default()))
    };
    Markers {
        rows: row(markers.len()),
        schema: markers.schema.iter().copied().map(optional_index).collect(),
        payload: markers.payload.iter().copied().map(optional_index).collect(),
        start: moments(start),
        end: moments(end),
        category: Patch::between(
            markers.category.iter().map(|category| layout.category(*category)),
            markers.category.iter().copied().map(id),
        ),
        origin: !markers.origin.is_empty(),
        cause_time,
        cause_thread,
    }
}

fn start(timing: &MarkerTiming) -> Option<Time> {
    match *timing {
        MarkerTiming::Instant(time) | MarkerTiming::Interval(time, _) | MarkerTiming::Start(time) => Some(time),
        MarkerTiming::End(_) => None,
    }
}

fn end(timing: &MarkerTiming) -> Option<Time> {
    match *timing {
        MarkerTiming::Interval(_, time) | MarkerTiming::End(time) => Some(time),
        MarkerTiming::Instant(_) | MarkerTiming::Start(_) => None,
    }
}

const fn phase(timing: &MarkerTiming) -> u8 {
    match timing {
        MarkerTiming::Instant(_) => 0,
        MarkerTiming::Interval(..) => 1,
        MarkerTiming::Start(_) => 2,
        MarkerTiming::End(_) => 3,
    }
}

enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<A: Serialize, B: Serialize> Serialize for Either<A, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Left(value) => value.serialize(serializer),
            Self::Right(value) => value.serialize(serializer),
        }
    }
}

/// The data of a marker as other tools show it: what its schema's formats can show. All of it is in `traceview`.
struct MarkerData<'a> {
    layout: &'a Layout<'a>,
    marker: Marker,
    origin: Option<&'a MarkerOrigin>,
    /// Its thread, and what flows call it.
    place: (usize, FlowAnchor),
}

#[derive(serde::Serialize)]
struct Cause<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    stack: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<FileId<'a>>,
}

/// An id as the file has it.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum FileId<'a> {
    Number(i64),
    Text(&'a str),
}

fn thread_id(id: &OsId) -> FileId<'_> {
    match id {
        OsId::Number(number) => FileId::Number(*number),
        OsId::Text(text) => FileId::Text(text),
    }
}

impl Serialize for MarkerData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (layout, marker) = (self.layout, &self.marker);
        let fields = marker.payload.map_or(&[][..], |payload| layout.profile.payloads.get(payload));
        let origin = self.origin;
        let cause_time = origin.and_then(|origin| origin.cause_time);
        let cause_thread = origin.and_then(|origin| origin.cause_thread.as_ref());
        if layout.of_firefox && marker.schema.is_none() && fields.is_empty() && marker.stack.is_none() {
            return serializer.serialize_none();
        }
        let mut map = serializer.serialize_map(None)?;
        match marker.schema {
            Some(schema) => map.serialize_entry("type", &layout.schema_names[schema.index()])?,
            None if layout.of_firefox => {
                let kind = fields.iter().find(|field| layout.profile.string(field.key) == "type");
                if let Some(kind) = kind.and_then(|kind| self.shown(kind)) {
                    map.serialize_entry("type", &kind)?;
                }
            }
            None => map.serialize_entry("type", PLAIN_TYPE)?,
        }
        if let Some(stack) = marker.stack {
            let (time, tid) = (optional_millis(cause_time), cause_thread.map(thread_id));
            map.serialize_entry("cause", &Cause { time, stack: id(stack), tid })?;
        }
        // Most have few; a set is for those that have no end of them.
        let mut many = (fields.len() > 16).then(FxHashSet::default);
        for (index, field) in fields.iter().enumerate() {
            let key = layout.profile.string(field.key);
            let twice = match &mut many {
                Some(seen) => !seen.insert(field.key),
                None => fields[..index].iter().any(|other| other.key == field.key),
            };
            if !twice
                && !OWN_KEYS.contains(&key)
                && let Some(value) = self.shown(field)
            {
                map.serialize_entry(key, &value)?;
            }
        }
        layout.flows.write(&mut map, self.place.0, self.place.1)?;
        map.end()
    }
}

impl MarkerData<'_> {
    /// The field's value, unless its format cannot show it.
    fn shown(&self, field: &Field) -> Option<Value> {
        let profile = self.layout.profile;
        let described = self.marker.schema.and_then(|schema| self.layout.schema_field(schema, field.key));
        let value = match &field.value {
            FieldValue::Text(text) => Value::from(profile.string(*text)),
            FieldValue::Integer(value) => Value::from(*value),
            FieldValue::Float(value) => serde_json::Number::from_f64(*value).map(Value::Number)?,
            FieldValue::Bool(value) => Value::from(*value),
            FieldValue::Json(text) => serde_json::from_str(profile.string(*text)).ok()?,
        };
        let Some(described) = described else { return Some(value) };
        match (shape(self.layout, described), &field.value) {
            (FieldShape::StringRow, FieldValue::Text(text)) => Some(id(*text).into()),
            (FieldShape::StringRow, _) => None,
            (FieldShape::Number, _) => value.is_number().then_some(value),
            (FieldShape::Array, _) => value.is_array().then_some(value),
            (FieldShape::Text, _) if value.is_string() => Some(value),
            (FieldShape::Text, _) => Some(value.to_string().into()),
        }
    }
}

/// The data of a slice's marker: its arguments as one line of text.
struct SliceData<'a> {
    layout: &'a Layout<'a>,
    args: Option<PayloadId>,
    place: (usize, FlowAnchor),
}

impl Serialize for SliceData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", SLICE_TYPE)?;
        if let Some(args) = self.args {
            let profile = self.layout.profile;
            let one = |field: &Field| {
                let key = profile.string(field.key);
                match &field.value {
                    FieldValue::Text(text) | FieldValue::Json(text) => format!("{key}: {}", profile.string(*text)),
                    FieldValue::Integer(value) => format!("{key}: {value}"),
                    FieldValue::Float(value) => format!("{key}: {value}"),
                    FieldValue::Bool(value) => format!("{key}: {value}"),
                }
            };
            let text: Vec<String> = profile.payloads.get(args).iter().map(one).collect();
            map.serialize_entry("args", &text.join(", "))?;
        }
        self.layout.flows.write(&mut map, self.place.0, self.place.1)?;
        map.end()
    }
}
