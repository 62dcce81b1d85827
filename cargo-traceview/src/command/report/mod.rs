//! `report`: where the time went.

mod activity;
mod ai_text;
mod fail_if;
mod lists;
mod select;
mod trees;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, IsTerminal};

use traceview_core::analysis::{StackValues, flows, fold_async, slices_as_samples};
use traceview_core::model::{Profile, TimeRange};
use traceview_core::report::{Found, Style, flows_json, write_flows};

pub use select::measure_of;
use select::{Chosen, Search};

use super::profile_file;
use crate::cli::args::{FlowRule, ReportArgs};
use crate::cli::plan::Surroundings;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::terminal;

/// Functions that the text lists when `--top` does not say.
const DEFAULT_TOP: usize = 20;

/// A report, and what the conditions of `--fail-if` say of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// For stdout.
    pub text: String,
    /// A sentence for each condition that holds.
    pub failures: Vec<String>,
    /// A sentence for each condition on what was not seen.
    pub notes: Vec<String>,
}

/// `cargo traceview report [FILE] …`
///
/// # Errors
/// When the file can't be read, the filters leave nothing, or stdout fails.
pub fn execute(args: &ReportArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let source = profile_file::Source::read(args.file.as_deref(), args.read.options(), surroundings)?;
    if let Some(query) = args.ai.query(&args.threads)? {
        let tree = source.devtools_call_tree(&query)?;
        let text = if args.ai.ai { tree.serialize() } else { tree.compressed() };
        profile_file::print(&text)?;
        // The texts don't end their last line. A terminal goes on behind it.
        return if io::stdout().is_terminal() { profile_file::print("\n") } else { Ok(()) }.map(|()| ExitCode::Fine);
    }
    if is_exact(args)
        && let Some(json) = source.devtools_flows()?
    {
        profile_file::print(&json)?;
        return Ok(ExitCode::Fine);
    }
    let (profile, _) = source.profile()?;
    let report = render(&profile, args, terminal::stdout_style())?;
    profile_file::print(&report.text)?;
    report.notes.iter().for_each(|note| terminal::say(&format!("note: {note}\n")));
    report.failures.iter().for_each(|failure| terminal::say(&format!("error: {failure}\n")));
    Ok(if report.failures.is_empty() { ExitCode::Fine } else { ExitCode::ConditionHolds })
}

/// Whether what DevTools finds is asked for as it is: events of all sorts, in the order of the file.
fn is_exact(args: &ReportArgs) -> bool {
    let is_whole =
        args.threads.is_empty() && args.processes.is_empty() && args.range.is_none() && args.search.is_none();
    args.flows && args.json && is_whole && args.read.flow_binding == FlowRule::DevTools
}

/// The report on `profile` that `args` ask for.
///
/// # Errors
/// When the filters leave nothing, what the samples count can't be added up, or a function is named that is not clear.
pub fn render(profile: &Profile, args: &ReportArgs, style: Style) -> Result<Report, Error> {
    let folded = args.fold_async.then(|| fold_async(profile));
    let profile = folded.as_ref().unwrap_or(profile);
    let mut chosen = Chosen::of(profile, args)?;
    let text = |text| Report { text, ..Report::default() };
    if args.flows {
        return flows_list(profile, &chosen, args, style).map(text);
    }
    if args.waits {
        return activity::waits(profile, &chosen, args, style).map(text);
    }
    if args.thread_list {
        return activity::threads(profile, &chosen, args, style).map(text);
    }
    if chosen.is_of_slices() {
        let slices = slices_as_samples(profile, chosen.selection.range);
        chosen.selection.range = TimeRange::ALL;
        return of(&slices, &chosen, args, style);
    }
    of(profile, &chosen, args, style)
}

/// The report on what is counted in a part of `profile`.
fn of(profile: &Profile, chosen: &Chosen, args: &ReportArgs, style: Style) -> Result<Report, Error> {
    let mut values = StackValues::of(profile, &chosen.selection, chosen.measure)?;
    if let Some(why) = chosen.nothing_in(&values) {
        return Err(Error::NothingFound(why));
    }
    let search = args.search.as_deref().map(|text| Search::of(profile, text)).transpose()?;
    let mut found = None;
    if let Some(search) = &search {
        values.retain_stacks(&search.kept);
        if values.total.samples == 0 {
            return Err(Error::NothingFound(search.nothing_in(&values)));
        }
        found = Some(Found { text: search.text, amount: values.total });
    }
    let text = match (args.ai.options(), trees::Shape::of(args)) {
        (Some(options), _) => ai_text::render(profile, &values, chosen, (options, args))?,
        (None, Some(shape)) => trees::render(profile, &values, found, (shape, args.json), style)?,
        (None, None) => lists::render(profile, (chosen, &values), search.as_ref(), found, (args, style))?,
    };
    let (failures, notes) = fail_if::judge(profile, &values, &args.fail_if)?;
    Ok(Report { text, failures, notes })
}

fn flows_list(profile: &Profile, chosen: &Chosen, args: &ReportArgs, style: Style) -> Result<String, Error> {
    let list = flows(profile, &chosen.selection, args.search.as_deref());
    let is_filtered = args.search.is_some() || !chosen.is_all;
    // Where there are none no filter is to blame.
    if list.chains.is_empty() && is_filtered && !profile.flows.is_empty() {
        let message = format!("none of the profile's {} flows passes the filters", profile.flows.len());
        return Err(Error::NothingFound(message));
    }
    if args.json {
        return Ok(flows_json(profile, &list));
    }
    let mut text = String::new();
    printed(write_flows(&mut text, profile, &list, most(args, DEFAULT_TOP), style));
    Ok(text)
}

/// How many rows a list has at most.
fn most(args: &ReportArgs, default: usize) -> usize {
    args.top.map_or(default, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

fn printed(result: fmt::Result) {
    result.expect("a String takes any text");
}
