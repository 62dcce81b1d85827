//! The conditions of `--fail-if`: whether they hold, and the figures that say so.

use thiserror::Error as ThisError;
use traceview_core::analysis::{
    Amount, FunctionNameError, StackValues, Unit, UnitName, Whole, amounts_of, functions_named,
};
use traceview_core::model::Profile;
use traceview_core::report::{format_amount, format_percent};

use crate::cli::condition::{Condition, Limit, Metric};
use crate::error::Error;

/// The limit is of something else than what is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ThisError)]
enum UnitError {
    #[error("what is counted is {0}, not {1}; a share in percent can always be given")]
    Other(Unit, Unit),
    #[error("what is counted is {0}: write a unit behind the number, or % for a share")]
    Missing(Unit),
}

/// A sentence for each of `conditions` that holds for `values`, and one for each whose function was not seen.
///
/// # Errors
/// When a function's name can be several, or a limit is of something that is not counted.
pub(super) fn judge(
    profile: &Profile,
    values: &StackValues,
    conditions: &[Condition],
) -> Result<(Vec<String>, Vec<String>), Error> {
    let (mut failures, mut notes) = (Vec::new(), Vec::new());
    let whole = values.whole();
    for condition in conditions {
        let unusable = |source: Box<dyn std::error::Error + Send + Sync>| Error::Condition {
            condition: condition.text.clone(),
            source,
        };
        let (own, total) = match functions_named(profile, values, &condition.name) {
            Ok(functions) => amounts_of(profile, values, &functions),
            // Functions come and go: a check of all builds can't do without those that some don't have.
            Err(error @ FunctionNameError::None(_)) => {
                notes.push(format!("`{}` is judged with 0: {error}", condition.text));
                (Amount::default(), Amount::default())
            }
            Err(error @ FunctionNameError::Several { .. }) => return Err(unusable(error.into())),
        };
        let amount = match condition.metric {
            Metric::Own => own,
            Metric::Total => total,
        };
        let limit = limit_in(condition.limit, &whole).map_err(|error| unusable(error.into()))?;
        let value = match condition.limit {
            Limit::Percent(_) => whole.percent(amount.value),
            Limit::Amount(..) | Limit::Number(_) => amount.value,
        };
        if condition.comparison.holds(value, limit) {
            let figure = figure(&whole, amount);
            failures.push(format!("`{}` holds: {}({}) is {figure}", condition.text, condition.metric, condition.name));
        }
    }
    Ok((failures, notes))
}

/// The limit in the unit of what is counted, or in percent.
fn limit_in(limit: Limit, whole: &Whole) -> Result<f64, UnitError> {
    let is_count = match whole.unit {
        Unit::Samples => true,
        Unit::Named(name) => name.as_str() == UnitName::COUNT,
        Unit::Nanoseconds | Unit::Bytes => false,
    };
    match limit {
        Limit::Percent(percent) => Ok(percent),
        Limit::Amount(value, unit) if unit == whole.unit || is_count && is_samples(unit) => Ok(value),
        Limit::Amount(_, unit) => Err(UnitError::Other(whole.unit, unit)),
        Limit::Number(number) if is_count => Ok(number),
        Limit::Number(_) => Err(UnitError::Missing(whole.unit)),
    }
}

fn is_samples(unit: Unit) -> bool {
    matches!(unit, Unit::Named(name) if matches!(name.as_str(), "samples" | "sample"))
}

/// `20.0 % ±7.8, 20.0 ms of 100 ms`
fn figure(whole: &Whole, amount: Amount) -> String {
    let interval = whole.interval(amount.value).filter(|interval| interval.matters());
    let interval = interval.map_or_else(String::new, |interval| format!(" ±{:.1}", interval.half_width_points()));
    let [part, all] = [amount.value, whole.total.value].map(|value| format_amount(value, whole.unit));
    format!("{}{interval}, {part} of {all}", format_percent(whole.percent(amount.value)))
}
