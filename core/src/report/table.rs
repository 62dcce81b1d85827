//! Aligned columns, one of which gives way when the line must fit.

use std::fmt;

use rustc_hash::FxHashMap;

use super::style::{Style, columns, shorten};

/// The name column never gets narrower than this, however narrow the terminal.
const LEAST_NAME: usize = 16;

/// The name of a row: what gives way when a line must fit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Name {
    /// Indentation. Stays.
    pub(super) lead: String,
    /// Is shortened.
    pub(super) name: String,
    /// Goes before the name is shortened to nothing.
    pub(super) suffix: String,
}

impl Name {
    pub(super) fn plain(name: impl Into<String>) -> Self {
        Self { lead: String::new(), name: name.into(), suffix: String::new() }
    }

    fn columns(&self) -> usize {
        columns(&self.lead) + columns(&self.name) + columns(&self.suffix)
    }

    fn fit(&self, width: usize) -> String {
        let Self { lead, name, suffix } = self;
        if self.columns() <= width {
            return format!("{lead}{name}{suffix}");
        }
        let room = width.saturating_sub(columns(lead));
        match room.checked_sub(columns(suffix)) {
            Some(left) if left >= columns(name).min(LEAST_NAME) => format!("{lead}{}{suffix}", shorten(name, left)),
            _ => format!("{lead}{}", shorten(name, room)),
        }
    }
}

/// A row: numbers, a name, what stands behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TableRow {
    /// Right-aligned.
    pub(super) numbers: Vec<String>,
    /// Left-aligned.
    pub(super) name: Name,
    /// Left-aligned.
    pub(super) after: String,
    /// Whether it is greyed.
    pub(super) dim: bool,
}

/// Adds to the names of rows of one group that would read the same what `instance` says tells them apart. The group of
/// a row, and the index that `instance` is asked for, are its entry of `groups` and its place.
pub(super) fn tell_apart(rows: &mut [TableRow], groups: &[Option<usize>], instance: impl Fn(usize) -> String) {
    let mut uses: FxHashMap<(Option<usize>, String), u32> = FxHashMap::default();
    let key = |row: &TableRow, group: Option<usize>| (group, format!("{}{}", row.name.name, row.name.suffix));
    for (row, group) in rows.iter().zip(groups) {
        *uses.entry(key(row, *group)).or_default() += 1;
    }
    for (index, (row, group)) in rows.iter_mut().zip(groups).enumerate() {
        if uses.get(&key(row, *group)).is_some_and(|uses| *uses > 1) {
            row.name.suffix.insert_str(0, &instance(index));
        }
    }
}

/// Writes `rows` under `header`. Columns without content are left out.
pub(super) fn write_table(out: &mut dyn fmt::Write, header: &TableRow, rows: &[TableRow], style: Style) -> fmt::Result {
    let mut widths = vec![0; header.numbers.len()];
    for row in rows {
        for (width, number) in widths.iter_mut().zip(&row.numbers) {
            *width = columns(number).max(*width);
        }
    }
    for (width, title) in widths.iter_mut().zip(&header.numbers) {
        if *width > 0 {
            *width = columns(title).max(*width);
        }
    }
    let after = rows.iter().map(|row| columns(&row.after)).max().unwrap_or(0);
    let after = if after > 0 { after.max(columns(&header.after)) } else { 0 };
    let names = rows.iter().chain([header]).map(|row| row.name.columns()).max().unwrap_or(0);
    let numbers: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum();
    let room = |after: usize| {
        style.width.map_or(usize::MAX, |width| width.saturating_sub(numbers + if after > 0 { after + 2 } else { 0 }))
    };
    // On a narrow terminal the column behind the names goes first.
    let after = if room(after) < LEAST_NAME { 0 } else { after };
    let names = names.min(room(after).max(LEAST_NAME));
    for (index, row) in std::iter::once(header).chain(rows).enumerate() {
        let mut line = String::new();
        for (width, number) in widths.iter().zip(&row.numbers).filter(|(width, _)| **width > 0) {
            let missing = width.saturating_sub(columns(number));
            line.push_str(&" ".repeat(missing));
            line.push_str(number);
            line.push_str("  ");
        }
        let name = row.name.fit(names);
        line.push_str(&name);
        if after > 0 && !row.after.is_empty() {
            line.push_str(&" ".repeat(names.saturating_sub(columns(&name)) + 2));
            line.push_str(&row.after);
        }
        let line = line.trim_end();
        match (index, row.dim) {
            (0, _) => writeln!(out, "{}", style.bold(line))?,
            (_, true) => writeln!(out, "{}", style.dim(line))?,
            (_, false) => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}
