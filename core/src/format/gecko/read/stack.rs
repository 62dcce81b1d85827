//! Frames and stacks.

use super::super::extension::Extension;
use super::super::old_schema::{FrameTable, Shared};
use super::code::Code;
use super::function::Functions;
use super::rows::{Rows, apply, own, same_length, wrong};
use crate::format::ReadError;
use crate::model::{Frame, FrameId, LibraryId, ProfileBuilder, StackId};

/// The columns of frames that `traceview` can correct.
struct Columns {
    library: Vec<Option<LibraryId>>,
    address: Vec<Option<u64>>,
    inline_depth: Vec<u16>,
    category: Vec<Option<u32>>,
    subcategory: Vec<u16>,
}

pub(super) fn frames(
    builder: &mut ProfileBuilder,
    code: &Code,
    functions: &Functions,
    shared: &Shared,
    extension: Option<&Extension>,
) -> Result<Rows<FrameId>, ReadError> {
    let table = &shared.frame_table;
    check_columns(table)?;
    let rows = own(extension.map(|extension| extension.rows.frames), table.length, "frames")?;
    let mut function = Vec::with_capacity(rows);
    for row in 0..rows {
        function.push(functions.in_file.get(table.func[row], format_args!("shared.frameTable.func[{row}]"))?);
    }
    let at = "meta.traceview.frames";
    let mut library_of: Vec<Option<LibraryId>> = Vec::with_capacity(rows);
    for id in &function {
        // In this version a frame's library is that of its function.
        let resource = builder.tables().functions.resource[id.index()];
        library_of.push(resource.and_then(|resource| builder.tables().resources[resource.index()].library));
    }
    let mut columns = as_in_file(table, rows, library_of)?;
    if let Some(extension) = extension {
        let patches = &extension.frames;
        let own = functions.own.all(&patches.function.value, format_args!("{at}.function.value"))?;
        apply(&patches.function.with(own), &mut function, format_args!("{at}.function"))?;
        let libraries = code.libraries.all_optional(&patches.library.value, format_args!("{at}.library.value"))?;
        apply(&patches.library.with(libraries), &mut columns.library, format_args!("{at}.library"))?;
        apply(&patches.address, &mut columns.address, format_args!("{at}.address"))?;
        apply(&patches.inline_depth, &mut columns.inline_depth, format_args!("{at}.inlineDepth"))?;
        apply(&patches.category, &mut columns.category, format_args!("{at}.category"))?;
        apply(&patches.subcategory, &mut columns.subcategory, format_args!("{at}.subcategory"))?;
    }
    let mut frames = Rows::new("shared.frameTable");
    for (row, function) in function.into_iter().enumerate() {
        let category = columns.category[row];
        let symbol = table.native_symbol[row];
        frames.push(builder.frame(Frame {
            function,
            library: columns.library[row],
            address: columns.address[row],
            inline_depth: columns.inline_depth[row],
            category: code.categories.optional(category, format_args!("shared.frameTable.category[{row}]"))?,
            subcategory: columns.subcategory[row],
            native_symbol: code.symbols.optional(symbol, format_args!("shared.frameTable.nativeSymbol[{row}]"))?,
            line: table.line[row],
            column: table.column[row],
        }));
    }
    Ok(frames)
}

pub(super) fn stacks(
    builder: &mut ProfileBuilder,
    frames: &Rows<FrameId>,
    shared: &Shared,
    extension: Option<&Extension>,
) -> Result<Rows<StackId>, ReadError> {
    let table = &shared.stack_table;
    let columns = [("frame", table.frame.len()), ("prefix", table.prefix.len())];
    same_length(format_args!("shared.stackTable"), table.length, &columns)?;
    let rows = own(extension.map(|extension| extension.rows.stacks), table.length, "stacks")?;
    let mut stacks = Rows::new("shared.stackTable");
    for row in 0..rows {
        let frame = frames.get(table.frame[row], format_args!("shared.stackTable.frame[{row}]"))?;
        // Rows so far are those before this one, so that a caller cannot stand behind its callee.
        let prefix = stacks.optional(table.prefix[row], format_args!("shared.stackTable.prefix[{row}]"))?;
        stacks.push(builder.stack(prefix, frame));
    }
    Ok(stacks)
}

fn check_columns(table: &FrameTable) -> Result<(), ReadError> {
    let columns = [
        ("func", table.func.len()),
        ("address", table.address.len()),
        ("inlineDepth", table.inline_depth.len()),
        ("category", table.category.len()),
        ("subcategory", table.subcategory.len()),
        ("nativeSymbol", table.native_symbol.len()),
        ("line", table.line.len()),
        ("column", table.column.len()),
    ];
    same_length(format_args!("shared.frameTable"), table.length, &columns)
}

/// The columns as the file has them.
fn as_in_file(table: &FrameTable, rows: usize, library: Vec<Option<LibraryId>>) -> Result<Columns, ReadError> {
    let mut address = Vec::with_capacity(rows);
    for (row, value) in table.address.iter().enumerate().take(rows) {
        address.push(match *value {
            -1 => None,
            value => Some(u64::try_from(value).map_err(|_| {
                wrong(format_args!("shared.frameTable.address[{row}]"), format_args!("{value} is not an address"))
            })?),
        });
    }
    let mut subcategory = Vec::with_capacity(rows);
    for (row, value) in table.subcategory.iter().enumerate().take(rows) {
        // Without a category there is no subcategory either.
        subcategory.push(if table.category[row].is_some() { value.unwrap_or(0) } else { 0 });
    }
    Ok(Columns {
        library,
        address,
        inline_depth: table.inline_depth[..rows].to_vec(),
        category: table.category[..rows].to_vec(),
        subcategory,
    })
}
