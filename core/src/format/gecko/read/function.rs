//! Functions. Several of the model can share a row of the file; `traceview` tells them apart.

use super::super::extension::Extension;
use super::super::names::{FUNCTION_KINDS, value};
use super::super::schema::FuncTable;
use super::code::{Place, TableRows};
use super::repair::{Repairs, entry, stored};
use super::rows::{Rows, apply, own, same_length, wrong};
use crate::format::ReadError;
use crate::model::{Function, FunctionId, FunctionKind, ProfileBuilder, Source};

const AT: &str = "meta.traceview.functions";

/// What the rows of functions became.
pub(super) struct Functions {
    /// By row of the file.
    pub in_file: Rows<FunctionId>,
    /// By row of the model that was written; empty in files of other tools.
    pub own: Rows<FunctionId>,
}

pub(super) fn read(
    builder: &mut ProfileBuilder,
    place: &Place<'_>,
    rows: &TableRows,
    table: &FuncTable<'_>,
    extension: Option<&Extension>,
    repairs: &mut Repairs,
) -> Result<Functions, ReadError> {
    let at = format!("{}funcTable", place.at);
    // Older files have another column in place of `source`, and some tools leave out what they have no use for.
    let optional = [
        ("isJS", stored(table.is_js.as_ref())),
        ("relevantForJS", stored(table.relevant_for_js.as_ref())),
        ("resource", stored(table.resource.as_ref())),
        ("source", stored(table.source.as_ref())),
        ("fileName", stored(table.file_name.as_ref())),
        ("lineNumber", stored(table.line_number.as_ref())),
        ("columnNumber", stored(table.column_number.as_ref())),
        ("originalLocation", stored(table.original_location.as_ref())),
    ];
    let in_file = repairs.rows(&at, table.length, &[("name", stored(table.name.as_ref()))], &optional);
    let count = own(extension.map(|extension| extension.rows.functions), in_file, "functions")?;
    let mut functions = Functions { in_file: Rows::new("shared.funcTable"), own: Rows::new(AT) };
    if let Some(extension) = extension {
        let as_in_file: Vec<_> =
            (0..count).map(|row| as_in_file(builder, place, rows, table, &at, row, repairs)).collect();
        told_apart(builder, place, &as_in_file, extension, &mut functions)?;
        return Ok(functions);
    }
    for row in 0..count {
        let function = as_in_file(builder, place, rows, table, &at, row, repairs);
        functions.in_file.push(builder.function(function));
    }
    Ok(functions)
}

/// A function as the file's own columns have it.
fn as_in_file(
    builder: &mut ProfileBuilder,
    place: &Place<'_>,
    rows: &TableRows,
    table: &FuncTable<'_>,
    at: &str,
    row: usize,
    repairs: &mut Repairs,
) -> Function {
    let path = |column: &'static str| move || format!("{at}.{column}[{row}]");
    let name = repairs.row(place.strings, entry(table.name.as_ref(), row), path("name"));
    let name = name.unwrap_or_else(|| builder.string("(unknown)"));
    let mut source = repairs.row(place.sources, entry(table.source.as_ref(), row), path("source"));
    if source.is_none() {
        let file = repairs.row(place.strings, entry(table.file_name.as_ref(), row), path("fileName"));
        source = file.map(|file| builder.source(Source::at(file)));
    }
    let resource = repairs.optional_row(&rows.resources, entry(table.resource.as_ref(), row), path("resource"));
    Function {
        resource,
        source,
        line: repairs.line(entry(table.line_number.as_ref(), row), path("lineNumber")),
        column: repairs.line(entry(table.column_number.as_ref(), row), path("columnNumber")),
        kind: if entry(table.is_js.as_ref(), row).0 { FunctionKind::Script } else { FunctionKind::Native },
        relevant_for_script: entry(table.relevant_for_js.as_ref(), row).0,
        original_location: repairs.row(
            place.locations,
            entry(table.original_location.as_ref(), row),
            path("originalLocation"),
        ),
        ..Function::named(name)
    }
}

fn told_apart(
    builder: &mut ProfileBuilder,
    place: &Place<'_>,
    in_file: &[Function],
    extension: &Extension,
    functions: &mut Functions,
) -> Result<(), ReadError> {
    let table = &extension.functions;
    let count = table.kind.len();
    let same_rows;
    let file_rows = match &table.file_row {
        Some(file_rows) => file_rows,
        None => {
            same_rows = (0..).take(in_file.len()).collect();
            &same_rows
        }
    };
    let columns = [("fullName", table.full_name.len()), ("origin", table.origin.len()), ("fileRow", file_rows.len())];
    same_length(format_args!("{AT}"), count, &columns)?;
    let mut rows = Vec::with_capacity(count);
    for (row, wanted) in file_rows.iter().enumerate() {
        let known = in_file.get(*wanted as usize).copied();
        let missing = || wrong(format_args!("{AT}.fileRow[{row}]"), format_args!("row {wanted} of {}", in_file.len()));
        rows.push(known.ok_or_else(missing)?);
    }
    let mut lines: Vec<_> = rows.iter().map(|function| function.line).collect();
    let mut columns: Vec<_> = rows.iter().map(|function| function.column).collect();
    let mut relevant: Vec<_> = rows.iter().map(|function| function.relevant_for_script).collect();
    let mut originals: Vec<_> = rows.iter().map(|function| function.original_location).collect();
    apply(&table.line, &mut lines, format_args!("{AT}.line"))?;
    apply(&table.column, &mut columns, format_args!("{AT}.column"))?;
    apply(&table.relevant_for_script, &mut relevant, format_args!("{AT}.relevantForScript"))?;
    let places = &table.original_location;
    let locations = place.locations.all_optional(&places.value, format_args!("{AT}.originalLocation.value"))?;
    apply(&places.with(locations), &mut originals, format_args!("{AT}.originalLocation"))?;
    let full_names = place.strings.all_optional(&table.full_name, format_args!("{AT}.fullName"))?;
    let origins = place.crates.all_optional(&table.origin, format_args!("{AT}.origin"))?;
    let mut first: Vec<Option<FunctionId>> = vec![None; in_file.len()];
    for (row, function) in rows.into_iter().enumerate() {
        let word = table.kind[row];
        let unknown = || wrong(format_args!("{AT}.kind[{row}]"), format_args!("unknown kind {word}"));
        let id = builder.function(Function {
            kind: value(&FUNCTION_KINDS, &word).ok_or_else(unknown)?,
            line: lines[row],
            column: columns[row],
            full_name: full_names[row],
            origin: origins[row],
            relevant_for_script: relevant[row],
            original_location: originals[row],
            ..function
        });
        functions.own.push(id);
        first[file_rows[row] as usize].get_or_insert(id);
    }
    for (row, function) in first.into_iter().enumerate() {
        let unused = || wrong(format_args!("{AT}.fileRow"), format_args!("no function has row {row}"));
        functions.in_file.push(function.ok_or_else(unused)?);
    }
    Ok(())
}
