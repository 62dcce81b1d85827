//! The line table of a unit at given addresses.

use gimli::{ColumnType, Dwarf, IncompleteLineProgram, LineProgramHeader, Unit};
use rustc_hash::FxHashMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::{Code, Reader, Unusual};
use crate::symbolize::effort::Effort;

/// The row of the line table that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Index in the table of files.
    pub(super) file: u64,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
    /// Where the next row begins.
    pub(super) end: u64,
}

/// The rows at the sorted `addresses`, and the header with the files.
pub(super) fn rows_at<'a>(
    program: IncompleteLineProgram<Reader<'a>>,
    code: Code<'_>,
    effort: &mut Effort<'_>,
    addresses: &[u64],
) -> Result<(Vec<Option<Row>>, LineProgramHeader<Reader<'a>>), Unusual> {
    // Each instruction has a byte at least, and makes a row at most.
    effort.spend(program.header().unit_length())?;
    let mut found: Vec<Option<Row>> = vec![None; addresses.len()];
    let mut missing = addresses.len();
    let mut rows = program.rows();
    // The row that the next one ends.
    let mut begun: Option<Begun> = None;
    while let Some((_, row)) = rows.next_row()? {
        if let Some(begun) = &mut begun {
            while let Some(&address) = addresses.get(begun.next).filter(|&&address| address < row.address()) {
                // Where sequences overlap the first one counts.
                if address >= begun.row.address && found[begun.next].is_none() {
                    found[begun.next] = Some(begun.row.until(row.address()));
                    missing -= 1;
                }
                begun.next += 1;
                effort.spend(1)?;
            }
        }
        if missing == 0 {
            break;
        }
        if row.end_sequence() {
            begun = None;
            continue;
        }
        let next = match &begun {
            Some(begun) => begun.next,
            None if !code.can_begin_at(row.address()) => addresses.len(),
            None => addresses.partition_point(|&address| address < row.address()),
        };
        begun = Some(Begun { row: RowStart::new(row), next });
    }
    Ok((found, rows.header().clone()))
}

struct Begun {
    row: RowStart,
    /// Index of the first address that lies in this row or behind it.
    next: usize,
}

struct RowStart {
    address: u64,
    file: u64,
    line: Option<NonZeroU64>,
    column: ColumnType,
}

impl RowStart {
    fn new(row: &gimli::LineRow) -> Self {
        RowStart { address: row.address(), file: row.file_index(), line: row.line(), column: row.column() }
    }

    fn until(&self, end: u64) -> Row {
        let line = self.line.and_then(|line| u32::try_from(line.get()).ok());
        let column = match self.column {
            // Line 0 is code of no line.
            ColumnType::Column(column) if line.is_some() => u32::try_from(column.get()).ok(),
            _ => None,
        };
        Row { file: self.file, line, column, end }
    }
}

/// The paths of a unit's files, each made when first asked for.
pub(super) struct Files<'a> {
    header: LineProgramHeader<Reader<'a>>,
    paths: FxHashMap<u64, Option<Arc<str>>>,
}

impl<'a> Files<'a> {
    pub(super) fn new(header: LineProgramHeader<Reader<'a>>) -> Self {
        Files { header, paths: FxHashMap::default() }
    }

    pub(super) fn path(
        &mut self,
        index: u64,
        dwarf: &Dwarf<Reader<'a>>,
        unit: &Unit<Reader<'a>>,
        effort: &mut Effort<'_>,
        shared: impl FnOnce(&str) -> Arc<str>,
    ) -> Result<Option<Arc<str>>, Unusual> {
        if let Some(path) = self.paths.get(&index) {
            return Ok(path.clone());
        }
        let path = self.render(index, dwarf, unit)?;
        effort.spend_text(path.as_ref().map_or(0, String::len))?;
        let path = path.map(|path| shared(&path));
        self.paths.insert(index, path.clone());
        Ok(path)
    }

    /// A file's path below its directory below that of the compilation, as far as these are relative.
    fn render(&self, index: u64, dwarf: &Dwarf<Reader<'a>>, unit: &Unit<Reader<'a>>) -> gimli::Result<Option<String>> {
        let Some(file) = self.header.file(index) else { return Ok(None) };
        let mut path = unit.comp_dir.map_or_else(String::new, |directory| directory.to_string_lossy().into_owned());
        // Directory 0 is the compilation's own.
        if file.directory_index() != 0
            && let Some(directory) = file.directory(&self.header)
        {
            push(&mut path, &dwarf.attr_string(unit, directory)?.to_string_lossy());
        }
        push(&mut path, &dwarf.attr_string(unit, file.path_name())?.to_string_lossy());
        Ok(Some(path))
    }
}

fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}
