//! Lists of what is not sampled: waits, and threads with all that they did.

use traceview_core::analysis::{thread_list, wait_list};
use traceview_core::model::Profile;
use traceview_core::report::{Style, threads_json, waits_json, write_threads, write_waits};

use super::select::{Chosen, Search};
use super::{DEFAULT_TOP, most, printed};
use crate::cli::args::ReportArgs;
use crate::error::Error;

/// What threads waited for.
///
/// # Errors
/// When there is no wait.
pub(super) fn waits(profile: &Profile, chosen: &Chosen, args: &ReportArgs, style: Style) -> Result<String, Error> {
    let search = args.search.as_deref().map(|text| Search::of(profile, text)).transpose()?;
    let list = wait_list(profile, &chosen.selection, search.as_ref().map(|search| search.kept.as_slice()));
    if list.sum.count == 0 && list.short.is_none() {
        return Err(Error::NothingFound(match &search {
            Some(search) => format!("no chosen wait has a function with `{}` on its stack", search.text),
            None if chosen.is_all => "the profile has no waits".to_owned(),
            None => chosen.why_nothing("wait", "was seen"),
        }));
    }
    if args.json {
        return Ok(waits_json(profile, &list, most(args, usize::MAX)));
    }
    let mut text = String::new();
    printed(write_waits(&mut text, profile, &list, most(args, DEFAULT_TOP), style));
    Ok(text)
}

/// What each thread did.
///
/// # Errors
/// When none did anything.
pub(super) fn threads(profile: &Profile, chosen: &Chosen, args: &ReportArgs, style: Style) -> Result<String, Error> {
    let search = args.search.as_deref().map(|text| Search::of(profile, text)).transpose()?;
    let list = thread_list(profile, &chosen.selection, search.as_ref().map(|search| search.kept.as_slice()));
    if list.rows.is_empty() && !list.is_whole {
        return Err(Error::NothingFound(match &search {
            Some(search) => format!("no chosen thread has a function with `{}` on a stack", search.text),
            None => chosen.why_nothing("sample or wait", "was seen"),
        }));
    }
    if args.json {
        return Ok(threads_json(profile, &list, most(args, usize::MAX)));
    }
    let mut text = String::new();
    printed(write_threads(&mut text, profile, &list, most(args, DEFAULT_TOP), style));
    Ok(text)
}
