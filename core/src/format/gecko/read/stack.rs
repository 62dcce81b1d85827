//! Frames and stacks.

use super::super::extension::Extension;
use super::super::schema::{Address, FrameTable, Row, StackTable};
use super::code::{Place, TableRows};
use super::function::Functions;
use super::repair::{Repairs, entry, stored};
use super::rows::{Rows, apply, own};
use crate::format::ReadError;
use crate::model::{
    self, CategoryId, Frame, FrameId, Function, FunctionId, LibraryId, NativeSymbolId, ProfileBuilder, ScriptFrame,
    ScriptFrameId, StackId,
};

/// The columns of frames that `traceview` can correct.
#[derive(Default)]
struct Columns {
    function: Vec<FunctionId>,
    library: Vec<Option<LibraryId>>,
    address: Vec<Option<u64>>,
    inline_depth: Vec<u16>,
    category: Vec<Option<CategoryId>>,
    subcategory: Vec<u16>,
    native_symbol: Vec<Option<NativeSymbolId>>,
}

pub(super) fn frames(
    builder: &mut ProfileBuilder,
    place: &Place<'_>,
    tables: &TableRows,
    functions: &Functions,
    table: &FrameTable<'_>,
    extension: Option<&Extension>,
    repairs: &mut Repairs,
) -> Result<Rows<FrameId>, ReadError> {
    let at = format!("{}frameTable", place.at);
    let optional = [
        ("address", stored(table.address.as_ref())),
        ("lib", stored(table.lib.as_ref())),
        ("inlineDepth", stored(table.inline_depth.as_ref())),
        ("category", stored(table.category.as_ref())),
        ("subcategory", stored(table.subcategory.as_ref())),
        ("nativeSymbol", stored(table.native_symbol.as_ref())),
        ("innerWindowID", stored(table.inner_window_id.as_ref())),
        ("line", stored(table.line.as_ref())),
        ("column", stored(table.column.as_ref())),
        ("originalLocation", stored(table.original_location.as_ref())),
    ];
    let in_file = repairs.rows(&at, table.length, &[("func", stored(table.func.as_ref()))], &optional);
    let count = own(extension.map(|extension| extension.rows.frames), in_file, "frames")?;
    let reader = Reader { place, tables, functions, table, at: &at };
    let mut columns = Columns::default();
    for row in 0..count {
        reader.row(builder, &mut columns, row, repairs);
    }
    if let Some(extension) = extension {
        correct(place, functions, extension, &mut columns)?;
    }
    let mut frames = Rows::new("shared.frameTable");
    for row in 0..count {
        let path = |column: &'static str| {
            let at = &at;
            move || format!("{at}.{column}[{row}]")
        };
        let script = reader.script(builder, row, repairs);
        frames.push(builder.frame(Frame {
            function: columns.function[row],
            library: columns.library[row],
            address: columns.address[row],
            inline_depth: columns.inline_depth[row],
            category: columns.category[row],
            subcategory: columns.subcategory[row],
            native_symbol: columns.native_symbol[row],
            line: repairs.line(entry(table.line.as_ref(), row), path("line")),
            column: repairs.line(entry(table.column.as_ref(), row), path("column")),
            script,
        }));
    }
    Ok(frames)
}

pub(super) fn stacks(
    builder: &mut ProfileBuilder,
    place: &Place<'_>,
    frames: &Rows<FrameId>,
    table: StackTable<'_>,
    extension: Option<&Extension>,
    repairs: &mut Repairs,
) -> Result<Rows<StackId>, ReadError> {
    let at = format!("{}stackTable", place.at);
    let prefixes = stored(table.prefix.as_ref()).or(stored(table.prefix_offset.as_ref()));
    let required = [("frame", stored(table.frame.as_ref())), ("prefix", prefixes)];
    let in_file = repairs.rows(&at, table.length, &required, &[]);
    let count = own(extension.map(|extension| extension.rows.stacks), in_file, "stacks")?;
    let is_offset = table.prefix.is_none();
    let mut prefix = table.prefix.or(table.prefix_offset).unwrap_or_default();
    let mut frame = table.frame.unwrap_or_default();
    prefix.resize(count, Row::NONE);
    frame.resize(count, Row::NONE);
    let frame = frame.into_iter().enumerate().map(|(row, frame)| {
        let frame = repairs.row(frames, frame, || format!("{at}.frame[{row}]"));
        frame.unwrap_or_else(|| unknown_frame(builder))
    });
    let frame = frame.collect();
    let prefix = prefix.into_iter().enumerate().map(|(row, prefix)| {
        let prefix = if is_offset { prefix_of_offset(row, prefix) } else { prefix };
        caller(row, prefix, &at, repairs)
    });
    let prefix = prefix.collect();
    let table = "shared.stackTable";
    Ok(match builder.add_stacks(model::StackTable { prefix, frame }) {
        Some(ids) => Rows::of(table, ids),
        None => Rows::same(table, count),
    })
}

/// The caller of row `row`. Callers stand before their callees; what points elsewhere (in a ring even) is cut off there.
fn caller(row: usize, prefix: Row, at: &str, repairs: &mut Repairs) -> Option<StackId> {
    let place = || format!("{at}.prefix[{row}]");
    match prefix.get() {
        Some(number) if number as usize >= row => {
            let message = "stacks whose caller does not stand before them are cut there";
            repairs.note("stack-cut", message, || format!("{}: {number}", place()));
            None
        }
        _ => repairs.row(&Rows::same("the rows before", row), prefix, place),
    }
}

