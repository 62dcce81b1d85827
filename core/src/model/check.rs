//! The rules that every [`Profile`](super::Profile) keeps. Checked whenever one is made.

use super::{AllocationTable, FlowAnchor, Id, MarkerTiming, Tables, Thread, Time};

/// A rule of the model that does not hold.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{table} row {row}: {rule}")]
pub struct Invalid {
    /// The table, for example `stacks` or `thread 3 samples`.
    pub table: String,
    /// The row in it.
    pub row: usize,
    /// The rule, as it should be.
    pub rule: &'static str,
}

/// Checks all rules over all tables.
pub(super) fn check(tables: &Tables) -> Result<(), Invalid> {
    check_code(tables)?;
    check_stacks(tables)?;
    for (index, process) in tables.processes.iter().enumerate() {
        let at = || At { table: "processes", thread: None, row: index };
        at().optional(process.parent, tables.processes.len(), "its parent is a process of the profile")?;
        at().rule(ordered(process.start, process.end), "it ends after it starts")?;
        at().strings(tables, &[Some(process.name)])?;
    }
    for (index, thread) in tables.threads.iter().enumerate() {
        check_thread(tables, index, thread)?;
    }
    check_counters(tables)?;
    check_flows(tables)
}

/// A place in the tables, to make an [`Invalid`] of.
struct At {
    table: &'static str,
    thread: Option<usize>,
    row: usize,
}

impl At {
    // A call for each rule of each row would be a tenth of the time that it takes to read a file.
    #[inline]
    fn rule(&self, holds: bool, rule: &'static str) -> Result<(), Invalid> {
        if holds { Ok(()) } else { Err(self.broken(rule)) }
    }

    #[inline]
    fn id<I: Id>(&self, id: I, len: usize, rule: &'static str) -> Result<(), Invalid> {
        self.rule(id.index() < len, rule)
    }

    #[inline]
    fn optional<I: Id>(&self, id: Option<I>, len: usize, rule: &'static str) -> Result<(), Invalid> {
        match id {
            Some(id) => self.id(id, len, rule),
            None => Ok(()),
        }
    }

    #[cold]
    fn broken(&self, rule: &'static str) -> Invalid {
        let table = match self.thread {
            Some(thread) => format!("thread {thread} {}", self.table),
            None => self.table.to_owned(),
        };
        Invalid { table, row: self.row, rule }
    }

    fn strings(&self, tables: &Tables, ids: &[Option<super::StringId>]) -> Result<(), Invalid> {
        let len = tables.strings.len();
        ids.iter().try_for_each(|id| self.optional(*id, len, "its strings are in the string table"))
    }
}

fn ordered(start: Option<Time>, end: Option<Time>) -> bool {
    !matches!((start, end), (Some(start), Some(end)) if end < start)
}

fn check_code(tables: &Tables) -> Result<(), Invalid> {
    for (row, category) in tables.categories.iter().enumerate() {
        let at = At { table: "categories", thread: None, row };
        at.strings(tables, &[Some(category.name)])?;
        at.rule(!category.subcategories.is_empty(), "it has at least the subcategory \"Other\"")?;
        category.subcategories.iter().try_for_each(|name| at.strings(tables, &[Some(*name)]))?;
    }
    for (row, mapping) in tables.mappings.iter().enumerate() {
        let at = At { table: "mappings", thread: None, row };
        at.id(mapping.process, tables.processes.len(), "its process is in the profile")?;
        at.id(mapping.library, tables.libraries.len(), "its library is in the profile")?;
        at.rule(mapping.start < mapping.end, "it is not empty")?;
        at.rule(ordered(Some(mapping.from), mapping.until), "it goes after it comes")?;
    }
    for (row, resource) in tables.resources.iter().enumerate() {
        let at = At { table: "resources", thread: None, row };
        at.optional(resource.library, tables.libraries.len(), "its library is in the profile")?;
        at.strings(tables, &[Some(resource.name)])?;
    }
    for (row, symbol) in tables.native_symbols.iter().enumerate() {
        let at = At { table: "native symbols", thread: None, row };
        at.id(symbol.library, tables.libraries.len(), "its library is in the profile")?;
        at.strings(tables, &[Some(symbol.name)])?;
    }
    for row in 0..tables.functions.len() {
        let at = At { table: "functions", thread: None, row };
        let function = tables.functions.get(super::FunctionId::new(row));
        at.strings(tables, &[Some(function.name), function.full_name])?;
        at.optional(function.resource, tables.resources.len(), "its resource is in the profile")?;
        at.optional(function.source, tables.sources.len(), "its source is in the profile")?;
        at.optional(function.origin, tables.crates.len(), "its crate is in the profile")?;
        let places = tables.source_locations.len();
        at.optional(function.original_location, places, "its original place is in the profile")?;
    }
    check_sources(tables)
}

