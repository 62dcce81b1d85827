//! Samples: what a thread was doing when it was looked at.

use super::ids::{LabelSetId, StackId, StringId, ValueTypeId};
use super::time::{Nanos, Time};

/// The samples of one thread, one a row, in order of time.
///
/// Optional columns are empty when a profile does not have them; a column that is there has one entry for each row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SampleTable {
    /// When; empty in a thread that is not [timed](super::Thread::timed).
    pub time: Vec<Time>,
    /// What was running; `None`: nothing (the thread had stopped running by then).
    pub stack: Vec<Option<StackId>>,
    /// How much the sample stands for, in [`weight_unit`](Self::weight_unit).
    pub weight: Values,
    /// The unit of `weight`.
    pub weight_unit: WeightUnit,
    /// CPU time that the thread used since its last sample. Optional.
    pub cpu: Vec<CpuDelta>,
    /// Further values of each sample: bytes, contentions, … Usually none.
    pub values: Vec<ValueColumn>,
    /// Labels of each sample. Optional.
    pub labels: Vec<Option<LabelSetId>>,
    /// What is special about each sample. Optional.
    pub flags: Vec<SampleFlags>,
}

impl SampleTable {
    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    /// Takes the samples away of which `keep` is false. Where they have times they stay, without stack and CPU time, as
    /// moments at which nothing ran: what stands next to them stands for the same time as before.
    pub fn drop_unless(&mut self, keep: impl Fn(usize) -> bool) {
        let kept: Vec<bool> = (0..self.len()).map(keep).collect();
        if !self.time.is_empty() {
            for row in (0..kept.len()).filter(|row| !kept[*row]) {
                self.stack[row] = None;
                if let Some(cpu) = self.cpu.get_mut(row).filter(|cpu| cpu.get().is_some()) {
                    *cpu = CpuDelta::new(Nanos::ZERO);
                }
            }
            return;
        }
        let Self { time: _, stack, weight, weight_unit: _, cpu, values, labels, flags } = self;
        retain_rows(stack, &kept);
        retain_rows(cpu, &kept);
        retain_rows(labels, &kept);
        retain_rows(flags, &kept);
        weight.retain_rows(&kept);
        values.iter_mut().for_each(|column| column.values.retain_rows(&kept));
    }

    /// CPU time of sample `row`, where known.
    pub fn cpu_of(&self, row: usize) -> Option<Nanos> {
        self.cpu.get(row).and_then(|cpu| cpu.get())
    }

    /// What is special about sample `row`.
    pub fn flags_of(&self, row: usize) -> SampleFlags {
        self.flags.get(row).copied().unwrap_or(SampleFlags::NONE)
    }
}

/// CPU time since the thread's last sample, or unknown. Eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuDelta(i64);

impl CpuDelta {
    /// Not known.
    pub const UNKNOWN: Self = Self(i64::MIN);

    /// A known amount.
    pub const fn new(nanos: Nanos) -> Self {
        Self(nanos.0)
    }

    /// The amount, if known.
    pub fn get(self) -> Option<Nanos> {
        (self != Self::UNKNOWN).then_some(Nanos(self.0))
    }
}

/// Marks on a sample.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SampleFlags(pub u8);

impl SampleFlags {
    /// Nothing special.
    pub const NONE: Self = Self(0);
    /// The CPU time was charged when the thread ended: it was not looked at while it ran.
    pub const CHARGED_AT_EXIT: Self = Self(1);
    /// The stack was put together from what lay in memory while the thread slept, without stopping it.
    pub const INFERRED: Self = Self(2);

    /// Whether all marks of `other` are set here.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What the weight of a sample counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WeightUnit {
    /// Samples.
    #[default]
    Samples,
    /// Milliseconds of traced time.
    TracingMs,
    /// Bytes.
    Bytes,
}

/// A column of numbers.
#[derive(Clone, Debug, Default)]
pub enum Values {
    /// Every entry is 1.
    #[default]
    Ones,
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Fractional numbers; NaN where a file has none.
    Float(Vec<f64>),
}

impl Values {
    /// Entry `row`.
    #[expect(clippy::cast_precision_loss, reason = "weights beyond 2^53 are not exact in any format")]
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Self::Ones => 1.0,
            Self::Integer(values) => values[row] as f64,
            Self::Float(values) => values[row],
        }
    }

    /// Keeps the entries of which `kept` is true.
    fn retain_rows(&mut self, kept: &[bool]) {
        match self {
            Self::Ones => {}
            Self::Integer(values) => retain_rows(values, kept),
            Self::Float(values) => retain_rows(values, kept),
        }
    }

    /// How many entries are stored; `None` when the column fits any length.
    pub fn stored_len(&self) -> Option<usize> {
        match self {
            Self::Ones => None,
            Self::Integer(values) => Some(values.len()),
            Self::Float(values) => Some(values.len()),
        }
    }
}

/// Equal where both have no number, so that a profile is equal to itself.
impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ones, Self::Ones) => true,
            (Self::Integer(left), Self::Integer(right)) => left == right,
            (Self::Float(left), Self::Float(right)) => {
                let same = |(left, right): (&f64, &f64)| left == right || (left.is_nan() && right.is_nan());
                left.len() == right.len() && left.iter().zip(right).all(same)
            }
            _ => false,
        }
    }
}

/// A further value of each sample of a thread.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueColumn {
    /// What is counted.
    pub value_type: ValueTypeId,
    /// One number for each sample.
    pub values: Values,
}

/// Keeps the entries of a column of which `kept` is true; an optional column may be empty.
pub(super) fn retain_rows<T>(column: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    column.retain(|_| kept.next().is_some_and(|kept| *kept));
}

/// What a [`ValueColumn`] counts, for example `alloc_space` in `bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ValueType {
    /// What is counted.
    pub name: StringId,
    /// In which unit.
    pub unit: StringId,
}

/// Distinct sets of labels, shared by the samples that carry them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LabelSets {
    /// Each set, in the order in which its file gave the labels.
    pub sets: Vec<Vec<Label>>,
}

/// A named property of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    /// Its name.
    pub key: StringId,
    /// Its value.
    pub value: LabelValue,
}

/// The value of a [`Label`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LabelValue {
    /// Text.
    Text(StringId),
    /// A number, with its unit if it has one.
    Number(i64, Option<StringId>),
}
