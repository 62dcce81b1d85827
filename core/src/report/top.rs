//! The functions with the most time of their own.

use std::fmt;

use super::found::{Found, write_found};
use super::label::Labels;
use super::number::{count, format_percent, headline};
use super::style::Style;
use super::table::{Name, TableRow, tell_apart, write_table};
use crate::analysis::{Callee, FunctionList, FunctionRow, Whole};
use crate::model::Profile;

/// With fewer samples than this a share is hardly more than a guess.
const FEW_SAMPLES: u64 = 10;

/// Writes the first `most` functions of `list`, which are those that a search left if one `found` something.
///
/// # Errors
/// Those of `out`.
pub fn write_top(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    list: &FunctionList,
    found: Option<Found<'_>>,
    most: usize,
    style: Style,
) -> fmt::Result {
    writeln!(out, "{}", headline(profile, &list.whole))?;
    write_found(out, found, &list.whole)?;
    if hot_rows(list).next().is_none() {
        writeln!(out, "No function was seen.")?;
        return write_stackless(out, found, &list.whole);
    }
    let labels = Labels::of(profile);
    write_functions(out, &labels, list, most, style)?;
    let rest = || hot_rows(list).skip(most);
    let more = rest().count() as u64;
    if more > 0 {
        let share = format_percent(list.whole.percent(rest().map(|row| row.own.value).sum()));
        writeln!(out, "{share} in {}", count(more, "more function"))?;
    }
    write_stackless(out, found, &list.whole)
}

/// Writes the table of the first `most` functions alone.
pub(super) fn write_functions(
    out: &mut dyn fmt::Write,
    labels: &Labels<'_>,
    list: &FunctionList,
    most: usize,
    style: Style,
) -> fmt::Result {
    let header = TableRow {
        numbers: ["self", "±95 %", "total"].map(str::to_owned).to_vec(),
        name: Name::plain("function"),
        after: "hottest line".to_owned(),
        dim: false,
    };
    let shown: Vec<&FunctionRow> = hot_rows(list).take(most).collect();
    let mut rows: Vec<TableRow> = shown.iter().map(|row| table_row(labels, &list.whole, row, style)).collect();
    tell_apart(&mut rows, &vec![None; shown.len()], |row| labels.instance(Callee::Function(shown[row].function)));
    write_table(out, &header, &rows, style)
}

/// The functions that something was seen in, not only below them.
fn hot_rows(list: &FunctionList) -> impl Iterator<Item = &FunctionRow> {
    list.rows.iter().filter(|row| row.own.samples > 0)
}

fn table_row(labels: &Labels<'_>, whole: &Whole, row: &FunctionRow, style: Style) -> TableRow {
    let callee = Callee::Function(row.function);
    let place =
        row.hottest.map(|hot| labels.place(Callee::Function(hot.function), Some(hot.line), style.width.is_none()));
    TableRow {
        numbers: vec![
            format_percent(whole.percent(row.own.value)),
            plus_minus(whole, row.own.value),
            format_percent(whole.percent(row.total.value)),
        ],
        name: Name { lead: String::new(), name: labels.printable_name(callee), suffix: labels.suffix(callee) },
        after: place.unwrap_or_default(),
        dim: is_guess(whole, row.own.samples),
    }
}

/// Half the interval of a share, where it is wide enough to matter.
pub(super) fn plus_minus(whole: &Whole, value: f64) -> String {
    match whole.interval(value).filter(|interval| interval.matters()) {
        Some(interval) => format!("{:.1}", interval.half_width_points()),
        None => String::new(),
    }
}

/// Whether a share of `whole` that `samples` samples make up can't be judged.
pub fn is_guess(whole: &Whole, samples: u64) -> bool {
    whole.effective_samples.is_some() && samples < FEW_SAMPLES
}

/// Says how much is not in the list or tree because it has no stack.
pub(super) fn write_stackless(out: &mut dyn fmt::Write, found: Option<Found<'_>>, whole: &Whole) -> fmt::Result {
    // What a search found has one.
    if whole.stackless.value == 0.0 || found.is_some() {
        return Ok(());
    }
    writeln!(out, "{} was seen without a stack", format_percent(whole.percent(whole.stackless.value)))
}
