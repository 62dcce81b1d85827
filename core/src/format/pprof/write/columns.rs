//! What the values of a sample count, and what each sample of the model adds to them.

use super::super::super::WriteOptions;
use super::super::names::{CPU, NANOSECONDS, SAMPLES};
use super::super::schema::ValueType;
use super::strings::Strings;
use super::sums::Changes;
use crate::analysis::{Measure, Worth, counts_without_stack, sample_types, says_weights};
use crate::model::{Meta, Nanos, Profile, StackId, Thread, ValueTypeId, WeightUnit};

const WALL: &str = "wall";

/// The sample types of a file.
pub(super) struct Columns {
    columns: Vec<Column>,
    /// Time between two samples; with it a count of samples is a time.
    pub period: Option<Nanos>,
    /// How many columns of values share their name with another one, and have no place.
    pub left_out: u64,
}

/// What a value counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counts {
    Samples,
    Cpu,
    /// CPU time and time spent waiting.
    Wall,
    /// Time of traces, of other tools' files.
    Time,
    /// Memory, of other tools' files.
    Space,
    Further(ValueTypeId),
}

struct Column {
    counts: Counts,
    name: String,
    unit: String,
    /// Whether some thread has fractional numbers of it.
    fractional: bool,
}

impl Columns {
    pub(super) fn of(profile: &Profile, options: &WriteOptions) -> Self {
        let period = profile.meta.interval.filter(|interval| interval.0 > 0);
        let mut columns = Self { columns: Vec::new(), period, left_out: 0 };
        let sampled = || profile.threads.iter().filter(|thread| !thread.samples.is_empty());
        let any_of = |unit| sampled().any(|thread| thread.samples.weight_unit == unit);
        let [samples, count] = SAMPLES;
        if sampled().any(says_weights) || sampled().next().is_none() {
            columns.push(Counts::Samples, samples, count);
        }
        // A file of sums that has no CPU times gets none.
        let is_counted = |thread: &Thread| thread.timed && thread.samples.weight_unit == WeightUnit::Samples;
        if sampled().any(Thread::knows_cpu) || (period.is_some() && sampled().any(is_counted)) {
            columns.push(Counts::Cpu, CPU, NANOSECONDS);
        }
        let has_own_wall = profile.value_types.iter().any(|value_type| profile.string(value_type.name) == WALL);
        if options.off_cpu && !has_own_wall {
            columns.push(Counts::Wall, WALL, NANOSECONDS);
        }
        if any_of(WeightUnit::TracingMs) {
            columns.push(Counts::Time, "time", NANOSECONDS);
        }
        if any_of(WeightUnit::Bytes) {
            columns.push(Counts::Space, "space", "bytes");
        }
        for (index, value_type) in profile.value_types.iter().enumerate() {
            let counts = Counts::Further(ValueTypeId::new(index));
            if sampled().any(|thread| of_type(thread, counts) > 0) {
                columns.push(counts, profile.string(value_type.name), profile.string(value_type.unit));
            }
        }
        for index in 0..columns.columns.len() {
            let counts = columns.columns[index].counts;
            let worth = |thread| columns.worth(profile, thread, counts);
            let fractional = sampled().filter_map(worth).any(Worth::is_fractional);
            columns.columns[index].fractional = fractional;
            let spare = |thread| of_type(thread, counts).saturating_sub(1);
            columns.left_out += sampled().map(spare).sum::<u64>();
        }
        columns
    }

    /// Whether each column has fractional numbers.
    pub(super) fn fractional(&self) -> impl Iterator<Item = bool> {
        self.columns.iter().map(|column| column.fractional)
    }

    /// Where waiting is counted.
    pub(super) fn wall(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.counts == Counts::Wall)
    }

    pub(super) fn sample_types(&self, strings: &mut Strings<'_>) -> Vec<ValueType> {
        let value_type =
            |column: &Column| ValueType { r#type: strings.text(&column.name), unit: strings.text(&column.unit) };
        self.columns.iter().map(value_type).collect()
    }

    /// The name of what tools show first: what is asked for, or what the profile says; else CPU time, where that is known.
    pub(super) fn default_name(&self, profile: &Profile, asked: Option<Measure>) -> &str {
        let name =
            |measure| sample_types(profile).into_iter().find(|each| each.measure == measure).map(|each| each.name);
        let asked = asked.and_then(name);
        let said = asked.as_deref().or_else(|| profile.meta.extra_of(Meta::DEFAULT_SAMPLE_TYPE));
        if let Some(column) = self.columns.iter().find(|column| said == Some(&*column.name)) {
            return &column.name;
        }
        let of = |counts| self.columns.iter().find(|column| column.counts == counts);
        let column = [Counts::Cpu, Counts::Time, Counts::Space].into_iter().find_map(of);
        &column.unwrap_or(&self.columns[0]).name
    }

    /// What the samples of `thread` add to each column, if anything.
    pub(super) fn worths<'a>(&self, profile: &Profile, thread: &'a Thread) -> Vec<Option<Worth<'a>>> {
        self.columns.iter().map(|column| self.worth(profile, thread, column.counts)).collect()
    }

    /// The samples of `thread` that count something, and their stacks. Without times all do, for they are rows of a file.
    pub(super) fn counted<'a>(
        &self,
        profile: &Profile,
        thread: &'a Thread,
    ) -> impl Iterator<Item = (usize, Option<StackId>)> + use<'a> {
        let worths = self.worths(profile, thread);
        thread.samples.stack.iter().copied().enumerate().filter(move |(row, stack)| match stack {
            Some(_) if thread.timed => worths.iter().flatten().any(|worth| !worth.is_zero(*row)),
            Some(_) => true,
            None => counts_without_stack(thread, *row),
        })
    }

    /// What samples that were lost add to each column. Where CPU times are known, the next sample of the thread has
    /// theirs.
    pub(super) fn of_lost(&self, profile: &Profile, lost: i64, changes: &mut Changes) -> Vec<i64> {
        let period =
            self.period.filter(|_| !profile.threads.iter().any(Thread::knows_cpu)).map_or(0, |period| period.0);
        let mut value = |column: &Column| match column.counts {
            Counts::Samples => lost,
            Counts::Cpu | Counts::Wall => changes.or_largest(lost.checked_mul(period), lost),
            Counts::Time | Counts::Space | Counts::Further(_) => 0,
        };
        self.columns.iter().map(&mut value).collect()
    }

    fn worth<'a>(&self, profile: &Profile, thread: &'a Thread, counts: Counts) -> Option<Worth<'a>> {
        match counts {
            // Whatever weights count, a row is a sample.
            Counts::Samples => Worth::weights(thread, WeightUnit::Samples).or(Some(Worth::ONES)),
            Counts::Cpu | Counts::Wall => Worth::cpu(thread).or_else(|| Worth::intervals(profile, thread)),
            Counts::Time => Worth::weights(thread, WeightUnit::TracingMs),
            Counts::Space => Worth::weights(thread, WeightUnit::Bytes),
            // The type says the unit.
            Counts::Further(id) => Worth::column(thread, id, 1),
        }
    }

    fn push(&mut self, counts: Counts, name: &str, unit: &str) {
        // A type is chosen by its name, so that has to be its own.
        if self.columns.iter().any(|column| column.name == name) {
            self.left_out += 1;
            return;
        }
        self.columns.push(Column { counts, name: name.to_owned(), unit: unit.to_owned(), fractional: false });
    }
}

/// How many columns of further values hold what is counted.
fn of_type(thread: &Thread, counts: Counts) -> u64 {
    thread.samples.values.iter().filter(|column| counts == Counts::Further(column.value_type)).count() as u64
}
