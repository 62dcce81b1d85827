//! Threads: samples, and what `traceview` says about them.

use super::super::extension as key;
use super::super::names::{WAIT_REASONS, WEIGHT_UNITS, value};
use super::super::number::{Exact, Number};
use super::super::old_schema::{self as schema, Meta, Thread as FileThread};
use super::code::Code;
use super::extension::os_id;
use super::marker::Markers;
use super::rows::{Rows, apply, length, moment, optional_time, same_length, times, unchecked, wrong};
use crate::format::ReadError;
use crate::format::import_report::{ImportReport, Note};
use crate::model::{
    CpuDelta, LabelSetId, Nanos, OsId, Process, ProcessId, ProfileBuilder, SampleFlags, SampleTable, Slice, SliceTable,
    Thread, ThreadUsage, Time, ValueColumn, ValueTypeId, Values, Wait, WaitTable, WeightUnit,
};

/// The processes that the threads of a file of another tool name.
pub(super) fn processes(builder: &mut ProfileBuilder, threads: &[FileThread]) -> Result<Rows<ProcessId>, ReadError> {
    let mut of_threads = Rows::new("the processes");
    for (index, thread) in threads.iter().enumerate() {
        let pid = match os_id(&thread.pid) {
            OsId::Text(text) => text.parse().map_or(OsId::Text(text), OsId::Number),
            number @ OsId::Number(_) => number,
        };
        let known = builder.tables().processes.iter().position(|process| process.pid == pid);
        let process = match known {
            Some(row) => ProcessId::new(row),
            None => {
                let at = format!("threads[{index}]");
                let name = builder.string(thread.process_name.as_ref().map_or(&thread.name.0, |name| &name.0));
                let start = optional_time(thread.process_startup_time, format_args!("{at}.processStartupTime"))?;
                let end = optional_time(thread.process_shutdown_time, format_args!("{at}.processShutdownTime"))?;
                let command_line = Vec::new();
                builder.add_process(Process { pid, parent: None, name, command_line, start, end, exit: None })
            }
        };
        of_threads.push(process);
    }
    Ok(of_threads)
}

/// What threads refer to.
pub(super) struct Context<'a> {
    pub code: &'a Code,
    /// By row of `traceview`; in files of other tools one for each thread.
    pub processes: &'a Rows<ProcessId>,
    pub markers: &'a Markers,
    pub label_sets: Rows<LabelSetId>,
    pub value_types: Rows<ValueTypeId>,
}

