//! Gathers what threads and processes say one by one into the tables that all of a processed file share: strings,
//! libraries, resources, functions and sources once each, frames and stacks as each thread has them.

use std::borrow::Cow;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::super::schema::{
    Address, Flag, FrameTable, FuncTable, Lib, NativeSymbols, ResourceTable, Row, Sources, StackTable, Str, Tables,
    Wide,
};
use super::location::origin;
use super::schema::{Extension, Source};

const LIBRARY: Row = Row(1);
const ADDON: Row = Row(2);
const WEB_HOST: Row = Row(3);
const URL: Row = Row(5);

/// The tables so far.
#[derive(Default)]
pub(super) struct Collector<'a> {
    strings: Vec<Option<Str<'a>>>,
    string_rows: FxHashMap<Cow<'a, str>, u32>,
    pub libs: Vec<Lib<'a>>,
    lib_rows: FxHashMap<(Cow<'a, str>, Cow<'a, str>), Row>,
    resources: Columns,
    /// By what tells resources apart.
    resource_rows: FxHashMap<ResourceKey<'a>, Row>,
    functions: Vec<Function>,
    function_rows: FxHashMap<Function, Row>,
    sources: SourceColumns<'a>,
    source_rows: FxHashMap<SourceKey<'a>, Row>,
    frames: FrameColumns,
    stack_frame: Vec<Row>,
    stack_prefix: Vec<Row>,
}

/// A function; functions are equal if all of this is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub name: u32,
    pub is_js: bool,
    pub relevant_for_js: bool,
    pub resource: u32,
    pub source: u32,
    pub line: u32,
    pub column: u32,
}

/// A frame; those of all threads stand one after the other.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub function: Row,
    pub address: Address,
    pub category: Row,
    pub subcategory: Row,
    pub inner_window_id: Wide,
    pub line: Row,
    pub column: Row,
}

#[derive(Default)]
struct Columns {
    kind: Vec<Row>,
    name: Vec<Row>,
    lib: Vec<Row>,
    host: Vec<Row>,
}

#[derive(PartialEq, Eq, Hash)]
enum ResourceKey<'a> {
    Lib(u32),
    LibName(u32),
    Origin(Cow<'a, str>),
}

#[derive(PartialEq, Eq, Hash)]
enum SourceKey<'a> {
    Id(Cow<'a, str>),
    File(u32),
}

#[derive(Default)]
struct SourceColumns<'a> {
    filename: Vec<Row>,
    id: Vec<Option<Str<'a>>>,
    start_line: Vec<Row>,
    start_column: Vec<Row>,
    source_map_url: Vec<Row>,
}

#[derive(Default)]
struct FrameColumns {
    func: Vec<Row>,
    address: Vec<Address>,
    category: Vec<Row>,
    subcategory: Vec<Row>,
    inner_window_id: Vec<Wide>,
    line: Vec<Row>,
    column: Vec<Row>,
}

/// Rows of a table are `u32`s, of which the last two mean none; text that large is refused long before.
fn row(count: usize) -> Row {
    u32::try_from(count).map_or(Row::BAD, Row)
}

/// The row of `key`, which `add` adds if it is new.
fn row_of<K: Eq + Hash>(rows: &mut FxHashMap<K, Row>, key: K, next: usize) -> (Row, bool) {
    let mut is_new = false;
    let found = *rows.entry(key).or_insert_with(|| {
        is_new = true;
        row(next)
    });
    (found, is_new)
}

impl<'a> Collector<'a> {
    pub(super) fn string(&mut self, text: &Str<'a>) -> Row {
        if let Some(known) = self.string_rows.get(&*text.0) {
            return Row(*known);
        }
        let added = row(self.strings.len());
        self.strings.push(Some(text.clone()));
        self.string_rows.insert(text.0.clone(), added.0);
        added
    }

