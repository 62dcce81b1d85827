//! The only way to make a [`Profile`].

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::check::{self, Invalid};
use super::library;
use super::row_index::RowIndex;
use super::stack_index::StackIndex;
use super::stack_merge;
use super::{
    Category, Crate, CrateId, Frame, FrameId, FrameTable, Function, FunctionId, FunctionTable, Library, LibraryId,
    Mapping, Meta, NativeSymbol, NativeSymbolId, PayloadId, Process, ProcessId, Profile, Resource, ResourceId,
    ScriptFrame, ScriptFrameId, Source, SourceId, SourceLocation, SourceLocationId, StackId, StackTable,
    StandardCategory, StringId, SymbolStatus, Tables, Thread, ThreadId, ValueType, ValueTypeId,
};
use super::{Counter, Field, FlowMember, Label, LabelSetId, MarkerSchema, MarkerSchemaId};

/// Collects the tables of a profile, storing what is equal once, and checks them at the end.
///
/// Rows keep the order in which they were first added, so equal input gives an equal profile.
#[derive(Debug, Default)]
pub struct ProfileBuilder {
    tables: Tables,
    crates: FxHashMap<Crate, CrateId>,
    resources: FxHashMap<Resource, ResourceId>,
    sources: FxHashMap<Source, SourceId>,
    source_locations: FxHashMap<SourceLocation, SourceLocationId>,
    script_frames: FxHashMap<ScriptFrame, ScriptFrameId>,
    native_symbols: FxHashMap<NativeSymbol, NativeSymbolId>,
    functions: RowIndex,
    frames: RowIndex,
    stacks: StackIndex,
    value_types: FxHashMap<ValueType, ValueTypeId>,
    label_sets: FxHashMap<Vec<Label>, LabelSetId>,
    /// How many labels all sets have.
    labels: usize,
}

/// Adds `row` to `table` unless `known` has it.
macro_rules! intern {
    ($known:expr, $row:expr, $add:expr) => {{
        let row = $row;
        match $known.entry(row) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => *vacant.insert($add),
        }
    }};
}

impl ProfileBuilder {
    /// An empty profile without categories, for readers of files that bring their own.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty profile with the [standard categories](StandardCategory).
    pub fn with_standard_categories() -> Self {
        let mut builder = Self::new();
        let other = builder.string("Other");
        for category in StandardCategory::ALL {
            let name = builder.string(category.name());
            builder.add_category(Category { name, color: category.color(), subcategories: vec![other] });
        }
        builder
    }

    /// All of `profile` but its stacks. Samples, waits and markers carry those until they are
    /// [replaced](Self::replace_stacks).
    pub fn with_stacks_to_replace(profile: &Profile) -> Self {
        let tables = Tables {
            stacks: StackTable::default(),
            functions: FunctionTable::default(),
            frames: FrameTable::default(),
            ..profile.tables.clone()
        };
        let mut builder = Self { tables, ..Self::default() };
        // No two are equal: they keep their ids.
        for id in (0..profile.functions.len()).map(FunctionId::new) {
            builder.function(profile.functions.get(id));
        }
        for id in (0..profile.frames.len()).map(FrameId::new) {
            builder.frame(profile.frames.get(id));
        }
        builder
    }

    /// Replaces the stacks that samples, waits, markers and allocations carry by those in `stacks`, by their old ids; `None`
    /// leaves them without one.
    ///
    /// # Panics
    /// If `stacks` ends before a stack that is in use.
    pub fn replace_stacks(&mut self, stacks: &[Option<StackId>]) {
        for thread in &mut self.tables.threads {
            let columns = [
                &mut thread.samples.stack,
                &mut thread.waits.stack,
                &mut thread.markers.stack,
                &mut thread.native_allocations.stack,
                &mut thread.script_allocations.stack,
            ];
            for stack in columns.into_iter().flatten() {
                *stack = stack.and_then(|stack| stacks[stack.index()]);
            }
        }
    }

    /// The profile, if it keeps the rules of the model.
    ///
    /// # Errors
    /// The first rule that is broken, and where.
    pub fn finish(self) -> Result<Profile, Invalid> {
        check::check(&self.tables)?;
        Ok(Profile { tables: self.tables })
    }

    /// What was collected so far.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// About how many bytes of memory the tables take while they are made, the samples, slices and markers of threads
    /// apart, and with so many more stacks. The same for equal tables.
    pub fn memory(&self, more_stacks: usize) -> usize {
        super::memory::of(&self.tables, self.labels, more_stacks)
    }

    /// What the profile is of.
    pub fn meta_mut(&mut self) -> &mut Meta {
        &mut self.tables.meta
    }

