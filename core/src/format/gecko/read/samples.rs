//! Samples of a thread.

use super::super::extension as key;
use super::super::names::{WEIGHT_UNITS, value};
use super::super::number::Exact;
use super::super::schema::{Numbers, Row, Samples, stored_numbers};
use super::kept::compact;
use super::repair::{Repairs, entry, stored};
use super::rows::{Rows, apply, wrong};
use super::thread::Context;
use super::times::Timed;
use crate::format::ReadError;
use crate::model::{
    CpuDelta, Kept, Nanos, ProfileBuilder, SampleFlags, SampleTable, StackId, Thread, Time, ValueColumn, ValueType,
    Values, WeightUnit,
};

const CPU_UNKNOWN_UNIT: &str = "variable CPU cycles";

/// Reads the samples of one thread.
pub(super) struct Reader<'r> {
    pub context: &'r Context<'r>,
    pub stacks: &'r Rows<StackId>,
    pub at: &'r str,
}

/// The columns of a file that are values of samples: key, unit.
pub(in super::super) const VALUE_COLUMNS: [(&str, &str); 6] = [
    ("eventDelay", "ms"),
    ("responsiveness", "ms"),
    ("rss", "bytes"),
    ("uss", "bytes"),
    ("frameNumber", ""),
    ("argumentValues", ""),
];

impl Reader<'_> {
    /// Samples of a file of another tool.
    pub(super) fn foreign(
        &self,
        builder: &mut ProfileBuilder,
        thread: &mut Thread,
        mut table: Samples<'_>,
        repairs: &mut Repairs,
    ) {
        let at = self.at;
        let rows = self.rows(&table, repairs);
        let timed = Timed::read(repairs, at, rows, table.time.take(), table.time_deltas.take());
        let samples = &mut thread.samples;
        let stacks = in_order(table.stack.take().unwrap_or_default(), &timed, Row::NONE);
        let stacks = stacks
            .into_iter()
            .enumerate()
            .map(|(index, stack)| repairs.row(self.stacks, stack, || format!("{at}.stack[{}]", timed.file_row(index))));
        samples.stack = stacks.collect();
        samples.weight_unit = weight_unit(table.weight_type.as_ref().map(|kind| &*kind.0), at, repairs);
        // Before version 29 the weight was called a duration.
        let weight = table.weight.take().or(table.duration.take());
        samples.weight = weight.map_or(Values::Ones, |weight| select(weight, &timed, &format!("{at}.weight"), repairs));
        self.foreign_cpu(builder, samples, table.thread_cpu_delta.take(), &timed, repairs);
        for (name, unit) in VALUE_COLUMNS {
            if let Some(numbers) = column(&mut table, name).take() {
                push_values(builder, samples, &numbers, &timed, (name, unit));
            }
        }
        if timed.rows.is_none() {
            let kept = table.kept.iter();
            let kept = kept.map(|(key, json)| (format!("samples.{key}"), compact(json.get())));
            thread.kept.extend(kept.map(|(path, json)| Kept { path: path.into(), json: json.into() }));
        } else if let Some((key, _)) = table.kept.first() {
            let message = "columns of samples that no version of the format has are left out, as rows were moved";
            repairs.note("column-unknown", message, || format!("{at}.{key}"));
        }
        thread.samples.time = timed.time;
    }

    fn rows(&self, table: &Samples<'_>, repairs: &mut Repairs) -> usize {
        let times = stored(table.time.as_ref()).or(stored(table.time_deltas.as_ref()));
        let required = [("stack", stored(table.stack.as_ref())), ("time", times)];
        let optional = [
            ("weight", stored_numbers(table.weight.as_ref().or(table.duration.as_ref()))),
            ("threadCPUDelta", stored_numbers(table.thread_cpu_delta.as_ref())),
            ("eventDelay", stored_numbers(table.event_delay.as_ref())),
            ("responsiveness", stored_numbers(table.responsiveness.as_ref())),
        ];
        repairs.rows(self.at, table.length, &required, &optional)
    }

    fn foreign_cpu(
        &self,
        builder: &mut ProfileBuilder,
        samples: &mut SampleTable,
        cpu: Option<Numbers>,
        timed: &Timed,
        repairs: &mut Repairs,
    ) {
        let Some(cpu) = cpu else { return };
        let at = self.at;
        match self.context.cpu_unit.as_deref() {
            Some(CPU_UNKNOWN_UNIT) => {
                // Cycles of a clock that is not known are no time.
                push_values(builder, samples, &cpu, timed, ("threadCPUDelta", CPU_UNKNOWN_UNIT));
            }
            Some("ns") => samples.cpu = cpu_times(cpu, 1, timed, at, repairs),
            Some("µs" | "us" | "μs") => samples.cpu = cpu_times(cpu, 1000, timed, at, repairs),
            unit => {
                let message = "CPU times without a known unit are left out";
                repairs.note("cpu-unit-unknown", message, || format!("meta.sampleUnits.threadCPUDelta: {unit:?}"));
            }
        }
    }

    /// Samples of a file of our own.
    pub(super) fn ours(
        &self,
        builder: &mut ProfileBuilder,
        thread: &mut Thread,
        mut table: Samples<'_>,
        own: &key::Samples,
        repairs: &mut Repairs,
    ) -> Result<(), ReadError> {
        let at = self.at;
        let length = self.rows(&table, repairs);
        let timed = Timed::read(repairs, at, length, table.time.take(), table.time_deltas.take());
        if timed.rows.is_some() {
            return Err(wrong(format_args!("{at}.time"), "these are not the times that were written with traceview"));
        }
        let rows = own_rows(length, &own.added, at)?;
        let samples = &mut thread.samples;
        for row in &rows {
            let stack = entry(table.stack.as_ref(), *row);
            samples.stack.push(repairs.row(self.stacks, stack, || format!("{at}.stack[{row}]")));
        }
        if thread.timed {
            samples.time = rows.iter().map(|row| timed.time[*row]).collect();
        }
        samples.weight_unit = weight_unit(table.weight_type.as_ref().map(|kind| &*kind.0), at, repairs);
        samples.weight = exactly(table.weight.as_ref(), own.weight_kind, &rows, format_args!("{at}.weight"))?;
        if let Some(cpu) = &table.thread_cpu_delta {
            let ns = |row: &usize| cpu.get(*row).and_then(|_| cpu.whole(*row));
            samples.cpu =
                rows.iter().map(|row| ns(row).map_or(CpuDelta::UNKNOWN, |ns| CpuDelta::new(Nanos(ns)))).collect();
        }
        self.complete(builder, own, samples, &mut table, &rows)
    }

    /// What only `traceview` says about samples.
    fn complete(
        &self,
        builder: &ProfileBuilder,
        own: &key::Samples,
        samples: &mut SampleTable,
        table: &mut Samples<'_>,
        rows: &[usize],
    ) -> Result<(), ReadError> {
        let at = format!("{} (traceview)", self.at);
        let moments = own.time.with(own.time.value.iter().map(|ns| Time(*ns)).collect());
        apply(&moments, &mut samples.time, format_args!("{at}.time"))?;
        if let Values::Float(values) = &mut samples.weight {
            let exact = own.weight.with(own.weight.value.iter().map(|weight| weight.0).collect());
            apply(&exact, values, format_args!("{at}.weight"))?;
        }
        if own.cpu_unknown {
            samples.cpu = vec![CpuDelta::UNKNOWN; samples.len()];
        }
        let deltas = own.cpu.value.iter().map(|ns| CpuDelta::new(Nanos(*ns))).collect();
        apply(&own.cpu.with(deltas), &mut samples.cpu, format_args!("{at}.cpu"))?;
        for (index, values) in own.values.iter().enumerate() {
            let at = format!("{at}.values[{index}]");
            let value_type = self.context.value_types.get(values.value_type, format_args!("{at}.valueType"))?;
            let values = if values.in_file {
                let tables = builder.tables();
                let name = tables.strings.get(tables.value_types[value_type.index()].name);
                exactly(column(table, name).as_ref(), values.kind, rows, format_args!("{at}"))?
            } else {
                match values.kind {
                    key::ValueKind::Ones => Values::Ones,
                    key::ValueKind::Integer => Values::Integer(values.integer.clone()),
                    key::ValueKind::Float => Values::Float(values.float.iter().map(|Exact(value)| *value).collect()),
                }
            };
            samples.values.push(ValueColumn { value_type, values });
        }
        samples.labels = self.context.label_sets.all_optional(&own.labels, format_args!("{at}.labels"))?;
        samples.flags = own.flags.iter().map(|flags| SampleFlags(*flags)).collect();
        Ok(())
    }
}