/// The row that lies `offset` rows before `row`: 0 means a root.
fn prefix_of_offset(row: usize, offset: Row) -> Row {
    match offset.get() {
        Some(0) => Row::NONE,
        Some(offset) => row.checked_sub(offset as usize).and_then(|row| u32::try_from(row).ok()).map_or(Row::BAD, Row),
        None => offset,
    }
}

fn unknown_frame(builder: &mut ProfileBuilder) -> FrameId {
    let function = unknown_function(builder);
    builder.frame(Frame::of(function))
}

fn unknown_function(builder: &mut ProfileBuilder) -> FunctionId {
    let name = builder.string("(unknown)");
    builder.function(Function::named(name))
}

struct Reader<'r> {
    place: &'r Place<'r>,
    tables: &'r TableRows,
    functions: &'r Functions,
    table: &'r FrameTable<'r>,
    at: &'r str,
}

impl Reader<'_> {
    /// A frame as the file's own columns have it.
    fn row(&self, builder: &mut ProfileBuilder, columns: &mut Columns, row: usize, repairs: &mut Repairs) {
        let (table, place, at) = (self.table, self.place, self.at);
        let path = |column: &'static str| move || format!("{at}.{column}[{row}]");
        let function = match (entry(table.func.as_ref(), row), &self.functions.in_file) {
            // Null is no function for any tool.
            (Row::NONE, _) => {
                repairs.not_a_number(path("func"));
                None
            }
            (number, functions) => repairs.row(functions, number, path("func")),
        };
        let function = function.unwrap_or_else(|| unknown_function(builder));
        let library = match &table.lib {
            Some(lib) => repairs.row(place.libraries, entry(Some(lib), row), path("lib")),
            // Before version 70 a frame's library is that of its function.
            None => {
                let tables = builder.tables();
                let resource = tables.functions.resource[function.index()];
                resource.and_then(|resource| tables.resources[resource.index()].library)
            }
        };
        let address = match entry(table.address.as_ref(), row) {
            Address::BAD => {
                repairs.not_a_number(path("address"));
                None
            }
            Address(address) => u64::try_from(address).ok(),
        };
        let depth = repairs.number(entry(table.inline_depth.as_ref(), row), path("inlineDepth")).unwrap_or(0);
        let inline_depth = u16::try_from(depth).unwrap_or_else(|_| {
            repairs.not_a_number(path("inlineDepth"));
            u16::MAX
        });
        let category = repairs.row(place.categories, entry(table.category.as_ref(), row), path("category"));
        let mut subcategory = 0;
        if let Some(category) = category {
            // Null in files of some tools, which means none.
            let known = repairs.number(entry(table.subcategory.as_ref(), row), path("subcategory")).unwrap_or(0);
            let names = builder.tables().categories[category.index()].subcategories.len();
            let exists = (known as usize) < names;
            if !exists && known != 0 {
                let message = "references to rows that do not exist are left out";
                repairs.note("row-missing", message, path("subcategory"));
            }
            subcategory = u16::try_from(known).ok().filter(|_| exists).unwrap_or(0);
        }
        columns.function.push(function);
        columns.library.push(library);
        columns.address.push(address);
        columns.inline_depth.push(inline_depth);
        columns.category.push(category);
        columns.subcategory.push(subcategory);
        let symbol = entry(table.native_symbol.as_ref(), row);
        columns.native_symbol.push(repairs.optional_row(&self.tables.symbols, symbol, path("nativeSymbol")));
    }

    fn script(&self, builder: &mut ProfileBuilder, row: usize, repairs: &mut Repairs) -> Option<ScriptFrameId> {
        let original = entry(self.table.original_location.as_ref(), row);
        let original_location =
            repairs.row(self.place.locations, original, || format!("{}.originalLocation[{row}]", self.at));
        let inner_window = entry(self.table.inner_window_id.as_ref(), row).0.unwrap_or(0);
        let has_any = inner_window != 0 || original_location.is_some();
        has_any.then(|| builder.script_frame(ScriptFrame { inner_window, original_location }))
    }
}

/// Applies what `traceview` says.
fn correct(
    place: &Place<'_>,
    functions: &Functions,
    extension: &Extension,
    columns: &mut Columns,
) -> Result<(), ReadError> {
    let at = "meta.traceview.frames";
    let patches = &extension.frames;
    let own = functions.own.all(&patches.function.value, format_args!("{at}.function.value"))?;
    apply(&patches.function.with(own), &mut columns.function, format_args!("{at}.function"))?;
    let libraries = place.libraries.all_optional(&patches.library.value, format_args!("{at}.library.value"))?;
    apply(&patches.library.with(libraries), &mut columns.library, format_args!("{at}.library"))?;
    apply(&patches.address, &mut columns.address, format_args!("{at}.address"))?;
    apply(&patches.inline_depth, &mut columns.inline_depth, format_args!("{at}.inlineDepth"))?;
    let categories = place.categories.all_optional(&patches.category.value, format_args!("{at}.category.value"))?;
    apply(&patches.category.with(categories), &mut columns.category, format_args!("{at}.category"))?;
    apply(&patches.subcategory, &mut columns.subcategory, format_args!("{at}.subcategory"))
}
