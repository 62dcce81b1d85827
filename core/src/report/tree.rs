//! Call trees as text.

use std::fmt;

use super::found::{Found, write_found};
use super::label::Labels;
use super::number::{count, format_limit, format_percent, headline};
use super::outline::{Outline, OutlineRow, TreeLimits};
use super::style::Style;
use super::table::{Name, TableRow, tell_apart, write_table};
use super::top::{is_guess, plus_minus, write_stackless};
use crate::analysis::{GrowingTree, Tree};
use crate::model::Profile;

/// Without a width, rows are not indented by more steps than this.
const DEEPEST_INDENT: usize = 100;
/// What the columns of numbers take. Of the rest, half is for indentation.
const NUMBERS: usize = 24;
const INDENT: usize = 2;

/// Which way a tree goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TreeDirection {
    /// From the outermost function to what it called.
    TopDown,
    /// From the innermost function to who called it.
    Inverted,
}

/// Writes `tree` as an indented table. Where a function called nothing but one other, the other stands below it with an
/// arrow and is indented no further.
///
/// # Errors
/// Those of `out`.
pub fn write_tree(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    tree: &mut dyn GrowingTree,
    found: Option<Found<'_>>,
    (direction, limits): (TreeDirection, TreeLimits),
    style: Style,
) -> fmt::Result {
    let outline = Outline::of(tree, limits);
    let tree = tree.tree();
    writeln!(out, "{}", headline(profile, &tree.whole))?;
    write_found(out, found, &tree.whole)?;
    if tree.is_empty() {
        writeln!(out, "No function was seen.")?;
        return write_stackless(out, found, &tree.whole);
    }
    let labels = Labels::of(profile);
    let (titles, name) = match direction {
        TreeDirection::TopDown => (["total", "±95 %", "self"], "function"),
        TreeDirection::Inverted => (["share", "±95 %", ""], "function, below it its callers"),
    };
    let header = TableRow {
        numbers: titles.map(str::to_owned).to_vec(),
        name: Name::plain(name),
        after: String::new(),
        dim: false,
    };
    let deepest = style.width.map_or(DEEPEST_INDENT, |width| width.saturating_sub(NUMBERS) / (2 * INDENT));
    let mut rows: Vec<TableRow> =
        outline.rows.iter().map(|row| table_row(&labels, tree, *row, direction, deepest)).collect();
    let parents: Vec<Option<usize>> = outline.rows.iter().map(|row| row.parent).collect();
    tell_apart(&mut rows, &parents, |row| labels.instance(tree.node(outline.rows[row].id).callee));
    write_table(out, &header, &rows, style)?;
    if outline.cut {
        writeln!(out, "… and more: only the first {} are shown", count(rows.len() as u64, "row"))?;
    }
    if outline.small > 0 {
        let limit = format_limit(limits.min_percent);
        writeln!(out, "{} below {limit} not shown", count(outline.small, "branch"))?;
    }
    write_stackless(out, found, &tree.whole)
}

fn table_row(labels: &Labels<'_>, tree: &Tree, row: OutlineRow, direction: TreeDirection, deepest: usize) -> TableRow {
    let node = tree.node(row.id);
    let whole = &tree.whole;
    let own = match direction {
        TreeDirection::TopDown if node.own.samples > 0 => format_percent(whole.percent(node.own.value)),
        TreeDirection::TopDown | TreeDirection::Inverted => String::new(),
    };
    let arrow = match (row.chained, direction) {
        (false, _) => "",
        (true, TreeDirection::TopDown) => "↳ ",
        (true, TreeDirection::Inverted) => "↰ ",
    };
    let lead = if row.indent > deepest {
        format!("{}+{} {arrow}", " ".repeat(INDENT * deepest), row.indent - deepest)
    } else {
        format!("{}{arrow}", " ".repeat(INDENT * row.indent))
    };
    TableRow {
        numbers: vec![format_percent(whole.percent(node.total.value)), plus_minus(whole, node.total.value), own],
        name: Name { lead, name: labels.printable_name(node.callee), suffix: labels.suffix(node.callee) },
        after: String::new(),
        dim: is_guess(whole, node.total.samples),
    }
}
