//! What the chart shows of a thread, prepared in the background and kept for the threads that were shown last.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use traceview_core::model::{FunctionId, Nanos, Profile, SliceTable, StackId, ThreadId, Time, WaitTable};

use super::opening;
use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll};
use crate::lod::{BoxRows, CallNodes, Pyramid, SampleBoxes, SliceRows, Spans};
use crate::selection::{Picked, PickedKind};

/// A thread ready to be drawn at any zoom level. Cheap to clone.
#[derive(Clone)]
pub(super) struct Chart {
    /// Whose it is.
    pub(super) thread: ThreadId,
    /// All that does not depend on which depths are on screen.
    pub(super) rows: Arc<ThreadRows>,
    /// The boxes of the depths around those on screen.
    pub(super) boxes: Arc<BoxPyramid>,
    /// Different for different contents.
    pub(super) generation: u64,
}

/// Boxes of some depths.
pub(super) type BoxPyramid = Pyramid<BoxRows>;

/// The rows of a thread.
pub(super) struct ThreadRows {
    /// What boxes are of.
    pub(super) calls: Arc<CallNodes>,
    /// All boxes of its samples, as strips.
    pub(super) strips: SampleBoxes,
    /// By depth, how many boxes there are above it; one entry more than depths.
    boxes_above: Vec<u64>,
    /// Its slices.
    pub(super) slices: Arc<Pyramid<SliceRows<OfThread>>>,
    /// Its waits, in one row.
    pub(super) waits: Pyramid<OfThread>,
    /// The depth that is at the top when the chart is first shown.
    pub(super) opening: u32,
}

/// A table of a thread of a shared profile.
#[derive(Clone)]
pub(super) struct OfThread {
    profile: Arc<Profile>,
    thread: ThreadId,
}

/// The charts of the threads that were shown last, and the work on the one that is shown.
#[derive(Default)]
pub(super) struct Charts {
    /// The one that was shown last is the last.
    ready: Vec<Chart>,
    job: Option<(ThreadId, Job<Chart>)>,
    /// The call nodes of the document, found when the first chart is prepared.
    calls: Arc<OnceLock<Arc<CallNodes>>>,
    /// The thread whose preparation failed.
    failed: Option<ThreadId>,
    generations: u64,
}

/// What can be shown of a thread now.
pub(super) enum Readiness {
    /// All that is known; some depths may still be missing.
    Ready(Chart),
    /// Nothing yet.
    Preparing,
    /// Nothing ever: there is a fault.
    Failed,
}

/// So many bytes of charts are kept besides the one that is shown.
const MOST_BYTES: usize = 256 << 20;
/// Boxes that are prepared at a time; of deeper charts only the depths around the visible ones.
const MOST_BOXES: u64 = 2_000_000;
/// So many depths above and below the visible ones are prepared with them, if boxes are few enough.
const MARGINS: [u32; 5] = [256, 64, 32, 16, 8];

impl Charts {
    /// Takes what is ready of `thread`, and has prepared what is missing to show `depths` of it.
    pub(super) fn update(
        &mut self,
        document: &Arc<Document>,
        thread: ThreadId,
        depths: &Range<u32>,
        jobs: &Jobs,
    ) -> Readiness {
        self.receive();
        let mut ready = self.take(thread);
        if !ready.as_ref().is_some_and(|chart| chart.shows(depths)) && self.failed != Some(thread) {
            // A job for another thread is dropped, and so cancelled.
            if self.job.as_ref().is_none_or(|(of, _)| *of != thread) {
                let (document, depths, rows) = (Arc::clone(document), depths.clone(), ready.as_ref().map(Chart::rows));
                self.generations += 1;
                let (generation, calls) = (self.generations, Arc::clone(&self.calls));
                let job = jobs.start_stoppable("flame chart", move |progress| {
                    let rows = rows.unwrap_or_else(|| {
                        let calls = calls.get_or_init(|| Arc::new(CallNodes::of(&document.profile)));
                        Arc::new(ThreadRows::new(&document, calls, thread))
                    });
                    progress.go_on()?;
                    Some(Chart::new(thread, rows, &depths, generation))
                });
                self.job = Some((thread, job));
                self.receive();
                ready = self.take(thread);
            }
        }
        match ready {
            Some(chart) => Readiness::Ready(chart),
            None if self.failed == Some(thread) => Readiness::Failed,
            None => Readiness::Preparing,
        }
    }

    /// Whether something is being prepared.
    pub(super) fn is_working(&self) -> bool {
        self.job.is_some()
    }

    /// What is known of `thread` so far.
    pub(super) fn shown(&self, thread: ThreadId) -> Option<&Chart> {
        self.ready.iter().find(|chart| chart.thread == thread)
    }

    /// The chart of `thread`, which becomes the one shown last.
    fn take(&mut self, thread: ThreadId) -> Option<Chart> {
        let at = self.ready.iter().position(|chart| chart.thread == thread)?;
        let chart = self.ready.remove(at);
        self.ready.push(chart.clone());
        Some(chart)
    }

