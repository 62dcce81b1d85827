//! Threads and their processes, and what `traceview` says about them.

use rustc_hash::FxHashMap;

use super::super::extension as key;
use super::super::names::{WAIT_REASONS, value};
use super::super::schema::{File, Id, Lib, Samples, Tables, Thread as FileThread};
use super::code::{self, Code};
use super::marker::Markers;
use super::repair::Repairs;
use super::rows::{Rows, length, moment, same_length, unchecked, wrong};
use super::{allocation, kept, samples};
use crate::format::ReadError;
use crate::model::{
    Kept, LabelSetId, LibraryId, Mapping, Nanos, OsId, Pause, Process, ProcessId, ProfileBuilder, Slice, SliceCpu,
    SliceTable, StackId, StringId, SymbolStatus, Thread, ThreadUsage, Time, ValueTypeId, Wait, WaitTable,
};

/// The processes that threads and counters name by their pids.
#[derive(Default)]
pub(super) struct Processes {
    by_pid: FxHashMap<OsId, ProcessId>,
}

impl Processes {
    /// The processes of the threads of a file of another tool, one for each thread.
    pub(super) fn of_threads(
        &mut self,
        builder: &mut ProfileBuilder,
        file: &File<'_>,
        repairs: &mut Repairs,
    ) -> Rows<ProcessId> {
        let mut of_threads = Rows::new("the processes");
        let mut seen = FxHashMap::default();
        let mut mains = FxHashMap::default();
        for (index, thread) in file.threads.iter().flatten().enumerate() {
            let at = format!("threads[{index}]");
            let pid = pid_of(&thread.pid);
            if thread.tid != Id::Missing && seen.insert((pid.clone(), tid_of(&thread.tid)), index).is_some() {
                let message = "threads with the ids of another one: kept apart";
                repairs.note("thread-id-twice", message, || format!("{at}.tid"));
            }
            if thread.is_main_thread.is_some_and(|flag| flag.0) && mains.insert(pid.clone(), index).is_some() {
                let message = "processes have several main threads";
                repairs.note("main-thread-twice", message, || format!("{at}.isMainThread"));
            }
            let known = self.by_pid.get(&pid).copied();
            let process = known.unwrap_or_else(|| {
                let name = thread.process_name.as_ref().or(thread.name.as_ref());
                let name = builder.string(name.map_or("", |name| &name.0));
                let start = repairs.optional_time(thread.process_startup_time, || format!("{at}.processStartupTime"));
                let end = repairs.optional_time(thread.process_shutdown_time, || format!("{at}.processShutdownTime"));
                let (start, end) = in_order(repairs, start, end, || format!("{at}.processShutdownTime"));
                let id = builder.add_process(Process { start, end, ..Process::new(pid.clone(), name) });
                self.by_pid.insert(pid, id);
                id
            });
            of_threads.push(process);
        }
        of_threads
    }

    /// The process with a pid; added, which `added` is told, if there is none.
    pub(super) fn find_or_add(&mut self, builder: &mut ProfileBuilder, pid: &OsId, added: impl FnOnce()) -> ProcessId {
        if let Some(known) = self.by_pid.get(pid) {
            return *known;
        }
        added();
        let name = builder.string(&pid.to_string());
        let id = builder.add_process(Process::new(pid.clone(), name));
        self.by_pid.insert(pid.clone(), id);
        id
    }
}

/// A pid, a number if it is written as one.
pub(super) fn pid_of(id: &Id) -> OsId {
    match tid_of(id) {
        OsId::Text(text) => match text.parse::<i64>() {
            Ok(number) if number.to_string() == *text => OsId::Number(number),
            _ => OsId::Text(text),
        },
        number @ OsId::Number(_) => number,
    }
}

pub(super) fn tid_of(id: &Id) -> OsId {
    match id {
        Id::Number(number) => OsId::Number(*number),
        Id::Text(text) => OsId::Text(text.as_str().into()),
        Id::Missing => OsId::Text("".into()),
    }
}

/// Two moments, without the second if it is before the first.
fn in_order(
    repairs: &mut Repairs,
    start: Option<Time>,
    end: Option<Time>,
    place: impl FnOnce() -> String,
) -> (Option<Time>, Option<Time>) {
    if matches!((start, end), (Some(start), Some(end)) if end < start) {
        repairs.note("end-before-start", "what ends before it starts is taken as not ended", place);
        return (start, None);
    }
    (start, end)
}

/// What threads refer to.
pub(super) struct Context<'a> {
    pub code: &'a Code,
    /// By row of `traceview`; in files of other tools one for each thread.
    pub processes: &'a Rows<ProcessId>,
    pub markers: &'a Markers,
    pub label_sets: Rows<LabelSetId>,
    pub value_types: Rows<ValueTypeId>,
    /// In which CPU times are given.
    pub cpu_unit: Option<String>,
}

