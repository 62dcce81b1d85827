//! What code is made of: strings, categories, libraries, resources, sources, symbols, crates; and the stacks made of it.
//! Tables are shared by all threads, or each thread has its own.

use super::super::extension::Extension;
use super::super::names::{COLORS, RESOURCE_KINDS, SYMBOL_STATUSES, value};
use super::super::schema::{File, Lib, NativeSymbols, ResourceTable, Row, SourceLocations, Sources, Str, Tables};
use super::repair::{Repairs, entry, stored};
use super::rows::{Rows, own, same_length, wrong};
use super::{function, stack};
use crate::format::ReadError;
use crate::model::{
    Category, CategoryId, Color, Crate, CrateId, Library, LibraryId, NativeSymbol, NativeSymbolId, ProfileBuilder,
    Resource, ResourceId, ResourceKind, Source, SourceId, SourceLocation, SourceLocationId, StackId, StringId,
    SymbolStatus,
};

/// What the rows of tables became that all threads share.
pub(super) struct Code {
    /// Those of the shared string table, if there is one.
    pub strings: Rows<StringId>,
    pub categories: Rows<CategoryId>,
    /// The category of what has none.
    pub default_category: CategoryId,
    pub libraries: Rows<LibraryId>,
    pub sources: Rows<SourceId>,
    pub locations: Rows<SourceLocationId>,
    pub stacks: Rows<StackId>,
    pub crates: Rows<CrateId>,
}

/// What the rows of a set of tables became.
#[derive(Default)]
pub(super) struct TableRows {
    pub resources: Vec<Option<ResourceId>>,
    pub symbols: Vec<Option<NativeSymbolId>>,
}

/// The tables that are being read, and what their rows refer to.
pub(super) struct Place<'p> {
    /// Where they stand in the file, with a full stop: `shared.`.
    pub at: &'p str,
    pub strings: &'p Rows<StringId>,
    pub libraries: &'p Rows<LibraryId>,
    pub categories: &'p Rows<CategoryId>,
    pub sources: &'p Rows<SourceId>,
    pub locations: &'p Rows<SourceLocationId>,
    pub crates: &'p Rows<CrateId>,
}

impl Code {
    pub(super) fn read(
        builder: &mut ProfileBuilder,
        file: &mut File<'_>,
        extension: Option<&Extension>,
        repairs: &mut Repairs,
    ) -> Result<Self, ReadError> {
        let shared = file.shared.take().unwrap_or_default();
        let strings = strings(builder, shared.string_array.as_ref().map_or(&[], |strings| strings), extension)?;
        let (categories, default_category) = match extension {
            Some(extension) => own_categories(builder, &strings, file, extension)?,
            None => categories(builder, file, repairs),
        };
        let libraries = libraries(builder, file.libs.as_deref().unwrap_or_default(), extension)?;
        let sources = read_sources(builder, &strings, shared.sources.as_ref(), repairs);
        let locations = read_locations(builder, &sources, shared.source_locations.as_ref(), repairs);
        let crates = extension.map_or_else(|| Ok(Rows::new("")), |extension| crates(builder, &strings, extension))?;
        let mut code = Self {
            strings,
            categories,
            default_category,
            libraries,
            sources,
            locations,
            stacks: Rows::new("shared.stackTable"),
            crates,
        };
        note_unknown_columns(&shared, "shared.", repairs);
        code.stacks =
            code.place("shared.", &code.strings, &code.libraries).stacks(builder, shared, extension, repairs)?;
        Ok(code)
    }

    pub(super) fn place<'p>(
        &'p self,
        at: &'p str,
        strings: &'p Rows<StringId>,
        libraries: &'p Rows<LibraryId>,
    ) -> Place<'p> {
        let Self { categories, sources, locations, crates, .. } = self;
        Place { at, strings, libraries, categories, sources, locations, crates }
    }
}