    fn receive(&mut self) {
        let Some((thread, job)) = &self.job else { return };
        match job.poll() {
            Poll::Pending => return,
            Poll::Ready(chart) => {
                self.ready.retain(|old| old.thread != chart.thread);
                self.ready.push(chart);
                self.forget(MOST_BYTES);
            }
            Poll::Lost => self.failed = Some(*thread),
        }
        self.job = None;
    }

    /// Keeps of the charts that were shown last as many as take at most `most` bytes.
    fn forget(&mut self, most: usize) {
        let mut bytes = 0;
        let keep_from = self.ready.iter().rposition(|chart| {
            bytes += chart.bytes();
            bytes > most
        });
        // The last one is shown, however large it is.
        let forgotten = keep_from.map_or(0, |at| (at + 1).min(self.ready.len() - 1));
        self.ready.drain(..forgotten);
    }
}

impl Chart {
    fn new(thread: ThreadId, rows: Arc<ThreadRows>, depths: &Range<u32>, generation: u64) -> Self {
        let window = rows.window(depths);
        let boxes = BoxRows::new(&rows.strips, window, rows.calls.table(), rows.calls.index());
        let boxes = Arc::new(Pyramid::build(boxes));
        Self { thread, rows, boxes, generation }
    }

    /// The call node that a box is of.
    pub(super) fn call(&self, item: u32) -> StackId {
        self.boxes.spans().node(item as usize)
    }

    /// The function that a box is of.
    pub(super) fn function(&self, profile: &Profile, item: u32) -> FunctionId {
        profile.frames.function[self.rows.calls.table().frame[self.call(item).index()].index()]
    }

    /// A box as a thing to pick.
    pub(super) fn pick_box(&self, document: &Document, item: u32) -> Picked {
        let spans = self.boxes.spans();
        self.pick_call(document, self.call(item), spans.start(item as usize), spans.duration(item as usize))
    }

    /// The box of a call node that begins at `start`, as a thing to pick: with the stack node of its first sample, which
    /// tells a line of the function.
    pub(super) fn pick_call(&self, document: &Document, call: StackId, start: Time, duration: Nanos) -> Picked {
        let calls = &self.rows.calls;
        let samples = &document.profile.threads[self.thread.index()].samples;
        let (stacks, depth) = (&document.profile.stacks, calls.index().depth(call));
        let rows = samples.time.partition_point(|time| *time < start)..samples.len();
        let nodes = rows.filter_map(|row| samples.stack[row]).map(|stack| {
            // A shallower stack of the same moment is not in this box.
            let depth = depth.min(document.stack_index.depth(stack));
            document.stack_index.at_depth(stacks, stack, depth)
        });
        let node = nodes.into_iter().find(|node| calls.of_stack(*node) == call);
        let node = node.expect("a box begins with a sample that has its call node");
        Picked { thread: self.thread, what: PickedKind::Box(node), start, duration }
    }

    /// How many depths there are in all.
    pub(super) fn depths(&self) -> u32 {
        self.rows.strips.depths()
    }

    /// The depths whose boxes are at hand.
    pub(super) fn window(&self) -> Range<u32> {
        self.boxes.spans().depths()
    }

    fn rows(&self) -> Arc<ThreadRows> {
        Arc::clone(&self.rows)
    }

    /// Whether all of `depths` that exist are at hand.
    pub(super) fn shows(&self, depths: &Range<u32>) -> bool {
        let window = self.window();
        let end = depths.end.min(self.depths());
        depths.start >= end || (window.start <= depths.start && end <= window.end)
    }

    fn bytes(&self) -> usize {
        let boxes = self.boxes.spans().bytes() + self.boxes.index_bytes();
        let strips = size_of_val(self.rows.strips.strips());
        let above = size_of_val(&*self.rows.boxes_above);
        boxes + strips + above + self.rows.slices.index_bytes() + self.rows.waits.index_bytes()
    }
}

impl ThreadRows {
    pub(super) fn new(document: &Document, calls: &Arc<CallNodes>, thread: ThreadId) -> Self {
        let profile = &document.profile;
        let row = &profile.threads[thread.index()];
        let timing = document.sample_timing(thread);
        let samples = calls.samples(&row.samples);
        let strips = SampleBoxes::build(&samples, calls.table(), calls.index(), timing);
        let of_thread = OfThread { profile: Arc::clone(profile), thread };
        // Slices stand above the boxes; where there are some, they come first.
        let opening = if row.slices.is_empty() { opening::first_written_depth(document, calls, &strips) } else { 0 };
        Self {
            opening,
            calls: Arc::clone(calls),
            boxes_above: boxes_above(&strips),
            strips,
            slices: Arc::new(Pyramid::build(SliceRows::new(of_thread.clone()))),
            waits: Pyramid::build(of_thread),
        }
    }

    /// Which depths to prepare when `visible` ones are on screen: all, or as many around them as are not too much.
    fn window(&self, visible: &Range<u32>) -> Range<u32> {
        let all = self.strips.depths();
        let boxes =
            |depths: &Range<u32>| self.boxes_above[depths.end as usize] - self.boxes_above[depths.start as usize];
        if boxes(&(0..all)) <= MOST_BOXES {
            return 0..all;
        }
        let around = |margin: u32| {
            let end = visible.end.saturating_add(margin).min(all);
            visible.start.saturating_sub(margin).min(end)..end
        };
        let fits = MARGINS.into_iter().map(around).find(|window| boxes(window) <= MOST_BOXES);
        fits.unwrap_or_else(|| around(MARGINS[MARGINS.len() - 1]))
    }
}