fn check_sources(tables: &Tables) -> Result<(), Invalid> {
    for (row, source) in tables.sources.iter().enumerate() {
        let at = At { table: "sources", thread: None, row };
        at.strings(tables, &[Some(source.path), source.id, source.content, source.map_url])?;
    }
    for (row, location) in tables.source_locations.iter().enumerate() {
        let at = At { table: "source locations", thread: None, row };
        at.id(location.source, tables.sources.len(), "its source is in the profile")?;
    }
    for (row, frame) in tables.script_frames.iter().enumerate() {
        let at = At { table: "script frames", thread: None, row };
        let places = tables.source_locations.len();
        at.optional(frame.original_location, places, "its original place is in the profile")?;
    }
    Ok(())
}

fn check_stacks(tables: &Tables) -> Result<(), Invalid> {
    for row in 0..tables.frames.len() {
        let at = At { table: "frames", thread: None, row };
        let frame = tables.frames.get(super::FrameId::new(row));
        at.id(frame.function, tables.functions.len(), "its function is in the profile")?;
        at.optional(frame.library, tables.libraries.len(), "its library is in the profile")?;
        at.optional(frame.native_symbol, tables.native_symbols.len(), "its symbol is in the profile")?;
        at.optional(frame.script, tables.script_frames.len(), "its row of script frames is in the profile")?;
        at.optional(frame.category, tables.categories.len(), "its category is in the profile")?;
        let subcategories = frame.category.map_or(1, |id| tables.categories[id.index()].subcategories.len());
        at.rule(usize::from(frame.subcategory) < subcategories, "its category has its subcategory")?;
        at.rule(frame.line != Some(0) && frame.column != Some(0), "lines and columns count from 1")?;
    }
    for (row, (prefix, frame)) in tables.stacks.prefix.iter().zip(&tables.stacks.frame).enumerate() {
        let at = At { table: "stacks", thread: None, row };
        at.optional(*prefix, row, "a caller stands before its callees")?;
        at.id(*frame, tables.frames.len(), "its frame is in the profile")?;
    }
    Ok(())
}

fn check_thread(tables: &Tables, index: usize, thread: &Thread) -> Result<(), Invalid> {
    let at = At { table: "threads", thread: None, row: index };
    at.id(thread.process, tables.processes.len(), "its process is in the profile")?;
    at.strings(tables, &[Some(thread.name)])?;
    at.rule(ordered(thread.start, thread.end), "it ends after it starts")?;
    check_samples(tables, index, thread)?;
    check_waits(tables, index, thread)?;
    check_slices(tables, index, thread)?;
    check_markers(tables, index, thread)?;
    check_allocations(tables, index, "native allocations", &thread.native_allocations)?;
    check_allocations(tables, index, "script allocations", &thread.script_allocations)?;
    check_script_trace(tables, index, thread)?;
    for (row, pause) in thread.paused.iter().enumerate() {
        let at = At { table: "pauses", thread: Some(index), row };
        at.strings(tables, &[Some(pause.reason)])?;
        at.rule(ordered(pause.start, pause.end), "it ends after it starts")?;
    }
    Ok(())
}

fn check_allocations(
    tables: &Tables,
    index: usize,
    table: &'static str,
    allocations: &AllocationTable,
) -> Result<(), Invalid> {
    let at = |row| At { table, thread: Some(index), row };
    let len = allocations.len();
    at(0).rule(allocations.stack.len() == len, "columns are of one length")?;
    at(0).rule(allocations.weight.stored_len().is_none_or(|stored| stored == len), "columns are of one length")?;
    let strings = [&allocations.class, &allocations.type_name, &allocations.coarse_type];
    let columns = [allocations.address.len(), allocations.thread.len(), allocations.in_nursery.len()];
    for stored in columns.into_iter().chain(strings.map(Vec::len)) {
        at(0).rule([0, len].contains(&stored), "columns are of one length")?;
    }
    at(0).rule(allocations.time.is_sorted(), "allocations are in order of time")?;
    for (row, stack) in allocations.stack.iter().enumerate() {
        at(row).optional(*stack, tables.stacks.len(), "its stack is in the profile")?;
    }
    strings.into_iter().try_for_each(|column| at(0).strings(tables, column))
}

fn check_script_trace(tables: &Tables, index: usize, thread: &Thread) -> Result<(), Invalid> {
    let trace = &thread.script_trace;
    let at = |row| At { table: "script trace", thread: Some(index), row };
    let columns = [trace.start.len(), trace.duration.len(), trace.line.len(), trace.column.len()];
    at(0).rule(columns.into_iter().all(|column| column == trace.len()), "columns are of one length")?;
    for (row, name) in trace.name.iter().enumerate() {
        at(row).strings(tables, &[Some(*name)])?;
        at(row).rule(trace.duration[row].is_none_or(|length| length.0 >= 0), "its duration is not negative")?;
    }
    Ok(())
}