    /// A thread that was added before, to fill it.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn thread_mut(&mut self, id: ThreadId) -> &mut Thread {
        &mut self.tables.threads[id.index()]
    }

    /// A process that was added before, to fill it.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn process_mut(&mut self, id: ProcessId) -> &mut Process {
        &mut self.tables.processes[id.index()]
    }

    /// The id of `text`.
    pub fn string(&mut self, text: &str) -> StringId {
        self.tables.strings.intern(text)
    }

    /// Adds a category.
    pub fn add_category(&mut self, category: Category) -> super::CategoryId {
        push(&mut self.tables.categories, category)
    }

    /// Adds a library.
    pub fn add_library(&mut self, library: Library) -> LibraryId {
        push(&mut self.tables.libraries, library)
    }

    /// A library of which nothing but its path is known, to be added. It is called as the file.
    pub fn library_at(&mut self, path: &str) -> Library {
        let (path, name, none) = (self.string(path), self.string(library::file_name(path)), self.string(""));
        Library {
            name,
            path,
            debug_name: name,
            debug_path: path,
            code_id: None,
            breakpad_id: none,
            arch: none,
            symbols: SymbolStatus::Unknown,
        }
    }

    /// Adds a mapping.
    pub fn add_mapping(&mut self, mapping: Mapping) {
        self.tables.mappings.push(mapping);
    }

    /// Adds a process.
    pub fn add_process(&mut self, process: Process) -> ProcessId {
        push(&mut self.tables.processes, process)
    }

    /// Makes room for as many further threads, and no more: they are the largest rows, of which a table that grows by doubling
    /// would have too many.
    pub fn reserve_threads(&mut self, more: usize) {
        self.tables.threads.reserve_exact(more);
    }

    /// Adds a thread.
    pub fn add_thread(&mut self, thread: Thread) -> ThreadId {
        push(&mut self.tables.threads, thread)
    }

    /// Adds a counter.
    pub fn add_counter(&mut self, counter: Counter) {
        self.tables.counters.push(counter);
    }

    /// Adds a marker schema.
    pub fn add_marker_schema(&mut self, schema: MarkerSchema) -> MarkerSchemaId {
        push(&mut self.tables.marker_schemas, schema)
    }

    /// Adds a set of fields.
    pub fn add_payload(&mut self, fields: impl AsRef<[Field]>) -> PayloadId {
        self.tables.payloads.push(fields.as_ref())
    }

    /// Adds a flow with its members in order of time; see [`FlowTable::push`](super::FlowTable::push).
    pub fn add_flow(&mut self, name: StringId, category: StringId, id: StringId, members: &[FlowMember]) -> usize {
        self.tables.flows.push(name, category, id, members)
    }

    /// The id of an equal crate, added if new.
    pub fn add_crate(&mut self, row: Crate) -> CrateId {
        intern!(self.crates, row, push(&mut self.tables.crates, row))
    }

    /// The id of an equal resource, added if new.
    pub fn resource(&mut self, row: Resource) -> ResourceId {
        intern!(self.resources, row, push(&mut self.tables.resources, row))
    }

    /// The id of an equal source, added if new.
    pub fn source(&mut self, row: Source) -> SourceId {
        intern!(self.sources, row, push(&mut self.tables.sources, row))
    }

    /// The id of an equal place, added if new.
    pub fn source_location(&mut self, row: SourceLocation) -> SourceLocationId {
        intern!(self.source_locations, row, push(&mut self.tables.source_locations, row))
    }

    /// The id of an equal row, added if new.
    pub fn script_frame(&mut self, row: ScriptFrame) -> ScriptFrameId {
        intern!(self.script_frames, row, push(&mut self.tables.script_frames, row))
    }

    /// Keeps a value of the file for its format.
    pub fn keep(&mut self, path: &str, json: &str) {
        self.tables.kept.push(super::Kept { path: path.into(), json: json.into() });
    }

    /// The id of an equal symbol, added if new.
    pub fn native_symbol(&mut self, row: NativeSymbol) -> NativeSymbolId {
        intern!(self.native_symbols, row, push(&mut self.tables.native_symbols, row))
    }

    /// The id of an equal function, added if new.
    pub fn function(&mut self, row: Function) -> FunctionId {
        let functions = &mut self.tables.functions;
        self.functions.intern(functions, &row, |table, id, row| table.get(id) == *row, |table| table.push(row))
    }

    /// The id of an equal frame, added if new.
    pub fn frame(&mut self, row: Frame) -> FrameId {
        let frames = &mut self.tables.frames;
        self.frames.intern(frames, &row, |table, id, row| table.get(id) == *row, |table| table.push(row))
    }

    /// The stack in which `prefix` calls `frame`, added if new.
    pub fn stack(&mut self, prefix: Option<StackId>, frame: FrameId) -> StackId {
        self.stacks.intern(&mut self.tables.stacks, prefix, frame)
    }

    /// Adds a whole table of stacks, whose callers stand before them in the same table. Gives the stack that each row became;
    /// `None` if each is the one with its number: so it is if these are the first stacks and no two of them are equal.
    ///
    /// # Panics
    /// If a caller does not stand before its callee, or one column is longer than the other.
    pub fn add_stacks(&mut self, mut rows: StackTable) -> Option<Vec<StackId>> {
        if self.tables.stacks.is_empty() {
            let moved = stack_merge::merge_equal(&mut rows);
            self.stacks = StackIndex::default();
            self.tables.stacks = rows;
            return moved;
        }
        assert_eq!(rows.prefix.len(), rows.frame.len(), "columns of one table");
        let mut ids: Vec<StackId> = Vec::with_capacity(rows.len());
        for (prefix, frame) in rows.prefix.iter().zip(&rows.frame) {
            let prefix = prefix.map(|prefix| ids[prefix.index()]);
            ids.push(self.stack(prefix, *frame));
        }
        Some(ids)
    }

    /// Calls a frame from each of `stacks`: `stacks[n]` becomes the stack in which it calls `frames[n]`, added if new. For
    /// many stacks that do not depend on each other this is several times as fast as one after the other.
    pub fn call_all(&mut self, stacks: &mut [Option<StackId>], frames: &[FrameId]) {
        self.stacks.warm(stacks, frames);
        for (stack, frame) in stacks.iter_mut().zip(frames) {
            *stack = Some(self.stacks.intern(&mut self.tables.stacks, *stack, *frame));
        }
    }

    /// The id of an equal value type, added if new.
    pub fn value_type(&mut self, row: ValueType) -> ValueTypeId {
        intern!(self.value_types, row, push(&mut self.tables.value_types, row))
    }

    /// The id of an equal set of labels, added if new.
    pub fn label_set(&mut self, labels: Vec<Label>) -> LabelSetId {
        if let Some(id) = self.label_sets.get(&labels) {
            return *id;
        }
        self.labels += labels.len();
        let id = push(&mut self.tables.label_sets.sets, labels.clone());
        self.label_sets.insert(labels, id);
        id
    }
}