/// A column of values by its key.
fn column<'t>(table: &'t mut Samples<'_>, name: &str) -> &'t mut Option<Numbers> {
    match name {
        "eventDelay" => &mut table.event_delay,
        "responsiveness" => &mut table.responsiveness,
        "rss" => &mut table.rss,
        "uss" => &mut table.uss,
        "frameNumber" => &mut table.frame_number,
        _ => &mut table.argument_values,
    }
}

/// Adds a column of values, unless none is known.
fn push_values(
    builder: &mut ProfileBuilder,
    samples: &mut SampleTable,
    numbers: &Numbers,
    timed: &Timed,
    (name, unit): (&str, &str),
) {
    let mut known = timed.file_rows().map(|row| numbers.get(row)).peekable();
    if timed.file_rows().all(|row| numbers.get(row).is_none()) {
        return;
    }
    let values = match numbers {
        Numbers::Whole(values) if timed.file_rows().all(|row| numbers.get(row).is_some()) => {
            Values::Integer(timed.file_rows().map(|row| values[row]).collect())
        }
        _ => Values::Float(known.by_ref().map(|value| value.unwrap_or(f64::NAN)).collect()),
    };
    let (name, unit) = (builder.string(name), builder.string(unit));
    let value_type = builder.value_type(ValueType { name, unit });
    samples.values.push(ValueColumn { value_type, values });
}

