//! Amounts as short numbers of one unit.

use super::body::put;
use crate::analysis::{Unit, UnitName, Whole};
use crate::report::number::format_percent;

/// The unit that all numbers of a text are in: small enough for a thousandth of the whole to be seen.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Scale {
    /// What it is called.
    pub(super) unit: String,
    divisor: f64,
    decimals: usize,
}

impl Scale {
    /// The unit for parts of `whole`.
    pub(super) fn of(whole: &Whole) -> Self {
        /// So many of a unit let a thousandth be seen by one decimal.
        const ENOUGH: f64 = 100.0;
        let all = whole.total.value.abs();
        let of = |units: &[(&str, f64)]| {
            let (unit, divisor) = units.iter().find(|(_, divisor)| all >= ENOUGH * divisor).unwrap_or(&("", 1.0));
            ((*unit).to_owned(), *divisor)
        };
        let (unit, divisor) = match whole.unit {
            Unit::Nanoseconds => of(&[("ms", 1e6), ("µs", 1e3), ("ns", 1.0)]),
            Unit::Bytes => of(&[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0)]),
            // Counts are whole, and people count in ones up to a million or so.
            Unit::Samples | Unit::Named(_) => of(&[("billion", 1e9), ("million", 1e6)]),
        };
        let small = match whole.unit {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "bytes",
            Unit::Samples | Unit::Named(_) => "",
        };
        let name = match &whole.unit {
            Unit::Nanoseconds | Unit::Bytes => "",
            Unit::Named(name) if name.as_str() == UnitName::COUNT => "",
            other => other.name(),
        };
        let parts: Vec<&str> =
            [if unit.is_empty() { small } else { &unit }, name].into_iter().filter(|part| !part.is_empty()).collect();
        Self { unit: super::escape::escaped(&parts.join(" ")).into_owned(), divisor, decimals: decimals(all / divisor) }
    }

    /// `value`, rounded, without zeros at its end.
    pub(super) fn number(&self, value: f64) -> String {
        let mut text = String::new();
        self.push_number(&mut text, value);
        text
    }

    /// Writes that number. Most have few digits, and whole numbers are written faster than fractions.
    pub(super) fn push_number(&self, out: &mut String, value: f64) {
        let value = value / self.divisor;
        let Some(tenths) = tenths(value).filter(|_| self.decimals == 1) else {
            let text = format!("{value:.*}", self.decimals);
            let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            out.push_str(if short == "-0" { "0" } else { short });
            return;
        };
        let (sign, whole, tenth) = parts(tenths);
        put(out, format_args!("{sign}{whole}"));
        if tenth > 0 {
            put(out, format_args!(".{tenth}"));
        }
    }

    /// `value` with the unit.
    pub(super) fn amount(&self, value: f64) -> String {
        let mut text = String::new();
        self.push_amount(&mut text, value);
        text
    }

    /// Writes that.
    pub(super) fn push_amount(&self, out: &mut String, value: f64) {
        self.push_number(out, value);
        if !self.unit.is_empty() {
            put(out, format_args!(" {}", self.unit));
        }
    }
}

/// Writes a percentage, as [`format_percent`] does.
pub(super) fn push_percent(out: &mut String, percent: f64) {
    match tenths(percent).map(parts) {
        Some((sign, whole, tenth)) => put(out, format_args!("{sign}{whole}.{tenth} %")),
        None => out.push_str(&format_percent(percent)),
    }
}

/// The nearest whole number of tenths, if it can be told.
#[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
fn tenths(value: f64) -> Option<i64> {
    const MOST: f64 = 9e15;
    let tenths = (value * 10.0).round();
    (tenths.abs() <= MOST).then_some(tenths as i64)
}

/// Sign, whole ones, and the tenth behind them.
fn parts(tenths: i64) -> (&'static str, u64, u64) {
    let sign = if tenths < 0 { "-" } else { "" };
    (sign, tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10)
}

/// Decimals that let a thousandth of `all` be seen.
fn decimals(all: f64) -> usize {
    const MOST: usize = 12;
    (1..MOST).find(|decimals| all * 10_f64.powi(i32::try_from(*decimals).unwrap_or(0)) >= 1e3).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Amount, Measure};

    fn scale(total: f64, unit: Unit) -> Scale {
        let none = Amount::default();
        let total = Amount { value: total, samples: 1 };
        Scale::of(&Whole { measure: Measure::Cpu, unit, total, unsampled: 0, stackless: none, effective_samples: None })
    }

    #[test]
    fn percentages_are_those_of_other_reports() {
        for percent in [0.0, 0.06, -0.04, 12.34, 99.96, 100.0, 1e17, f64::INFINITY] {
            let mut text = String::new();
            push_percent(&mut text, percent);
            // No share is less than nothing by a rounding.
            assert_eq!(text, format_percent(percent).replace("-0.0 %", "0.0 %"), "{percent}");
        }
    }

    #[test]
    fn a_thousandth_can_be_seen_and_zeros_say_nothing() {
        let named = |name| Unit::Named(UnitName::new(name));
        for (total, unit, part, text) in [
            (2_140_003_412.0, Unit::Nanoseconds, 2_140_003_412.0, "2140 ms"),
            (2_140_003_412.0, Unit::Nanoseconds, 1_260_000.0, "1.3 ms"),
            (99_000_000.0, Unit::Nanoseconds, 1_260_000.0, "1260 µs"),
            (99_000.0, Unit::Nanoseconds, 7.0, "7 ns"),
            (10.0, Unit::Nanoseconds, 7.0, "7 ns"),
            (300.0, Unit::Samples, 12.0, "12 samples"),
            (0.25, Unit::Samples, 0.0625, "0.0625 samples"),
            (5e9, named("cycles"), 2.51e8, "251 million cycles"),
            (50.0, named("count"), 3.0, "3"),
            (2e8, Unit::Bytes, -1.5e6, "-1.5 MB"),
            (0.0, Unit::Bytes, -0.0, "0 bytes"),
        ] {
            assert_eq!(scale(total, unit).amount(part), text, "{part} of {total}");
        }
    }
}
