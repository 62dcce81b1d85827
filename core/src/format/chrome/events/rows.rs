//! How the table grows: the fields of an event go into its columns.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::texts::Texts;
use super::{EventFlags, EventTable, Link, MoreIds, NO_CLOCK, NO_DURATION, NO_LINK, ThreadIds, TimeForm, place};
use crate::format::chrome::scan::{self, Key, Text, Value, short};
use crate::format::chrome::time::nanos_of_micros;

/// A table while it grows.
pub(super) struct Rows<'a> {
    pub table: EventTable<'a>,
    threads: FxHashMap<ThreadIds, u32>,
    /// `pid` and `tid` of the last event as written, and their thread: most events have those of the one before.
    last: (Option<Value<'a>>, Option<Value<'a>>, u32),
    /// The fields of the event that go into its link.
    links: Vec<(Text<'a>, Value<'a>)>,
    /// The fields of the event that have no other place, from the quote of the key to the end of the value. Before them, as
    /// soon as it is whole, its arguments.
    pieces: Vec<&'a [u8]>,
}

/// An event's fields that go into columns.
#[derive(Default)]
pub(super) struct Row<'a> {
    name: Option<Value<'a>>,
    category: Option<Value<'a>>,
    phase: Option<Value<'a>>,
    time: Option<Value<'a>>,
    duration: Option<Value<'a>>,
    pid: Option<Value<'a>>,
    tid: Option<Value<'a>>,
    args: Option<(Text<'a>, Value<'a>)>,
    /// With their keys: what is no time stays a field.
    thread_time: Option<(Text<'a>, Value<'a>)>,
    thread_duration: Option<(Text<'a>, Value<'a>)>,
    flags: EventFlags,
}

