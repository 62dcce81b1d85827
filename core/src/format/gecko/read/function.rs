//! Functions. Several of the model can share a row of the file; `traceview` tells them apart.

use super::super::extension::Extension;
use super::super::names::{FUNCTION_KINDS, value};
use super::super::old_schema::Shared;
use super::code::Code;
use super::rows::{Rows, apply, own, same_length, wrong};
use crate::format::ReadError;
use crate::model::{Function, FunctionId, FunctionKind, ProfileBuilder};

const AT: &str = "meta.traceview.functions";

/// What the rows of functions became.
pub(super) struct Functions {
    /// By row of the file.
    pub in_file: Rows<FunctionId>,
    /// By row of the model that was written; the same as `in_file` in files of other tools.
    pub own: Rows<FunctionId>,
}

pub(super) fn read(
    builder: &mut ProfileBuilder,
    code: &Code,
    shared: &Shared,
    extension: Option<&Extension>,
) -> Result<Functions, ReadError> {
    let table = &shared.func_table;
    let columns = [
        ("name", table.name.len()),
        ("isJS", table.is_js.len()),
        ("resource", table.resource.len()),
        ("source", table.source.len()),
        ("lineNumber", table.line_number.len()),
        ("columnNumber", table.column_number.len()),
    ];
    same_length(format_args!("shared.funcTable"), table.length, &columns)?;
    let rows = own(extension.map(|extension| extension.rows.functions), table.length, "functions")?;
    let as_in_file = (0..rows).map(|row| as_in_file(code, shared, row)).collect::<Result<Vec<_>, _>>()?;
    let mut functions = Functions { in_file: Rows::new("shared.funcTable"), own: Rows::new(AT) };
    match extension {
        Some(extension) => told_apart(builder, code, &as_in_file, extension, &mut functions)?,
        None => {
            for function in as_in_file {
                let id = builder.function(function);
                functions.in_file.push(id);
                functions.own.push(id);
            }
        }
    }
    Ok(functions)
}

/// A function as the file's own columns have it.
fn as_in_file(code: &Code, shared: &Shared, row: usize) -> Result<Function, ReadError> {
    let table = &shared.func_table;
    let resource = match table.resource[row] {
        -1 => None,
        resource => {
            let at = |what| format!("shared.funcTable.{what}[{row}]");
            let in_range = u32::try_from(resource)
                .map_err(|_| wrong(format_args!("{}", at("resource")), format_args!("{resource} is not a row")))?;
            Some(code.resources.get(in_range, format_args!("{}", at("resource")))?)
        }
    };
    Ok(Function {
        name: code.strings.get(table.name[row], format_args!("shared.funcTable.name[{row}]"))?,
        full_name: None,
        resource,
        source: code.sources.optional(table.source[row], format_args!("shared.funcTable.source[{row}]"))?,
        line: table.line_number[row],
        column: table.column_number[row],
        origin: None,
        kind: if table.is_js[row] { FunctionKind::Script } else { FunctionKind::Native },
    })
}

fn told_apart(
    builder: &mut ProfileBuilder,
    code: &Code,
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
    apply(&table.line, &mut lines, format_args!("{AT}.line"))?;
    apply(&table.column, &mut columns, format_args!("{AT}.column"))?;
    let full_names = code.strings.all_optional(&table.full_name, format_args!("{AT}.fullName"))?;
    let origins = code.crates.all_optional(&table.origin, format_args!("{AT}.origin"))?;
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
