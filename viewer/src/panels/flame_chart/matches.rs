//! Which boxes and slices a search finds, or are of the selected function: lists of their own, so that none is hidden
//! by a longer neighbour that it shares a pixel with.

use std::sync::Arc;

use traceview_core::model::{FunctionId, Nanos, SliceId, StackId, Time};

use super::model::{BoxPyramid, Chart, OfThread};
use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll, Progress};
use crate::lod::{Pyramid, SliceRows, Spans};
use crate::search::{FunctionSet, SearchQuery};
use crate::selection::{Picked, PickedKind};

/// What to look for.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Wanted {
    /// What a search finds.
    Found {
        /// The functions.
        functions: FunctionSet,
        /// What the names of slices are compared with.
        query: SearchQuery,
    },
    /// The boxes of one function.
    Function(FunctionId),
}

/// What was found in a chart.
pub(super) struct Matches {
    /// Boxes of the depths at hand, in the rows of [`Chart::boxes`].
    pub(super) boxes: Pyramid<Subset<BoxPyramid>>,
    /// Slices, in their rows.
    pub(super) slices: Pyramid<Subset<Pyramid<SliceRows<OfThread>>>>,
    /// When something matches in any row.
    pub(super) marks: Pyramid<Marks>,
    /// What a search found in all rows, in order of time.
    list: Vec<Match>,
}

/// Something that a search found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    start: Time,
    end: Time,
    what: Matching,
}

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Matching {
    /// A slice.
    Slice(SliceId),
    /// A box of this call node.
    Call(StackId),
}

/// Some of the items of another pyramid.
pub(super) struct Subset<P> {
    all: Arc<P>,
    items: Vec<u32>,
}

/// Times without rows, in order and apart from each other.
pub(super) struct Marks(Vec<(Time, Time)>);

/// What is brought out in a chart, with what was found of it so far.
#[derive(Clone)]
pub(super) struct Emphasis {
    /// What to look for.
    pub(super) wanted: Arc<Wanted>,
    /// What was found; `None`: not looked through yet. Boxes of a pixel or more are brought out without it.
    pub(super) matches: Option<Arc<Matches>>,
    /// Different for different contents.
    pub(super) generation: u64,
}

/// Looks for one thing at a time in one chart at a time.
#[derive(Default)]
pub(super) struct Finder {
    /// What was looked for last, in the chart of which generation.
    current: Option<(Emphasis, u64)>,
    job: Option<Job<Matches>>,
    generations: u64,
}

impl Finder {
    /// What to bring out of `chart`, as far as it was found by now.
    pub(super) fn update(
        &mut self,
        document: &Arc<Document>,
        chart: &Chart,
        wanted: Option<Wanted>,
        jobs: &Jobs,
    ) -> Option<Emphasis> {
        let Some(wanted) = wanted else {
            (self.current, self.job) = (None, None);
            return None;
        };
        let same = |(emphasis, of): &(Emphasis, u64)| *emphasis.wanted == wanted && *of == chart.generation;
        if !self.current.as_ref().is_some_and(same) {
            let wanted = Arc::new(wanted);
            self.generations += 1;
            let emphasis = Emphasis { wanted: Arc::clone(&wanted), matches: None, generation: self.generations };
            self.current = Some((emphasis, chart.generation));
            let (document, chart) = (Arc::clone(document), chart.clone());
            self.job = Some(
                jobs.start_stoppable("matches", move |progress| Matches::find(&document, &chart, &wanted, progress)),
            );
        }
        self.receive();
        self.current.as_ref().map(|(emphasis, _)| emphasis.clone())
    }

    fn receive(&mut self) {
        let (Some(job), Some((emphasis, _))) = (&self.job, &mut self.current) else { return };
        match job.poll() {
            Poll::Pending => return,
            Poll::Ready(matches) => {
                self.generations += 1;
                emphasis.matches = Some(Arc::new(matches));
                emphasis.generation = self.generations;
            }
            Poll::Lost => {}
        }
        self.job = None;
    }
}

impl Wanted {
    /// Whether boxes of `function` match.
    pub(super) fn has(&self, function: FunctionId) -> bool {
        match self {
            Self::Found { functions, .. } => functions.contains(function),
            Self::Function(wanted) => *wanted == function,
        }
    }

    /// Whether slices of this name match.
    pub(super) fn has_name(&self, name: &str) -> bool {
        match self {
            Self::Found { query, .. } => query.matches(&[name].into_iter()),
            Self::Function(_) => false,
        }
    }
}

