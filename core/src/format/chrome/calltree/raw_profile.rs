//! CPU profiles of V8 as they are written: in events of a trace, whole or in pieces, or as a file of its own.
//!
//! Numbers are doubles here, as in JavaScript: what is computed from them has to come out the same to the last bit.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::CallTreeError;
use crate::format::ReadError;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::{EventTable, Scalar};
use crate::format::chrome::scan::{Fault, Value};

/// A profile as written.
#[derive(Debug, Default)]
pub(super) struct RawProfile<'a> {
    /// In µs.
    pub start: f64,
    /// In µs.
    pub end: f64,
    pub nodes: Vec<RawNode<'a>>,
    pub samples: Vec<Option<NodeKey>>,
    /// In µs, between samples; the first from the start.
    pub deltas: Vec<f64>,
    /// The node in which an event was, by the id that the event has for that.
    pub trace_ids: FxHashMap<Cow<'a, str>, NodeKey>,
    /// The thread that it is of, by its index in the table.
    thread: Option<u32>,
}

/// A node as written.
#[derive(Debug)]
pub(super) struct RawNode<'a> {
    pub key: Option<NodeKey>,
    pub parent: Option<NodeKey>,
    pub children: Option<Vec<Option<NodeKey>>>,
    pub frame: CallFrame<'a>,
}

/// A function and where it is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct CallFrame<'a> {
    pub name: Cow<'a, str>,
    pub url: Cow<'a, str>,
    /// Empty where JavaScript would take the id for false.
    pub script: Cow<'a, str>,
    /// The bits of the number.
    pub line: Option<u64>,
}

/// The id of a node, a number, as a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NodeKey(u64);

impl NodeKey {
    fn of(value: Value<'_>) -> Option<Self> {
        number(value).map(|number| Self(number.to_bits()))
    }
}

/// A finite number; zero has no sign.
pub(super) fn number(value: Value<'_>) -> Option<f64> {
    let Value::Number(text) = value else { return None };
    let number = std::str::from_utf8(text).ok()?.parse::<f64>().ok()?;
    // Adding 0 makes 0 of -0.
    number.is_finite().then_some(number + 0.0)
}

impl<'a> RawProfile<'a> {
    /// The profile of a file that is one.
    pub(super) fn of_file(text: &'a [u8]) -> Result<Self, CallTreeError> {
        let file = Arguments::of_whole(text).map_err(|fault| match fault {
            Fault::End => ReadError::Truncated { offset: text.len() },
            Fault::Bad(offset) => ReadError::Syntax { offset, message: "no JSON".to_owned() },
        })?;
        if file.get("nodes").is_none() {
            return Err(CallTreeError::OldProfile);
        }
        Ok(Self::whole(&file))
    }

    /// The profile of a thread of `table`: of several the last.
    pub(super) fn of_thread(table: &EventTable<'a>, thread: u32) -> Option<Self> {
        let pid = table.thread_ids()[thread as usize].pid;
        let is_of_process: Vec<bool> = table.thread_ids().iter().map(|ids| ids.pid == pid).collect();
        let mut profiles: Vec<Self> = Vec::new();
        let mut by_id: FxHashMap<Option<Scalar>, usize> = FxHashMap::default();
        for row in 0..table.len() {
            let event_thread = table.thread[row];
            if !is_of_process[event_thread as usize] {
                continue;
            }
            let Some(name) = table.name[row].map(|name| table.text(name)) else { continue };
            if !matches!(name, "Profile" | "ProfileChunk" | "CpuProfile") {
                continue;
            }
            let id = (name != "CpuProfile").then(|| table.link(row).map_or(Scalar::Missing, |link| link.id));
            let index = *by_id.entry(id).or_insert(profiles.len());
            if index == profiles.len() {
                profiles.push(Self::default());
            }
            let profile = &mut profiles[index];
            let data = Arguments::of(table.args(row).unwrap_or_default()).object("data");
            match name {
                "Profile" => {
                    profile.start = table.value(row, "ts").and_then(number).unwrap_or(0.0);
                    profile.thread = Some(event_thread);
                }
                "CpuProfile" => {
                    *profile = Self::whole(&data.object("cpuProfile"));
                    profile.thread = Some(event_thread);
                }
                _ => profile.add_piece(&data),
            }
        }
        profiles.into_iter().rev().find(|profile| profile.thread == Some(thread) && !profile.nodes.is_empty())
    }

    fn whole(profile: &Arguments<'a>) -> Self {
        let time = |key| profile.get(key).and_then(number).unwrap_or(0.0);
        Self {
            start: time("startTime"),
            end: time("endTime"),
            nodes: profile.list("nodes").into_iter().map(|node| RawNode::of(node, false)).collect(),
            samples: profile.list("samples").into_iter().map(NodeKey::of).collect(),
            deltas: profile.list("timeDeltas").into_iter().map(|delta| number(delta).unwrap_or(0.0)).collect(),
            trace_ids: FxHashMap::default(),
            thread: None,
        }
    }

    fn add_piece(&mut self, data: &Arguments<'a>) {
        let profile = data.object("cpuProfile");
        self.nodes.extend(profile.list("nodes").into_iter().map(|node| RawNode::of(node, true)));
        self.samples.extend(profile.list("samples").into_iter().map(NodeKey::of));
        self.deltas.extend(data.list("timeDeltas").into_iter().map(|delta| number(delta).unwrap_or(0.0)));
        for (id, node) in profile.object("trace_ids").iter() {
            if let Some(node) = NodeKey::of(node) {
                self.trace_ids.insert(id.decode(), node);
            }
        }
    }
}

impl<'a> RawNode<'a> {
    /// `is_piece`: of an event `ProfileChunk`, in which what is missing gets a value.
    fn of(node: Value<'a>, is_piece: bool) -> Self {
        let node = match node {
            Value::Object(node) => Arguments::of(node),
            _ => Arguments::of(b""),
        };
        let frame = node.object("callFrame");
        let text = |key| match frame.get(key) {
            Some(Value::Text(text)) => text.decode(),
            _ => Cow::Borrowed(""),
        };
        let line = frame.get("lineNumber").and_then(number).or(is_piece.then_some(-1.0));
        let children = match node.get("children") {
            Some(Value::Array(_)) => Some(node.list("children").into_iter().map(NodeKey::of).collect()),
            _ => None,
        };
        Self {
            key: node.get("id").and_then(NodeKey::of),
            parent: node.get("parent").and_then(NodeKey::of),
            children,
            frame: CallFrame {
                name: text("functionName"),
                url: text("url"),
                script: script(frame.get("scriptId"), is_piece),
                line: line.map(f64::to_bits),
            },
        }
    }
}

/// The id of a script as text.
fn script(id: Option<Value<'_>>, is_piece: bool) -> Cow<'_, str> {
    match id {
        Some(Value::Text(text)) => text.decode(),
        Some(Value::Number(b"0")) if !is_piece => Cow::Borrowed(""),
        Some(value) => String::from_utf8_lossy(value.written()),
        None if is_piece => Cow::Borrowed("undefined"),
        None => Cow::Borrowed(""),
    }
}