/// Weights of the rows, in the simplest kind that holds them.
pub(super) fn select(numbers: Numbers, timed: &Timed, at: &str, repairs: &mut Repairs) -> Values {
    let unknown = || timed.file_rows().filter(|row| numbers.get(*row).is_none());
    let (lost, first) = (unknown().count() as u64, unknown().next());
    let message = "weights that are missing count nothing";
    repairs.count("weight-missing", message, lost, || format!("{at}[{}]", first.unwrap_or(0)));
    match numbers {
        Numbers::Whole(values) => {
            let mut values = in_order(values, timed, Numbers::NONE);
            if values.iter().all(|value| *value == 1) {
                return Values::Ones;
            }
            for value in &mut values {
                *value = if *value == Numbers::NONE { 0 } else { *value };
            }
            Values::Integer(values)
        }
        Numbers::Real(..) => Values::Float(timed.file_rows().map(|row| numbers.get(row).unwrap_or(0.0)).collect()),
    }
}

/// The values of a column in the kind that they had when they were written.
pub(super) fn exactly(
    numbers: Option<&Numbers>,
    kind: key::ValueKind,
    rows: &[usize],
    at: std::fmt::Arguments<'_>,
) -> Result<Values, ReadError> {
    let column = || numbers.ok_or_else(|| wrong(at, "missing, though the values are not all 1"));
    match kind {
        key::ValueKind::Ones => Ok(Values::Ones),
        key::ValueKind::Float => {
            let column = column()?;
            Ok(Values::Float(rows.iter().map(|row| column.get(*row).unwrap_or(f64::NAN)).collect()))
        }
        key::ValueKind::Integer => {
            let column = column()?;
            let not_whole = |row: &usize| wrong(format_args!("{at}[{row}]"), "not a whole number");
            let values = rows.iter().map(|row| column.whole(*row).ok_or_else(|| not_whole(row)));
            Ok(Values::Integer(values.collect::<Result<_, _>>()?))
        }
    }
}

/// The unit of weights.
pub(super) fn weight_unit(name: Option<&str>, at: &str, repairs: &mut Repairs) -> WeightUnit {
    let Some(name) = name else { return WeightUnit::Samples };
    value(&WEIGHT_UNITS, &name).unwrap_or_else(|| {
        let message = "weights in a unit that no tool knows are taken as samples";
        repairs.note("weight-type-unknown", message, || format!("{at}.weightType: {name:?}"));
        WeightUnit::Samples
    })
}

fn cpu_times(cpu: Numbers, ns: i64, timed: &Timed, at: &str, repairs: &mut Repairs) -> Vec<CpuDelta> {
    let per_milli = if ns == 1 { 1e6 } else { 1e3 };
    let mut known = false;
    let mut time = |index: usize, is_there: bool, amount: Option<Nanos>| {
        if is_there && amount.is_none() {
            repairs.not_a_number(|| format!("{at}.threadCPUDelta[{}]", timed.file_row(index)));
        }
        known |= amount.is_some();
        amount.map_or(CpuDelta::UNKNOWN, CpuDelta::new)
    };
    let times: Vec<CpuDelta> = match cpu {
        Numbers::Whole(amounts) => {
            let amounts = in_order(amounts, timed, Numbers::NONE).into_iter().enumerate();
            let times = amounts.map(|(index, amount)| {
                let is_there = amount != Numbers::NONE;
                time(index, is_there, amount.checked_mul(ns).filter(|_| is_there).map(Nanos))
            });
            times.collect()
        }
        Numbers::Real(amounts, _) => {
            let amounts = in_order(amounts, timed, f64::NAN).into_iter().enumerate();
            let times = amounts
                .map(|(index, amount)| time(index, !amount.is_nan(), Nanos::from_millis_f64(amount / per_milli)));
            times.collect()
        }
    };
    // A column in which nothing is known says nothing; tools leave such out since version 39.
    if known { times } else { Vec::new() }
}

/// The entries of `column` at the rows of `timed`, `none` where the column has ended. Takes no more memory if they are in
/// the order of the file.
fn in_order<T: Copy>(mut column: Vec<T>, timed: &Timed, none: T) -> Vec<T> {
    if timed.rows.is_none() {
        column.resize(timed.len(), none);
        return column;
    }
    timed.file_rows().map(|row| column.get(row).copied().unwrap_or(none)).collect()
}

/// The rows that are not among `added`.
fn own_rows(length: usize, added: &[u32], at: &str) -> Result<Vec<usize>, ReadError> {
    let mut rows = Vec::with_capacity(length.saturating_sub(added.len()));
    let mut next = 0;
    for (index, row) in added.iter().enumerate() {
        let row = *row as usize;
        if row < next || row >= length {
            let at = format_args!("{at} (traceview).added[{index}]");
            return Err(wrong(at, format_args!("row {row} is not between {next} and {length}")));
        }
        rows.extend(next..row);
        next = row + 1;
    }
    rows.extend(next..length);
    Ok(rows)
}
