//! The text for an AI assistant, of what `report` was asked for.

use traceview_core::analysis::StackValues;
use traceview_core::model::Profile;
use traceview_core::report::{AiOptions, AiSubject, ai_text};

use super::select::Chosen;
use crate::cli::args::ReportArgs;
use crate::error::Error;

/// The call tree of `values`, of what was chosen.
///
/// # Errors
/// When the budget is too small for any.
pub(super) fn render(
    profile: &Profile,
    values: &StackValues,
    chosen: &Chosen,
    (options, args): (AiOptions, &ReportArgs),
) -> Result<String, Error> {
    let file = args.file.as_deref().map(|path| path.display().to_string());
    let filters = filters(args);
    let subject =
        AiSubject { selection: &chosen.selection, range: chosen.range, file: file.as_deref(), filters: &filters };
    Ok(ai_text(profile, values, &subject, options)?)
}

/// What was chosen but for threads and time, which the text names itself.
fn filters(args: &ReportArgs) -> Vec<String> {
    let mut filters: Vec<String> =
        args.labels.iter().map(|label| format!("only samples with the label {label}")).collect();
    filters.extend(args.sample_type.iter().map(|name| format!("counted is the sample type {name}")));
    filters.extend(args.search.iter().map(|text| format!("only stacks with `{text}`")));
    if args.fold_async {
        filters.push("async functions instead of the runtime that polls them".to_owned());
    }
    filters
}
