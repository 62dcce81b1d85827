//! Functions and what they belong to: resources, sources, crates, symbols.

use super::ids::{CrateId, FunctionId, LibraryId, ResourceId, SourceId, SourceLocationId, StringId};

/// Functions, one a row. Call trees merge frames by function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionTable {
    /// The readable name, for example `alloc::vec::Vec<T>::push`.
    pub name: Vec<StringId>,
    /// The full name, where the readable one leaves something out.
    pub full_name: Vec<Option<StringId>>,
    /// The library, host or URL that it is shown under.
    pub resource: Vec<Option<ResourceId>>,
    /// The source file.
    pub source: Vec<Option<SourceId>>,
    /// Line of its start, 1-based.
    pub line: Vec<Option<u32>>,
    /// Column of its start, 1-based.
    pub column: Vec<Option<u32>>,
    /// The crate that it was written in.
    pub origin: Vec<Option<CrateId>>,
    /// What sort of row this is.
    pub kind: Vec<FunctionKind>,
    /// Whether it is native code that a reader of scripts wants to see among them: where a script is entered or left.
    pub relevant_for_script: Vec<bool>,
    /// Its start in the source that the script was made from, by its source map.
    pub original_location: Vec<Option<SourceLocationId>>,
}

/// One row of [`FunctionTable`]; also the key by which the builder finds it again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// See [`FunctionTable::name`].
    pub name: StringId,
    /// See [`FunctionTable::full_name`].
    pub full_name: Option<StringId>,
    /// See [`FunctionTable::resource`].
    pub resource: Option<ResourceId>,
    /// See [`FunctionTable::source`].
    pub source: Option<SourceId>,
    /// See [`FunctionTable::line`].
    pub line: Option<u32>,
    /// See [`FunctionTable::column`].
    pub column: Option<u32>,
    /// See [`FunctionTable::origin`].
    pub origin: Option<CrateId>,
    /// See [`FunctionTable::kind`].
    pub kind: FunctionKind,
    /// See [`FunctionTable::relevant_for_script`].
    pub relevant_for_script: bool,
    /// See [`FunctionTable::original_location`].
    pub original_location: Option<SourceLocationId>,
}

/// What a row of the function table stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FunctionKind {
    /// A function with a name.
    #[default]
    Native,
    /// Code whose function has no known name; the row is named for library and address.
    Unsymbolized,
    /// A system call.
    Kernel,
    /// Not a function: the root of a stack that was cut short. The name says why.
    Cut,
    /// Not a function: CPU time that is known only as an amount, for example what a thread used after its last sample.
    Unsampled,
    /// A script function (JavaScript, …) in a file of another tool.
    Script,
}

impl Function {
    /// A native function of which nothing but the name is known.
    pub const fn named(name: StringId) -> Self {
        Self {
            name,
            full_name: None,
            resource: None,
            source: None,
            line: None,
            column: None,
            origin: None,
            kind: FunctionKind::Native,
            relevant_for_script: false,
            original_location: None,
        }
    }
}

impl Source {
    /// A file of which nothing but path or URL is known.
    pub const fn at(path: StringId) -> Self {
        Self { path, id: None, content: None, start_line: 1, start_column: 1, map_url: None }
    }
}

impl FunctionTable {
    /// How many functions there are.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    /// The row `id`.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn get(&self, id: FunctionId) -> Function {
        let row = id.index();
        Function {
            name: self.name[row],
            full_name: self.full_name[row],
            resource: self.resource[row],
            source: self.source[row],
            line: self.line[row],
            column: self.column[row],
            origin: self.origin[row],
            kind: self.kind[row],
            relevant_for_script: self.relevant_for_script[row],
            original_location: self.original_location[row],
        }
    }

    pub(super) fn push(&mut self, row: Function) -> FunctionId {
        let id = FunctionId::new(self.len());
        self.name.push(row.name);
        self.full_name.push(row.full_name);
        self.resource.push(row.resource);
        self.source.push(row.source);
        self.line.push(row.line);
        self.column.push(row.column);
        self.origin.push(row.origin);
        self.kind.push(row.kind);
        self.relevant_for_script.push(row.relevant_for_script);
        self.original_location.push(row.original_location);
        id
    }
}

/// What functions are grouped under: a library, a web host, …
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Resource {
    /// Its name.
    pub name: StringId,
    /// What it is.
    pub kind: ResourceKind,
    /// The library, where it is one.
    pub library: Option<LibraryId>,
    /// The host, where it is one.
    pub host: Option<StringId>,
}

/// What a [`Resource`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the kinds of Firefox profiles, which name themselves")]
pub enum ResourceKind {
    Unknown,
    Library,
    Addon,
    WebHost,
    OtherHost,
    Url,
}

/// A source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// Path or URL, as the debug information or file gives it.
    pub path: StringId,
    /// An id that other tools know it by.
    pub id: Option<StringId>,
    /// Its text, when the profile carries it.
    pub content: Option<StringId>,
    /// Line at which it starts in its file, 1-based: a script can be a part of a document.
    pub start_line: u32,
    /// Column at which it starts, 1-based.
    pub start_column: u32,
    /// Where its source map is.
    pub map_url: Option<StringId>,
}

/// A place in a source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SourceLocation {
    /// The file.
    pub source: SourceId,
    /// Line, 1-based.
    pub line: Option<u32>,
    /// Column, 1-based.
    pub column: Option<u32>,
}

/// A Rust crate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Crate {
    /// Its name.
    pub name: StringId,
    /// Its version, where known.
    pub version: Option<StringId>,
}

/// A symbol of a library: the function as the linker knows it, with all that was inlined into it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NativeSymbol {
    /// The library it stands in.
    pub library: LibraryId,
    /// Its first address, relative to the library's base.
    pub address: u64,
    /// Its name.
    pub name: StringId,
    /// Its length in bytes, where known.
    pub size: Option<u64>,
}
