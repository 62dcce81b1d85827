//! What the tracks show: each thread's use of the CPU, indexed in the background as it comes into view.

use std::borrow::Borrow;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use traceview_core::model::{
    CategoryId, Color, Id, Nanos, SampleTable, StackId, ThreadId, Time, TimeRange, WaitReason,
};

use super::markers::MarkerLane;
use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll, Progress};
use crate::lod::{Activity, Columns, SampleUses, SpanUses, StackGroups, Uses};

/// What a graph is coloured by: one group for each colour of a category.
#[derive(Debug)]
pub(super) struct Palette {
    /// Each group's colour, from the bottom of the graphs up.
    pub(super) colors: Vec<Color>,
    of_category: Vec<u8>,
    stacks: Arc<StackGroups>,
}

/// The samples of a thread, together with what keeps them in memory.
#[derive(Clone, Debug)]
pub(super) struct ThreadSamples {
    document: Arc<Document>,
    thread: ThreadId,
}

/// What the track of a thread shows.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) busy: Busy,
    /// By [`reason_group`].
    pub(super) waits: Activity<SpanUses>,
    /// Its markers, if it has any.
    pub(super) markers: Option<MarkerLane>,
}

/// What a thread's graph is of.
#[derive(Debug)]
pub(super) enum Busy {
    /// CPU time, by the colour of the leaf's category.
    Samples(Activity<SampleUses<ThreadSamples>>),
    /// Time in outermost slices, by the colour of their category.
    Slices(Activity<SpanUses>),
}

/// The tracks that have come into view so far.
#[derive(Default)]
pub(super) struct Tracks {
    palette: Arc<OnceLock<Palette>>,
    ready: FxHashMap<ThreadId, Option<Track>>,
    job: Option<(Vec<ThreadId>, Job<Vec<Track>>)>,
    generation: u64,
}

/// The use of all CPUs over the whole profile.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Overview {
    pub(super) columns: Columns,
    /// Column after column, each with one for each group.
    amounts: Vec<Nanos>,
    groups: usize,
}

/// The threads that are counted; `None`: all.
type Counted = Option<Vec<ThreadId>>;

/// The [`Overview`] of the threads that are counted. While a new one is computed the old one stays.
#[derive(Default)]
pub(super) struct Overviews {
    current: Option<(Counted, Option<Arc<Overview>>)>,
    job: Option<(Counted, Job<Option<Overview>>)>,
}

/// Into how many parts an overview divides the profile: about a pixel of a large screen each.
const OVERVIEW_COLUMNS: u32 = 2048;

/// Reasons of waits, in the order in which they are stacked.
pub(super) const REASONS: [WaitReason; 3] = [WaitReason::Stopped, WaitReason::Runnable, WaitReason::Blocked];

fn reason_group(reason: WaitReason) -> u8 {
    match reason {
        WaitReason::Stopped => 0,
        WaitReason::Runnable => 1,
        WaitReason::Blocked => 2,
    }
}

impl Palette {
    fn of(document: &Document) -> Self {
        let profile = &document.profile;
        let mut colors: Vec<Color> = Vec::new();
        // Greys, which say little, are on top.
        let quiet = |color: &Color| matches!(color, Color::Grey | Color::DarkGrey | Color::Transparent);
        let of_categories = profile.categories.iter().map(|category| category.color);
        let (greys, hues): (Vec<_>, Vec<_>) = of_categories.clone().chain([Color::Grey]).partition(quiet);
        for color in hues.into_iter().chain(greys) {
            if !colors.contains(&color) {
                colors.push(color);
            }
        }
        let group = |color: Color| {
            let place = colors.iter().position(|it| *it == color);
            place
                .and_then(|place| u8::try_from(place).ok())
                .expect("there are 13 colours, and all in use were collected")
        };
        let of_category: Vec<u8> = of_categories.map(group).collect();
        let of_none = group(Color::Grey);
        let of_stack = (0..profile.stacks.len()).map(|stack| {
            let category = document.facts.category(document.function(StackId::new(stack)));
            category.map_or(of_none, |category: CategoryId| of_category[category.index()])
        });
        let stacks = StackGroups { of_stack: of_stack.collect(), of_none, count: colors.len() };
        Self { stacks: Arc::new(stacks), of_category, colors }
    }
}

impl Borrow<SampleTable> for ThreadSamples {
    fn borrow(&self) -> &SampleTable {
        &self.document.profile.threads[self.thread.index()].samples
    }
}

fn sample_uses(document: &Arc<Document>, thread: ThreadId, palette: &Palette) -> SampleUses<ThreadSamples> {
    let samples = ThreadSamples { document: Arc::clone(document), thread };
    SampleUses::new(samples, Arc::clone(&palette.stacks), document.sample_timing(thread))
}

