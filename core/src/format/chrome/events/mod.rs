//! The raw events of a trace, as they stand in the file: what the model is built from, and what rules that are exact to
//! another tool's code run on.
//!
//! A row is an event, in the order of the file. What most events have is in columns; what some have is in [`Link`]s and
//! [`MoreIds`]; anything else is found again in the text ([`EventTable::args`], [`EventTable::field`]), so that a table is
//! smaller than its text.

mod details;
mod rows;
mod texts;

pub use texts::TextId;

pub(super) use self::details::DetailId;
use self::details::Details;
use self::rows::{Row, Rows};
use self::texts::Texts;
use super::notes;
use super::scan::{self, End, Events, Text, Value};
use crate::format::ReadError;
use crate::format::import_report::ImportReport;
use crate::format::json_keys;

/// A duration that is not there.
const NO_DURATION: i64 = i64::MIN;

/// A time of a thread's clock that is not there.
const NO_CLOCK: i64 = i64::MIN;

/// A row of the [links](EventTable::link) that is not there.
const NO_LINK: u32 = u32::MAX;

/// The events of a trace, one a row, in the order of the file.
#[derive(Debug)]
pub struct EventTable<'a> {
    text: &'a [u8],
    /// Where each event begins in the text.
    pub offset: Vec<u64>,
    /// The first character of `ph`; 0 where it is missing.
    pub phase: Vec<u8>,
    /// `name`.
    pub name: Vec<Option<TextId>>,
    /// `cat`, all of it.
    pub category: Vec<Option<TextId>>,
    /// `ts` in ns; 0 unless `time_form` says that there is one.
    pub time: Vec<i64>,
    /// How `ts` is written.
    pub time_form: Vec<TimeForm>,
    /// Index into [`thread_ids`](Self::thread_ids).
    pub thread: Vec<u32>,
    duration: Vec<i64>,
    link: Vec<u32>,
    detail: Vec<Option<DetailId>>,
    /// `tts` and `tdur` in ns, [`NO_CLOCK`] where they are not there. Empty, or one for each event.
    thread_clock: Vec<[i64; 2]>,
    flags: Vec<EventFlags>,
    links: Vec<Link>,
    more_ids: Vec<MoreIds>,
    details: Details<'a>,
    texts: Texts<'a>,
    thread_ids: Vec<ThreadIds>,
    others: Vec<(Text<'a>, Value<'a>)>,
    others_left_out: u64,
}

/// How the `ts` of an event is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TimeForm {
    /// Not at all, or as `null`.
    Missing,
    /// As a number.
    Number,
    /// As a number in a string.
    Text,
    /// As something that is no time.
    Invalid,
}

/// What the CPU clock of an event's thread says, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ThreadClock {
    /// `tts`: what it showed then.
    pub time: Option<i64>,
    /// `tdur`: how much it went on while the event lasted.
    pub duration: Option<i64>,
}

/// What is special about an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct EventFlags(u8);

/// A value as JavaScript would compare it: numbers are equal by value, and no number equals a string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Scalar {
    /// Not there.
    #[default]
    Missing,
    /// A whole number (`12.0` is one).
    Integer(i64),
    /// Another number, as written.
    Number(TextId),
    /// A string.
    Text(TextId),
    /// `null`, `true`, an object, …: as written.
    Other(TextId),
}

/// `pid` and `tid` of an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadIds {
    /// `pid`.
    pub pid: Scalar,
    /// `tid`.
    pub tid: Scalar,
}

/// What only some events have: ids and what goes with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Link {
    /// `id`.
    pub id: Scalar,
    /// Index into the further ids.
    more: Option<std::num::NonZeroU32>,
    /// The first character of `bp`, the binding point of a flow phase; 0 where it is missing.
    pub binding_point: u8,
    /// The first character of `s`, the scope of an instant; 0 where it is missing.
    pub instant_scope: u8,
    /// `flow_in`.
    pub flow_in: bool,
    /// `flow_out`.
    pub flow_out: bool,
}

/// What few events have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MoreIds {
    /// `id2.local`.
    pub local: Scalar,
    /// `id2.global`.
    pub global: Scalar,
    /// `bind_id`.
    pub bind: Scalar,
    /// `scope`.
    pub scope: Option<TextId>,
    /// `sf`, an id in `stackFrames`.
    pub frame: Scalar,
}

