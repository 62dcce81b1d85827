//! An opened profile with what all panels need to know of it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use traceview_core::analysis::FunctionFacts;
use traceview_core::model::{
    Color, FunctionId, Nanos, Profile, StackId, StandardCategory, ThreadId, Time, TimeRange, Warning,
};

use crate::flows::Flows;
use crate::local_sources::LocalSources;
use crate::lod::{SampleTiming, StackIndex};
use crate::markers::ThreadMarkers;
use crate::package_colors::package_colors;

/// An opened profile. It never changes; panels share it by [`Arc`].
#[derive(Debug)]
pub struct Document {
    /// What the tab and the window are called.
    pub name: String,
    /// The file it is saved in.
    pub path: Option<PathBuf>,
    /// The profile.
    pub profile: Arc<Profile>,
    /// From the first to the last moment that anything is recorded of; at least a nanosecond long.
    pub extent: TimeRange,
    /// Whether anything has a place in time.
    pub timed: bool,
    /// Whether asynchronous code was sampled, of which the stacks can be folded.
    pub is_async: bool,
    /// Libraries and categories of functions.
    pub facts: FunctionFacts,
    /// By function the colour of its package, if categories do not tell functions apart.
    pub package_colors: Option<Vec<Color>>,
    /// Where its sources lie on this machine.
    pub sources: LocalSources,
    /// Depths of stack nodes.
    pub stack_index: Arc<StackIndex>,
    /// By thread: how busy it was.
    pub activity: Vec<ThreadTotals>,
    /// By thread: its markers in order of time.
    pub markers: Vec<ThreadMarkers>,
    /// What leads to what.
    pub flows: Flows,
}

/// What a thread did over all of the profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadTotals {
    /// CPU time of its samples; where none of them says it, one interval for each that has a stack.
    pub cpu: Nanos,
    /// Samples.
    pub samples: usize,
    /// Slices.
    pub slices: usize,
}

impl Document {
    /// Prepares `profile` for being looked at: linear in its size, so a job's work.
    pub fn new(name: String, path: Option<PathBuf>, profile: Arc<Profile>) -> Self {
        let extent = profile.extent();
        let timings = (0..profile.threads.len()).map(|row| sample_timing(&profile, ThreadId::new(row)));
        let timed = profile.threads.iter().zip(timings).filter(|(thread, _)| !thread.samples.time.is_empty());
        let first = timed.map(|(thread, timing)| timing.span(&thread.samples, 0).start).min();
        let start = extent.map_or(Time(0), |extent| first.map_or(extent.start, |first| first.min(extent.start)));
        let end = extent.map_or(start, |extent| extent.end).max(start + Nanos(1));
        let activity = profile.threads.iter().enumerate().map(|(row, thread)| ThreadTotals {
            cpu: thread.sampled_cpu().unwrap_or_else(|| {
                let ran = thread.samples.stack.iter().flatten().count();
                let interval = sample_timing(&profile, ThreadId::new(row)).interval;
                Nanos(i64::try_from(ran).unwrap_or(i64::MAX).saturating_mul(interval.0))
            }),
            samples: thread.samples.len(),
            slices: thread.slices.len(),
        });
        let facts = FunctionFacts::of(&profile);
        Self {
            activity: activity.collect(),
            markers: profile.threads.iter().map(|thread| ThreadMarkers::of(&thread.markers, end)).collect(),
            flows: Flows::of(&profile),
            is_async: is_async(&profile),
            package_colors: package_colors(&profile, &facts),
            facts,
            sources: LocalSources::of(&profile),
            stack_index: Arc::new(StackIndex::new(&profile.stacks)),
            timed: extent.is_some(),
            extent: TimeRange { start, end },
            name,
            path,
            profile,
        }
    }

    /// The thread that the chart shows first: the one with the most CPU time, or else the most slices.
    pub fn busiest_thread(&self) -> Option<ThreadId> {
        let order = |row: &usize| (self.activity[*row].cpu, self.activity[*row].slices, std::cmp::Reverse(*row));
        (0..self.activity.len()).max_by_key(order).map(ThreadId::new)
    }

    /// How many phases of flows its reader could bind to nothing.
    pub fn unbound_phases(&self) -> u64 {
        let unbound = self.profile.meta.warnings.iter().filter(|warning| is_of_flows(warning));
        unbound.fold(0, |sum, warning| sum.saturating_add(warning.count))
    }

    /// How the samples of a thread fill the time between them.
    pub fn sample_timing(&self, thread: ThreadId) -> SampleTiming {
        sample_timing(&self.profile, thread)
    }

    /// The colour of a function's category, or else of its package.
    pub fn color_of(&self, function: FunctionId) -> Color {
        if let Some(colors) = &self.package_colors {
            return colors[function.index()];
        }
        self.facts.category(function).map_or(Color::Grey, |id| self.profile.categories[id.index()].color)
    }

    /// By category: whether it is this one. Files of other programs have categories of their own.
    pub fn categories_called(&self, category: StandardCategory) -> Vec<bool> {
        let profile = &self.profile;
        profile.categories.iter().map(|row| profile.string(row.name) == category.name()).collect()
    }

    /// The function of a stack's innermost frame.
    pub fn function(&self, stack: StackId) -> FunctionId {
        self.profile.leaf_function(stack)
    }

    /// A function's name.
    pub fn function_name(&self, function: FunctionId) -> &str {
        self.profile.string(self.profile.functions.name[function.index()])
    }

    /// The source file of a function: as it lies on this machine, if it does, or as the profile has it.
    pub fn source_file(&self, function: FunctionId) -> Option<Cow<'_, str>> {
        let source = self.profile.functions.source[function.index()]?;
        let local = self.sources.find(&self.profile, source).map(Path::to_string_lossy);
        Some(local.unwrap_or_else(|| self.profile.string(self.profile.sources[source.index()].path).into()))
    }

    /// A thread's name.
    pub fn thread_name(&self, thread: ThreadId) -> &str {
        self.profile.string(self.profile.threads[thread.index()].name)
    }
}

/// Whether there is the body of an async function, by its name or because something polls it.
fn is_async(profile: &Profile) -> bool {
    let polls =
        |name: &str| name.contains("{async_") || name.ends_with("Future>::poll") || name.contains("::task::raw::");
    profile.functions.name.iter().any(|name| polls(profile.string(*name)))
}

/// Whether it says that flows are bound to nothing.
pub fn is_of_flows(warning: &Warning) -> bool {
    const CODES: &str = "flow-no-";
    warning.code.starts_with(CODES) || warning.code == "flow-alone"
}

fn sample_timing(profile: &Profile, thread: ThreadId) -> SampleTiming {
    let thread = &profile.threads[thread.index()];
    let interval = profile.meta.interval;
    let timing = interval.map_or_else(|| SampleTiming::estimate(&thread.samples), SampleTiming::for_interval);
    let from = profile.meta.recording_start.into_iter().chain(thread.start).max();
    SampleTiming { from: from.unwrap_or(timing.from), ..timing }
}
