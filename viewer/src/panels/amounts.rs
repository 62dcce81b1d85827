//! Amounts as the tables write them, and the titles that say what they count.

use traceview_core::analysis::{Amount, Measure, Unit, Whole};
use traceview_core::model::Nanos;
use traceview_core::report::{format_amount, format_percent};

use crate::widget::{ColumnKind, TableColumn};

/// Columns of numbers are this wide, in points.
const AMOUNT: f32 = 102.0;
const PERCENT: f32 = 66.0;
const COUNT: f32 = 100.0;

/// What tables say about what is counted.
pub(super) struct Words {
    whole: Whole,
}

impl Words {
    pub(super) fn new(whole: &Whole) -> Self {
        Self { whole: *whole }
    }

    /// A column of amounts of one `part`, `self` or `total`.
    pub(super) fn amount_column(&self, part: &'static str, hint: &str) -> TableColumn {
        let title = match self.prefix() {
            Some(prefix) => format!("{prefix} {part}"),
            None => format!("{part} {}", self.things()),
        };
        let unit = match self.whole.unit {
            Unit::Nanoseconds => "ms",
            Unit::Samples => "samples",
            Unit::Bytes => "bytes",
            Unit::Named(ref name) => name.as_str(),
        };
        column(part, &title, format!("{title} ({unit})"), format!("{} {hint}", capital(self.subject())), AMOUNT)
    }

    /// A column of shares of all that is selected.
    pub(super) fn percent_column(key: &'static str, part: &str) -> TableColumn {
        let hint = "Share of everything in the selected threads and time".to_owned();
        column(key, &format!("{part} %"), format!("{part} %"), hint, PERCENT)
    }

    /// A column of how many samples or waits one `part` has; none where the amounts say that.
    pub(super) fn count_column(&self, part: &str, hint: &str) -> Option<TableColumn> {
        let (short, things) = match self.whole.measure {
            Measure::Cpu | Measure::Weights if self.whole.unit == Unit::Samples => return None,
            Measure::Samples => return None,
            Measure::Cpu | Measure::Weights | Measure::Value(_) => ("samples", "samples"),
            Measure::OffCpu => ("waits", "waits"),
            Measure::Slices => ("slices", "slices"),
            Measure::Wall => ("count", "samples and waits"),
        };
        let hint = format!("{} {hint}", capital(things));
        Some(column("samples", &format!("{part} {short}"), format!("{part} {things}"), hint, COUNT))
    }

    /// What was counted, as the beginning of a sentence: `CPU time`.
    pub(super) fn subject(&self) -> &'static str {
        match (self.whole.measure, self.whole.unit) {
            (Measure::Cpu, Unit::Nanoseconds) => "CPU time",
            (Measure::Cpu | Measure::Weights | Measure::Value(_), Unit::Bytes) => "bytes",
            (Measure::Weights | Measure::Value(_), Unit::Nanoseconds) => "time",
            (Measure::Cpu | Measure::Weights, Unit::Samples) | (Measure::Samples, _) => "samples",
            (Measure::Value(_), Unit::Samples) | (_, Unit::Named(_)) => "amount",
            (Measure::OffCpu, _) => "time waited (off-CPU)",
            (Measure::Wall, _) => "wall time (CPU and waits)",
            (Measure::Slices, _) => "time in slices",
        }
    }

    /// An amount in a column: units of one and of two letters take the same room, so that digits line up.
    pub(super) fn amount(&self, amount: Amount) -> String {
        if amount.samples == 0 {
            return String::new();
        }
        let text = format_amount(amount.value, self.whole.unit);
        match text.split_once(' ') {
            Some((number, unit)) => format!("{number} {unit:<2}"),
            None => text,
        }
    }

    /// An amount for a spreadsheet.
    pub(super) fn record(&self, amount: Amount) -> String {
        match self.whole.unit {
            Unit::Nanoseconds => format!("{:.6}", amount.value / 1e6),
            Unit::Samples | Unit::Bytes | Unit::Named(_) => amount.value.to_string(),
        }
    }

    /// How long the bar of an amount is: all bars have one scale, so that equal amounts have equal bars.
    pub(super) fn bar(&self, amount: Amount) -> Option<f32> {
        Some(fraction(amount.value, self.whole.total.value))
    }

    /// A share, in a column.
    pub(super) fn percent(&self, amount: Amount) -> String {
        if amount.samples == 0 { String::new() } else { format_percent(self.whole.percent(amount.value)) }
    }

    /// A share for a spreadsheet.
    pub(super) fn record_percent(&self, amount: Amount) -> String {
        format!("{:.2}", self.whole.percent(amount.value))
    }

    /// An amount in words, with how sure its share is.
    pub(super) fn sentence(&self, amount: Amount) -> String {
        let share = format_percent(self.whole.percent(amount.value));
        let text = format!("{}, {share}", format_amount(amount.value, self.whole.unit));
        match self.whole.interval(amount.value) {
            Some(interval) if amount.samples > 0 => {
                let [low, high] = [interval.low, interval.high].map(|share| format_percent(share * 100.0));
                format!("{text} ({low} to {high} with 95 % certainty, {} samples)", grouped(amount.samples))
            }
            _ => text,
        }
    }

    fn prefix(&self) -> Option<&'static str> {
        match (self.whole.measure, self.whole.unit) {
            (Measure::Cpu, Unit::Nanoseconds) => Some("CPU"),
            (Measure::OffCpu, _) => Some("off-CPU"),
            (Measure::Wall, _) => Some("wall"),
            (Measure::Cpu | Measure::Samples | Measure::Weights | Measure::Value(_) | Measure::Slices, _) => None,
        }
    }

    fn things(&self) -> &'static str {
        match self.whole.unit {
            Unit::Bytes => "bytes",
            Unit::Named(_) => "amount",
            Unit::Nanoseconds => "time",
            Unit::Samples => "samples",
        }
    }
}

