//! Numbers as people read them.

use super::style::printable;
use crate::analysis::{Amount, Measure, Unit, UnitName, Whole};
use crate::model::{Nanos, Profile};

/// A length of time with three digits: `2.14 s`, `490 ms`, `312 s`.
pub fn format_duration(time: Nanos) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let nanos = time.as_secs_f64() * 1e9;
    // 999.6 µs would round to 1000 µs: it is a matter for the next unit.
    let fits = |scale: f64| nanos.abs() / scale < 999.5;
    let (unit, scale) = UNITS.into_iter().find(|(_, scale)| fits(*scale)).unwrap_or(("s", 1e9));
    let value = nanos / scale;
    let decimals = match (unit, value.abs()) {
        ("ns", _) => 0,
        (_, value) if value < 9.995 => 2,
        (_, value) if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// An amount of `unit`.
pub fn format_amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => format_duration(nanos(value)),
        Unit::Samples => format_number(value),
        Unit::Bytes => format_bytes(value),
        Unit::Named(name) => match (format_number(value), name.as_str()) {
            (number, UnitName::COUNT) => number,
            (number, name) => format!("{number} {name}"),
        },
    }
}

fn format_number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// A percentage with one decimal: `31.2 %`.
pub fn format_percent(percent: f64) -> String {
    format!("{percent:.1} %")
}

/// A limit in percent, with the digits that tell it from 0: `0.5 %`, `0.004 %`.
pub(super) fn format_limit(percent: f64) -> String {
    let decimals = if percent >= 0.1 || percent <= 0.0 { 1 } else { 3 };
    format!("{percent:.decimals$} %")
}

/// A number of things: `1 thread`, `8 threads`.
pub(super) fn count(number: u64, thing: &str) -> String {
    match (number, thing.strip_suffix("ss").or(thing.strip_suffix("ch")), thing.strip_suffix('y')) {
        (1, _, _) => format!("1 {thing}"),
        (_, Some(_), _) => format!("{number} {thing}es"),
        (_, None, Some(stem)) => format!("{number} {stem}ies"),
        (_, None, None) => format!("{number} {thing}s"),
    }
}

/// What a list or tree is of, in words: the line above it.
pub(super) fn headline(profile: &Profile, whole: &Whole) -> String {
    let Amount { value, samples } = whole.total;
    let samples = samples - whole.unsampled;
    let amount = format_amount(value, whole.unit);
    match (whole.measure, whole.unit) {
        (Measure::Cpu, Unit::Nanoseconds) => format!("CPU time {amount} in {}", count(samples, "sample")),
        (Measure::OffCpu, _) => format!("Time waited {amount} in {}", count(samples, "wait")),
        (Measure::Wall, _) => format!("CPU time and waits {amount}"),
        (Measure::Slices, _) => format!("Time in slices {amount}"),
        (Measure::Samples, _) => count(samples, "sample"),
        (Measure::Value(id), _) => {
            let name = printable(profile.string(profile.value_types[id.index()].name));
            format!("{name}: {amount} in {}", count(samples, "sample"))
        }
        (Measure::Cpu, Unit::Samples) if whole_number(value) == Some(samples) => {
            format!("{} (this profile has no CPU times)", count(samples, "sample"))
        }
        (Measure::Weights, Unit::Samples) if whole_number(value) == Some(samples) => count(samples, "sample"),
        (Measure::Cpu | Measure::Weights, Unit::Samples) => format!("{} of weight {amount}", count(samples, "sample")),
        (Measure::Cpu | Measure::Weights, Unit::Bytes | Unit::Nanoseconds | Unit::Named(_)) => {
            format!("{amount} in {}", count(samples, "sample"))
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sums of integer nanoseconds, rounded where weights were not")]
fn nanos(value: f64) -> Nanos {
    Nanos(value.round() as i64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a whole number in range")]
fn whole_number(value: f64) -> Option<u64> {
    (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64)
}

fn format_bytes(value: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
    match UNITS.into_iter().rev().find(|(_, scale)| value.abs() >= *scale) {
        Some((unit, scale)) => format!("{:.2} {unit}", value / scale),
        None => format!("{value:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (999_400, "999 µs"),
            (999_600, "1.00 ms"),
            (12_340_000, "12.3 ms"),
            (2_140_000_000, "2.14 s"),
            (9_996_000_000, "10.0 s"),
            (312_000_000_000, "312 s"),
            (86_400_000_000_000, "86400 s"),
            (-490_000_000, "-490 ms"),
        ] {
            assert_eq!(format_duration(Nanos(nanos)), text);
        }
    }

    #[test]
    fn amounts_follow_their_unit() {
        assert_eq!(format_amount(12.0, Unit::Samples), "12");
        assert_eq!(format_amount(0.5, Unit::Samples), "0.50");
        assert_eq!(format_amount(2.5e6, Unit::Bytes), "2.50 MB");
        assert_eq!(format_amount(999.0, Unit::Bytes), "999 B");
        assert_eq!(count(1, "process"), "1 process");
        assert_eq!(count(2, "process"), "2 processes");
        assert_eq!(count(0, "library"), "0 libraries");
        assert_eq!([0.5, 0.04, 0.0].map(format_limit), ["0.5 %", "0.040 %", "0.0 %"]);
    }
}
