//! How much memory tables take, as far as a file can make it many times its own size.

use super::{
    Category, Counter, Field, Frame, Function, Label, Library, Mapping, MarkerSchema, Process, Resource, Source,
    SourceLocation, Tables, Thread, ValueType,
};

/// What an allocation takes besides what was asked for, and rounded up.
const ALLOCATION: usize = 16;

/// A stack: its two columns, and its place in an index, which is two fifths full when it has just grown.
const STACK: usize = 8 + 12 * 5 / 2;

/// What the tables take while they are made, with the indices that find equal rows: an estimate from the numbers of
/// rows, the same in every run and cheap enough to be asked after every row. Rows of threads (samples, slices, markers) are
/// not in it: a file has more bytes for each of them.
pub(super) fn of(tables: &Tables, labels: usize, more_stacks: usize) -> usize {
    let strings = tables.strings.memory();
    let code = tables.functions.len() * interned::<Function>(42)
        + tables.frames.len() * interned::<Frame>(54)
        + (tables.stacks.len() + more_stacks) * STACK
        + tables.native_symbols.len() * interned::<super::NativeSymbol>(24)
        + tables.resources.len() * interned::<Resource>(16)
        + tables.sources.len() * interned::<Source>(28)
        + tables.source_locations.len() * interned::<SourceLocation>(16)
        + tables.script_frames.len() * interned::<super::ScriptFrame>(16);
    let owners = tables.processes.len() * size_of::<Process>()
        + tables.threads.len() * (size_of::<Thread>() + 8 * ALLOCATION)
        + tables.counters.len() * (size_of::<Counter>() + 4 * ALLOCATION)
        + tables.libraries.len() * size_of::<Library>()
        + tables.mappings.len() * size_of::<Mapping>();
    let kinds = tables.categories.len() * (size_of::<Category>() + 2 * ALLOCATION)
        + tables.marker_schemas.len() * (size_of::<MarkerSchema>() + 2 * ALLOCATION)
        + tables.value_types.len() * interned::<ValueType>(8);
    // Each set is in the table and in the index.
    let sets = tables.label_sets.sets.len() * (interned::<Vec<Label>>(24) + 2 * ALLOCATION)
        + labels * 2 * size_of::<Label>()
        + tables.payloads.field_count() * size_of::<Field>();
    strings + code + owners + kinds + sets
}

/// A row that takes so many bytes in its table, and stands in a hash map, which is less than half full when it has just grown.
const fn interned<T>(in_table: usize) -> usize {
    in_table + (size_of::<T>() + 5) * 9 / 4
}