/// Adds `row` at the end of `table`.
fn push<T, I: super::Id>(table: &mut Vec<T>, row: T) -> I {
    let id = I::new(table.len());
    table.push(row);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_stored_once_in_order_of_first_use() {
        let mut builder = ProfileBuilder::with_standard_categories();
        let [main, work] = ["main", "work"].map(|name| {
            let name = builder.string(name);
            builder.function(Function::named(name))
        });
        let main_frame = builder.frame(Frame::of(main));
        let work_frame = builder.frame(Frame::of(work));
        let root = builder.stack(None, main_frame);
        let leaf = builder.stack(Some(root), work_frame);
        assert_eq!(builder.stack(None, main_frame), root);
        assert_eq!(builder.stack(Some(root), work_frame), leaf);
        assert_ne!(builder.stack(None, work_frame), leaf);
        assert_eq!(builder.frame(Frame::of(work)), work_frame);

        let profile = builder.finish().expect("a valid profile");
        assert_eq!((profile.functions.len(), profile.frames.len(), profile.stacks.len()), (2, 2, 3));
        assert_eq!(profile.leaf_function(leaf), work);
        assert_eq!(profile.stacks.ancestors(leaf).collect::<Vec<_>>(), [leaf, root]);
        assert_eq!(profile.categories[StandardCategory::Kernel.id().index()].color, StandardCategory::Kernel.color());
    }

    #[test]
    fn tables_of_stacks_keep_their_rows_if_they_can() {
        let mut builder = ProfileBuilder::new();
        let frames = ["a", "b"].map(|name| {
            let name = builder.string(name);
            let function = builder.function(Function::named(name));
            builder.frame(Frame::of(function))
        });
        let [a, b] = frames;
        let id = StackId::new;
        let table = |rows: &[(Option<usize>, FrameId)]| StackTable {
            prefix: rows.iter().map(|(prefix, _)| prefix.map(id)).collect(),
            frame: rows.iter().map(|(_, frame)| *frame).collect(),
        };
        let first = table(&[(None, a), (Some(0), b), (Some(0), a), (None, b), (Some(1), b)]);
        assert_eq!(builder.add_stacks(first.clone()), None);
        assert_eq!(builder.tables().stacks, first);
        // Others find them, and are found.
        assert_eq!(builder.stack(Some(id(1)), b), id(4));
        let second = table(&[(None, b), (Some(0), b), (None, a), (Some(2), b)]);
        assert_eq!(builder.add_stacks(second), Some([3, 5, 0, 1].map(id).to_vec()));

        let mut builder = ProfileBuilder::new();
        let twice = table(&[(None, a), (None, a), (Some(1), b), (Some(0), b)]);
        assert_eq!(builder.add_stacks(twice), Some([0, 0, 1, 1].map(id).to_vec()));
    }

    #[test]
    fn a_stack_under_a_cut_root_is_not_rooted() {
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string("[stack cut: too deep]");
        let cut = builder.function(Function { kind: super::super::FunctionKind::Cut, ..Function::named(name) });
        let name = builder.string("work");
        let work = builder.function(Function::named(name));
        let (cut, work) = (builder.frame(Frame::of(cut)), builder.frame(Frame::of(work)));
        let cut = builder.stack(None, cut);
        builder.stack(Some(cut), work);
        builder.stack(None, work);
        let profile = builder.finish().expect("a valid profile");
        assert_eq!(profile.rooted_stacks(), [false, false, true]);
    }
}
