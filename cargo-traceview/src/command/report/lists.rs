//! Lists of functions and of what they belong to.

use traceview_core::analysis::{GroupList, StackValues, functions, groups, thread_groups};
use traceview_core::model::Profile;
use traceview_core::report::{Found, Style, groups_json, top_json, write_groups, write_top};

use super::select::{Chosen, Search};
use super::{DEFAULT_TOP, most, printed};
use crate::cli::args::ReportArgs;
use crate::cli::group::{By, Grouping};
use crate::error::Error;

/// The list that `args` ask for, of `values`, which a search may have left.
///
/// # Errors
/// When what the samples count can't be added up.
pub(super) fn render(
    profile: &Profile,
    (chosen, values): (&Chosen, &StackValues),
    search: Option<&Search<'_>>,
    found: Option<Found<'_>>,
    (args, style): (&ReportArgs, Style),
) -> Result<String, Error> {
    let by = args.by.unwrap_or(By::Function);
    let list = match by.grouping() {
        Grouping::Functions => return Ok(functions_list(profile, values, found, args, style)),
        Grouping::Code(code) => groups(profile, values, code),
        Grouping::Threads => {
            let kept = search.map(|search| search.kept.as_slice());
            thread_groups(profile, &chosen.selection, chosen.measure, kept)?
        }
    };
    Ok(groups_list(profile, &list, found, (args, by), style))
}

fn functions_list(
    profile: &Profile,
    values: &StackValues,
    found: Option<Found<'_>>,
    args: &ReportArgs,
    style: Style,
) -> String {
    let list = functions(profile, values);
    if args.json {
        return top_json(profile, &list, found, most(args, usize::MAX));
    }
    let mut text = String::new();
    printed(write_top(&mut text, profile, &list, found, most(args, DEFAULT_TOP), style));
    text
}

fn groups_list(
    profile: &Profile,
    list: &GroupList,
    found: Option<Found<'_>>,
    (args, by): (&ReportArgs, By),
    style: Style,
) -> String {
    if args.json {
        return groups_json(profile, list, found, most(args, usize::MAX));
    }
    let mut text = String::new();
    printed(write_groups(&mut text, profile, list, found, (by.thing(), most(args, DEFAULT_TOP)), style));
    text
}