fn check_samples(tables: &Tables, index: usize, thread: &Thread) -> Result<(), Invalid> {
    let samples = &thread.samples;
    let at = |row| At { table: "samples", thread: Some(index), row };
    let len = samples.len();
    let full = |column: usize| column == 0 || column == len;
    at(0).rule(samples.time.len() == if thread.timed { len } else { 0 }, "a timed thread's samples have times")?;
    let columns = [samples.cpu.len(), samples.labels.len(), samples.flags.len()];
    at(0).rule(columns.into_iter().all(full), "columns are of one length")?;
    at(0).rule(samples.weight.stored_len().is_none_or(|stored| stored == len), "columns are of one length")?;
    for column in &samples.values {
        at(0).id(column.value_type, tables.value_types.len(), "its value types are in the profile")?;
        at(0).rule(column.values.stored_len().is_none_or(|stored| stored == len), "columns are of one length")?;
    }
    for (row, pair) in samples.time.windows(2).enumerate() {
        at(row + 1).rule(pair[0] <= pair[1], "samples are in order of time")?;
    }
    for (row, stack) in samples.stack.iter().enumerate() {
        at(row).optional(*stack, tables.stacks.len(), "its stack is in the profile")?;
    }
    for (row, labels) in samples.labels.iter().enumerate() {
        at(row).optional(*labels, tables.label_sets.sets.len(), "its labels are in the profile")?;
    }
    Ok(())
}

fn check_waits(tables: &Tables, index: usize, thread: &Thread) -> Result<(), Invalid> {
    let mut last = Time(i64::MIN);
    for (row, wait) in thread.waits.iter().enumerate() {
        let at = At { table: "waits", thread: Some(index), row };
        at.rule(wait.duration.0 >= 0, "its duration is not negative")?;
        at.rule(last <= wait.start, "waits are in order of time and do not overlap")?;
        at.optional(wait.stack, tables.stacks.len(), "its stack is in the profile")?;
        at.strings(tables, &[wait.syscall, wait.target])?;
        last = wait.start + wait.duration;
    }
    Ok(())
}

fn check_slices(tables: &Tables, index: usize, thread: &Thread) -> Result<(), Invalid> {
    let slices = &thread.slices;
    let at = At { table: "slices", thread: Some(index), row: 0 };
    at.rule([0, slices.len()].contains(&slices.cpu.len()), "columns are of one length")?;
    for row in 0..slices.len() {
        let at = At { table: "slices", thread: Some(index), row };
        let slice = slices.get(row);
        at.rule(slice.duration.0 >= 0, "its duration is not negative")?;
        at.rule(row == 0 || slices.start[row - 1] <= slice.start, "slices are in order of time")?;
        at.optional(slice.parent, row, "a parent stands before its children")?;
        at.id(slice.category, tables.categories.len(), "its category is in the profile")?;
        at.optional(slice.args, tables.payloads.len(), "its arguments are in the profile")?;
        at.strings(tables, &[Some(slice.name)])?;
        let fits = match slice.parent.map(|parent| slices.get(parent.index())) {
            Some(parent) => {
                parent.depth.checked_add(1) == Some(slice.depth)
                    && parent.lane == slice.lane
                    && slice.start + slice.duration <= parent.start + parent.duration
            }
            None => slice.depth == 0,
        };
        at.rule(fits, "it lies inside its parent, one deeper, on its lane")?;
    }
    Ok(())
}

fn check_markers(tables: &Tables, index: usize, thread: &Thread) -> Result<(), Invalid> {
    let origins = thread.markers.origin.len();
    let at = At { table: "markers", thread: Some(index), row: 0 };
    at.rule([0, thread.markers.len()].contains(&origins), "columns are of one length")?;
    for row in 0..thread.markers.len() {
        let at = At { table: "markers", thread: Some(index), row };
        let marker = thread.markers.get(row);
        at.strings(tables, &[Some(marker.name)])?;
        at.id(marker.category, tables.categories.len(), "its category is in the profile")?;
        at.optional(marker.schema, tables.marker_schemas.len(), "its schema is in the profile")?;
        at.optional(marker.payload, tables.payloads.len(), "its data is in the profile")?;
        at.optional(marker.stack, tables.stacks.len(), "its stack is in the profile")?;
        let forward = !matches!(marker.timing, MarkerTiming::Interval(start, end) if end < start);
        at.rule(forward, "it ends after it starts")?;
    }
    Ok(())
}