impl Context<'_> {
    pub(super) fn read(
        &self,
        builder: &mut ProfileBuilder,
        meta: &Meta,
        index: usize,
        file: &FileThread,
        report: &mut ImportReport,
    ) -> Result<Thread, ReadError> {
        let at = format!("threads[{index}]");
        let extension = match (&meta.traceview, &file.traceview) {
            (Some(_), None) => return Err(wrong(format_args!("{at}.traceview"), "missing, though meta has it")),
            (None, _) => None,
            (Some(_), extension) => extension.as_ref(),
        };
        let name = builder.string(&file.name.0);
        let process = match extension {
            Some(extension) => self.processes.get(extension.process, format_args!("{at}.traceview.process"))?,
            None => self.processes.get(u32::try_from(index).unwrap_or(u32::MAX), format_args!("{at}"))?,
        };
        let mut thread = Thread::new(process, os_id(&file.tid), name);
        match extension {
            Some(extension) => self.apply(extension, &mut thread, &at)?,
            None => {
                thread.is_main = file.is_main_thread;
                thread.start = optional_time(file.register_time, format_args!("{at}.registerTime"))?;
                thread.end = optional_time(file.unregister_time, format_args!("{at}.unregisterTime"))?;
                note_what_is_left_out(file, &at, report);
            }
        }
        self.read_samples(&mut thread, meta, file, &at)?;
        let own_markers = extension.map(|extension| &extension.markers);
        thread.markers = self.markers.of_thread(builder, self.code, &file.markers, own_markers, &at)?;
        Ok(thread)
    }

    /// What only `traceview` says.
    fn apply(&self, extension: &key::Thread, thread: &mut Thread, at: &str) -> Result<(), ReadError> {
        let at = format!("{at}.traceview");
        thread.is_main = extension.is_main;
        thread.timed = extension.timed;
        (thread.start, thread.end) = (moment(extension.start), moment(extension.end));
        for (time, name) in &extension.earlier_names {
            let name = self.code.strings.get(*name, format_args!("{at}.earlierNames"))?;
            thread.earlier_names.push((Time(*time), name));
        }
        thread.usage = extension.usage.as_ref().map(|usage| ThreadUsage {
            cpu: Nanos(usage.cpu),
            user: length(usage.user),
            system: length(usage.system),
            run_queue_wait: Nanos(usage.run_queue_wait),
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            stopped: usage.stopped.map(Nanos),
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
        });
        if let Some(waits) = &extension.waits {
            thread.waits = self.waits(waits, &format!("{at}.waits"))?;
        }
        if let Some(slices) = &extension.slices {
            thread.slices = self.slices(slices, &format!("{at}.slices"))?;
        }
        Ok(())
    }

    fn read_samples(&self, thread: &mut Thread, meta: &Meta, file: &FileThread, at: &str) -> Result<(), ReadError> {
        let table = &file.samples;
        let extension = file.traceview.as_ref().filter(|_| meta.traceview.is_some()).map(|own| &own.samples);
        let at = format!("{at}.samples");
        let time = times(table.time.as_deref(), table.time_deltas.as_deref(), format_args!("{at}"))?;
        let mut columns = vec![("stack", table.stack.len()), ("time", time.len())];
        columns.extend(table.weight.as_ref().map(|weight| ("weight", weight.len())));
        columns.extend(table.thread_cpu_delta.as_ref().map(|cpu| ("threadCPUDelta", cpu.len())));
        same_length(format_args!("{at}"), table.length, &columns)?;
        let added = extension.map_or(&[][..], |extension| &extension.added);
        let rows = own_rows(table.length, added, &at)?;
        let samples = &mut thread.samples;
        for row in &rows {
            let stack = self.code.stacks.optional(table.stack[*row], format_args!("{at}.stack[{row}]"))?;
            samples.stack.push(stack);
        }
        if thread.timed {
            samples.time = rows.iter().map(|row| time[*row]).collect();
        }
        samples.weight_unit = weight_unit(table.weight_type.as_deref(), &at)?;
        let kind = extension.map(|extension| extension.weight_kind);
        samples.weight = weights(table, kind, &rows, &at)?;
        samples.cpu = cpu_times(table, meta, &rows, &at)?;
        if let Some(extension) = extension {
            self.complete(extension, samples, &at)?;
        }
        Ok(())
    }

    /// What only `traceview` says about samples.
    fn complete(&self, extension: &key::Samples, samples: &mut SampleTable, at: &str) -> Result<(), ReadError> {
        let at = format!("{at} (traceview)");
        let moments = extension.time.with(extension.time.value.iter().map(|ns| Time(*ns)).collect());
        apply(&moments, &mut samples.time, format_args!("{at}.time"))?;
        if let Values::Float(values) = &mut samples.weight {
            let exact = extension.weight.with(extension.weight.value.iter().map(|weight| weight.0).collect());
            apply(&exact, values, format_args!("{at}.weight"))?;
        }
        if extension.cpu_unknown {
            samples.cpu = vec![CpuDelta::UNKNOWN; samples.len()];
        }
        let deltas = extension.cpu.value.iter().map(|ns| CpuDelta::new(Nanos(*ns))).collect();
        apply(&extension.cpu.with(deltas), &mut samples.cpu, format_args!("{at}.cpu"))?;
        for (index, column) in extension.values.iter().enumerate() {
            let at = format!("{at}.values[{index}]");
            let value_type = self.value_types.get(column.value_type, format_args!("{at}.valueType"))?;
            let values = match column.kind {
                key::ValueKind::Ones => Values::Ones,
                key::ValueKind::Integer => Values::Integer(column.integer.clone()),
                key::ValueKind::Float => Values::Float(column.float.iter().map(|Exact(value)| *value).collect()),
            };
            samples.values.push(ValueColumn { value_type, values });
        }
        samples.labels = self.label_sets.all_optional(&extension.labels, format_args!("{at}.labels"))?;
        samples.flags = extension.flags.iter().map(|flags| SampleFlags(*flags)).collect();
        Ok(())
    }

    fn waits(&self, table: &key::Waits, at: &str) -> Result<WaitTable, ReadError> {
        let columns = [
            ("duration", table.duration.len()),
            ("stack", table.stack.len()),
            ("reason", table.reason.len()),
            ("syscall", table.syscall.len()),
            ("target", table.target.len()),
        ];
        same_length(format_args!("{at}"), table.start.len(), &columns)?;
        let strings = &self.code.strings;
        let mut waits = WaitTable::default();
        for row in 0..table.start.len() {
            let word = table.reason[row];
            let unknown = || wrong(format_args!("{at}.reason[{row}]"), format_args!("unknown reason {word}"));
            waits.push(Wait {
                start: Time(table.start[row]),
                duration: Nanos(table.duration[row]),
                stack: self.code.stacks.optional(table.stack[row], format_args!("{at}.stack[{row}]"))?,
                reason: value(&WAIT_REASONS, &word).ok_or_else(unknown)?,
                syscall: strings.optional(table.syscall[row], format_args!("{at}.syscall[{row}]"))?,
                target: strings.optional(table.target[row], format_args!("{at}.target[{row}]"))?,
                inferred: false,
            });
        }
        mark(&mut waits.inferred, &table.inferred, format_args!("{at}.inferred"))?;
        Ok(waits)
    }

    fn slices(&self, table: &key::Slices, at: &str) -> Result<SliceTable, ReadError> {
        let columns = [
            ("duration", table.duration.len()),
            ("name", table.name.len()),
            ("category", table.category.len()),
            ("parent", table.parent.len()),
            ("depth", table.depth.len()),
            ("lane", table.lane.len()),
            ("args", table.args.len()),
        ];
        same_length(format_args!("{at}"), table.start.len(), &columns)?;
        let mut slices = SliceTable::default();
        for row in 0..table.start.len() {
            let parent = table.parent[row].map(|parent| unchecked(parent, format_args!("{at}.parent[{row}]")));
            slices.push(Slice {
                start: Time(table.start[row]),
                duration: Nanos(table.duration[row]),
                name: self.code.strings.get(table.name[row], format_args!("{at}.name[{row}]"))?,
                category: self.code.categories.get(table.category[row], format_args!("{at}.category[{row}]"))?,
                parent: parent.transpose()?,
                depth: table.depth[row],
                lane: table.lane[row],
                args: self.markers.payload(table.args[row], format_args!("{at}.args[{row}]"))?,
                incomplete: false,
            });
        }
        mark(&mut slices.incomplete, &table.incomplete, format_args!("{at}.incomplete"))?;
        Ok(slices)
    }
}

