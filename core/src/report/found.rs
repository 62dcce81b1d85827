//! What a search left of what was selected.

use std::fmt;

use super::number::{count, format_amount, format_percent};
use super::style::printable;
use crate::analysis::{Amount, Measure, Whole};

/// What a search left: the rows below are of this, their shares of all.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found<'a> {
    /// What was searched for.
    pub text: &'a str,
    /// What is in stacks that match.
    pub amount: Amount,
}

/// Says what was found, if there was a search.
pub(super) fn write_found(out: &mut dyn fmt::Write, found: Option<Found<'_>>, whole: &Whole) -> fmt::Result {
    let Some(Found { text, amount }) = found else { return Ok(()) };
    let share = format_percent(whole.percent(amount.value));
    let thing = match whole.measure {
        Measure::OffCpu => Some("wait"),
        Measure::Cpu | Measure::Samples | Measure::Weights | Measure::Value(_) => Some("sample"),
        Measure::Wall | Measure::Slices => None,
    };
    let number = thing.map_or_else(String::new, |thing| format!(" in {}", count(amount.samples, thing)));
    let amount = format_amount(amount.value, whole.unit);
    writeln!(out, "{share} of it in stacks with `{}`: {amount}{number}", printable(text))
}
