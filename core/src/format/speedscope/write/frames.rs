//! The table of frames of a file, and which of them a stack is.

use rustc_hash::FxHashMap;

use super::axis::What;
use super::text::Text;
use crate::analysis::WaitKind;
use crate::format::WriteError;
use crate::format::decimal::digits;
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
    /// How many nodes are above each node of a stack.
    depths: Vec<u32>,
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
        let mut depths = Vec::with_capacity(stacks.len());
        for prefix in &stacks.prefix {
            depths.push(prefix.map_or(0, |prefix| depths[prefix.index()] + 1));
        }
        let Self { profile, waits, wait_kinds, no_stack, .. } = self;
        Numbered { profile, numbers, depths, rows, waits, wait_kinds, no_stack }
    }
}

impl Numbered<'_> {
    /// The frame that stands below a stack, as the innermost.
    fn leaf(&self, what: What) -> Option<u32> {
        match what {
            What::Nothing | What::Stack(_) => None,
            What::Wait(_, kind) => Some(count(self.rows.len()) + self.waits[&kind]),
            What::NoStack => Some(count(self.rows.len() + self.wait_kinds.len())),
        }
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

/// Stacks as arrays of numbers, the outermost frame first. Neighbours are alike: what a stack shares with the one before is
/// copied.
#[derive(Default)]
pub(super) struct Paths {
    /// The nodes of the stack before, the outermost first, and where the text of each ends.
    nodes: Vec<(StackId, usize)>,
    text: Vec<u8>,
    /// Nodes to add.
    new: Vec<StackId>,
}

impl Paths {
    /// The numbers of `what`, with commas.
    pub(super) fn of(&mut self, frames: &Numbered<'_>, what: What) -> &[u8] {
        let stack = match what {
            What::Nothing | What::NoStack => None,
            What::Stack(stack) => Some(stack),
            What::Wait(stack, _) => stack,
        };
        let stacks = &frames.profile.stacks;
        let mut node = stack;
        let mut shared = 0;
        while let Some(next) = node {
            let depth = frames.depths[next.index()] as usize;
            if self.nodes.get(depth).is_some_and(|(known, _)| *known == next) {
                shared = depth + 1;
                break;
            }
            self.new.push(next);
            node = stacks.prefix[next.index()];
        }
        self.nodes.truncate(shared);
        self.text.truncate(self.nodes.last().map_or(0, |(_, end)| *end));
        while let Some(node) = self.new.pop() {
            self.number(frames.numbers[stacks.frame[node.index()].index()]);
            self.nodes.push((node, self.text.len()));
        }
        if let Some(leaf) = frames.leaf(what) {
            self.number(leaf);
        }
        &self.text
    }

    fn number(&mut self, number: u32) {
        if !self.text.is_empty() {
            self.text.push(b',');
        }
        digits(&mut self.text, number.into());
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