impl Place<'_> {
    /// Reads a set of tables; gives what its stacks became.
    pub(super) fn stacks(
        &self,
        builder: &mut ProfileBuilder,
        tables: Tables<'_>,
        extension: Option<&Extension>,
        repairs: &mut Repairs,
    ) -> Result<Rows<StackId>, ReadError> {
        let rows = TableRows {
            resources: self.resources(builder, tables.resource_table.as_ref(), repairs),
            symbols: self.symbols(builder, tables.native_symbols.as_ref(), repairs),
        };
        let functions =
            function::read(builder, self, &rows, &tables.func_table.unwrap_or_default(), extension, repairs)?;
        let frame_table = tables.frame_table.unwrap_or_default();
        let frames = stack::frames(builder, self, &rows, &functions, &frame_table, extension, repairs)?;
        drop(frame_table);
        stack::stacks(builder, self, &frames, tables.stack_table.unwrap_or_default(), extension, repairs)
    }

    fn resources(
        &self,
        builder: &mut ProfileBuilder,
        table: Option<&ResourceTable<'_>>,
        repairs: &mut Repairs,
    ) -> Vec<Option<ResourceId>> {
        let Some(table) = table else { return Vec::new() };
        let at = format!("{}resourceTable", self.at);
        // Old files have short columns here: what is missing at the end is none.
        let names = stored(table.name.as_ref()).max(stored(table.kind.as_ref()));
        let count = repairs.rows(&at, table.length, &[("name", names)], &[]);
        let mut resources = Vec::with_capacity(count);
        for row in 0..count {
            let place = |column: &'static str| {
                let at = &at;
                move || format!("{at}.{column}[{row}]")
            };
            let kind = repairs.number(entry(table.kind.as_ref(), row), place("type"));
            let known = kind.map(|word| value(&RESOURCE_KINDS, &u8::try_from(word).unwrap_or(u8::MAX)));
            if known == Some(None) {
                repairs.not_a_number(place("type"));
            }
            let name = repairs.row(self.strings, entry(table.name.as_ref(), row), place("name"));
            let name = name.unwrap_or_else(|| builder.string("<unnamed resource>"));
            resources.push(Some(builder.resource(Resource {
                name,
                kind: known.flatten().unwrap_or(ResourceKind::Unknown),
                library: repairs.row(self.libraries, entry(table.lib.as_ref(), row), place("lib")),
                host: repairs.row(self.strings, entry(table.host.as_ref(), row), place("host")),
            })));
        }
        resources
    }

    fn symbols(
        &self,
        builder: &mut ProfileBuilder,
        table: Option<&NativeSymbols<'_>>,
        repairs: &mut Repairs,
    ) -> Vec<Option<NativeSymbolId>> {
        let Some(table) = table else { return Vec::new() };
        let at = format!("{}nativeSymbols", self.at);
        let required = [
            ("libIndex", stored(table.lib_index.as_ref())),
            ("address", stored(table.address.as_ref())),
            ("name", stored(table.name.as_ref())),
        ];
        let count =
            repairs.rows(&at, table.length, &required, &[("functionSize", stored(table.function_size.as_ref()))]);
        let mut symbols = Vec::with_capacity(count);
        for row in 0..count {
            let place = |column: &'static str| {
                let at = &at;
                move || format!("{at}.{column}[{row}]")
            };
            let library = repairs.row(self.libraries, entry(table.lib_index.as_ref(), row), place("libIndex"));
            let name = repairs.row(self.strings, entry(table.name.as_ref(), row), place("name"));
            let address = entry(table.address.as_ref(), row).0;
            // Without an address it says no more than its function does; old files have such.
            symbols.push(match (library, name, address) {
                (Some(library), Some(name), Some(address)) => {
                    let size = entry(table.function_size.as_ref(), row).0;
                    Some(builder.native_symbol(NativeSymbol { library, address, name, size }))
                }
                _ => None,
            });
        }
        symbols
    }
}

