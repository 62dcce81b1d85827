//! From what was picked to what is next to it: the keyboard's way over a chart.

use traceview_core::model::{Nanos, SliceId, Time, TimeRange};

use super::hit::row_of;
use super::layout::{Row, SectionKind};
use super::matches::Matches;
use super::model::Chart;
use crate::document::Document;
use crate::lod::Spans;
use crate::selection::{Picked, PickedKind};

/// A step from one thing on a chart to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To the caller, or the slice around it.
    Out,
    /// To the first call in it, or the first slice in it.
    In,
    /// To the one before it in its row.
    Previous,
    /// To the one after it in its row.
    Next,
    /// To what a search found before it, in any row.
    PreviousMatch,
    /// To what a search found after it, in any row.
    NextMatch,
}

/// The items of a row in order of time.
struct RowItems<'a> {
    items: &'a [u32],
    spans: &'a dyn Spans,
}

/// What is one `step` away from `from`, or without it the first thing that is visible. `None` where nothing is, or where
/// the boxes of a depth are still being prepared.
pub(super) fn step(
    document: &Document,
    chart: &Chart,
    visible: TimeRange,
    from: Option<&Picked>,
    (step, found): (Step, Option<&Matches>),
) -> Option<Picked> {
    let time = from.filter(|from| from.thread == chart.thread).map(|from| from.start);
    match step {
        // Without a pick the search begins where the view does.
        Step::NextMatch => return found?.after(time.unwrap_or(visible.start + Nanos(-1)), document, chart),
        Step::PreviousMatch => return found?.before(time.unwrap_or(visible.end), document, chart),
        Step::Out | Step::In | Step::Previous | Step::Next => {}
    }
    let Some(from) = from.filter(|from| from.thread == chart.thread) else {
        return first_visible(document, chart, visible);
    };
    let row = row_of(document, chart, from)?;
    let row = match (step, row) {
        (Step::Next | Step::Previous, row) => row,
        (Step::Out, Row::Of(kind, depth)) => Row::Of(kind, depth.checked_sub(1)?),
        (Step::In, Row::Of(kind, depth)) => Row::Of(kind, depth.checked_add(1)?),
        (Step::Out | Step::In, Row::Waits) | (Step::PreviousMatch | Step::NextMatch, _) => return None,
    };
    let items = RowItems::of(chart, row)?;
    let end = from.start + from.duration;
    let at = match step {
        Step::Next => items.first(|(start, _)| start > from.start)?,
        Step::Previous => items.before(|(start, _)| start >= from.start)?,
        Step::Out => items.before(|(start, _)| start > from.start).filter(|at| items.span(*at).1 >= end)?,
        Step::In => items.first(|(start, _)| start >= from.start).filter(|at| items.span(*at).1 <= end)?,
        Step::PreviousMatch | Step::NextMatch => return None,
    };
    Some(items.pick(at, row, document, chart))
}

fn first_visible(document: &Document, chart: &Chart, visible: TimeRange) -> Option<Picked> {
    let rows = [Row::Of(SectionKind::Boxes, chart.window().start), Row::Of(SectionKind::Slices, 0), Row::Waits];
    rows.into_iter().find_map(|row| {
        let items = RowItems::of(chart, row)?;
        let at = items.first(|(_, end)| end > visible.start)?;
        (items.span(at).0 < visible.end).then(|| items.pick(at, row, document, chart))
    })
}

impl<'a> RowItems<'a> {
    fn of(chart: &'a Chart, row: Row) -> Option<Self> {
        let rows = &chart.rows;
        Some(match row {
            Row::Waits => Self { items: rows.waits.items(0), spans: rows.waits.spans() },
            Row::Of(SectionKind::Slices, row) => Self { items: rows.slices.items(row), spans: rows.slices.spans() },
            Row::Of(SectionKind::Boxes, depth) => {
                let row = depth.checked_sub(chart.window().start)?;
                Self { items: chart.boxes.items(row), spans: chart.boxes.spans() }
            }
        })
    }

    fn span(&self, at: usize) -> (Time, Time) {
        let item = self.items[at] as usize;
        (self.spans.start(item), self.spans.start(item) + self.spans.duration(item))
    }

    /// The first place at which `holds`, which then holds at all later ones.
    fn first(&self, holds: impl Fn((Time, Time)) -> bool) -> Option<usize> {
        Some(self.partition(holds)).filter(|at| *at < self.items.len())
    }

    /// The last place before that.
    fn before(&self, holds: impl Fn((Time, Time)) -> bool) -> Option<usize> {
        self.partition(holds).checked_sub(1)
    }

    fn partition(&self, holds: impl Fn((Time, Time)) -> bool) -> usize {
        let (mut low, mut high) = (0, self.items.len());
        while low < high {
            let middle = low.midpoint(high);
            if holds(self.span(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    fn pick(&self, at: usize, row: Row, document: &Document, chart: &Chart) -> Picked {
        let item = self.items[at] as usize;
        let what = match row {
            Row::Of(SectionKind::Boxes, _) => return chart.pick_box(document, self.items[at]),
            Row::Of(SectionKind::Slices, _) => PickedKind::Slice(SliceId::new(item)),
            Row::Waits => PickedKind::Wait(item),
        };
        Picked { thread: chart.thread, what, start: self.spans.start(item), duration: self.spans.duration(item) }
    }
}
