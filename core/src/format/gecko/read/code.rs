//! What code is made of: strings, categories, libraries, resources, sources, symbols, crates.

use super::super::extension::Extension;
use super::super::names::{COLORS, RESOURCE_KINDS, SYMBOL_STATUSES, value};
use super::super::number::Text;
use super::super::old_schema::{File, Shared};
use super::rows::{Rows, own, same_length, wrong};
use super::{function, stack};
use crate::format::ReadError;
use crate::model::{
    Category, CategoryId, Crate, CrateId, Library, LibraryId, NativeSymbol, NativeSymbolId, ProfileBuilder, Resource,
    ResourceId, Source, SourceId, StackId, StringId, SymbolStatus,
};

/// What the rows of the shared tables became.
pub(super) struct Code {
    pub strings: Rows<StringId>,
    pub categories: Rows<CategoryId>,
    pub libraries: Rows<LibraryId>,
    pub stacks: Rows<StackId>,
    pub resources: Rows<ResourceId>,
    pub sources: Rows<SourceId>,
    pub crates: Rows<CrateId>,
    pub symbols: Rows<NativeSymbolId>,
}

impl Code {
    pub(super) fn read(builder: &mut ProfileBuilder, file: &File) -> Result<Self, ReadError> {
        let extension = file.meta.traceview.as_ref();
        let shared = &file.shared;
        let mut code = Self {
            strings: Rows::new("shared.stringArray"),
            categories: Rows::new("meta.categories"),
            libraries: Rows::new("libs"),
            stacks: Rows::new("shared.stackTable"),
            resources: Rows::new("shared.resourceTable"),
            sources: Rows::new("shared.sources"),
            crates: Rows::new("meta.traceview.crates"),
            symbols: Rows::new("shared.nativeSymbols"),
        };
        let strings = own(extension.map(|extension| extension.rows.strings), shared.string_array.len(), "strings")?;
        for text in &shared.string_array[..strings] {
            code.strings.push(builder.string(&text.0));
        }
        code.read_categories(builder, file)?;
        code.read_libraries(builder, file)?;
        code.read_resources(builder, shared)?;
        code.read_symbols(builder, shared)?;
        if let Some(extension) = extension {
            code.read_crates(builder, extension)?;
        }
        let functions = function::read(builder, &code, shared, extension)?;
        let frames = stack::frames(builder, &code, &functions, shared, extension)?;
        code.stacks = stack::stacks(builder, &frames, shared, extension)?;
        Ok(code)
    }