fn boxes_above(strips: &SampleBoxes) -> Vec<u64> {
    // First the change in boxes from depth to depth, then boxes, then their sums.
    let mut changes = vec![0_i64; strips.depths() as usize + 1];
    for strip in strips.strips() {
        changes[strip.first_depth as usize] += 1;
        changes[strip.last_depth as usize + 1] -= 1;
    }
    let (mut here, mut above) = (0_i64, 0_u64);
    changes
        .into_iter()
        .map(|change| {
            let before = above;
            here += change;
            above += here.unsigned_abs();
            before
        })
        .collect()
}

impl OfThread {
    fn waits(&self) -> &WaitTable {
        &self.profile.threads[self.thread.index()].waits
    }
}

impl Borrow<SliceTable> for OfThread {
    fn borrow(&self) -> &SliceTable {
        &self.profile.threads[self.thread.index()].slices
    }
}

impl Spans for OfThread {
    fn len(&self) -> usize {
        self.waits().len()
    }

    fn rows(&self) -> u32 {
        u32::from(!self.waits().is_empty())
    }

    fn row(&self, _item: usize) -> u32 {
        0
    }

    fn start(&self, item: usize) -> Time {
        self.waits().start[item]
    }

    fn duration(&self, item: usize) -> Nanos {
        self.waits().duration[item]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;
    use crate::testing::profiles::{deep, simple};

    fn ready(charts: &mut Charts, document: &Arc<Document>, thread: usize, depths: Range<u32>) -> Chart {
        match charts.update(document, ThreadId::new(thread), &depths, &Jobs::immediate()) {
            Readiness::Ready(chart) => chart,
            Readiness::Preparing | Readiness::Failed => panic!("immediate jobs are done"),
        }
    }

    #[test]
    fn small_charts_are_prepared_whole_and_once() {
        let document = document(simple());
        let mut charts = Charts::default();
        let first = ready(&mut charts, &document, 0, 0..1);
        assert_eq!(first.window(), 0..first.depths());
        assert_eq!(ready(&mut charts, &document, 0, 1..30).generation, first.generation);
    }

    #[test]
    fn of_deep_stacks_the_depths_on_screen_are_prepared() {
        let document = document(deep(100_000, 40));
        let mut charts = Charts::default();
        let top = ready(&mut charts, &document, 0, 0..30);
        assert_eq!((top.depths(), top.window().start), (100_000, 0));
        assert!(top.window().end < 1_000, "{:?}", top.window());
        let middle = ready(&mut charts, &document, 0, 50_000..50_030);
        assert!(middle.window().start > 49_000 && middle.window().contains(&50_029));
        let end = ready(&mut charts, &document, 0, 99_980..100_010);
        assert_eq!(end.window().end, 100_000);
        assert_eq!(end.boxes.spans().len() as u64, 40 * u64::from(end.window().end - end.window().start));
    }

    #[test]
    fn a_chart_in_preparation_does_not_hold_up_the_window() {
        let document = document(simple());
        let (sender, woken) = std::sync::mpsc::channel();
        let jobs = Jobs::in_background(move || sender.send(()).expect("the test waits"));
        let mut charts = Charts::default();
        let first = charts.update(&document, ThreadId::new(0), &(0..10), &jobs);
        assert!(!matches!(first, Readiness::Failed));
        woken.recv().expect("the job ends");
        let second = charts.update(&document, ThreadId::new(0), &(0..10), &jobs);
        let Readiness::Ready(chart) = second else { panic!("it is prepared") };
        assert_eq!(chart.thread, ThreadId::new(0));
        assert_eq!(jobs.running(), 0, "and nothing is prepared again");
    }

    #[test]
    fn the_charts_shown_last_are_kept_as_far_as_there_is_room() {
        let document = document(simple());
        let mut charts = Charts::default();
        for thread in [0, 1, 2, 0] {
            ready(&mut charts, &document, thread, 0..1);
        }
        let threads = |charts: &Charts| charts.ready.iter().map(|chart| chart.thread.index()).collect::<Vec<_>>();
        assert_eq!(threads(&charts), [1, 2, 0]);
        let room = charts.ready[1].bytes() + charts.ready[2].bytes();
        charts.forget(room);
        assert_eq!(threads(&charts), [2, 0]);
        charts.forget(0);
        assert_eq!(threads(&charts), [0], "what is shown stays");
    }

    #[test]
    fn boxes_are_counted_by_depth() {
        let document = document(simple());
        let chart = ready(&mut Charts::default(), &document, 0, 0..1);
        for depth in 0..chart.depths() {
            let counted = chart.rows.boxes_above[depth as usize + 1] - chart.rows.boxes_above[depth as usize];
            assert_eq!(counted as usize, chart.boxes.items(depth).len(), "depth {depth}");
        }
    }
}