/// Sets the entries `rows` of a column.
fn mark(column: &mut [bool], rows: &[u32], at: std::fmt::Arguments<'_>) -> Result<(), ReadError> {
    let count = column.len();
    for row in rows {
        let missing = || wrong(at, format_args!("row {row} of {count}"));
        *column.get_mut(*row as usize).ok_or_else(missing)? = true;
    }
    Ok(())
}

fn note_what_is_left_out(file: &FileThread, at: &str, report: &mut ImportReport) {
    let tables = [
        (file.js_allocations.is_some(), "js-allocations", "jsAllocations of threads are not read"),
        (file.native_allocations.is_some(), "native-allocations", "nativeAllocations of threads are not read"),
        (file.js_tracer.is_some(), "js-tracer", "jsTracer of threads is not read"),
    ];
    for (is_there, code, message) in tables {
        if is_there {
            report.note(Note { code, message }, || at.to_owned());
        }
    }
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

fn weight_unit(name: Option<&str>, at: &str) -> Result<WeightUnit, ReadError> {
    let Some(name) = name else { return Ok(WeightUnit::Samples) };
    let unknown = || wrong(format_args!("{at}.weightType"), format_args!("unknown type {name:?}"));
    value(&WEIGHT_UNITS, &name).ok_or_else(unknown)
}

/// The weights in the given kind, or in the simplest that holds them.
fn weights(
    table: &schema::Samples,
    kind: Option<key::ValueKind>,
    rows: &[usize],
    at: &str,
) -> Result<Values, ReadError> {
    let column = || {
        let column = table.weight.as_deref();
        column.ok_or_else(|| wrong(format_args!("{at}.weight"), "missing, though the weights are not all 1"))
    };
    let kind = kind.unwrap_or_else(|| match &table.weight {
        None => key::ValueKind::Ones,
        Some(weights) if weights.iter().all(|weight| *weight == Number::Integer(1)) => key::ValueKind::Ones,
        Some(weights) if weights.iter().all(|weight| matches!(weight, Number::Integer(_))) => key::ValueKind::Integer,
        Some(_) => key::ValueKind::Float,
    });
    match kind {
        key::ValueKind::Ones => Ok(Values::Ones),
        key::ValueKind::Float => {
            let column = column()?;
            Ok(Values::Float(rows.iter().map(|row| column[*row].as_f64()).collect()))
        }
        key::ValueKind::Integer => {
            let column = column()?;
            let one = |row: &usize| match column[*row] {
                Number::Integer(weight) => Ok(weight),
                Number::Float(weight) => {
                    Err(wrong(format_args!("{at}.weight[{row}]"), format_args!("{weight} is not a whole number")))
                }
            };
            Ok(Values::Integer(rows.iter().map(one).collect::<Result<_, _>>()?))
        }
    }
}

fn cpu_times(table: &schema::Samples, meta: &Meta, rows: &[usize], at: &str) -> Result<Vec<CpuDelta>, ReadError> {
    let (Some(column), Some(units)) = (&table.thread_cpu_delta, &meta.sample_units) else { return Ok(Vec::new()) };
    let ns = match &*units.thread_cpu_delta {
        "ns" => 1,
        "µs" => 1000,
        // Cycles of a clock that is not known are no time.
        "variable CPU cycles" => return Ok(Vec::new()),
        unit => {
            let at = format_args!("meta.sampleUnits.threadCPUDelta");
            return Err(wrong(at, format_args!("unknown unit {unit:?}")));
        }
    };
    let one = |row: &usize| match column[*row] {
        None => Ok(CpuDelta::UNKNOWN),
        Some(number) => {
            let amount = match number {
                Number::Integer(amount) => amount.checked_mul(ns),
                Number::Float(amount) if ns == 1 => Nanos::from_millis_f64(amount / 1e6).map(|cpu| cpu.0),
                Number::Float(amount) => Nanos::from_millis_f64(amount / 1e3).map(|cpu| cpu.0),
            };
            let bad = || wrong(format_args!("{at}.threadCPUDelta[{row}]"), format_args!("{number} is not a time"));
            amount.map(|ns| CpuDelta::new(Nanos(ns))).ok_or_else(bad)
        }
    };
    rows.iter().map(one).collect()
}
