//! Where the rows of a chart are. Pure geometry: rows in, places out.

use std::ops::Range;

use super::model::Chart;
use crate::lod::Spans;

/// The height of a row, in points.
pub(super) const ROW: f32 = 18.0;
/// The height of a section's heading.
pub(super) const HEADING: f32 = 16.0;
/// The height of the strip at the top edge that shows where a search finds something.
pub(super) const MARKS: f32 = 4.0;

/// The rows of a chart from top to bottom. Marks and waits stay at the top; the sections below scroll.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Layout {
    /// Whether there is a row of waits.
    pub(super) waits: bool,
    /// What scrolls.
    pub(super) sections: Vec<Section>,
    /// How high all sections are. Stacks of any depth need more digits than `f32` has.
    content: f64,
}

/// Rows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Section {
    /// What its rows are.
    pub(super) kind: SectionKind,
    /// What stands above it, when there is another one.
    pub(super) heading: Option<&'static str>,
    /// Where its first row begins, below the pinned rows.
    top: f64,
    /// How many rows it has.
    pub(super) rows: u32,
}

/// Kinds of [`Section`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SectionKind {
    /// Slices of a trace.
    Slices,
    /// Boxes made of samples, a row for each depth.
    Boxes,
}

/// A row of a chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// The waits.
    Waits,
    /// A row of a section.
    Of(SectionKind, u32),
}

impl Layout {
    /// The rows of `chart`.
    pub(super) fn of(chart: &Chart) -> Self {
        Self::new(!chart.rows.waits.spans().is_empty(), chart.rows.slices.rows(), chart.depths())
    }

    fn new(waits: bool, slice_rows: u32, depths: u32) -> Self {
        let both = slice_rows > 0 && depths > 0;
        let mut layout = Self { waits, sections: Vec::new(), content: 0.0 };
        for (kind, rows, heading) in
            [(SectionKind::Slices, slice_rows, "Slices"), (SectionKind::Boxes, depths, "Samples")]
        {
            if rows > 0 {
                let heading = both.then_some(heading);
                let top = layout.content + heading.map_or(0.0, |_| f64::from(HEADING));
                layout.content = top + f64::from(rows) * f64::from(ROW);
                layout.sections.push(Section { kind, heading, top, rows });
            }
        }
        layout
    }

    /// How high the part is that does not scroll.
    pub(super) fn pinned(&self) -> f32 {
        MARKS + if self.waits { ROW } else { 0.0 }
    }

    /// The furthest that a canvas of `height` can be scrolled.
    pub(super) fn most_scroll(&self, height: f32) -> f64 {
        // A little room below the last row says that it is the last.
        let room = f64::from((height - self.pinned()).max(0.0));
        if self.content <= room { 0.0 } else { self.content + f64::from(ROW) - room }
    }

    /// The section of `kind`.
    pub(super) fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    /// The row at `y`, counted from the canvas's top edge.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a row that exists")]
    pub(super) fn row_at(&self, y: f32, scroll: f64) -> Option<Row> {
        if y < self.pinned() {
            return (self.waits && y >= MARKS).then_some(Row::Waits);
        }
        let y = f64::from(y - self.pinned()) + scroll;
        self.sections.iter().find_map(|section| {
            let row = ((y - section.top) / f64::from(ROW)).floor();
            (0.0..f64::from(section.rows)).contains(&row).then_some(Row::Of(section.kind, row as u32))
        })
    }

    /// Where `row` begins, counted from the canvas's top edge; it may be outside of what is seen.
    #[expect(clippy::cast_possible_truncation, reason = "places near the screen are small numbers")]
    pub(super) fn top(&self, row: Row, scroll: f64) -> Option<f32> {
        let Row::Of(kind, row) = row else {
            return self.waits.then_some(MARKS);
        };
        let section = self.section(kind)?;
        let top = section.top + f64::from(row) * f64::from(ROW) - scroll;
        (row < section.rows).then_some(top as f32 + self.pinned())
    }