impl Matches {
    /// `None`: it was cancelled.
    fn find(document: &Document, chart: &Chart, wanted: &Wanted, progress: &Progress) -> Option<Self> {
        let boxes = matching_boxes(document, chart, wanted);
        progress.go_on()?;
        let slices = matching_slices(document, chart, wanted);
        progress.go_on()?;
        let mut list = Vec::new();
        if matches!(wanted, Wanted::Found { .. }) {
            let spans = chart.rows.slices.spans();
            list.extend(slices.iter().map(|item| {
                let start = spans.start(*item as usize);
                let end = start + spans.duration(*item as usize);
                Match { start, end, what: Matching::Slice(SliceId::new(*item as usize)) }
            }));
            list.extend(matching_strips(document, chart, wanted));
            list.sort_unstable();
        }
        progress.go_on()?;
        Some(Self {
            boxes: Pyramid::build(Subset { all: Arc::clone(&chart.boxes), items: boxes }),
            slices: Pyramid::build(Subset { all: Arc::clone(&chart.rows.slices), items: slices }),
            marks: Pyramid::build(Marks::of(&list)),
            list,
        })
    }

    /// What a search found next after `time`, in any row.
    pub(super) fn after(&self, time: Time, document: &Document, chart: &Chart) -> Option<Picked> {
        let at = self.list.partition_point(|it| it.start <= time);
        self.list.get(at).map(|it| it.pick(document, chart))
    }

    /// What a search found last before `time`, in any row.
    pub(super) fn before(&self, time: Time, document: &Document, chart: &Chart) -> Option<Picked> {
        let at = self.list.partition_point(|it| it.start < time).checked_sub(1)?;
        Some(self.list[at].pick(document, chart))
    }
}

impl Match {
    fn pick(&self, document: &Document, chart: &Chart) -> Picked {
        let (start, duration) = (self.start, self.end - self.start);
        match self.what {
            Matching::Call(call) => chart.pick_call(document, call, start, duration),
            Matching::Slice(slice) => Picked { thread: chart.thread, what: PickedKind::Slice(slice), start, duration },
        }
    }
}

/// The items of the boxes at hand that match.
fn matching_boxes(document: &Document, chart: &Chart, wanted: &Wanted) -> Vec<u32> {
    let items = (0..).take(chart.boxes.spans().len());
    items.filter(|item| wanted.has(chart.function(&document.profile, *item))).collect()
}

fn matching_slices(document: &Document, chart: &Chart, wanted: &Wanted) -> Vec<u32> {
    let slices = chart.rows.slices.spans().slices();
    let mut known = rustc_hash::FxHashMap::default();
    let names = slices.name.iter().zip(0..);
    let matching = names
        .filter(|(name, _)| *known.entry(**name).or_insert_with(|| wanted.has_name(document.profile.string(**name))));
    matching.map(|(_, item)| item).collect()
}

/// The strips that have a match at any depth, as the innermost one of each.
fn matching_strips(document: &Document, chart: &Chart, wanted: &Wanted) -> Vec<Match> {
    let (calls, index) = (chart.rows.calls.table(), chart.rows.calls.index());
    // For each call node the nearest match at or above it.
    let mut nearest: Vec<Option<StackId>> = Vec::with_capacity(calls.len());
    for (row, (prefix, frame)) in calls.prefix.iter().zip(&calls.frame).enumerate() {
        let matches = wanted.has(document.profile.frames.function[frame.index()]);
        nearest.push(if matches { Some(StackId::new(row)) } else { prefix.and_then(|prefix| nearest[prefix.index()]) });
    }
    let matching = chart.rows.strips.strips().iter().filter_map(|strip| {
        let call = nearest[strip.innermost.index()].filter(|call| index.depth(*call) >= strip.first_depth)?;
        Some(Match { start: strip.start, end: strip.end, what: Matching::Call(call) })
    });
    matching.collect()
}

impl Marks {
    /// The union of the times of `list`, which is in order.
    fn of(list: &[Match]) -> Self {
        let mut union: Vec<(Time, Time)> = Vec::new();
        for it in list {
            match union.last_mut() {
                Some(last) if it.start <= last.1 => last.1 = last.1.max(it.end),
                _ => union.push((it.start, it.end)),
            }
        }
        Self(union)
    }
}

impl<S: Spans> Spans for Subset<Pyramid<S>> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn rows(&self) -> u32 {
        self.all.spans().rows()
    }

    fn row(&self, item: usize) -> u32 {
        self.all.spans().row(self.items[item] as usize)
    }

    fn start(&self, item: usize) -> Time {
        self.all.spans().start(self.items[item] as usize)
    }

    fn duration(&self, item: usize) -> Nanos {
        self.all.spans().duration(self.items[item] as usize)
    }
}

impl<P> Subset<P> {
    /// Which item of the other pyramid `item` is.
    pub(super) fn original(&self, item: u32) -> u32 {
        self.items[item as usize]
    }
}

impl Spans for Marks {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn rows(&self) -> u32 {
        1
    }

    fn row(&self, _item: usize) -> u32 {
        0
    }

    fn start(&self, item: usize) -> Time {
        self.0[item].0
    }

    fn duration(&self, item: usize) -> Nanos {
        self.0[item].1 - self.0[item].0
    }
}