impl Row<'_> {
    pub(super) fn is_nothing(&self) -> bool {
        let fields = [self.name, self.category, self.phase, self.time, self.pid, self.tid];
        fields.iter().all(Option::is_none)
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(table: EventTable<'a>) -> Self {
        let (threads, links, pieces) = (FxHashMap::default(), Vec::new(), Vec::new());
        Self { table, threads, last: (None, None, 0), links, pieces }
    }

    /// Makes room for the next event.
    pub(super) fn begin(&mut self) {
        self.links.clear();
        self.pieces.clear();
    }

    /// Takes in a field; of equal ones the last counts.
    pub(super) fn set(&mut self, row: &mut Row<'a>, key: Key<'a>, field: Value<'a>) {
        /// The bytes of keys; see [`short`].
        macro_rules! keys {
            ($($name:ident = $key:literal),*) => { $(const $name: u64 = short($key);)* };
        }
        keys! {
            NAME = b"name", CATEGORY = b"cat", PHASE = b"ph", TIME = b"ts", DURATION = b"dur", PID = b"pid", TID = b"tid",
            ARGS = b"args", ID = b"id", ID2 = b"id2", BIND_ID = b"bind_id", SCOPE = b"scope", BINDING_POINT = b"bp",
            INSTANT_SCOPE = b"s", FLOW_IN = b"flow_in", FRAME = b"sf", END_FRAME = b"esf", STACK = b"stack",
            COLOR = b"cname", THREAD_TIME = b"tts", THREAD_DURATION = b"tdur"
        }
        let value = Some(field);
        match key.short {
            NAME => row.name = value,
            CATEGORY => row.category = value,
            PHASE => row.phase = value,
            TIME => row.time = value,
            DURATION => row.duration = value,
            PID => row.pid = value,
            TID => row.tid = value,
            ARGS => row.args = Some((key.text, field)),
            ID | ID2 | BIND_ID | SCOPE | BINDING_POINT | INSTANT_SCOPE | FLOW_IN => self.links.push((key.text, field)),
            FRAME => {
                row.flags.set(EventFlags::FRAME);
                self.links.push((key.text, field));
            }
            STACK => {
                row.flags.set(EventFlags::STACK);
                self.pieces.push(piece(self.table.text, key.text, field));
            }
            COLOR => row.flags.set(EventFlags::COLOR),
            THREAD_TIME => row.thread_time = Some((key.text, field)),
            THREAD_DURATION => row.thread_duration = Some((key.text, field)),
            END_FRAME => {}
            _ => match key.text.raw {
                b"flow_out" => self.links.push((key.text, field)),
                b"use_async_tts" => {}
                _ => self.pieces.push(piece(self.table.text, key.text, field)),
            },
        }
    }

    pub(super) fn add(&mut self, row: &Row<'a>, offset: usize) {
        let mut flags = row.flags;
        let (time, time_form) = time(row.time);
        let (duration, duration_form) = self::time(row.duration);
        if duration_form == TimeForm::Invalid {
            flags.set(EventFlags::BAD_DURATION);
        }
        let has_duration = matches!(duration_form, TimeForm::Number | TimeForm::Text);
        let (phase, is_long) = first_character(row.phase);
        if is_long {
            flags.set(EventFlags::LONG_PHASE);
        }
        match row.args {
            None => {}
            Some((_, Value::Object(args))) => self.pieces.insert(0, args),
            Some((key, value)) => {
                flags.set(EventFlags::BAD_ARGS);
                self.pieces.insert(0, piece(self.table.text, key, value));
            }
        }
        let clock = [row.thread_time, row.thread_duration].map(|field| self.thread_nanos(field));
        let thread = self.thread(row.pid, row.tid);
        let link = if self.links.is_empty() { NO_LINK } else { self.link() };
        let table = &mut self.table;
        let name = row.name.and_then(|name| table.texts.of_value(name));
        let category = row.category.and_then(|category| table.texts.of_value(category));
        table.offset.push(offset as u64);
        table.phase.push(phase);
        table.name.push(name);
        table.category.push(category);
        table.time.push(time);
        table.time_form.push(time_form);
        table.thread.push(thread);
        table.duration.push(if has_duration { duration } else { NO_DURATION });
        table.link.push(link);
        table.detail.push(table.details.of(&self.pieces));
        table.flags.push(flags);
        if clock != [NO_CLOCK; 2] || !table.thread_clock.is_empty() {
            table.thread_clock.resize(table.offset.len() - 1, [NO_CLOCK; 2]);
            table.thread_clock.push(clock);
        }
    }

    /// A time of the thread's clock; what is none stays a field.
    fn thread_nanos(&mut self, field: Option<(Text<'a>, Value<'a>)>) -> i64 {
        let Some((key, value)) = field else { return NO_CLOCK };
        match time(Some(value)) {
            (nanos, TimeForm::Number | TimeForm::Text) => nanos,
            (_, TimeForm::Missing) => NO_CLOCK,
            (_, TimeForm::Invalid) => {
                self.pieces.push(piece(self.table.text, key, value));
                NO_CLOCK
            }
        }
    }

    fn thread(&mut self, pid: Option<Value<'a>>, tid: Option<Value<'a>>) -> u32 {
        let is_known = !self.table.thread_ids.is_empty();
        if is_known && (self.last.0, self.last.1) == (pid, tid) {
            return self.last.2;
        }
        let texts = &mut self.table.texts;
        let ids = ThreadIds { pid: texts.scalar(pid), tid: texts.scalar(tid) };
        let next = self.table.thread_ids.len();
        let thread = *self.threads.entry(ids).or_insert_with(|| u32::try_from(next).expect("fewer than events"));
        if thread as usize == next {
            self.table.thread_ids.push(ids);
        }
        self.last = (pid, tid, thread);
        thread
    }

    fn link(&mut self) -> u32 {
        let table = &mut self.table;
        let (mut link, mut more) = (Link::default(), MoreIds::default());
        for (key, value) in &self.links {
            let scalar = |texts: &mut Texts<'a>| texts.scalar(Some(*value));
            match key.raw {
                b"id" => link.id = scalar(&mut table.texts),
                b"bind_id" => more.bind = scalar(&mut table.texts),
                b"sf" => more.frame = scalar(&mut table.texts),
                b"scope" => more.scope = table.texts.of_value(*value),
                b"bp" => link.binding_point = first_character(Some(*value)).0,
                b"s" => link.instant_scope = first_character(Some(*value)).0,
                b"flow_in" => link.flow_in = is_true(*value),
                b"flow_out" => link.flow_out = is_true(*value),
                b"id2" => {
                    let Value::Object(object) = *value else { continue };
                    for (key, value) in scan::fields(object).unwrap_or_default() {
                        match key.raw {
                            b"local" => more.local = table.texts.scalar(Some(value)),
                            b"global" => more.global = table.texts.scalar(Some(value)),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        if more != MoreIds::default() {
            table.more_ids.push(more);
            link.more = u32::try_from(table.more_ids.len()).ok().and_then(std::num::NonZeroU32::new);
        }
        table.links.push(link);
        u32::try_from(table.links.len() - 1).expect("fewer than events")
    }
}

/// The text of a field, from the quote of its key to the end of its value.
fn piece<'a>(text: &'a [u8], key: Text<'a>, value: Value<'a>) -> &'a [u8] {
    let value_end = place(text, value.written()).wrapping_add(value.written().len());
    let end = if matches!(value, Value::Text(_)) { value_end.wrapping_add(1) } else { value_end };
    text.get(place(text, key.raw).wrapping_sub(1)..end).unwrap_or_default()
}

fn is_true(value: Value<'_>) -> bool {
    match value {
        Value::Word(word) => word == b"true",
        Value::Number(number) => number.iter().any(|byte| matches!(byte, b'1'..=b'9')),
        Value::Text(text) => text.raw == b"true",
        Value::Object(_) | Value::Array(_) => false,
    }
}

/// The first byte of a string, and whether more follow.
fn first_character(value: Option<Value<'_>>) -> (u8, bool) {
    let Some(Value::Text(text)) = value else { return (0, false) };
    let decoded = if text.is_escaped { text.decode() } else { Cow::Borrowed("") };
    let bytes = if text.is_escaped { decoded.as_bytes() } else { text.raw };
    (bytes.first().copied().unwrap_or(0), bytes.len() > 1)
}

/// A time, and how it is written.
fn time(value: Option<Value<'_>>) -> (i64, TimeForm) {
    let (text, form) = match value {
        None | Some(Value::Word(b"null")) => return (0, TimeForm::Missing),
        Some(Value::Number(number)) => (number, TimeForm::Number),
        Some(Value::Text(text)) => (text.raw, TimeForm::Text),
        Some(_) => return (0, TimeForm::Invalid),
    };
    nanos_of_micros(text).map_or((0, TimeForm::Invalid), |nanos| (nanos, form))
}