/// A column of numbers.
pub(super) fn column(key: &'static str, title: &str, record_title: String, hint: String, width: f32) -> TableColumn {
    let kind = ColumnKind::Number;
    TableColumn { key, title: title.to_owned(), record_title, hint, width, kind, sortable: true }
}

/// A whole number with its digits in groups of three: `14,902`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `text` as the beginning of a sentence.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A time as an amount.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(super) fn float(Nanos(time): Nanos) -> f64 {
    time as f64
}

/// A number of samples; nothing where there is none.
pub(super) fn count(samples: u64) -> String {
    if samples == 0 { String::new() } else { grouped(samples) }
}

#[expect(clippy::cast_possible_truncation, reason = "the length of a bar")]
fn fraction(part: f64, whole: f64) -> f32 {
    if whole > 0.0 { (part / whole) as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(measure: Measure, unit: Unit) -> Words {
        let all = Amount { value: 4e9, samples: 4_000 };
        let stackless = Amount::default();
        Words::new(&Whole { measure, unit, total: all, unsampled: 0, stackless, effective_samples: Some(4e3) })
    }

    #[test]
    fn digits_line_up() {
        let words = words(Measure::Cpu, Unit::Nanoseconds);
        let texts = [2.14e9, 4.9e8, 1.2e4].map(|value| words.amount(Amount { value, samples: 1 }));
        assert_eq!(texts, ["2.14 s ", "490 ms", "12.0 µs"]);
        assert_eq!(words.amount(Amount::default()), "");
        assert_eq!(words.record(Amount { value: 1.5e6, samples: 1 }), "1.500000");
    }

    #[test]
    fn titles_say_which_time_it_is() {
        let title = |measure, unit| words(measure, unit).amount_column("self", "").title;
        assert_eq!(title(Measure::Cpu, Unit::Nanoseconds), "CPU self");
        assert_eq!(title(Measure::OffCpu, Unit::Nanoseconds), "off-CPU self");
        assert_eq!(title(Measure::Wall, Unit::Nanoseconds), "wall self");
        assert_eq!(title(Measure::Cpu, Unit::Samples), "self samples");
        assert_eq!(title(Measure::Cpu, Unit::Bytes), "self bytes");
        let counts = |measure, unit| words(measure, unit).count_column("total", "").map(|column| column.title);
        assert_eq!(counts(Measure::Cpu, Unit::Nanoseconds).as_deref(), Some("total samples"));
        assert_eq!(counts(Measure::OffCpu, Unit::Nanoseconds).as_deref(), Some("total waits"));
        assert!(words(Measure::Samples, Unit::Samples).count_column("self", "").is_none());
    }

    #[test]
    fn bars_are_shares_of_everything() {
        let words = words(Measure::Cpu, Unit::Nanoseconds);
        assert_eq!(words.bar(Amount { value: 1e9, samples: 1 }), Some(0.25));
    }

    #[test]
    fn shares_say_how_sure_they_are() {
        let words = words(Measure::Cpu, Unit::Nanoseconds);
        let text = words.sentence(Amount { value: 2e9, samples: 2_000 });
        assert_eq!(text, "2.00 s, 50.0 % (48.5 % to 51.5 % with 95 % certainty, 2,000 samples)");
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 14_902, 1_234_567].map(grouped), ["0", "999", "1,000", "14,902", "1,234,567"]);
    }
}