fn slice_uses(document: &Document, thread: ThreadId, palette: &Palette) -> SpanUses {
    let slices = &document.profile.threads[thread.index()].slices;
    let outermost = (0..slices.len()).filter(|row| slices.depth[*row] == 0);
    let spans = outermost.map(|row| {
        let group = palette.of_category[slices.category[row].index()];
        (slices.start[row], slices.duration[row], group)
    });
    SpanUses::new(palette.colors.len(), spans)
}

/// Whether the graph of `thread` is of its slices, because it has no samples with times.
fn shows_slices(document: &Document, thread: ThreadId) -> bool {
    let thread = &document.profile.threads[thread.index()];
    thread.samples.time.is_empty() && !thread.slices.is_empty()
}

impl Track {
    fn build(document: &Arc<Document>, thread: ThreadId, palette: &Palette) -> Self {
        let busy = if shows_slices(document, thread) {
            Busy::Slices(Activity::build(slice_uses(document, thread, palette)))
        } else {
            Busy::Samples(Activity::build(sample_uses(document, thread, palette)))
        };
        let waits = &document.profile.threads[thread.index()].waits;
        let spans = waits.iter().map(|wait| (wait.start, wait.duration, reason_group(wait.reason)));
        let waits = Activity::build(SpanUses::new(REASONS.len(), spans));
        Self { busy, waits, markers: MarkerLane::build(document, thread) }
    }

    /// What was used in each column, by group.
    pub(super) fn query_busy(&self, columns: Columns, amounts: &mut Vec<Nanos>) {
        match &self.busy {
            Busy::Samples(index) => index.query(columns, amounts),
            Busy::Slices(index) => index.query(columns, amounts),
        }
    }

    /// How much of the time around `at` was used: 1 is one CPU.
    pub(super) fn share_at(&self, at: Time, width: Nanos) -> f64 {
        let width = Nanos(width.0.max(1));
        let start = Time(at.0.div_euclid(width.0).saturating_mul(width.0));
        let mut amounts = Vec::new();
        self.query_busy(Columns { start, width, count: 1 }, &mut amounts);
        amounts.into_iter().sum::<Nanos>().as_secs_f64() / width.as_secs_f64()
    }
}

impl Tracks {
    /// The track of `thread`: `None` while it is not ready, `Some(None)` when it can't be made.
    pub(super) fn get(&self, thread: ThreadId) -> Option<Option<&Track>> {
        self.ready.get(&thread).map(Option::as_ref)
    }

    /// The colours, once the first track is ready.
    pub(super) fn palette(&self) -> Option<&Palette> {
        self.palette.get()
    }

    /// Changes whenever tracks have become ready.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Takes what is ready, and has those of `visible` made that are missing.
    pub(super) fn update(&mut self, document: &Arc<Document>, visible: &[ThreadId], jobs: &Jobs) {
        self.receive();
        if self.job.is_some() {
            return;
        }
        let missing: Vec<ThreadId> = visible.iter().copied().filter(|it| !self.ready.contains_key(it)).collect();
        if missing.is_empty() {
            return;
        }
        let (document, palette, threads) = (Arc::clone(document), Arc::clone(&self.palette), missing.clone());
        let job = jobs.start("tracks", move |progress| {
            let palette = palette.get_or_init(|| Palette::of(&document));
            let wanted = threads.iter().take_while(|_| !progress.is_cancelled());
            wanted.map(|thread| Track::build(&document, *thread, palette)).collect()
        });
        self.job = Some((missing, job));
        self.receive();
    }

    fn receive(&mut self) {
        let Some((threads, job)) = &self.job else { return };
        match job.poll() {
            Poll::Pending => return,
            Poll::Ready(tracks) => self.ready.extend(threads.iter().copied().zip(tracks.into_iter().map(Some))),
            Poll::Lost => self.ready.extend(threads.iter().map(|thread| (*thread, None))),
        }
        self.generation += 1;
        self.job = None;
    }
}

impl Overview {
    fn compute(
        document: &Arc<Document>,
        threads: Option<&[ThreadId]>,
        palette: &Palette,
        progress: &Progress,
    ) -> Option<Self> {
        let TimeRange { start, end } = document.extent;
        let length = (end - start).0.max(1);
        let width = Nanos(length / i64::from(OVERVIEW_COLUMNS) + 1);
        let count = u32::try_from((length - 1) / width.0 + 1).ok()?;
        let (columns, groups) = (Columns { start, width, count }, palette.colors.len());
        let mut amounts = vec![Nanos::ZERO; count as usize * groups];
        let all = (0..document.profile.threads.len()).map(ThreadId::new);
        for thread in all.filter(|it| threads.is_none_or(|threads| threads.contains(it))) {
            if progress.is_cancelled() {
                return None;
            }
            if shows_slices(document, thread) {
                columns.add_up(&slice_uses(document, thread, palette), &mut amounts);
            } else {
                columns.add_up(&sample_uses(document, thread, palette), &mut amounts);
            }
        }
        Some(Self { columns, amounts, groups })
    }