    /// The rows of `section` that a canvas of `height` shows, at least in part.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate, which is meant")]
    pub(super) fn visible(&self, section: &Section, scroll: f64, height: f32) -> Range<u32> {
        let top = scroll - section.top;
        let bottom = top + f64::from((height - self.pinned()).max(0.0));
        let first = (top / f64::from(ROW)).floor() as u32;
        let end = ((bottom / f64::from(ROW)).ceil() as u32).min(section.rows);
        first.min(end)..end
    }

    /// How far to scroll so that `row` is seen whole, as little as possible.
    pub(super) fn reveal(&self, row: Row, scroll: f64, height: f32) -> f64 {
        let (Row::Of(kind, row), room) = (row, f64::from(height - self.pinned())) else { return scroll };
        let Some(section) = self.section(kind).filter(|section| row < section.rows) else { return scroll };
        let top = section.top + f64::from(row) * f64::from(ROW);
        let low = top + f64::from(ROW) - room;
        // Where the canvas is lower than a row, its top edge matters.
        scroll.max(low).min(top).clamp(0.0, self.most_scroll(height))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    /// All rows with their tops, by definition.
    fn rows(layout: &Layout) -> Vec<(Row, f64)> {
        let mut y = 0.0;
        let mut rows = Vec::new();
        for section in &layout.sections {
            y += section.heading.map_or(0.0, |_| f64::from(HEADING));
            for row in 0..section.rows {
                rows.push((Row::Of(section.kind, row), y));
                y += f64::from(ROW);
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn rows_are_where_counting_finds_them(
            waits in any::<bool>(), slices in 0..30u32, depths in 0..60u32, scroll in 0.0..500.0f64,
            height in 0.0..400.0f32, at in 0.0..1.0f32,
        ) {
            let layout = Layout::new(waits, slices, depths);
            let scroll = scroll.min(layout.most_scroll(height));
            let y = at * height;
            let inside = |top: f64| {
                let top = top - scroll + f64::from(layout.pinned());
                top <= f64::from(y) && f64::from(y) < top + f64::from(ROW)
            };
            let expected = if y < layout.pinned() {
                (waits && y >= MARKS).then_some(Row::Waits)
            } else {
                rows(&layout).into_iter().find(|(_, top)| inside(*top)).map(|(row, _)| row)
            };
            assert_eq!(layout.row_at(y, scroll), expected);
            if let Some(row) = expected {
                let top = layout.top(row, scroll).unwrap();
                assert!(top <= y + 1e-2 && y <= top + ROW + 1e-2);
            }
            for section in &layout.sections {
                let visible = layout.visible(section, scroll, height);
                for (row, top) in rows(&layout) {
                    let Row::Of(kind, row) = row else { continue };
                    let top = top - scroll;
                    let seen = top + f64::from(ROW) > 0.0 && top < f64::from((height - layout.pinned()).max(0.0));
                    if kind == section.kind && seen {
                        assert!(visible.contains(&row), "row {row} in {visible:?}");
                    }
                }
            }
        }

        #[test]
        fn a_revealed_row_is_seen(slices in 0..30u32, depths in 1..100_000u32, row in any::<u32>(), scroll in 0.0..2e6f64) {
            let layout = Layout::new(true, slices, depths);
            let height = 300.0;
            let row = Row::Of(SectionKind::Boxes, row % depths);
            let scroll = scroll.min(layout.most_scroll(height));
            let revealed = layout.reveal(row, scroll, height);
            let top = layout.top(row, revealed).unwrap();
            assert!(top >= layout.pinned() - 0.01 && top + ROW <= height + 0.01, "{top}");
            let before = layout.top(row, scroll).unwrap();
            if before >= layout.pinned() && before + ROW <= height {
                assert!((revealed - scroll).abs() < 1e-6, "what is seen stays where it is");
            }
        }
    }
}