fn check_counters(tables: &Tables) -> Result<(), Invalid> {
    for (row, counter) in tables.counters.iter().enumerate() {
        let at = At { table: "counters", thread: None, row };
        at.id(counter.process, tables.processes.len(), "its process is in the profile")?;
        at.optional(counter.main_thread, tables.threads.len(), "its thread is in the profile")?;
        let len = counter.time.len();
        let full = counter.delta.len() == len && [0, len].contains(&counter.operations.len());
        at.rule(full, "columns are of one length")?;
        at.rule(counter.time.is_sorted(), "its samples are in order of time")?;
        at.strings(tables, &[Some(counter.name)])?;
    }
    Ok(())
}

fn check_flows(tables: &Tables) -> Result<(), Invalid> {
    let flows = &tables.flows;
    for flow in 0..flows.len() {
        let at = At { table: "flows", thread: None, row: flow };
        let first = flows.first_member[flow] as usize;
        let end = flows.first_member.get(flow + 1).map_or(flows.members.len(), |next| *next as usize);
        at.rule(first <= end && end <= flows.members.len(), "flows follow each other in the member table")?;
        at.rule(flow > 0 || first == 0, "flows follow each other in the member table")?;
        for member in flows.members_of(flow) {
            at.id(member.thread, tables.threads.len(), "its threads are in the profile")?;
            let thread = &tables.threads[member.thread.index()];
            let bound = match member.anchor {
                FlowAnchor::Slice(slice) => slice.index() < thread.slices.len(),
                FlowAnchor::Marker(marker) => marker.index() < thread.markers.len(),
                FlowAnchor::Thread => true,
            };
            at.rule(bound, "what its members are bound to is in the profile")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::*;

    fn thread(builder: &mut ProfileBuilder) -> ThreadId {
        let name = builder.string("main");
        let process = builder.add_process(Process {
            pid: OsId::Number(1),
            parent: None,
            name,
            command_line: Vec::new(),
            start: None,
            end: None,
            exit: None,
        });
        builder.add_thread(Thread::new(process, OsId::Number(1), name))
    }

    fn broken(fill: impl FnOnce(&mut ProfileBuilder)) -> String {
        let mut builder = ProfileBuilder::with_standard_categories();
        fill(&mut builder);
        builder.finish().expect_err("the rule is broken").to_string()
    }

    #[test]
    fn samples_out_of_order_are_refused_with_their_place() {
        let error = broken(|builder| {
            let thread = thread(builder);
            let samples = &mut builder.thread_mut(thread).samples;
            samples.time = vec![Time(5), Time(4)];
            samples.stack = vec![None, None];
        });
        assert_eq!(error, "thread 0 samples row 1: samples are in order of time");
    }

    #[test]
    fn a_stack_of_another_profile_is_refused() {
        let error = broken(|builder| {
            let thread = thread(builder);
            let samples = &mut builder.thread_mut(thread).samples;
            samples.time = vec![Time(5)];
            samples.stack = vec![Some(StackId::new(7))];
        });
        assert_eq!(error, "thread 0 samples row 0: its stack is in the profile");
    }

    #[test]
    fn a_short_column_is_refused() {
        let error = broken(|builder| {
            let thread = thread(builder);
            let samples = &mut builder.thread_mut(thread).samples;
            samples.time = vec![Time(5), Time(6)];
            samples.stack = vec![None, None];
            samples.cpu = vec![CpuDelta::UNKNOWN];
        });
        assert_eq!(error, "thread 0 samples row 0: columns are of one length");
    }

    #[test]
    fn slices_nest_inside_their_parents() {
        let error = broken(|builder| {
            let name = builder.string("slice");
            let thread = thread(builder);
            let slices = &mut builder.thread_mut(thread).slices;
            let outer = Slice {
                start: Time(0),
                duration: Nanos(10),
                name,
                category: StandardCategory::Other.id(),
                parent: None,
                depth: 0,
                lane: 0,
                args: None,
                incomplete: false,
            };
            let parent = slices.push(outer);
            slices.push(Slice { start: Time(5), duration: Nanos(6), parent: Some(parent), depth: 1, ..outer });
        });
        assert_eq!(error, "thread 0 slices row 1: it lies inside its parent, one deeper, on its lane");
    }

    #[test]
    fn overlapping_waits_are_refused() {
        let error = broken(|builder| {
            let thread = thread(builder);
            let wait = Wait {
                start: Time(0),
                duration: Nanos(10),
                stack: None,
                reason: WaitReason::Blocked,
                syscall: None,
                target: None,
                inferred: false,
            };
            let waits = &mut builder.thread_mut(thread).waits;
            waits.push(wait);
            waits.push(Wait { start: Time(9), ..wait });
        });
        assert_eq!(error, "thread 0 waits row 1: waits are in order of time and do not overlap");
    }
}
