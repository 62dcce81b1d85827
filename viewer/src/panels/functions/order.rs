//! Which functions are listed, in which order: sorted in the background where they are many.

use std::cmp::Ordering;
use std::sync::Arc;

use traceview_core::analysis::FunctionRow;
use traceview_core::model::FunctionId;

use crate::analyses::Tables;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::latest::Latest;
use crate::panels::labels;
use crate::widget::Sort;

/// Tables with the rows that are listed of their functions.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) tables: Arc<Tables>,
    pub(super) sort: Sort,
    rows: Vec<u32>,
}

/// Fewer rows are sorted well within a frame.
const SORTED_AT_ONCE: usize = 2_000;

/// Has the rows of `tables` sorted, if they are not.
pub(super) fn update(
    order: &mut Latest<Ordered>,
    document: &Arc<Document>,
    tables: &Arc<Tables>,
    sort: Sort,
    jobs: &Jobs,
) {
    let is_wanted = |ordered: &Ordered| ordered.sort == sort && Arc::ptr_eq(&ordered.tables, tables);
    order.update(is_wanted, || {
        let is_quick = tables.functions.rows.len() <= SORTED_AT_ONCE;
        let (document, tables) = (Arc::clone(document), Arc::clone(tables));
        let jobs = if is_quick { &Jobs::immediate() } else { jobs };
        jobs.start("sort", move |_| Ordered::new(&document, tables, sort))
    });
}

impl Ordered {
    pub(super) fn new(document: &Document, tables: Arc<Tables>, sort: Sort) -> Self {
        let list = &tables.functions.rows;
        let found = |row: &FunctionRow| tables.found.as_ref().is_none_or(|found| found.contains(row.function));
        let mut rows: Vec<u32> = (0_u32..).zip(list).filter(|(_, row)| found(row)).map(|(index, _)| index).collect();
        let row = |index: &u32| &list[*index as usize];
        // Equal ones stay in the order of the list: the largest self first.
        let mut by = |compare: &dyn Fn(&FunctionRow, &FunctionRow) -> Ordering| {
            rows.sort_by(|left, right| {
                let ascending = compare(row(left), row(right));
                if sort.descending { ascending.reverse() } else { ascending }
            });
        };
        let name = |row: &FunctionRow| document.function_name(row.function);
        match sort.key {
            "self" | "self %" => by(&|left, right| left.own.value.total_cmp(&right.own.value)),
            "total" | "total %" => by(&|left, right| left.total.value.total_cmp(&right.total.value)),
            "samples" => by(&|left, right| left.own.samples.cmp(&right.own.samples)),
            "name" => by(&|left, right| name(left).cmp(name(right))),
            "crate" => sort_by_text(&mut rows, sort.descending, |index| labels::origin(document, row(index).function)),
            "line" => sort_by_text(&mut rows, sort.descending, |index| {
                row(index).hottest.and_then(|hot| labels::short_place(document, hot))
            }),
            // A key of no column here.
            _ => {}
        }
        Self { tables, sort, rows }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The function that is listed in `row`.
    pub(super) fn function(&self, row: usize) -> &FunctionRow {
        &self.tables.functions.rows[self.rows[row] as usize]
    }

    /// Where `function` is listed.
    pub(super) fn row_of(&self, function: FunctionId) -> Option<usize> {
        (0..self.len()).find(|row| self.function(*row).function == function)
    }
}

/// Rows without a text come last either way.
fn sort_by_text(rows: &mut Vec<u32>, descending: bool, text: impl Fn(&u32) -> Option<String>) {
    let mut keyed: Vec<(Option<String>, u32)> = rows.iter().map(|index| (text(index), *index)).collect();
    keyed.sort_by(|(left, _), (right, _)| match (left, right) {
        (Some(left), Some(right)) if descending => right.cmp(left),
        (Some(left), Some(right)) => left.cmp(right),
        _ => left.is_none().cmp(&right.is_none()),
    });
    *rows = keyed.into_iter().map(|(_, index)| index).collect();
}
