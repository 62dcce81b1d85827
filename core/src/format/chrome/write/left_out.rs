//! What a profile has and the file has no place for, or has in another way.

use super::flows::Flows;
use super::plan::Plan;
use super::slices::is_open;
use crate::format::omissions::Omissions;
use crate::model::{Profile, Thread, Values, Warning};

const NO_PLACE: &str = "a Chrome trace has no place for them";

/// What only the sources know.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Samples whose weights are no lengths.
    pub refused: u64,
}

impl LeftOut {
    pub(super) fn warnings(&self, plan: &Plan<'_>, flows: &Flows) -> Vec<Warning> {
        let profile = plan.profile;
        let mut omissions = Omissions::of(profile);
        slices(&mut omissions, plan);
        let (moved, first) = flows.lost.clone();
        let why = "what begins or runs at their moments is something else, and they are bound to that";
        omissions.add("flows-elsewhere", ["members of flows have no place of their own", why], moved, first);
        let (changed, first) = flows.changed_ids.clone();
        let why = "others have them at the same time, or viewers would not take them for numbers";
        omissions.add("flow-ids-changed", ["flows have new ids", why], changed, first);
        let (changed, first) = plan.changed_ids.clone();
        let why = "others before them have theirs, and a Chrome trace takes these for one";
        omissions.add("ids-changed", ["processes and threads have new ids", why], changed, first);
        self.samples(&mut omissions);
        omissions.of_threads("allocations-left-out", ["allocations are left out", NO_PLACE], |thread| {
            thread.native_allocations.len() + thread.script_allocations.len()
        });
        omissions.of_threads("calls-left-out", ["traced calls of scripts are left out", NO_PLACE], |thread| {
            thread.script_trace.len()
        });
        omissions.of_threads("pauses-left-out", ["pauses of the recorder are left out", NO_PLACE], |thread| {
            thread.paused.len()
        });
        let stacks = |thread: &Thread| thread.waits.stack.iter().flatten().count();
        omissions.of_threads("wait-stacks-left-out", ["stacks of waits are left out", NO_PLACE], stacks);
        tables(&mut omissions, profile);
        omissions.into_warnings()
    }

    fn samples(&self, omissions: &mut Omissions<'_>) {
        let labelled = |thread: &Thread| thread.samples.labels.iter().flatten().count();
        omissions.of_threads("labels-left-out", ["labels of samples are left out", NO_PLACE], labelled);
        let untimed = |thread: &Thread| if thread.timed { 0 } else { thread.samples.len() };
        let why = "they follow each other in the file, each as long as it weighs";
        omissions.of_threads("times-made-up", ["samples have no times", why], untimed);
        let why = "a sample lasts as long as it weighs, which is not negative or infinite";
        omissions.add("samples-left-out", ["samples are left out", why], self.refused, None);
        let weighed = |thread: &Thread| {
            let weighs = thread.timed && thread.samples.weight != Values::Ones && !thread.knows_cpu();
            if weighs { thread.samples.len() } else { 0 }
        };
        let why = "a sample lasts until the next one, whatever it weighs";
        omissions.of_threads("weights-left-out", ["weights of samples are left out", why], weighed);
        let columns = |thread: &Thread| {
            let columns = thread.samples.values.len();
            if thread.timed { columns } else { columns.saturating_sub(1) }
        };
        omissions.of_threads("values-left-out", ["columns of further values are left out", NO_PLACE], columns);
    }
}

fn slices(omissions: &mut Omissions<'_>, plan: &Plan<'_>) {
    let lost = |thread: &Thread| {
        let slices = &thread.slices;
        (0..slices.len()).filter(|row| slices.incomplete[*row] && !is_open(slices, *row, plan.end)).count()
    };
    let why = "only what is unfinished when the profile ends can be left open";
    omissions.of_threads("unfinished-ended", ["unfinished slices are written as finished ones", why], lost);
    let tracks: Vec<_> = plan.profile.threads.iter().zip(&plan.is_async).filter(|(_, is_async)| !**is_async).collect();
    let on_lanes = |thread: &Thread| thread.slices.lane.iter().filter(|lane| **lane > 0).count();
    let count = tracks.iter().map(|(thread, _)| on_lanes(thread) as u64).sum();
    let first = tracks.iter().find(|(thread, _)| on_lanes(thread) > 0);
    let first = first.map(|(thread, _)| format!("thread {}", plan.profile.string(thread.name)));
    let why = "all are in the file, but DevTools and old versions of Perfetto don't show them";
    omissions.add("overlaps", ["slices overlap others of their thread", why], count, first);
}

fn tables(omissions: &mut Omissions<'_>, profile: &Profile) {
    let name = |id| profile.string(id).to_owned();
    let library = profile.libraries.first().map(|library| name(library.name));
    let why = "a Chrome trace has no place for them, nor for addresses in them";
    omissions.add("libraries-left-out", ["libraries are left out", why], profile.libraries.len() as u64, library);
    let schema = profile.marker_schemas.first().map(|schema| name(schema.name));
    let why = "data of markers stands in the file as it is";
    let schemas = profile.marker_schemas.len() as u64;
    omissions.add("schemas-left-out", ["schemas of markers are left out", why], schemas, schema);
    let counts: Vec<_> = profile.counters.iter().filter(|counter| !counter.operations.is_empty()).collect();
    let first = counts.first().map(|counter| name(counter.name));
    let what = ["numbers of operations of counters are left out", NO_PLACE];
    omissions.add("operations-left-out", what, counts.len() as u64, first);
}
