//! The table of frames of a file, and which of them a stack is.

use rustc_hash::FxHashMap;

use super::axis::What;
use super::text::Text;
use crate::analysis::WaitKind;
use crate::format::WriteError;
use crate::format::json_value::Number;
use crate::model::{FrameId, Profile, StackId, StringId};

const NO_STACK: &str = "[no stack]";

/// Collects what is in use.
pub(super) struct FrameNumbers<'a> {
    profile: &'a Profile,
    /// Whether each node of a stack is the innermost of one that is in use.
    used: Vec<bool>,
    waits: FxHashMap<WaitKind, u32>,
    wait_kinds: Vec<WaitKind>,
    no_stack: bool,
}

/// What speedscope tells frames apart by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Row {
    name: StringId,
    file: Option<StringId>,
    line: Option<u32>,
    column: Option<u32>,
}

/// The frames of a file by number: those of stacks, then what was waited for, then the one for samples without a stack.
pub(super) struct Numbered<'a> {
    profile: &'a Profile,
    /// The number of each frame of the profile that is in use.
    numbers: Vec<u32>,
    rows: Vec<Row>,
    waits: FxHashMap<WaitKind, u32>,
    wait_kinds: Vec<WaitKind>,
    no_stack: bool,
}

impl<'a> FrameNumbers<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        Self {
            profile,
            used: vec![false; profile.stacks.len()],
            waits: FxHashMap::default(),
            wait_kinds: Vec::new(),
            no_stack: false,
        }
    }

    pub(super) fn note(&mut self, what: What) {
        let stack = match what {
            What::Nothing => None,
            What::Stack(stack) => Some(stack),
            What::NoStack => {
                self.no_stack = true;
                None
            }
            What::Wait(stack, kind) => {
                let next = count(self.wait_kinds.len());
                if *self.waits.entry(kind).or_insert(next) == next {
                    self.wait_kinds.push(kind);
                }
                stack
            }
        };
        if let Some(stack) = stack {
            self.used[stack.index()] = true;
        }
    }

    pub(super) fn finish(mut self) -> Numbered<'a> {
        let stacks = &self.profile.stacks;
        let mut in_use = vec![false; self.profile.frames.len()];
        // Callees stand behind their callers.
        for node in (0..stacks.len()).rev() {
            if self.used[node] {
                in_use[stacks.frame[node].index()] = true;
                if let Some(caller) = stacks.prefix[node] {
                    self.used[caller.index()] = true;
                }
            }
        }
        let mut rows = Vec::new();
        let mut known: FxHashMap<Row, u32> = FxHashMap::default();
        let number = |(frame, used): (usize, bool)| {
            if !used {
                return u32::MAX;
            }
            let row = row(self.profile, FrameId::new(frame));
            *known.entry(row).or_insert_with(|| {
                rows.push(row);
                count(rows.len() - 1)
            })
        };
        let numbers = in_use.into_iter().enumerate().map(number).collect();
        let Self { profile, waits, wait_kinds, no_stack, .. } = self;
        Numbered { profile, numbers, rows, waits, wait_kinds, no_stack }
    }
}

impl Numbered<'_> {
    /// The frames of a stack, the innermost first.
    pub(super) fn path(&self, what: What) -> impl Iterator<Item = u32> {
        let (stack, leaf): (Option<StackId>, Option<u32>) = match what {
            What::Nothing => (None, None),
            What::Stack(stack) => (Some(stack), None),
            What::Wait(stack, kind) => (stack, Some(count(self.rows.len()) + self.waits[&kind])),
            What::NoStack => (None, Some(count(self.rows.len() + self.wait_kinds.len()))),
        };
        let stacks = &self.profile.stacks;
        let nodes = stack.into_iter().flat_map(|stack| stacks.ancestors(stack));
        leaf.into_iter().chain(nodes.map(|node| self.numbers[stacks.frame[node.index()].index()]))
    }

    pub(super) fn write(&self, profile: &Profile, text: &mut Text<'_>) -> Result<(), WriteError> {
        let mut separator = "\n{";
        let mut begin = |text: &mut Text<'_>, name: &str| {
            text.raw(std::mem::replace(&mut separator, ",\n{"))?;
            text.first_field("name", name)
        };
        for row in &self.rows {
            begin(text, profile.string(row.name))?;
            if let Some(file) = row.file {
                text.field("file", profile.string(file))?;
            }
            for (key, place) in [(",\"line\":", row.line), (",\"col\":", row.column)] {
                if let Some(place) = place {
                    text.raw(key)?;
                    text.number(Number::Integer(place.into()))?;
                }
            }
            text.raw("}")?;
        }
        let waits = self.wait_kinds.iter().map(|kind| kind.label(profile));
        for name in waits.chain(self.no_stack.then_some(NO_STACK.into())) {
            begin(text, &name)?;
            text.raw("}")?;
        }
        Ok(())
    }
}

/// A frame as the file has it: at the line that ran, or where only the function is known, at its first.
fn row(profile: &Profile, frame: FrameId) -> Row {
    let frame = profile.frames.get(frame);
    let function = profile.functions.get(frame.function);
    let (line, column) =
        if frame.line.is_some() { (frame.line, frame.column) } else { (function.line, function.column) };
    Row {
        name: function.name,
        file: function.source.map(|source| profile.sources[source.index()].path),
        line: line.filter(|line| *line > 0),
        column: column.filter(|column| *column > 0),
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).expect("tables have fewer than u32::MAX rows")
}