    fn read_categories(&mut self, builder: &mut ProfileBuilder, file: &File) -> Result<(), ReadError> {
        let color = |name: &str, at: std::fmt::Arguments<'_>| {
            value(&COLORS, &name).ok_or_else(|| wrong(at, format_args!("unknown colour {name:?}")))
        };
        if let Some(extension) = &file.meta.traceview {
            own(Some(extension.rows.categories), file.meta.categories.len(), "categories")?;
            for (row, category) in extension.categories.iter().enumerate() {
                let at = format_args!("meta.traceview.categories[{row}]").to_string();
                let color = color(&category.color, format_args!("{at}.color"))?;
                let name = self.strings.get(category.name, format_args!("{at}.name"))?;
                let subcategories = self.strings.all(&category.subcategories, format_args!("{at}.subcategories"))?;
                self.categories.push(builder.add_category(Category { name, color, subcategories }));
            }
            return Ok(());
        }
        for (row, category) in file.meta.categories.iter().enumerate() {
            let color = color(&category.color, format_args!("meta.categories[{row}].color"))?;
            let name = builder.string(&category.name.0);
            let mut subcategories: Vec<_> = category.subcategories.iter().map(|text| builder.string(&text.0)).collect();
            if subcategories.is_empty() {
                subcategories.push(builder.string("Other"));
            }
            self.categories.push(builder.add_category(Category { name, color, subcategories }));
        }
        Ok(())
    }

    fn read_libraries(&mut self, builder: &mut ProfileBuilder, file: &File) -> Result<(), ReadError> {
        let statuses = file.meta.traceview.as_ref().map(|extension| &extension.symbol_status[..]);
        if let Some(statuses) = statuses {
            same_length(format_args!("meta.traceview"), file.libs.len(), &[("symbolStatus", statuses.len())])?;
        }
        for (row, lib) in file.libs.iter().enumerate() {
            let status = statuses.map(|statuses| statuses[row]);
            let symbols = match status {
                Some(word) => value(&SYMBOL_STATUSES, &word).ok_or_else(|| {
                    wrong(format_args!("meta.traceview.symbolStatus[{row}]"), format_args!("unknown status {word}"))
                })?,
                None => SymbolStatus::Unknown,
            };
            let arch = lib.arch.as_ref().map_or("", |arch| &arch.0);
            let library = Library {
                name: builder.string(&lib.name.0),
                path: builder.string(&lib.path.0),
                debug_name: builder.string(&lib.debug_name.0),
                debug_path: builder.string(&lib.debug_path.0),
                code_id: lib.code_id.as_ref().map(|id| builder.string(&id.0)),
                breakpad_id: builder.string(&lib.breakpad_id.0),
                arch: builder.string(arch),
                symbols,
            };
            self.libraries.push(builder.add_library(library));
        }
        Ok(())
    }

    fn read_resources(&mut self, builder: &mut ProfileBuilder, shared: &Shared) -> Result<(), ReadError> {
        let table = &shared.resource_table;
        let columns = [
            ("name", table.name.len()),
            ("lib", table.lib.len()),
            ("host", table.host.len()),
            ("type", table.kind.len()),
        ];
        same_length(format_args!("shared.resourceTable"), table.length, &columns)?;
        for row in 0..table.length {
            let word = table.kind[row];
            let at = |column: &str| format!("shared.resourceTable.{column}[{row}]");
            let resource = Resource {
                name: self.strings.get(table.name[row], format_args!("{}", at("name")))?,
                kind: value(&RESOURCE_KINDS, &word)
                    .ok_or_else(|| wrong(format_args!("{}", at("type")), format_args!("unknown type {word}")))?,
                library: self.libraries.optional(table.lib[row], format_args!("{}", at("lib")))?,
                host: self.strings.optional(table.host[row], format_args!("{}", at("host")))?,
            };
            self.resources.push(builder.resource(resource));
        }
        let table = &shared.sources;
        let columns = [("filename", table.filename.len()), ("id", table.id.len()), ("content", table.content.len())];
        same_length(format_args!("shared.sources"), table.length, &columns)?;
        for row in 0..table.length {
            let mut text = |text: &Option<Text>| text.as_ref().map(|text| builder.string(&text.0));
            let (id, content) = (text(&table.id[row]), text(&table.content[row]));
            let path = self.strings.get(table.filename[row], format_args!("shared.sources.filename[{row}]"))?;
            self.sources.push(builder.source(Source { path, id, content }));
        }
        Ok(())
    }

    fn read_symbols(&mut self, builder: &mut ProfileBuilder, shared: &Shared) -> Result<(), ReadError> {
        let table = &shared.native_symbols;
        let columns = [
            ("libIndex", table.lib_index.len()),
            ("address", table.address.len()),
            ("name", table.name.len()),
            ("functionSize", table.function_size.len()),
        ];
        same_length(format_args!("shared.nativeSymbols"), table.length, &columns)?;
        for row in 0..table.length {
            let library =
                self.libraries.get(table.lib_index[row], format_args!("shared.nativeSymbols.libIndex[{row}]"))?;
            let name = self.strings.get(table.name[row], format_args!("shared.nativeSymbols.name[{row}]"))?;
            let symbol = NativeSymbol { library, address: table.address[row], name, size: table.function_size[row] };
            self.symbols.push(builder.native_symbol(symbol));
        }
        Ok(())
    }

    fn read_crates(&mut self, builder: &mut ProfileBuilder, extension: &Extension) -> Result<(), ReadError> {
        let table = &extension.crates;
        same_length(format_args!("meta.traceview.crates"), table.name.len(), &[("version", table.version.len())])?;
        let names = self.strings.all(&table.name, format_args!("meta.traceview.crates.name"))?;
        let versions = self.strings.all_optional(&table.version, format_args!("meta.traceview.crates.version"))?;
        for (name, version) in names.into_iter().zip(versions) {
            self.crates.push(builder.add_crate(Crate { name, version }));
        }
        Ok(())
    }
}
