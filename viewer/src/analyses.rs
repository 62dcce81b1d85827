//! What the tables show: computed in the background whenever what they count has changed.

use std::sync::Arc;

use traceview_core::analysis::{
    self, Amount, FunctionList, FunctionRow, Measure, MeasureError, StackValues, Tree, Whole, call_tree, functions,
};

use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll, Progress};
use crate::search::{FunctionSet, SearchQuery};
use crate::selection::Selection;

/// What tables are made from.
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    /// Threads and time.
    pub selection: analysis::Selection,
    /// What is counted.
    pub measure: Measure,
    /// What the stacks must contain.
    pub query: SearchQuery,
}

/// The functions and the call tree of a part of a profile.
#[derive(Debug)]
pub struct Tables {
    /// What they count.
    pub counted: Counted,
    /// The functions that the search matches; `None`: nothing is searched for.
    pub found: Option<Arc<FunctionSet>>,
    /// What is counted, by stack, after the search.
    pub values: Arc<StackValues>,
    /// The functions of those stacks.
    pub functions: FunctionList,
    /// The rows of the functions that the search matches.
    pub found_rows: usize,
    /// What these took themselves.
    pub found_own: Amount,
    /// How many functions there were before the search.
    pub functions_before_search: usize,
    /// Who called whom on them.
    pub tree: Tree,
    /// The same values before the search.
    selected: Arc<StackValues>,
}

/// The tables of one document. While new ones are computed the old ones stay.
#[derive(Debug, Default)]
pub struct Analyses {
    current: Option<Result<Arc<Tables>, Refusal>>,
    job: Option<(Counted, Job<Result<Tables, NotCounted>>)>,
}

/// Why there are no tables.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// What should have been counted.
    pub counted: Counted,
    /// Why it can't be, for people.
    pub message: String,
    /// The functions that the search matches all the same.
    found: Option<Arc<FunctionSet>>,
}

/// What a job gives instead of tables.
#[derive(Debug)]
struct NotCounted {
    why: MeasureError,
    found: Option<Arc<FunctionSet>>,
}

impl Counted {
    /// What `selection` asks for.
    pub fn of(selection: &Selection) -> Self {
        Self {
            selection: selection.for_analysis(),
            measure: selection.measure,
            query: SearchQuery::parse(&selection.search),
        }
    }
}

impl Analyses {
    /// Takes what has been computed, and has computed what is missing.
    pub fn update(&mut self, document: &Arc<Document>, selection: &Selection, jobs: &Jobs) {
        let wanted = Counted::of(selection);
        self.receive();
        let at_hand = match &self.current {
            Some(Ok(tables)) => tables.counted == wanted,
            Some(Err(refusal)) => refusal.counted == wanted,
            None => false,
        };
        if at_hand {
            self.job = None;
            return;
        }
        // What nobody asks for any more is given up where it would keep the newest wish waiting.
        if self.job.as_ref().is_some_and(|(counted, job)| *counted != wanted && job.is_slow()) {
            self.job = None;
        }
        // One job at a time: during a drag each result is shown, then the newest wish is worked on.
        if self.job.is_none() {
            let (document, counted) = (Arc::clone(document), wanted.clone());
            let before = self.current.as_ref().and_then(|current| current.as_ref().ok()).map(Arc::clone);
            let work = move |progress: &Progress| Tables::compute(&document, counted, before.as_deref(), progress);
            let job = jobs.start_stoppable("tables", work);
            self.job = Some((wanted, job));
            self.receive();
        }
    }

    /// The newest tables; `None` while the first ones are computed.
    pub fn tables(&self) -> Option<Result<&Arc<Tables>, &Refusal>> {
        self.current.as_ref().map(Result::as_ref)
    }

    /// The functions that the newest search matches, whether or not they could be counted; `None`: nothing is searched
    /// for.
    pub fn found(&self) -> Option<&Arc<FunctionSet>> {
        match self.current.as_ref()? {
            Ok(tables) => tables.found.as_ref(),
            Err(refusal) => refusal.found.as_ref(),
        }
    }

    /// Whether newer tables are being computed.
    pub fn is_working(&self) -> bool {
        self.job.is_some()
    }

    fn receive(&mut self) {
        let Some((counted, job)) = &self.job else { return };
        let refusal = |message: String, found| Refusal { counted: counted.clone(), message, found };
        let result = match job.poll() {
            Poll::Pending => return,
            Poll::Ready(Ok(tables)) => Ok(Arc::new(tables)),
            Poll::Ready(Err(NotCounted { why, found })) => Err(refusal(why.to_string(), found)),
            Poll::Lost => Err(refusal("counting failed; this is a fault of traceview".to_owned(), None)),
        };
        self.current = Some(result);
        self.job = None;
    }
}

