//! Events of an `evented` profile to spans, each with the stack that was open.
//!
//! speedscope itself refuses a profile whose events are out of order or close what is not innermost. Here the former happen
//! when the one before did, and the latter close what is above them too.

use std::fmt;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::super::super::import_report::Note;
use super::super::super::json_scan::{Scan, Scanner};
use super::super::super::json_value::{Index, Number};
use super::axis::{self, Column};
use super::path::Path;
use super::{Context, samples};
use crate::model::{FrameId, StackId};

const OUT_OF_ORDER: Note =
    Note { code: "events-out-of-order", message: "events before the one ahead of them happen with that one" };
const WITHOUT_VALUE: Note =
    Note { code: "events-without-value", message: "events without a value happen with the one before" };
const UNKNOWN_TYPE: Note = Note { code: "events-unknown", message: "events of unknown types are left out" };
const NOT_OPEN: Note = Note { code: "close-without-open", message: "ends of frames that are not open are left out" };
const CLOSED_EARLY: Note =
    Note { code: "frames-closed-early", message: "frames end with the frame below them, which ended first" };

/// The spans between events, in order.
#[derive(Default)]
pub(super) struct Spans {
    /// What was open.
    pub stacks: Vec<Option<StackId>>,
    /// How long they are.
    pub lengths: Column,
    /// Where the first begins and the last ends; `None` without events.
    pub ends: Option<(Number, Number)>,
    path: Path,
    /// How often each frame is open.
    open: FxHashMap<FrameId, u32>,
}

impl Spans {
    /// Lets time pass up to `value`, if it is not behind that.
    pub(super) fn pass(&mut self, value: Number) {
        let Some((start, now)) = self.ends else {
            self.ends = Some((value, value));
            return;
        };
        if axis::is_before(now, value) {
            self.stacks.push(self.path.top());
            self.lengths.push(axis::distance(now, value));
            self.ends = Some((start, value));
        }
    }

    /// How many frames are open.
    pub(super) fn depth(&self) -> u64 {
        self.open.values().map(|count| u64::from(*count)).sum()
    }

    fn is_behind(&self, value: Number) -> bool {
        self.ends.is_some_and(|(_, now)| axis::is_before(value, now))
    }
}

/// An event.
#[derive(Deserialize)]
struct Event {
    r#type: EventType,
    frame: Index,
    #[serde(default)]
    at: Option<Number>,
}

#[derive(Clone, Copy, Deserialize)]
enum EventType {
    #[serde(rename = "O")]
    Open,
    #[serde(rename = "C")]
    Close,
    #[serde(other)]
    Unknown,
}

impl<'a> Scan<'a> for Event {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        let (mut kind, mut frame, mut at) = (None, None, None);
        scanner.object(|scanner, Key(key)| {
            match key {
                "type" if kind.is_none() => kind = Some(EventType::of(scanner.plain_string()?)),
                "frame" if frame.is_none() => frame = Some(Index::scan(scanner)?),
                "at" if at.is_none() => at = Some(Option::<Number>::scan(scanner)?),
                "type" | "frame" | "at" => return None,
                _ => _ = scanner.by_serde::<IgnoredAny>()?,
            }
            Some(())
        })?;
        Some(Self { r#type: kind?, frame: frame?, at: at.flatten() })
    }
}

/// The key of an object, without escapes.
struct Key<'a>(&'a str);

impl<'a> Scan<'a> for Key<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.plain_string().map(Self)
    }
}

impl EventType {
    fn of(letter: &str) -> Self {
        match letter {
            "O" => Self::Open,
            "C" => Self::Close,
            _ => Self::Unknown,
        }
    }
}

/// The array of events.
pub(super) struct Events<'a>(pub &'a mut Context);

impl<'de> DeserializeSeed<'de> for Events<'_> {
    type Value = Spans;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Spans, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = Spans;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Spans, A::Error> {
        let mut spans = Spans::default();
        let mut index = 0;
        while let Some(event) = seq.next_element::<Event>()? {
            self.0.add(&mut spans, &event, index);
            index += 1;
        }
        Ok(spans)
    }
}

impl Context {
    pub(super) fn scan_events(&mut self, scanner: &mut Scanner<'_>) -> Option<Spans> {
        let mut spans = Spans::default();
        let mut index = 0;
        scanner.array(|scanner| {
            let event = Event::scan(scanner)?;
            self.add(&mut spans, &event, index);
            index += 1;
            Some(())
        })?;
        Some(spans)
    }

    fn add(&mut self, spans: &mut Spans, event: &Event, index: usize) {
        let profile = self.profiles;
        let place = || format!("profiles[{profile}].events[{index}]");
        match event.at {
            Some(at) if spans.is_behind(at) => self.report.note(OUT_OF_ORDER, place),
            Some(at) => spans.pass(at),
            None => self.report.note(WITHOUT_VALUE, place),
        }
        let Some(frame) = self.frames.get(event.frame) else {
            self.report.note(samples::NO_FRAME, place);
            return;
        };
        match event.r#type {
            EventType::Open => {
                spans.path.push(&mut self.builder, frame);
                *spans.open.entry(frame).or_default() += 1;
            }
            EventType::Close if spans.open.contains_key(&frame) => {
                while let Some(top) = spans.path.pop() {
                    if let Some(count) = spans.open.get_mut(&top) {
                        *count -= 1;
                        if *count == 0 {
                            spans.open.remove(&top);
                        }
                    }
                    if top == frame {
                        break;
                    }
                    self.report.note(CLOSED_EARLY, place);
                }
            }
            EventType::Close => self.report.note(NOT_OPEN, place),
            EventType::Unknown => self.report.note(UNKNOWN_TYPE, place),
        }
    }
}
