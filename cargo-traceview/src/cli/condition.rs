//! What `report --fail-if` takes: a condition on the time of a function, such as `self(memchr::find) > 5%`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use traceview_core::analysis::Unit;

/// A condition on a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// As typed.
    pub text: String,
    /// Which of its amounts.
    pub metric: Metric,
    /// The function's name, or enough of it.
    pub name: String,
    /// How they are compared.
    pub comparison: Comparison,
    /// What with.
    pub limit: Limit,
}

/// An amount that a function has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// What was taken in it.
    Own,
    /// What was taken in it and in what it called.
    Total,
}

/// How an amount is compared with a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `<=`
    AtMost,
}

/// What an amount is compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// A share of all that is reported, in percent.
    Percent(f64),
    /// So many of a unit.
    Amount(f64, Unit),
    /// A number of whatever is counted.
    Number(f64),
}

/// What is wrong with a condition, and where. Characters count from 1.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ConditionError {
    /// Something else than `self(` or `total(`.
    #[error("expected `self(NAME)` or `total(NAME)` at character {0}")]
    NoMetric(usize),
    /// No `)`.
    #[error("the `(` at character {0} is not closed")]
    NotClosed(usize),
    /// Nothing in the parentheses.
    #[error("expected the name of a function at character {0}")]
    NoName(usize),
    /// No comparison.
    #[error("expected >, >=, < or <= at character {0}")]
    NoComparison(usize),
    /// No number.
    #[error("expected a number at character {0}, with a unit: 5%, 100ms")]
    NoNumber(usize),
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        // The place of a rest of the text.
        let place = |rest: &str| text[..text.len() - rest.len()].chars().count() + 1;
        let rest = text.trim_start();
        let metrics = [("self", Metric::Own), ("total", Metric::Total)];
        let named =
            metrics.into_iter().find_map(|(word, metric)| Some((metric, rest.strip_prefix(word)?.trim_start())));
        let opened = named.and_then(|(metric, rest)| Some((metric, rest, rest.strip_prefix('(')?)));
        let (metric, parenthesis, rest) = opened.ok_or_else(|| ConditionError::NoMetric(place(rest)))?;
        // Names can have parentheses themselves, and what stands behind the name has none.
        let (name, behind) = rest.rsplit_once(')').ok_or_else(|| ConditionError::NotClosed(place(parenthesis)))?;
        if name.trim().is_empty() {
            return Err(ConditionError::NoName(place(rest)));
        }
        let behind = behind.trim_start();
        let comparisons =
            [(">=", Comparison::AtLeast), ("<=", Comparison::AtMost), (">", Comparison::More), ("<", Comparison::Less)];
        let found = comparisons.into_iter().find_map(|(sign, kind)| Some((kind, behind.strip_prefix(sign)?)));
        let (comparison, limit) = found.ok_or_else(|| ConditionError::NoComparison(place(behind)))?;
        let limit = limit.trim_start();
        let end = limit.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(limit.len());
        let (number, unit) = limit.split_at(end);
        let number: f64 = number.parse().map_err(|_| ConditionError::NoNumber(place(limit)))?;
        let limit = match unit.trim() {
            "" => Limit::Number(number),
            "%" => Limit::Percent(number),
            unit => {
                let (unit, factor) = Unit::scaled(unit);
                Limit::Amount(number * factor_of(factor), unit)
            }
        };
        Ok(Self { text: text.trim().to_owned(), metric, name: name.trim().to_owned(), comparison, limit })
    }
}

#[expect(clippy::cast_precision_loss, reason = "an hour in nanoseconds is far below 2^53")]
fn factor_of(whole: i64) -> f64 {
    whole as f64
}

impl Comparison {
    /// Whether `value` compares so with `limit`.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::More => value > limit,
            Self::AtLeast => value >= limit,
            Self::Less => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "self",
            Self::Total => "total",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_a_metric_a_name_a_comparison_and_a_limit() {
        let parse = |text: &str| text.parse::<Condition>().unwrap();
        let condition = parse(" self( memchr::find ) > 5 % ");
        assert_eq!((condition.metric, &*condition.name), (Metric::Own, "memchr::find"));
        assert_eq!((condition.comparison, condition.limit), (Comparison::More, Limit::Percent(5.0)));
        assert_eq!(condition.text, "self( memchr::find ) > 5 %");
        let condition = parse("total(<fn(u8) -> u8 as Fn<(u8,)>>::call)>=1.5ms");
        assert_eq!((condition.metric, &*condition.name), (Metric::Total, "<fn(u8) -> u8 as Fn<(u8,)>>::call"));
        assert_eq!(condition.comparison, Comparison::AtLeast);
        assert_eq!(condition.limit, Limit::Amount(1.5e6, Unit::Nanoseconds));
        assert_eq!(parse("self(a) < 2 kb").limit, Limit::Amount(2048.0, Unit::Bytes));
        assert_eq!(parse("self(a)<=7").limit, Limit::Number(7.0));
    }

    #[test]
    fn what_is_no_condition_is_refused_with_the_place() {
        for (text, message) in [
            ("", "expected `self(NAME)` or `total(NAME)` at character 1"),
            ("  own(a) > 5%", "expected `self(NAME)` or `total(NAME)` at character 3"),
            ("self a > 5%", "expected `self(NAME)` or `total(NAME)` at character 1"),
            ("self(größe > 5%", "the `(` at character 5 is not closed"),
            ("self() > 5%", "expected the name of a function at character 6"),
            ("self(größe) = 5%", "expected >, >=, < or <= at character 13"),
            ("self(a)", "expected >, >=, < or <= at character 8"),
            ("self(a) > five", "expected a number at character 11, with a unit: 5%, 100ms"),
            ("self(a) > -5%", "expected a number at character 11, with a unit: 5%, 100ms"),
            ("self(a) > 1.2.3%", "expected a number at character 11, with a unit: 5%, 100ms"),
        ] {
            assert_eq!(text.parse::<Condition>().unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn comparisons_differ_at_the_limit() {
        let holds = |value| {
            [Comparison::More, Comparison::AtLeast, Comparison::Less, Comparison::AtMost]
                .map(|comparison| comparison.holds(value, 1.0))
        };
        assert_eq!(holds(1.0), [false, true, false, true]);
        assert_eq!(holds(2.0), [true, true, false, false]);
    }
}