    pub(super) fn text(&mut self, text: &str) -> Row {
        match self.string_rows.get(text) {
            Some(known) => Row(*known),
            None => self.string(&Str(Cow::Owned(text.to_owned()))),
        }
    }

    /// The resource of a library.
    pub(super) fn lib_resource(&mut self, lib: Lib<'a>) -> Row {
        let text = |text: &Option<Str<'a>>| text.clone().unwrap_or_default().0;
        let key = (text(&lib.debug_name), text(&lib.breakpad_id));
        let (index, is_new) = row_of(&mut self.lib_rows, key, self.libs.len());
        if is_new {
            self.libs.push(lib);
        }
        let name = self.libs.get(index.0 as usize).and_then(|lib| lib.name.clone()).unwrap_or_default();
        let name = self.string(&name);
        self.resource(ResourceKey::Lib(index.0), LIBRARY, name, index, Row::NONE)
    }

    /// The resource of a library of which no more is known than its name.
    pub(super) fn lib_name_resource(&mut self, name: &str) -> Row {
        let name = self.text(name);
        self.resource(ResourceKey::LibName(name.0), LIBRARY, name, Row::NONE, Row::NONE)
    }

    /// The resource of a script: its site, the extension it is of, or its URL.
    pub(super) fn url_resource(&mut self, url: &Str<'a>) -> Row {
        match origin(&url.0) {
            Some(site) => {
                let (name, host) = (self.text(&site.origin), self.text(site.host));
                self.resource(ResourceKey::Origin(site.origin.into()), WEB_HOST, name, Row::NONE, host)
            }
            None => {
                let name = self.string(url);
                self.resource(ResourceKey::Origin(url.0.clone()), URL, name, Row::NONE, Row::NONE)
            }
        }
    }

    /// Makes scripts of an extension's site belong to it.
    pub(super) fn add_extension(&mut self, extension: &Extension<'a>) {
        let Some(site) = origin(&extension.base_url.0) else { return };
        let name = format!("Extension {:?} (ID: {})", extension.name.0, extension.id.0);
        let (name, id) = (self.text(&name), self.string(&extension.id));
        self.resource(ResourceKey::Origin(site.origin.into()), ADDON, name, Row::NONE, id);
    }

    fn resource(&mut self, key: ResourceKey<'a>, kind: Row, name: Row, lib: Row, host: Row) -> Row {
        let (found, is_new) = row_of(&mut self.resource_rows, key, self.resources.kind.len());
        if is_new {
            self.resources.kind.push(kind);
            self.resources.name.push(name);
            self.resources.lib.push(lib);
            self.resources.host.push(host);
        }
        found
    }

    /// A source of which no more is known than its name.
    pub(super) fn file_source(&mut self, filename: &Str<'a>) -> Row {
        let filename = self.string(filename);
        let (found, is_new) = row_of(&mut self.source_rows, SourceKey::File(filename.0), self.sources.filename.len());
        if is_new {
            self.sources.push(filename, None, Row(1), Row(1), Row::NONE);
        }
        found
    }

    /// A source of a process' table.
    pub(super) fn source(&mut self, source: &Source<'a>) -> Row {
        let filename = source.filename.clone().unwrap_or_default();
        let Some(id) = source.id.as_ref().or(source.uuid.as_ref()) else { return self.file_source(&filename) };
        let (found, is_new) = row_of(&mut self.source_rows, SourceKey::Id(id.0.clone()), self.sources.filename.len());
        if is_new {
            let filename = self.string(&filename);
            let map = source.source_map_url.as_ref().map_or(Row::NONE, |url| self.string(url));
            let first = |row: Row| if row == Row::NONE { Row(1) } else { row };
            self.sources.push(filename, Some(id.clone()), first(source.start_line), first(source.start_column), map);
        }
        found
    }

    pub(super) fn function(&mut self, function: Function) -> Row {
        let (found, is_new) = row_of(&mut self.function_rows, function, self.functions.len());
        if is_new {
            self.functions.push(function);
        }
        found
    }