impl Tables {
    /// What shares are of: everything in the selected threads and time, whatever is searched for.
    pub fn whole(&self) -> &Whole {
        &self.functions.whole
    }

    /// What the search left of it.
    pub fn kept(&self) -> Amount {
        self.values.total
    }

    /// Takes from `before` what is still right. `None`: it was cancelled.
    fn compute(
        document: &Document,
        counted: Counted,
        before: Option<&Self>,
        progress: &Progress,
    ) -> Option<Result<Self, NotCounted>> {
        let profile = &document.profile;
        let same_part =
            |tables: &&Self| tables.counted.selection == counted.selection && tables.counted.measure == counted.measure;
        let found = (!counted.query.is_empty()).then(|| match before.filter(|it| it.counted.query == counted.query) {
            Some(Self { found: Some(found), .. }) => Arc::clone(found),
            _ => Arc::new(counted.query.functions(profile)),
        });
        let selected = match before.filter(same_part) {
            Some(before) => Arc::clone(&before.selected),
            None => match StackValues::of(profile, &counted.selection, counted.measure) {
                Ok(values) => Arc::new(values),
                Err(why) => return Some(Err(NotCounted { why, found })),
            },
        };
        progress.go_on()?;
        let values = match &found {
            Some(found) => {
                let mut values = StackValues::clone(&selected);
                values.retain(profile, |function| found.contains(function));
                Arc::new(values)
            }
            None => Arc::clone(&selected),
        };
        progress.go_on()?;
        let functions = functions(profile, &values);
        progress.go_on()?;
        let tree = call_tree(profile, &values);
        progress.go_on()?;
        let matches = |row: &&FunctionRow| found.as_ref().is_none_or(|found| found.contains(row.function));
        let found_rows = functions.rows.iter().filter(matches).count();
        let found_own = functions.rows.iter().filter(matches).map(|row| row.own).sum();
        let functions_before_search = match before.filter(|before| Arc::ptr_eq(&before.selected, &selected)) {
            Some(before) => before.functions_before_search,
            None if found.is_none() => functions.rows.len(),
            None => analysis::functions(profile, &selected).rows.len(),
        };
        let tables =
            Self { counted, found, values, functions, found_rows, found_own, functions_before_search, tree, selected };
        Some(Ok(tables))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{Action, State};
    use crate::testing::{document, profiles};

    fn tables(analyses: &Analyses) -> Arc<Tables> {
        Arc::clone(analyses.tables().expect("jobs are done at once").expect("CPU time adds up"))
    }

    #[test]
    fn a_search_filters_what_was_counted_already() {
        let document = document(profiles::functions());
        let mut state = State::new(&document);
        let mut analyses = Analyses::default();
        analyses.update(&document, state.selection(), &Jobs::immediate());
        let all = tables(&analyses);
        assert_eq!((all.found_rows, all.functions_before_search, analyses.found()), (4, 4, None));
        assert!(Arc::ptr_eq(&all.values, &all.selected));

        state.apply(&Action::Search("memchr".to_owned()), 0.0);
        analyses.update(&document, state.selection(), &Jobs::immediate());
        let some = tables(&analyses);
        assert!(Arc::ptr_eq(&some.selected, &all.selected), "the samples are not counted again");
        assert_eq!((some.kept().samples, some.whole()), (30, all.whole()));
        assert_eq!((some.found_rows, some.found_own.samples, some.functions_before_search), (1, 30, 4));
        assert_eq!(some.functions.rows.len(), 3, "its callers too");
        assert_eq!(analyses.found().map(|found| found.len()), Some(1));

        // The same words in another guise are the same question.
        state.apply(&Action::Search("  MEMCHR ".to_owned()), 0.0);
        analyses.update(&document, state.selection(), &Jobs::immediate());
        assert!(Arc::ptr_eq(&tables(&analyses), &some));
    }

    #[test]
    fn what_is_computed_in_the_background_arrives_later() {
        let document = document(profiles::functions());
        let mut state = State::new(&document);
        let mut analyses = Analyses::default();
        let (sender, woken) = std::sync::mpsc::channel();
        let jobs = Jobs::in_background(move || sender.send(()).expect("the test waits"));
        analyses.update(&document, state.selection(), &jobs);
        // What is wished for meanwhile is worked on next.
        state.apply(&Action::Search("memchr".to_owned()), 0.0);
        analyses.update(&document, state.selection(), &jobs);
        while analyses.is_working() {
            woken.recv().expect("a job that ends wakes");
            analyses.update(&document, state.selection(), &jobs);
        }
        assert_eq!(tables(&analyses).found_rows, 1);
    }
}