    /// How many CPUs each group used on average in each of `pixels` parts of the whole: part after part.
    #[expect(clippy::cast_precision_loss, reason = "for places on a screen")]
    pub(super) fn cpus(&self, pixels: u32) -> Vec<f32> {
        let columns = u64::from(self.columns.count);
        let mut cpus = Vec::with_capacity(pixels as usize * self.groups);
        for pixel in 0..u64::from(pixels) {
            let first = (pixel * columns / u64::from(pixels)) as usize;
            let end = (((pixel + 1) * columns).div_ceil(u64::from(pixels)) as usize).max(first + 1);
            let time = (end - first) as f64 * self.columns.width.as_secs_f64();
            cpus.extend((0..self.groups).map(|group| {
                let used: Nanos = (first..end).map(|column| self.amounts[column * self.groups + group]).sum();
                (used.as_secs_f64() / time) as f32
            }));
        }
        cpus
    }

    /// How many CPUs were used on average.
    pub(super) fn average(&self) -> f64 {
        let used: Nanos = self.amounts.iter().copied().sum();
        used.as_secs_f64() / (f64::from(self.columns.count) * self.columns.width.as_secs_f64())
    }

    /// How many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }
}

impl Overviews {
    /// The newest overview.
    pub(super) fn current(&self) -> Option<&Arc<Overview>> {
        self.current.as_ref().and_then(|current| current.1.as_ref())
    }

    /// Takes what is ready, and has the overview of `threads` made if it is missing.
    pub(super) fn update(
        &mut self,
        document: &Arc<Document>,
        threads: Option<&Vec<ThreadId>>,
        tracks: &Tracks,
        jobs: &Jobs,
    ) {
        self.receive();
        if self.job.is_some() || self.current.as_ref().is_some_and(|current| current.0.as_ref() == threads) {
            return;
        }
        let (document, palette, wanted) = (Arc::clone(document), Arc::clone(&tracks.palette), threads.cloned());
        let job = jobs.start("overview", move |progress| {
            let palette = palette.get_or_init(|| Palette::of(&document));
            Overview::compute(&document, wanted.as_deref(), palette, progress)
        });
        self.job = Some((threads.cloned(), job));
        self.receive();
    }

    fn receive(&mut self) {
        let Some((threads, job)) = &self.job else { return };
        let overview = match job.poll() {
            Poll::Pending => return,
            Poll::Ready(overview) => overview.map(Arc::new),
            Poll::Lost => None,
        };
        self.current = Some((threads.clone(), overview));
        self.job = None;
    }
}

/// What a thread was doing at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    /// It waited: a row of its waits.
    Waiting(usize),
    /// It ran: a row of its samples.
    Running(usize),
    /// It was in a slice: the row of the outermost.
    Slice(usize),
    /// Nothing is known.
    Unknown,
}

/// What `thread` was doing at `at`.
pub(super) fn doing(document: &Arc<Document>, track: &Track, thread: ThreadId, at: Time) -> Doing {
    let row = &document.profile.threads[thread.index()];
    let wait = row.waits.start.partition_point(|start| *start <= at);
    if let Some(wait) = wait.checked_sub(1)
        && at < row.waits.start[wait] + row.waits.duration[wait]
    {
        return Doing::Waiting(wait);
    }
    match &track.busy {
        Busy::Samples(index) => {
            // The CPU time between two samples is that of the later one.
            let sample = row.samples.time.partition_point(|time| *time <= at);
            if sample < index.uses().len() && index.uses().get(sample).start <= at {
                return Doing::Running(sample);
            }
        }
        Busy::Slices(_) => {
            let begun = row.slices.start.partition_point(|start| *start <= at);
            let outermost = begun.checked_sub(1).map(|slice| {
                let parent = |slice: &usize| row.slices.parent[*slice].map(Id::index);
                std::iter::successors(Some(slice), parent).last().unwrap_or(slice)
            });
            if let Some(slice) = outermost
                && at < row.slices.start[slice] + row.slices.duration[slice]
            {
                return Doing::Slice(slice);
            }
        }
    }
    Doing::Unknown
}