    pub(super) fn frame(&mut self, frame: Frame) -> Row {
        let added = row(self.frames.func.len());
        self.frames.func.push(frame.function);
        self.frames.address.push(frame.address);
        self.frames.category.push(frame.category);
        self.frames.subcategory.push(frame.subcategory);
        self.frames.inner_window_id.push(frame.inner_window_id);
        self.frames.line.push(frame.line);
        self.frames.column.push(frame.column);
        added
    }

    pub(super) fn stack(&mut self, prefix: Row, frame: Row) -> Row {
        let added = row(self.stack_frame.len());
        self.stack_frame.push(frame);
        self.stack_prefix.push(prefix);
        added
    }

    /// Libraries and tables.
    pub(super) fn finish(self) -> (Vec<Lib<'a>>, Tables<'a>) {
        // No longer of use, and as large as the tables.
        drop((self.string_rows, self.function_rows));
        let length = |count: usize| Some(Wide(u64::try_from(count).ok()));
        let frames = self.frames;
        let count = frames.func.len();
        let frame_table = FrameTable {
            func: Some(frames.func),
            address: Some(frames.address),
            inline_depth: Some(vec![Row(0); count]),
            category: Some(frames.category),
            subcategory: Some(frames.subcategory),
            native_symbol: Some(vec![Row::NONE; count]),
            inner_window_id: Some(frames.inner_window_id),
            line: Some(frames.line),
            column: Some(frames.column),
            length: length(count),
            ..FrameTable::default()
        };
        let column = |of: fn(&Function) -> u32| Some(self.functions.iter().map(|one| Row(of(one))).collect());
        let flags = |of: fn(&Function) -> bool| Some(self.functions.iter().map(|one| Flag(of(one))).collect());
        let func_table = FuncTable {
            name: column(|function| function.name),
            is_js: flags(|function| function.is_js),
            relevant_for_js: flags(|function| function.relevant_for_js),
            resource: column(|function| function.resource),
            source: column(|function| function.source),
            line_number: column(|function| function.line),
            column_number: column(|function| function.column),
            length: length(self.functions.len()),
            ..FuncTable::default()
        };
        let tables = Tables {
            string_array: Some(self.strings.into()),
            stack_table: Some(StackTable {
                length: length(self.stack_frame.len()),
                frame: Some(self.stack_frame),
                prefix: Some(self.stack_prefix),
                ..StackTable::default()
            }),
            frame_table: Some(frame_table),
            func_table: Some(func_table),
            resource_table: Some(ResourceTable {
                length: length(self.resources.kind.len()),
                kind: Some(self.resources.kind),
                name: Some(self.resources.name),
                lib: Some(self.resources.lib),
                host: Some(self.resources.host),
                ..ResourceTable::default()
            }),
            native_symbols: Some(NativeSymbols {
                lib_index: Some(Vec::new()),
                address: Some(Vec::new()),
                name: Some(Vec::new()),
                function_size: Some(Vec::new()),
                length: length(0),
                ..NativeSymbols::default()
            }),
            sources: Some(self.sources.finish()),
            ..Tables::default()
        };
        (self.libs, tables)
    }
}

impl<'a> SourceColumns<'a> {
    fn push(&mut self, filename: Row, id: Option<Str<'a>>, start_line: Row, start_column: Row, source_map_url: Row) {
        self.filename.push(filename);
        self.id.push(id);
        self.start_line.push(start_line);
        self.start_column.push(start_column);
        self.source_map_url.push(source_map_url);
    }

    fn finish(self) -> Sources<'a> {
        Sources {
            length: Some(Wide(u64::try_from(self.filename.len()).ok())),
            filename: Some(self.filename),
            id: Some(self.id.into()),
            start_line: Some(self.start_line),
            start_column: Some(self.start_column),
            source_map_url: Some(self.source_map_url),
            ..Sources::default()
        }
    }
}