/// What the tables of one thread are: its own, or the shared ones.
struct ThreadTables<'t> {
    strings: &'t Rows<StringId>,
    stacks: &'t Rows<StackId>,
}

/// Libraries of threads, each known once; old files have a list in each thread.
#[derive(Default)]
pub(super) struct ThreadLibraries {
    known: FxHashMap<(StringId, StringId), LibraryId>,
    mapped: FxHashMap<(ProcessId, LibraryId, u64), ()>,
}

impl Context<'_> {
    pub(super) fn read(
        &self,
        builder: &mut ProfileBuilder,
        libraries: &mut ThreadLibraries,
        index: usize,
        mut file: FileThread<'_>,
        own: Option<&key::Thread>,
        repairs: &mut Repairs,
    ) -> Result<Thread, ReadError> {
        let at = format!("threads[{index}]");
        let process = match own {
            Some(own) => self.processes.get(own.process, format_args!("{at}.traceview.process"))?,
            None => self.processes.get(u32::try_from(index).unwrap_or(u32::MAX), format_args!("{at}"))?,
        };
        let own_strings = match &file.string_array {
            Some(texts) => Some(code::strings(builder, texts, None)?),
            None => None,
        };
        let strings = own_strings.as_ref().unwrap_or(&self.code.strings);
        let own_libraries = file.libs.take().map(|libs| libraries.read(builder, process, &libs));
        let libs = own_libraries.as_ref().unwrap_or(&self.code.libraries);
        let own_stacks = match own_tables(&mut file) {
            Some(tables) => {
                let at = format!("{at}.");
                code::note_unknown_columns(&tables, &at, repairs);
                Some(self.code.place(&at, strings, libs).stacks(builder, tables, None, repairs)?)
            }
            None => None,
        };
        let kept = match own {
            Some(own) if !own.kept.is_empty() => {
                kept::kept_of(&own.kept, &kept::of_thread(&file), &format!("{at}.traceview.kept"))?
            }
            _ => Vec::new(),
        };
        let tables = ThreadTables { strings, stacks: own_stacks.as_ref().unwrap_or(&self.code.stacks) };
        let name = builder.string(file.name.as_ref().map_or("", |name| &name.0));
        let mut thread = Thread { kept, ..Thread::new(process, tid_of(&file.tid), name) };
        match own {
            Some(own) => self.apply(own, &mut thread, &at)?,
            None => self.as_in_file(builder, &mut thread, &file, &at, repairs),
        }
        self.fill(builder, &mut thread, file, own, &tables, &at, repairs)?;
        Ok(thread)
    }

    /// Samples, allocations, markers.
    #[expect(clippy::too_many_arguments, reason = "the tail of `read`, which would be too long")]
    fn fill(
        &self,
        builder: &mut ProfileBuilder,
        thread: &mut Thread,
        file: FileThread<'_>,
        own: Option<&key::Thread>,
        tables: &ThreadTables<'_>,
        at: &str,
        repairs: &mut Repairs,
    ) -> Result<(), ReadError> {
        let in_samples = file.samples.unwrap_or_else(|| {
            repairs.missing(|| format!("{at}.samples"));
            Samples::default()
        });
        let reader = samples::Reader { context: self, stacks: tables.stacks, at: &format!("{at}.samples") };
        match own {
            Some(own) => reader.ours(builder, thread, in_samples, &own.samples, repairs)?,
            None => reader.foreign(builder, thread, in_samples, repairs),
        }
        let (native, script) = match own {
            Some(own) => (own.native_allocations.as_ref(), own.script_allocations.as_ref()),
            None => (None, None),
        };
        let allocations = [
            (&mut thread.native_allocations, file.native_allocations, native, "nativeAllocations"),
            (&mut thread.script_allocations, file.js_allocations, script, "jsAllocations"),
        ];
        for (table, in_file, own, name) in allocations {
            if let Some(in_file) = in_file {
                let at = format!("{at}.{name}");
                *table = allocation::read(builder, tables.stacks, in_file, own, &at, repairs)?;
            }
        }
        if let Some(tracer) = file.js_tracer {
            let own = own.and_then(|own| own.script_trace.as_ref());
            thread.script_trace =
                allocation::trace(builder, tables.strings, &tracer, own, &format!("{at}.jsTracer"), repairs)?;
        }
        match file.markers {
            Some(markers) => {
                let at = format!("{at}.markers");
                let place =
                    super::marker::Place { strings: tables.strings, stacks: tables.stacks, code: self.code, at: &at };
                let own = own.map(|own| &own.markers);
                let (table, kept) = self.markers.of_thread(builder, &place, &markers, own, repairs)?;
                thread.markers = table;
                thread.kept.extend(kept);
            }
            None => repairs.missing(|| format!("{at}.markers")),
        }
        Ok(())
    }

    /// What the file's own keys say of a thread of another tool.
    fn as_in_file(
        &self,
        builder: &mut ProfileBuilder,
        thread: &mut Thread,
        file: &FileThread<'_>,
        at: &str,
        repairs: &mut Repairs,
    ) {
        thread.is_main = file.is_main_thread.is_some_and(|flag| flag.0);
        let start = repairs.optional_time(file.register_time, || format!("{at}.registerTime"));
        let end = repairs.optional_time(file.unregister_time, || format!("{at}.unregisterTime"));
        (thread.start, thread.end) = in_order(repairs, start, end, || format!("{at}.unregisterTime"));
        for (row, range) in file.paused_ranges.iter().flatten().enumerate() {
            let place = |what: &'static str| move || format!("{at}.pausedRanges[{row}].{what}");
            let start = repairs.optional_time(range.start_time, place("startTime"));
            let end = repairs.optional_time(range.end_time, place("endTime"));
            let (start, end) = in_order(repairs, start, end, place("endTime"));
            let reason = builder.string(range.reason.as_ref().map_or("", |reason| &reason.0));
            thread.paused.push(Pause { start, end, reason });
        }
        let keys = kept::of_thread(file).into_iter().filter(|(path, _)| !path.contains('.'));
        thread.kept = keys.map(|(path, json)| Kept { path: path.into(), json: json.into() }).collect();
    }

    /// What only `traceview` says.
    fn apply(&self, own: &key::Thread, thread: &mut Thread, at: &str) -> Result<(), ReadError> {
        let at = format!("{at}.traceview");
        thread.is_main = own.is_main;
        thread.timed = own.timed;
        (thread.start, thread.end) = (moment(own.start), moment(own.end));
        for (time, name) in &own.earlier_names {
            let name = self.code.strings.get(*name, format_args!("{at}.earlierNames"))?;
            thread.earlier_names.push((Time(*time), name));
        }
        thread.usage = own.usage.as_ref().map(|usage| ThreadUsage {
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
        for (start, end, reason) in &own.paused {
            let reason = self.code.strings.get(*reason, format_args!("{at}.paused"))?;
            thread.paused.push(Pause { start: moment(*start), end: moment(*end), reason });
        }
        if let Some(waits) = &own.waits {
            thread.waits = self.waits(waits, &format!("{at}.waits"))?;
        }
        if let Some(slices) = &own.slices {
            thread.slices = self.slices(slices, &format!("{at}.slices"))?;
        }
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
        if !table.cpu.is_empty() {
            same_length(format_args!("{at}"), table.start.len(), &[("cpu", table.cpu.len())])?;
            let cpu =
                |(start, duration): &(Option<i64>, Option<i64>)| SliceCpu::new(start.map(Nanos), duration.map(Nanos));
            slices.cpu = table.cpu.iter().map(cpu).collect();
        }
        Ok(slices)
    }
}

impl ThreadLibraries {
    /// The libraries of a thread, and where they were mapped in its process.
    fn read(&mut self, builder: &mut ProfileBuilder, process: ProcessId, libs: &[Lib<'_>]) -> Rows<LibraryId> {
        let mut rows = Rows::new("the libraries of the thread");
        for lib in libs {
            let library = code::library(builder, lib, SymbolStatus::Unknown);
            let key = (library.debug_name, library.breakpad_id);
            let id = *self.known.entry(key).or_insert_with(|| builder.add_library(library));
            rows.push(id);
            let (Some(start), Some(end)) = (lib.start.and_then(|at| at.0), lib.end.and_then(|at| at.0)) else {
                continue;
            };
            if start < end && self.mapped.insert((process, id, start), ()).is_none() {
                let offset = lib.offset.and_then(|offset| offset.0).unwrap_or(0);
                let from = builder.tables().processes[process.index()].start.unwrap_or_default();
                let base = start.checked_sub(offset);
                builder.add_mapping(Mapping {
                    process,
                    library: id,
                    start,
                    end,
                    file_offset: offset,
                    base,
                    from,
                    until: None,
                });
            }
        }
        rows
    }
}

/// The tables of code that a thread has for itself, if it has any.
fn own_tables<'a>(file: &mut FileThread<'a>) -> Option<Tables<'a>> {
    let has_any = file.stack_table.is_some() || file.frame_table.is_some() || file.func_table.is_some();
    has_any.then(|| Tables {
        stack_table: file.stack_table.take(),
        frame_table: file.frame_table.take(),
        func_table: file.func_table.take(),
        resource_table: file.resource_table.take(),
        native_symbols: file.native_symbols.take(),
        ..Tables::default()
    })
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
