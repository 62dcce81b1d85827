//! Arguments of events as fields of the model.
//!
//! Strings, whole numbers, doubles and booleans are kept as such, anything else as its JSON text. Fields of an event that no
//! reader knows (`.file`, `.line` of `tracing-chrome`, …) are arguments too.

use super::super::scan::{self, Text, Value};
use super::Reader;
use crate::format::chrome::events::{EventFlags, EventTable};
use crate::format::chrome::notes;
use crate::model::{Field, FieldValue, PayloadId, ProfileBuilder, StringId};

/// What makes arguments depend on more than the [details](EventTable::details) of an event.
const ODD: [EventFlags; 2] = [EventFlags::STACK, EventFlags::BAD_ARGS];

/// Arguments that were read before.
#[derive(Default)]
pub(super) struct KnownArgs {
    by_detail: Vec<Option<Option<PayloadId>>>,
    set: Vec<Field>,
}

impl Reader<'_, '_> {
    /// The arguments of an event, those of the event that `end`s it if that is another, and `extra` ones.
    pub(super) fn payload(&mut self, begin: usize, end: usize, extra: &[Field]) -> Option<PayloadId> {
        let Self { table, builder, report, known_args: known, .. } = self;
        let is_odd = |row: usize| table.flags(row).has_any(&ODD);
        let ends_plainly = || begin == end || (matches!(table.details(end), [] | [b"{}"]) && !is_odd(end));
        if extra.is_empty() && !is_odd(begin) && ends_plainly() {
            return known.payload(table, begin, builder);
        }
        known.set.clear();
        for row in [begin, end].into_iter().take(if begin == end { 1 } else { 2 }) {
            known.add_event(table, row, row == begin, builder);
            if table.flags(row).has(EventFlags::BAD_ARGS) {
                report.note(notes::BAD_ARGS, || table.place(row));
            }
        }
        extra.iter().for_each(|field| set(&mut known.set, *field));
        (!known.set.is_empty()).then(|| builder.add_payload(&known.set))
    }
}

impl KnownArgs {
    fn payload(&mut self, table: &EventTable<'_>, row: usize, builder: &mut ProfileBuilder) -> Option<PayloadId> {
        let detail = table.detail(row)?;
        if let Some(Some(known)) = self.by_detail.get(detail.index()) {
            return *known;
        }
        self.set.clear();
        self.add_event(table, row, true, builder);
        let payload = (!self.set.is_empty()).then(|| builder.add_payload(&self.set));
        if self.by_detail.is_empty() {
            self.by_detail.resize(table.detail_count(), None);
        }
        self.by_detail[detail.index()] = Some(payload);
        payload
    }

    /// Adds all of an event that is in no column. The stack of one that begins something is read as such.
    fn add_event(&mut self, table: &EventTable<'_>, row: usize, begins: bool, builder: &mut ProfileBuilder) {
        for piece in table.details(row) {
            if piece.starts_with(b"{") {
                self.add_object(piece, builder);
                continue;
            }
            let Some((key, value)) = scan::field(piece) else { continue };
            let is_stack = key.raw == b"stack" && begins && matches!(value, Value::Array(_));
            if !is_stack {
                set(&mut self.set, field(key, value, builder));
            }
        }
    }

    fn add_object(&mut self, object: &[u8], builder: &mut ProfileBuilder) {
        // The object was found by its braces, so what is inside can be damaged; then what stands before that counts.
        let _damage = scan::each_field(object, &mut |key, value| set(&mut self.set, field(key, value, builder)));
    }
}

/// Adds a field, or sets it anew: of equal keys the last counts. Long sets are rare, and not worth an index.
fn set(fields: &mut Vec<Field>, field: Field) {
    const SEARCHED: usize = 64;
    match fields.iter_mut().rev().take(SEARCHED).find(|known| known.key == field.key) {
        Some(known) => known.value = field.value,
        None => fields.push(field),
    }
}

fn field(key: Text<'_>, value: Value<'_>, builder: &mut ProfileBuilder) -> Field {
    Field { key: string(builder, key), value: field_value(value, builder) }
}

fn string(builder: &mut ProfileBuilder, text: Text<'_>) -> StringId {
    builder.string(&text.decode())
}

fn field_value(value: Value<'_>, builder: &mut ProfileBuilder) -> FieldValue {
    match value {
        Value::Text(text) => FieldValue::Text(string(builder, text)),
        Value::Word(b"true") => FieldValue::Bool(true),
        Value::Word(b"false") => FieldValue::Bool(false),
        Value::Number(number) => match number_value(number) {
            Some(value) => value,
            None => as_written(number, builder),
        },
        Value::Word(text) | Value::Object(text) | Value::Array(text) => as_written(text, builder),
    }
}

/// A number, if the model keeps what it says.
fn number_value(text: &[u8]) -> Option<FieldValue> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(number) = text.parse() {
        return Some(FieldValue::Integer(number));
    }
    // Whole numbers beyond 64 bits would lose digits.
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    text.parse::<f64>().ok().filter(|number| number.is_finite() && !is_whole).map(FieldValue::Float)
}

/// JSON text as it is; what is not quite JSON (`NaN`, a comma too many) as text.
fn as_written(text: &[u8], builder: &mut ProfileBuilder) -> FieldValue {
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let text = builder.string(&String::from_utf8_lossy(text));
    if is_json { FieldValue::Json(text) } else { FieldValue::Text(text) }
}