impl EventFlags {
    /// It has an `sf`, an id in `stackFrames`.
    pub const FRAME: Self = Self(1);
    /// It has a `stack` of its own.
    pub const STACK: Self = Self(2);
    /// It has a colour, `cname`.
    pub const COLOR: Self = Self(4);
    /// Its `dur` is not a time.
    pub const BAD_DURATION: Self = Self(8);
    /// Its `ph` is longer than a letter.
    pub const LONG_PHASE: Self = Self(16);
    /// Its `args` are no object.
    pub const BAD_ARGS: Self = Self(32);

    /// Whether all of `other` hold.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether one of `others` holds.
    pub(super) fn has_any(self, others: &[Self]) -> bool {
        others.iter().any(|other| self.has(*other))
    }

    fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl<'a> EventTable<'a> {
    /// Reads the events of a decompressed trace: a list of events, or an object with `traceEvents`.
    ///
    /// # Errors
    /// If the text is neither, or has more events than fit into a table.
    pub fn read(text: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_with(text, &mut ImportReport::default())
    }

    /// The same, with notes of what was odd about the text.
    pub(super) fn read_with(text: &'a [u8], report: &mut ImportReport) -> Result<Self, ReadError> {
        let start = json_keys::start(text);
        if !start.starts_with(b"[") && !start.starts_with(b"{") {
            return Err(ReadError::Syntax {
                offset: text.len() - start.len(),
                message: "neither a list of events nor an object with traceEvents".to_owned(),
            });
        }
        let mut rows = Rows::new(Self::empty(text));
        let mut events = Events::new(text);
        loop {
            let mut row = Row::default();
            rows.begin();
            let Some(found) = events.next_with(&mut |key, value| rows.set(&mut row, key, value)) else { break };
            if !found.is_object {
                report.note(notes::NO_OBJECT, || at(found.offset));
                continue;
            }
            if row.is_nothing() {
                report.note(notes::EMPTY_EVENT, || at(found.offset));
                continue;
            }
            rows.add(&row, found.offset);
            if rows.table.len() >= u32::MAX as usize - 1 {
                let message = format!("more than {} events", rows.table.len());
                return Err(ReadError::Syntax { offset: found.offset, message });
            }
        }
        note_end(&events, report, text.len());
        (rows.table.others, rows.table.others_left_out) = events.into_others();
        rows.table.texts.forget();
        rows.table.details.forget();
        Ok(rows.table)
    }

    fn empty(text: &'a [u8]) -> Self {
        Self {
            text,
            offset: Vec::new(),
            phase: Vec::new(),
            name: Vec::new(),
            category: Vec::new(),
            time: Vec::new(),
            time_form: Vec::new(),
            thread: Vec::new(),
            duration: Vec::new(),
            link: Vec::new(),
            detail: Vec::new(),
            thread_clock: Vec::new(),
            flags: Vec::new(),
            links: Vec::new(),
            more_ids: Vec::new(),
            details: Details::default(),
            texts: Texts::default(),
            thread_ids: Vec::new(),
            others: Vec::new(),
            others_left_out: 0,
        }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.offset.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.offset.is_empty()
    }

    /// `dur` of event `row` in ns, where it is a time.
    pub fn duration(&self, row: usize) -> Option<i64> {
        (self.duration[row] != NO_DURATION).then_some(self.duration[row])
    }

    /// What the CPU clock of event `row`'s thread says.
    pub fn thread_clock(&self, row: usize) -> ThreadClock {
        let known = |nanos: i64| (nanos != NO_CLOCK).then_some(nanos);
        let [time, duration] = self.thread_clock.get(row).copied().unwrap_or([NO_CLOCK; 2]);
        ThreadClock { time: known(time), duration: known(duration) }
    }

    /// What is special about event `row`.
    pub fn flags(&self, row: usize) -> EventFlags {
        self.flags[row]
    }

    /// The ids of event `row` and what goes with them, if it has any.
    pub fn link(&self, row: usize) -> Option<&Link> {
        self.links.get(self.link[row] as usize)
    }

    /// The further ids of event `row`, if it has any.
    pub fn more_ids(&self, row: usize) -> Option<&MoreIds> {
        let more = self.link(row)?.more?;
        self.more_ids.get(more.get() as usize - 1)
    }

    /// `pid` and `tid` of event `row`.
    pub fn ids(&self, row: usize) -> ThreadIds {
        self.thread_ids[self.thread[row] as usize]
    }

    /// The different pairs of `pid` and `tid`, in the order in which they came up.
    pub fn thread_ids(&self) -> &[ThreadIds] {
        &self.thread_ids
    }

    /// The string of `id`; of a number or other value, its text.
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id)
    }

    /// How long the text is.
    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// How many different strings there are; their ids count up to that.
    pub(super) fn text_count(&self) -> usize {
        self.texts.len()
    }

    /// The arguments of event `row` as written, with their braces, if they are an object.
    pub fn args(&self, row: usize) -> Option<&'a [u8]> {
        self.details(row).first().copied().filter(|piece| piece.starts_with(b"{"))
    }

    /// What event `row` says that is in no column; what is equal has one id.
    pub(super) fn detail(&self, row: usize) -> Option<DetailId> {
        self.detail[row]
    }

    /// How many different details there are; their ids count up to that.
    pub(super) fn detail_count(&self) -> usize {
        self.details.len()
    }

    /// The pieces of text that event `row`'s detail is of: the object of its arguments, if it has one, and fields.
    pub(super) fn details(&self, row: usize) -> &[&'a [u8]] {
        self.detail[row].map_or(&[], |detail| self.details.get(detail))
    }

    /// The last field `key` of event `row`, as written.
    pub fn field(&self, row: usize, key: &str) -> Option<&'a [u8]> {
        self.value(row, key).map(Value::written)
    }

    /// The same as a value.
    pub(super) fn value(&self, row: usize, key: &str) -> Option<Value<'a>> {
        let is_meant = |name: &Text<'_>| name.raw == key.as_bytes();
        self.fields(row).into_iter().rev().find(|(name, _)| is_meant(name)).map(|(_, value)| value)
    }

    /// All fields of event `row`, from its text.
    pub(super) fn fields(&self, row: usize) -> Vec<(Text<'a>, Value<'a>)> {
        let from = usize::try_from(self.offset[row]).ok();
        let text = from.and_then(|from| self.text.get(from..)).unwrap_or_default();
        scan::fields(text).unwrap_or_default()
    }

    /// The value of another key of the outermost object, of equal ones the last.
    pub(super) fn other(&self, key: &str) -> Option<Value<'a>> {
        self.others.iter().rev().find(|(name, _)| name.raw == key.as_bytes()).map(|(_, value)| *value)
    }

    /// All other keys of the outermost object.
    pub(super) fn others(&self) -> &[(Text<'a>, Value<'a>)] {
        &self.others
    }

    /// How many of them were too many.
    pub(super) fn others_left_out(&self) -> u64 {
        self.others_left_out
    }

    /// The text of a value of this trace; of a string with its quotes.
    pub(super) fn json(&self, value: Value<'a>) -> &'a [u8] {
        let Value::Text(text) = value else { return value.written() };
        let start = place(self.text, text.raw).wrapping_sub(1);
        self.text.get(start..start.wrapping_add(text.raw.len() + 2)).unwrap_or_default()
    }

    /// Where event `row` is, for messages.
    pub(super) fn place(&self, row: usize) -> String {
        format!("byte {}", self.offset[row])
    }
}

