//! Slices: named spans of a thread that nest, as trace events record them.

use super::ids::{CategoryId, PayloadId, SliceId, StringId};
use super::time::{Nanos, Time};

/// The slices of one thread, one a row, in order of their starts; a parent stands before its children.
///
/// Within a lane, slices nest: a child lies inside its parent. Spans that overlap without nesting are on lanes of their
/// own, so that none is lost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SliceTable {
    /// When it began.
    pub start: Vec<Time>,
    /// How long it lasted.
    pub duration: Vec<Nanos>,
    /// What it is called.
    pub name: Vec<StringId>,
    /// Its category.
    pub category: Vec<CategoryId>,
    /// The slice around it on the same lane.
    pub parent: Vec<Option<SliceId>>,
    /// How many slices are around it.
    pub depth: Vec<u32>,
    /// 0, or the number of the lane that it had to be put on.
    pub lane: Vec<u32>,
    /// Its arguments.
    pub args: Vec<Option<PayloadId>>,
    /// Whether its beginning or end was missing, so that it reaches to the edge of what was recorded.
    pub incomplete: Vec<bool>,
    /// What the CPU clock of its thread said. Optional: empty, or one for each slice.
    pub cpu: Vec<SliceCpu>,
}

/// What the CPU clock of a slice's thread said, which stands while the thread does not run; as far as it is known. 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SliceCpu {
    start: i64,
    duration: i64,
}

/// One row of [`SliceTable`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// See [`SliceTable::start`].
    pub start: Time,
    /// See [`SliceTable::duration`].
    pub duration: Nanos,
    /// See [`SliceTable::name`].
    pub name: StringId,
    /// See [`SliceTable::category`].
    pub category: CategoryId,
    /// See [`SliceTable::parent`].
    pub parent: Option<SliceId>,
    /// See [`SliceTable::depth`].
    pub depth: u32,
    /// See [`SliceTable::lane`].
    pub lane: u32,
    /// See [`SliceTable::args`].
    pub args: Option<PayloadId>,
    /// See [`SliceTable::incomplete`].
    pub incomplete: bool,
}

impl SliceCpu {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { start: i64::MIN, duration: i64::MIN };

    /// When the slice began, and how much the clock went on until it ended.
    pub fn new(start: Option<Nanos>, duration: Option<Nanos>) -> Self {
        let known = |nanos: Option<Nanos>| nanos.map_or(i64::MIN, |nanos| nanos.0);
        Self { start: known(start), duration: known(duration) }
    }

    /// What it said when the slice began.
    pub fn start(self) -> Option<Nanos> {
        (self.start != i64::MIN).then_some(Nanos(self.start))
    }

    /// How much it went on until the slice ended: the CPU time that the slice took.
    pub fn duration(self) -> Option<Nanos> {
        (self.duration != i64::MIN).then_some(Nanos(self.duration))
    }
}

impl SliceTable {
    /// How many slices there are.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Row `row`.
    pub fn get(&self, row: usize) -> Slice {
        Slice {
            start: self.start[row],
            duration: self.duration[row],
            name: self.name[row],
            category: self.category[row],
            parent: self.parent[row],
            depth: self.depth[row],
            lane: self.lane[row],
            args: self.args[row],
            incomplete: self.incomplete[row],
        }
    }

    /// What the CPU clock said of row `row`.
    pub fn cpu_of(&self, row: usize) -> SliceCpu {
        self.cpu.get(row).copied().unwrap_or(SliceCpu::UNKNOWN)
    }

    /// Says what the CPU clock said of the last row.
    pub fn set_last_cpu(&mut self, cpu: SliceCpu) {
        self.cpu.resize(self.len(), SliceCpu::UNKNOWN);
        if let Some(last) = self.cpu.last_mut() {
            *last = cpu;
        }
    }

    /// Makes room for as many further rows, and no more.
    pub fn reserve(&mut self, rows: usize) {
        self.start.reserve_exact(rows);
        self.duration.reserve_exact(rows);
        self.name.reserve_exact(rows);
        self.category.reserve_exact(rows);
        self.parent.reserve_exact(rows);
        self.depth.reserve_exact(rows);
        self.lane.reserve_exact(rows);
        self.args.reserve_exact(rows);
        self.incomplete.reserve_exact(rows);
    }

    /// Adds a row at the end and gives its index.
    pub fn push(&mut self, slice: Slice) -> SliceId {
        let id = SliceId::new(self.len());
        self.start.push(slice.start);
        self.duration.push(slice.duration);
        self.name.push(slice.name);
        self.category.push(slice.category);
        self.parent.push(slice.parent);
        self.depth.push(slice.depth);
        self.lane.push(slice.lane);
        self.args.push(slice.args);
        self.incomplete.push(slice.incomplete);
        if !self.cpu.is_empty() {
            self.cpu.push(SliceCpu::UNKNOWN);
        }
        id
    }
}
