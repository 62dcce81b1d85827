//! What of a profile is reported on, and what is counted of it.

use std::time::Duration;

use traceview_core::analysis::{
    Measure, SearchQuery, Selection, StackValues, default_measure, sample_type, select_labels, select_threads,
    stacks_through,
};
use traceview_core::model::{Profile, Time, TimeRange};
use traceview_core::report::format_duration;

use crate::cli::args::ReportArgs;
use crate::cli::time;
use crate::error::Error;

/// What was chosen.
pub(super) struct Chosen {
    /// Which threads, time and labels.
    pub(super) selection: Selection,
    /// Whether that is everything.
    pub(super) is_all: bool,
    /// Whether CPU time, waits or both were asked for by name.
    is_time: bool,
    /// The time that was asked for; the selection of slices, which are cut before, does not say it.
    pub(super) range: TimeRange,
    /// From when to when the profile goes.
    extent: Option<TimeRange>,
    /// What is counted.
    pub(super) measure: Measure,
}

/// What is searched for.
pub(super) struct Search<'a> {
    /// As typed.
    pub(super) text: &'a str,
    /// By stack, whether a function that matches is on it.
    pub(super) kept: Vec<bool>,
}

impl Chosen {
    /// What the flags say.
    ///
    /// # Errors
    /// When there is no such thread, process, label or sample type.
    pub(super) fn of(profile: &Profile, args: &ReportArgs) -> Result<Self, Error> {
        let threads = select_threads(profile, &args.threads, &args.processes)
            .map_err(|error| Error::NothingFound(error.to_string()))?;
        let range = args.range.map_or(TimeRange::ALL, range_of);
        let label_sets =
            select_labels(profile, &args.labels).map_err(|error| Error::NothingFound(error.to_string()))?;
        let selection = Selection { range, threads, label_sets };
        let is_all = selection == Selection::default();
        let is_time = args.on_cpu || args.off_cpu || args.wall;
        Ok(Self { is_all, is_time, range, extent: profile.extent(), measure: counted(profile, args)?, selection })
    }

    /// Whether slices are counted.
    pub(super) fn is_of_slices(&self) -> bool {
        self.measure == Measure::Slices
    }

    /// Why `values`, of what was chosen, count nothing, as a sentence; `None`: they do, or the profile has nothing in it.
    pub(super) fn nothing_in(&self, values: &StackValues) -> Option<String> {
        if values.total.samples > 0 {
            return None;
        }
        match self.measure {
            Measure::Slices if self.is_all => Some("the profile has no slices".to_owned()),
            Measure::OffCpu if self.is_all => Some("the profile has no waits".to_owned()),
            Measure::Wall if self.is_all && self.is_time => Some("the profile has no samples and no waits".to_owned()),
            _ if self.is_all && self.is_time => Some("the profile has no samples".to_owned()),
            _ if self.is_all => None,
            Measure::Slices => Some(self.why_nothing("slice", "was seen")),
            Measure::OffCpu => Some(self.why_nothing("wait", "was seen")),
            Measure::Wall => Some(self.why_nothing("sample or wait", "counts any time")),
            Measure::Cpu | Measure::Samples if values.unit == traceview_core::analysis::Unit::Nanoseconds => {
                Some(self.why_nothing("sample", "used any CPU time"))
            }
            _ => Some(self.why_nothing("sample", "counts anything")),
        }
    }

    /// That no such `thing` as was chosen did what it should.
    pub(super) fn why_nothing(&self, thing: &str, did: &str) -> String {
        let is_ranged = self.range != TimeRange::ALL;
        let of = match (is_ranged, &self.selection.threads, &self.selection.label_sets) {
            (_, _, Some(_)) => " of the chosen ones with these labels",
            (false, Some(_), _) => " of the chosen threads",
            (true, Some(_), _) => " of the chosen threads in that range",
            (true, None, _) => " in that range",
            (false, None, None) => "",
        };
        let what = format!("no {thing}{of} {did}");
        match self.extent {
            Some(extent) if is_ranged => {
                let [start, end] = [extent.start, extent.end].map(|time| format_duration(time - Time::ZERO));
                format!("{what}; the profile goes from {start} to {end}")
            }
            None if is_ranged => format!("{what}; the profile has no times"),
            _ => what,
        }
    }
}

impl<'a> Search<'a> {
    /// Looks for the functions that match `text`.
    ///
    /// # Errors
    /// When there are none.
    pub(super) fn of(profile: &Profile, text: &'a str) -> Result<Self, Error> {
        let functions = SearchQuery::parse(text).functions(profile);
        if functions.is_empty() {
            return Err(Error::NothingFound(format!("no function has `{text}` in its name, file or crate")));
        }
        let kept = stacks_through(profile, |function| functions.contains(function));
        Ok(Self { text, kept })
    }

    /// Why nothing is left, as a sentence.
    pub(super) fn nothing_in(&self, values: &StackValues) -> String {
        let thing = match values.measure {
            Measure::OffCpu => "wait",
            Measure::Wall => "sample or wait",
            _ => "sample",
        };
        format!("no chosen {thing} has a function with `{}` on its stack", self.text)
    }
}

/// What is counted, of which samples, waits and slices.
fn counted(profile: &Profile, args: &ReportArgs) -> Result<Measure, Error> {
    let asked = match (args.on_cpu, args.off_cpu, args.wall) {
        (true, ..) => Some(Measure::Cpu),
        (_, true, _) => Some(Measure::OffCpu),
        (.., true) => Some(Measure::Wall),
        _ => measure_of(profile, args.sample_type.as_deref())?,
    };
    let has_samples = || profile.threads.iter().any(|thread| !thread.samples.is_empty());
    let has_slices = || profile.threads.iter().any(|thread| !thread.slices.is_empty());
    if args.slices || (asked.is_none() && !has_samples() && has_slices()) {
        return Ok(Measure::Slices);
    }
    Ok(asked.unwrap_or_else(|| default_measure(profile)))
}

/// What the sample type of this name counts.
///
/// # Errors
/// When there is none; the message lists those that there are.
pub fn measure_of(profile: &Profile, name: Option<&str>) -> Result<Option<Measure>, Error> {
    let Some(name) = name else { return Ok(None) };
    let found = sample_type(profile, name).map_err(|error| Error::NothingFound(error.to_string()))?;
    Ok(Some(found.measure))
}

fn range_of(range: time::TimeRange) -> TimeRange {
    // Beyond 292 years there are no samples.
    let time = |moment: Duration| Time(i64::try_from(moment.as_nanos()).unwrap_or(i64::MAX));
    TimeRange { start: range.start.map_or(TimeRange::ALL.start, time), end: range.end.map_or(TimeRange::ALL.end, time) }
}
