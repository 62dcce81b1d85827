//! Which names are listed, in which order.

use std::cmp::Ordering;
use std::sync::Arc;

use traceview_core::analysis::{self, SliceList, SliceRow};

use super::slice_of;
use crate::document::Document;
use crate::search::SearchQuery;
use crate::selection::{Picked, PickedKind};
use crate::widget::Sort;

/// What the table is to show.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Wanted {
    pub(super) selection: analysis::Selection,
    pub(super) query: SearchQuery,
    pub(super) sort: Sort,
}

/// The slices by name with the rows that are listed of them.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) list: Arc<SliceList>,
    pub(super) wanted: Wanted,
    rows: Vec<u32>,
}

impl Ordered {
    pub(super) fn new(document: &Document, list: Arc<SliceList>, wanted: Wanted) -> Self {
        let row = |index: &u32| &list.rows[*index as usize];
        let profile = &document.profile;
        let name = |row: &SliceRow| profile.string(row.name);
        let category = |row: &SliceRow| profile.string(profile.categories[row.category.index()].name);
        let found = |index: &u32| wanted.query.matches(&std::iter::once(name(row(index))));
        let mut rows: Vec<u32> = (0_u32..).take(list.rows.len()).filter(found).collect();
        let Sort { key, descending } = wanted.sort;
        // Equal ones stay in the order of the list: the most time of their own first.
        let mut by = |compare: &dyn Fn(&SliceRow, &SliceRow) -> Ordering| {
            rows.sort_by(|left, right| {
                let ascending = compare(row(left), row(right));
                if descending { ascending.reverse() } else { ascending }
            });
        };
        match key {
            "self" | "self %" => by(&|left, right| left.own.cmp(&right.own)),
            "total" | "total %" => by(&|left, right| left.total.cmp(&right.total)),
            "count" => by(&|left, right| left.count.cmp(&right.count)),
            "mean" => by(&|left, right| left.mean().cmp(&right.mean())),
            "longest" => by(&|left, right| left.longest.2.cmp(&right.longest.2)),
            "name" => by(&|left, right| name(left).cmp(name(right))),
            "category" => by(&|left, right| category(left).cmp(category(right))),
            // A key of no column here.
            _ => {}
        }
        Self { list, wanted, rows }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// What is listed in `row`.
    pub(super) fn row(&self, row: usize) -> &SliceRow {
        &self.list.rows[self.rows[row] as usize]
    }

    /// Where the name of what was picked is listed, if that is a slice.
    pub(super) fn row_of(&self, document: &Document, picked: &Picked) -> Option<usize> {
        let slice = slice_of(picked)?;
        let name = document.profile.threads[picked.thread.index()].slices.name[slice.index()];
        (0..self.len()).find(|row| self.row(*row).name == name)
    }

    /// The longest slice of `row`.
    pub(super) fn longest(&self, document: &Document, row: usize) -> Picked {
        let (thread, slice, duration) = self.row(row).longest;
        let start = document.profile.threads[thread.index()].slices.start[slice.index()];
        Picked { thread, what: PickedKind::Slice(slice), start, duration }
    }
}
