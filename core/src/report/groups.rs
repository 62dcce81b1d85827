//! Groups of code (crates, categories, libraries, files, lines, threads) as text and as JSON.

use std::fmt;

use super::found::{Found, write_found};
use super::json::{Row, document};
use super::label::known_path;
use super::number::{count, format_percent, headline};
use super::style::{Style, printable};
use super::table::{Name, TableRow, write_table};
use super::top::{is_guess, plus_minus, write_stackless};
use crate::analysis::{CrateGroup, GroupKey, GroupList, GroupRow};
use crate::model::{CategoryId, Profile, SourceId};

/// Writes the first `most` groups of `list`, each of which is a `thing`, as in "crate"; of what a search left if one `found`
/// something.
///
/// # Errors
/// Those of `out`.
pub fn write_groups(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    list: &GroupList,
    found: Option<Found<'_>>,
    (thing, most): (&str, usize),
    style: Style,
) -> fmt::Result {
    writeln!(out, "{}", headline(profile, &list.whole))?;
    write_found(out, found, &list.whole)?;
    if list.rows.is_empty() {
        writeln!(out, "No {thing} was seen.")?;
        return write_stackless(out, found, &list.whole);
    }
    let header = TableRow {
        numbers: ["self", "±95 %", "total"].map(str::to_owned).to_vec(),
        name: Name::plain(thing),
        after: String::new(),
        dim: false,
    };
    let rows: Vec<TableRow> = list.rows.iter().take(most).map(|row| table_row(profile, list, row)).collect();
    write_table(out, &header, &rows, style)?;
    let rest = &list.rows[rows.len()..];
    if !rest.is_empty() {
        let share = format_percent(list.whole.percent(rest.iter().map(|row| row.own.value).sum()));
        writeln!(out, "{share} in {}", count(rest.len() as u64, &format!("more {thing}")))?;
    }
    let is_thread = |row: &GroupRow| matches!(row.key, GroupKey::Thread(_));
    // What was seen without a stack was seen on a thread all the same.
    if list.rows.iter().any(is_thread) { Ok(()) } else { write_stackless(out, found, &list.whole) }
}

/// The first `most` groups of `list` as JSON.
pub fn groups_json(profile: &Profile, list: &GroupList, found: Option<Found<'_>>, most: usize) -> String {
    let rows = list.rows.iter().take(most).map(|row| json_row(profile, list, row));
    document(&list.whole, found, list.rows.len() <= most, rows.collect())
}

fn table_row(profile: &Profile, list: &GroupList, row: &GroupRow) -> TableRow {
    let name = row.key.name(profile);
    let name = match row.key {
        GroupKey::File(_) | GroupKey::Line(..) => known_path(&name),
        GroupKey::Category(_) | GroupKey::Thread(_) | GroupKey::Whose(_) => &name,
    };
    let suffix = match row.key {
        GroupKey::Thread(thread) => match profile.threads[thread.index()].tid.to_string() {
            // Not in the file.
            tid if tid.is_empty() => tid,
            tid => format!(" (tid {tid})"),
        },
        _ => String::new(),
    };
    TableRow {
        numbers: vec![
            format_percent(list.whole.percent(row.own.value)),
            plus_minus(&list.whole, row.own.value),
            format_percent(list.whole.percent(row.total.value)),
        ],
        name: Name { suffix, ..Name::plain(printable(name)) },
        after: String::new(),
        dim: is_guess(&list.whole, row.own.samples),
    }
}

fn json_row<'a>(profile: &'a Profile, list: &GroupList, row: &GroupRow) -> Row<'a> {
    let path = |source: SourceId| profile.string(profile.sources[source.index()].path);
    let category = |id: CategoryId| profile.string(profile.categories[id.index()].name);
    let mut json = Row::bare(row.key.name(profile).into(), &list.whole, row.own, row.total);
    match row.key {
        GroupKey::Category(id) | GroupKey::Whose(CrateGroup::Category(id)) => json.category = Some(category(id)),
        GroupKey::File(source) => json.file = Some(path(source)),
        GroupKey::Line(source, line) => (json.file, json.line) = (Some(path(source)), Some(line)),
        GroupKey::Whose(CrateGroup::Crate(id)) => {
            let origin = profile.crates[id.index()];
            json.origin = Some(profile.string(origin.name));
            json.version = origin.version.map(|version| profile.string(version));
        }
        GroupKey::Whose(CrateGroup::Library(id)) => {
            json.module = Some(profile.string(profile.libraries[id.index()].name));
        }
        GroupKey::Thread(_) | GroupKey::Whose(CrateGroup::Kernel | CrateGroup::Unsampled | CrateGroup::Unknown) => {}
    }
    json
}
