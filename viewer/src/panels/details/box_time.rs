//! The samples of one box: counted in the background, as there can be millions.

use std::sync::Arc;

use traceview_core::model::{Nanos, StackId};

use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll};
use crate::selection::{Picked, PickedKind};

/// What was sampled within a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BoxTime {
    /// Samples in it.
    pub(super) samples: usize,
    /// Their CPU time, where known.
    pub(super) cpu: Option<Nanos>,
    /// Samples whose innermost frame is that of the box.
    pub(super) own_samples: usize,
    /// Their CPU time, where known.
    pub(super) own_cpu: Option<Nanos>,
}

/// The samples of the box that was picked last.
#[derive(Default)]
pub(super) struct BoxTimes {
    of: Option<Picked>,
    time: Option<BoxTime>,
    job: Option<Job<BoxTime>>,
}

impl BoxTimes {
    /// What was sampled in `picked`, when it has been counted.
    pub(super) fn update(&mut self, document: &Arc<Document>, picked: &Picked, jobs: &Jobs) -> Option<BoxTime> {
        let PickedKind::Box(node) = picked.what else { return None };
        if self.of != Some(*picked) {
            let (document, picked) = (Arc::clone(document), *picked);
            let count = move || BoxTime::of(&document, &picked, node);
            *self = Self { of: Some(picked), time: None, job: Some(jobs.start("samples of a box", move |_| count())) };
        }
        match self.job.as_ref().map(Job::poll) {
            Some(Poll::Ready(time)) => (self.time, self.job) = (Some(time), None),
            Some(Poll::Lost) => self.job = None,
            Some(Poll::Pending) | None => {}
        }
        self.time
    }
}

impl BoxTime {
    fn of(document: &Document, picked: &Picked, node: StackId) -> Self {
        let samples = &document.profile.threads[picked.thread.index()].samples;
        // In the time of a box all stacks have its functions down to its depth, in whatever lines of them.
        let (depth, function) = (document.stack_index.depth(node), document.function(node));
        let is_own =
            |stack: StackId| document.stack_index.depth(stack) == depth && document.function(stack) == function;
        let range = picked.range();
        let start = samples.time.partition_point(|time| *time < range.start);
        // A box of no length holds the samples of its moment.
        let end = samples.time.partition_point(|time| *time < range.end.max(range.start + Nanos(1))).max(start);
        let rows = || start..end;
        let own = || rows().filter(|row| samples.stack[*row].is_some_and(is_own));
        let has_cpu = !samples.cpu.is_empty();
        let cpu = |rows: &mut dyn Iterator<Item = usize>| {
            has_cpu.then(|| rows.filter_map(|row| samples.cpu_of(row)).sum::<Nanos>())
        };
        Self { samples: end - start, cpu: cpu(&mut rows()), own_samples: own().count(), own_cpu: cpu(&mut own()) }
    }
}
