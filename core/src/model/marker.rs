//! Markers: named moments and spans with data, and the schemas that say how to show the data.

use super::category::Color;
use super::ids::{CategoryId, MarkerId, MarkerSchemaId, PayloadId, StackId, StringId};
use super::process::OsId;
use super::time::Time;

/// The markers of one thread, one a row, in the order in which they were recorded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MarkerTable {
    /// What it is called.
    pub name: Vec<StringId>,
    /// When.
    pub timing: Vec<MarkerTiming>,
    /// Its category.
    pub category: Vec<CategoryId>,
    /// How its data is shown.
    pub schema: Vec<Option<MarkerSchemaId>>,
    /// Its data.
    pub payload: Vec<Option<PayloadId>>,
    /// What the thread was doing when it caused the marker.
    pub stack: Vec<Option<StackId>>,
    /// What else a file says about each one's cause. Optional: empty, or one for each marker.
    pub origin: Vec<MarkerOrigin>,
}

/// Where a marker comes from, as far as it is not its own thread at its own time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MarkerOrigin {
    /// The thread that it was recorded on.
    pub thread: Option<OsId>,
    /// When its [stack](MarkerTable::stack) was taken.
    pub cause_time: Option<Time>,
    /// The thread that the stack is of.
    pub cause_thread: Option<OsId>,
}

/// One row of [`MarkerTable`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Marker {
    /// See [`MarkerTable::name`].
    pub name: StringId,
    /// See [`MarkerTable::timing`].
    pub timing: MarkerTiming,
    /// See [`MarkerTable::category`].
    pub category: CategoryId,
    /// See [`MarkerTable::schema`].
    pub schema: Option<MarkerSchemaId>,
    /// See [`MarkerTable::payload`].
    pub payload: Option<PayloadId>,
    /// See [`MarkerTable::stack`].
    pub stack: Option<StackId>,
}

/// The time of a marker and its phase.
///
/// Starts and ends pair within a thread by name, last started first ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkerTiming {
    /// A moment.
    Instant(Time),
    /// From, to.
    Interval(Time, Time),
    /// The start of a span whose end is a marker of its own.
    Start(Time),
    /// The end of a span whose start is a marker of its own.
    End(Time),
}

impl MarkerTable {
    /// How many markers there are.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    /// Row `row`.
    pub fn get(&self, row: usize) -> Marker {
        Marker {
            name: self.name[row],
            timing: self.timing[row],
            category: self.category[row],
            schema: self.schema[row],
            payload: self.payload[row],
            stack: self.stack[row],
        }
    }

    /// Says where the last marker comes from.
    pub fn set_last_origin(&mut self, origin: MarkerOrigin) {
        self.origin.resize(self.len(), MarkerOrigin::default());
        if let Some(last) = self.origin.last_mut() {
            *last = origin;
        }
    }

    /// Adds a row at the end and gives its index.
    pub fn push(&mut self, marker: Marker) -> MarkerId {
        let id = MarkerId::new(self.len());
        self.name.push(marker.name);
        self.timing.push(marker.timing);
        self.category.push(marker.category);
        self.schema.push(marker.schema);
        self.payload.push(marker.payload);
        self.stack.push(marker.stack);
        if !self.origin.is_empty() {
            self.origin.push(MarkerOrigin::default());
        }
        id
    }
}

/// How markers of one kind are shown.
#[derive(Clone, PartialEq, Debug)]
pub struct MarkerSchema {
    /// The kind's name.
    pub name: StringId,
    /// The views it is shown in, by their names in Firefox profiles: `marker-chart`, `timeline-overview`, …
    pub display: Vec<StringId>,
    /// Template of the text on the marker in the chart.
    pub chart_label: Option<StringId>,
    /// Template of the tooltip's title.
    pub tooltip_label: Option<StringId>,
    /// Template of the text in the table.
    pub table_label: Option<StringId>,
    /// What such a marker means.
    pub description: Option<StringId>,
    /// Its fields.
    pub fields: Vec<MarkerField>,
    /// Graphs that are drawn of its fields.
    pub graphs: Vec<MarkerGraph>,
    /// The field that names the marker's colour.
    pub color_field: Option<StringId>,
    /// Whether such markers nest as calls do.
    pub stack_based: bool,
}

/// A field of a [`MarkerSchema`].
#[derive(Clone, PartialEq, Debug)]
pub struct MarkerField {
    /// Its key in the data.
    pub key: StringId,
    /// What it is shown as; its key if `None`.
    pub label: Option<StringId>,
    /// Its format by the name in Firefox profiles: `string`, `duration`, `bytes`, `flow-id`, …; a structured one
    /// (`table`) as JSON text.
    pub format: StringId,
    /// Whether it is left out of tooltips.
    pub hidden: bool,
}

/// A graph of a field of a [`MarkerSchema`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarkerGraph {
    /// The field's key.
    pub key: StringId,
    /// `bar`, `line` or `line-filled`.
    pub kind: StringId,
    /// Its colour.
    pub color: Option<Color>,
}

/// Sets of named values: the data of markers and the arguments of slices.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Payloads {
    /// Where each set ends in `fields`; the one before (or the beginning) begins it.
    ends: Vec<u32>,
    fields: Vec<Field>,
}

impl Payloads {
    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many fields all sets have.
    pub(super) fn field_count(&self) -> usize {
        self.fields.len()
    }

    /// The fields of `id`, in the order in which its file gave them.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn get(&self, id: PayloadId) -> &[Field] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.fields[start as usize..self.ends[id.index()] as usize]
    }

    /// All sets in order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Field]> {
        (0..self.len()).map(|row| self.get(PayloadId::new(row)))
    }

    /// Adds a set.
    ///
    /// # Panics
    /// If a profile has `u32::MAX` fields.
    pub(super) fn push(&mut self, fields: &[Field]) -> PayloadId {
        let id = PayloadId::new(self.len());
        self.fields.extend_from_slice(fields);
        self.ends.push(u32::try_from(self.fields.len()).expect("a profile has fewer than u32::MAX fields"));
        id
    }
}

/// A named value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Field {
    /// Its name.
    pub key: StringId,
    /// Its value.
    pub value: FieldValue,
}

/// The value of a [`Field`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FieldValue {
    /// Text.
    Text(StringId),
    /// A whole number.
    Integer(i64),
    /// A fractional number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Anything else (lists, objects, null, numbers beyond 64 bits), as JSON text.
    Json(StringId),
}