fn at(offset: usize) -> String {
    format!("byte {offset}")
}

/// Notes how the text ended.
fn note_end(events: &Events<'_>, report: &mut ImportReport, len: usize) {
    match events.end() {
        End::Closed => {}
        End::Unclosed => report.note(notes::UNCLOSED, || at(len)),
        End::InsideEvent(offset) => report.note(notes::CUT_EVENT, || at(offset)),
        End::Damaged(offset) => report.note(notes::DAMAGED, || at(offset)),
    }
    if let Some(offset) = events.trailing() {
        report.note(notes::TRAILING, || at(offset));
    }
    let ((extra, missing), place) = (events.odd_commas(), || "between events".to_owned());
    report.count(notes::EXTRA_COMMA, extra, place);
    report.count(notes::MISSING_COMMA, missing, place);
}

/// Where a part of a text begins: the difference of their addresses.
fn place(text: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr().wrapping_sub(text.as_ptr().addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> EventTable<'_> {
        EventTable::read(text.as_bytes()).expect("a trace")
    }

    #[test]
    fn columns_hold_events_as_written() {
        let text = r#"[{"ph":"X","name":"a\u0062","cat":"c,d","ts":1.5,"dur":"2","pid":"1","tid":-7,"args":{"x":[1]}},
            {"name":"ab","ph":"begin","ts":"1.5","pid":1,"tid":1e20,"tts":4,"id":12.0,"bp":"e",
             "id2":{"local":"0x1"},"scope":"s","flow_out":true,"bind_id":"0x2"},
            {"ph":"M","ts":null,"args":"__stripped__","dur":{},".line":7},{"ph":"i","ts":"soon","s":"g","stack":[]}]"#;
        let table = read(text);
        assert_eq!(table.phase, b"XbMi");
        assert_eq!(table.name[0], table.name[1], "equal strings, however they are written");
        assert_eq!(table.text(table.name[0].expect("a name")), "ab");
        assert_eq!(table.text(table.category[0].expect("a category")), "c,d");
        assert_eq!(table.time, [1_500, 1_500, 0, 0]);
        assert_eq!(table.time_form, [TimeForm::Number, TimeForm::Text, TimeForm::Missing, TimeForm::Invalid]);
        assert_eq!([0, 1, 2].map(|row| table.duration(row)), [Some(2_000), None, None]);
        assert_eq!(table.args(0), Some(&br#"{"x":[1]}"#[..]));
        assert_eq!((table.args(1), table.args(2)), (None, None));
        assert!(matches!(table.ids(0), ThreadIds { pid: Scalar::Text(_), tid: Scalar::Integer(-7) }));
        assert!(matches!(
            table.ids(1),
            ThreadIds { pid: Scalar::Integer(1), tid: Scalar::Integer(_) | Scalar::Number(_) }
        ));
        let link = table.link(1).expect("it has an id");
        assert_eq!(
            (link.id, link.binding_point, link.flow_out, link.flow_in),
            (Scalar::Integer(12), b'e', true, false)
        );
        let more = table.more_ids(1).expect("it has more ids");
        assert!(matches!((more.local, more.global, more.bind), (Scalar::Text(_), Scalar::Missing, Scalar::Text(_))));
        assert_eq!(table.link(3).map(|link| link.instant_scope), Some(b'g'));
        assert!(table.flags(2).has(EventFlags::BAD_ARGS) && table.flags(2).has(EventFlags::BAD_DURATION));
        assert!(table.flags(3).has(EventFlags::STACK));
        assert_eq!(table.details(0), [&br#"{"x":[1]}"#[..]]);
        assert_eq!(table.details(2), [&br#""args":"__stripped__""#[..], &br#"".line":7"#[..]]);
        assert_eq!(table.thread_clock(1), ThreadClock { time: Some(4_000), duration: None });
        assert_eq!((table.flags(0), table.flags(1)), (EventFlags::default(), EventFlags::LONG_PHASE));
        assert_eq!(table.field(2, ".line"), Some(&b"7"[..]));
    }

    #[test]
    fn the_last_of_equal_fields_counts() {
        let table = read(r#"[{"ph":"X","ts":1,"ph":"B","ts":2,"id":1,"id":"1"}]"#);
        assert_eq!((table.phase[0], table.time[0]), (b'B', 2_000));
        assert!(matches!(table.link(0).map(|link| link.id), Some(Scalar::Text(_))));
    }

    #[test]
    fn what_is_no_event_is_counted_and_left_out() {
        let mut report = ImportReport::default();
        let table = EventTable::read_with(b"[{\"ph\":\"B\"},{},7,null,{\"args\":{}}", &mut report).expect("a trace");
        assert_eq!(table.len(), 1);
        let found = report.into_warnings();
        let found: Vec<_> = found.iter().map(|one| (&*one.code, one.count, one.first.as_deref())).collect();
        assert_eq!(
            found,
            [
                ("empty-event", 2, Some("byte 12")),
                ("not-an-event", 2, Some("byte 15")),
                ("not-closed", 1, Some("byte 33"))
            ]
        );
    }

    #[test]
    fn what_is_no_list_of_events_is_refused_with_its_place() {
        let error = EventTable::read(b"  7").expect_err("no trace").to_string();
        assert_eq!(error, "byte 2: neither a list of events nor an object with traceEvents");
    }
}