/// The strings of a table, those of a file of our own without what its writer added.
pub(super) fn strings(
    builder: &mut ProfileBuilder,
    texts: &[Option<Str<'_>>],
    extension: Option<&Extension>,
) -> Result<Rows<StringId>, ReadError> {
    let mut rows = Rows::new("the string table");
    let count = own(extension.map(|extension| extension.rows.strings), texts.len(), "strings")?;
    for text in &texts[..count] {
        rows.push(builder.string(text.as_ref().map_or("", |text| &text.0)));
    }
    Ok(rows)
}

/// The libraries of a list, the same ones for the same rows.
pub(super) fn libraries(
    builder: &mut ProfileBuilder,
    libs: &[Lib<'_>],
    extension: Option<&Extension>,
) -> Result<Rows<LibraryId>, ReadError> {
    let statuses = extension.map(|extension| &extension.symbol_status[..]);
    if let Some(statuses) = statuses {
        same_length(format_args!("meta.traceview"), libs.len(), &[("symbolStatus", statuses.len())])?;
    }
    let mut rows = Rows::new("libs");
    for (row, lib) in libs.iter().enumerate() {
        let symbols = match statuses.map(|statuses| statuses[row]) {
            Some(word) => value(&SYMBOL_STATUSES, &word).ok_or_else(|| {
                wrong(format_args!("meta.traceview.symbolStatus[{row}]"), format_args!("unknown status {word}"))
            })?,
            None => SymbolStatus::Unknown,
        };
        let library = library(builder, lib, symbols);
        rows.push(builder.add_library(library));
    }
    Ok(rows)
}

pub(super) fn library(builder: &mut ProfileBuilder, lib: &Lib<'_>, symbols: SymbolStatus) -> Library {
    let mut text = |text: &Option<Str<'_>>| builder.string(text.as_ref().map_or("", |text| &text.0));
    Library {
        name: text(&lib.name),
        path: text(&lib.path),
        debug_name: text(&lib.debug_name),
        debug_path: text(&lib.debug_path),
        breakpad_id: text(&lib.breakpad_id),
        arch: text(&lib.arch),
        code_id: lib.code_id.as_ref().map(|id| builder.string(&id.0)),
        symbols,
    }
}

fn own_categories(
    builder: &mut ProfileBuilder,
    strings: &Rows<StringId>,
    file: &File<'_>,
    extension: &Extension,
) -> Result<(Rows<CategoryId>, CategoryId), ReadError> {
    let in_file = file.meta.as_ref().and_then(|meta| meta.categories.as_deref()).map_or(0, <[_]>::len);
    own(Some(extension.rows.categories), in_file, "categories")?;
    let mut rows = Rows::new("meta.traceview.categories");
    for (row, category) in extension.categories.iter().enumerate() {
        let at = format!("meta.traceview.categories[{row}]");
        let unknown = || wrong(format_args!("{at}.color"), format_args!("unknown colour {:?}", category.color));
        let color = value(&COLORS, &&*category.color).ok_or_else(unknown)?;
        let name = strings.get(category.name, format_args!("{at}.name"))?;
        let subcategories = strings.all(&category.subcategories, format_args!("{at}.subcategories"))?;
        rows.push(builder.add_category(Category { name, color, subcategories }));
    }
    // Nothing of our own lacks a category that needs one.
    let default = rows.find(0).unwrap_or_else(|| CategoryId::new(0));
    Ok((rows, default))
}

fn categories(builder: &mut ProfileBuilder, file: &File<'_>, repairs: &mut Repairs) -> (Rows<CategoryId>, CategoryId) {
    let mut rows = Rows::new("meta.categories");
    let in_file = file.meta.as_ref().and_then(|meta| meta.categories.as_deref());
    if in_file.is_none() {
        repairs.missing(|| "meta.categories".to_owned());
    }
    let mut grey = None;
    for (row, category) in in_file.unwrap_or_default().iter().enumerate() {
        let color_name = category.color.as_ref().map_or("", |color| &color.0);
        let color = value(&COLORS, &color_name).unwrap_or_else(|| {
            let message = "categories with colours that no tool knows are drawn grey";
            repairs.note("colour-unknown", message, || format!("meta.categories[{row}].color: {color_name:?}"));
            Color::Grey
        });
        let name = builder.string(category.name.as_ref().map_or("", |name| &name.0));
        let texts = category.subcategories.iter().flatten();
        let mut subcategories: Vec<_> =
            texts.map(|text| builder.string(text.as_ref().map_or("", |text| &text.0))).collect();
        if subcategories.is_empty() {
            subcategories.push(builder.string("Other"));
        }
        let id = builder.add_category(Category { name, color, subcategories });
        rows.push(id);
        if color_name == "grey" {
            grey.get_or_insert(id);
        }
    }
    let default = grey.unwrap_or_else(|| {
        if in_file.is_some() {
            let message = "there is no grey category, which is the default one: added";
            repairs.note("no-default-category", message, || "meta.categories".to_owned());
        }
        let other = builder.string("Other");
        builder.add_category(Category { name: other, color: Color::Grey, subcategories: vec![other] })
    });
    (rows, default)
}

fn read_sources(
    builder: &mut ProfileBuilder,
    strings: &Rows<StringId>,
    table: Option<&Sources<'_>>,
    repairs: &mut Repairs,
) -> Rows<SourceId> {
    let mut rows = Rows::new("shared.sources");
    let Some(table) = table else { return rows };
    let at = "shared.sources";
    // Before version 61 the ids had another name.
    let ids = table.id.as_deref().or(table.uuid.as_deref());
    let optional = [
        ("id", stored(ids)),
        ("startLine", stored(table.start_line.as_ref())),
        ("startColumn", stored(table.start_column.as_ref())),
        ("sourceMapURL", stored(table.source_map_url.as_ref())),
        ("content", stored(table.content.as_deref())),
    ];
    let count = repairs.rows(at, table.length, &[("filename", stored(table.filename.as_ref()))], &optional);
    for row in 0..count {
        let place = |column: &'static str| move || format!("{at}.{column}[{row}]");
        let mut text = |column: Option<&Vec<Option<Str<'_>>>>| {
            column.and_then(|column| column.get(row)).and_then(Option::as_ref).map(|text| builder.string(&text.0))
        };
        let (id, content) = (text(ids), text(table.content.as_deref()));
        let path = repairs.row(strings, entry(table.filename.as_ref(), row), place("filename"));
        let path = path.unwrap_or_else(|| builder.string(""));
        rows.push(builder.source(Source {
            id,
            content,
            start_line: repairs.number(entry(table.start_line.as_ref(), row), place("startLine")).unwrap_or(1),
            start_column: repairs.number(entry(table.start_column.as_ref(), row), place("startColumn")).unwrap_or(1),
            map_url: repairs.row(strings, entry(table.source_map_url.as_ref(), row), place("sourceMapURL")),
            ..Source::at(path)
        }));
    }
    rows
}

fn read_locations(
    builder: &mut ProfileBuilder,
    sources: &Rows<SourceId>,
    table: Option<&SourceLocations<'_>>,
    repairs: &mut Repairs,
) -> Rows<SourceLocationId> {
    let mut rows = Rows::new("shared.sourceLocationTable");
    let Some(table) = table else { return rows };
    let at = "shared.sourceLocationTable";
    let required = [
        ("source", stored(table.source.as_ref())),
        ("line", stored(table.line.as_ref())),
        ("column", stored(table.column.as_ref())),
    ];
    let count = repairs.rows(at, table.length, &required, &[]);
    for row in 0..count {
        let source: Row = entry(table.source.as_ref(), row);
        let source = repairs.row(sources, source, || format!("{at}.source[{row}]"));
        // A place in no file keeps its row, so that the others keep theirs.
        let source = source.unwrap_or_else(|| {
            let path = builder.string("");
            builder.source(Source::at(path))
        });
        let line = repairs.number(entry(table.line.as_ref(), row), || format!("{at}.line[{row}]"));
        let column = repairs.number(entry(table.column.as_ref(), row), || format!("{at}.column[{row}]"));
        rows.push(builder.source_location(SourceLocation { source, line, column }));
    }
    rows
}

fn crates(
    builder: &mut ProfileBuilder,
    strings: &Rows<StringId>,
    extension: &Extension,
) -> Result<Rows<CrateId>, ReadError> {
    let table = &extension.crates;
    same_length(format_args!("meta.traceview.crates"), table.name.len(), &[("version", table.version.len())])?;
    let names = strings.all(&table.name, format_args!("meta.traceview.crates.name"))?;
    let versions = strings.all_optional(&table.version, format_args!("meta.traceview.crates.version"))?;
    let mut rows = Rows::new("meta.traceview.crates");
    for (name, version) in names.into_iter().zip(versions) {
        rows.push(builder.add_crate(Crate { name, version }));
    }
    Ok(rows)
}

/// Columns that no version has cannot be carried along: rows that are equal without them become one.
pub(super) fn note_unknown_columns(tables: &Tables<'_>, at: &str, repairs: &mut Repairs) {
    let message = "columns of shared tables that no version of the format has are left out";
    let kept = [
        ("stackTable", tables.stack_table.as_ref().map(|table| &table.kept)),
        ("frameTable", tables.frame_table.as_ref().map(|table| &table.kept)),
        ("funcTable", tables.func_table.as_ref().map(|table| &table.kept)),
        ("resourceTable", tables.resource_table.as_ref().map(|table| &table.kept)),
        ("nativeSymbols", tables.native_symbols.as_ref().map(|table| &table.kept)),
        ("sources", tables.sources.as_ref().map(|table| &table.kept)),
        ("sourceLocationTable", tables.source_locations.as_ref().map(|table| &table.kept)),
    ];
    for (table, kept) in kept {
        for (key, _) in kept.into_iter().flatten() {
            repairs.note("column-unknown", message, || format!("{at}{table}.{key}"));
        }
    }
}
