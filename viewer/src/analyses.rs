//! What the tables show: computed in the background whenever what they count has changed.

use std::sync::Arc;

use traceview_core::analysis::{self, FunctionList, Measure, MeasureError, StackValues, Tree, call_tree, functions};

use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll};
use crate::selection::Selection;

/// What tables are made from.
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    /// Threads and time.
    pub selection: analysis::Selection,
    /// What is counted.
    pub measure: Measure,
}

/// The functions and the call tree of a part of a profile.
#[derive(Debug)]
pub struct Tables {
    /// What they count.
    pub counted: Counted,
    /// The functions.
    pub functions: FunctionList,
    /// Who called whom.
    pub tree: Tree,
}

/// The tables of one document. While new ones are computed the old ones stay.
#[derive(Debug, Default)]
pub struct Analyses {
    current: Option<Result<Arc<Tables>, Refusal>>,
    job: Option<(Counted, Job<Result<Tables, MeasureError>>)>,
}

/// Why there are no tables.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// What should have been counted.
    pub counted: Counted,
    /// Why it can't be, for people.
    pub message: String,
}

impl Analyses {
    /// Takes what has been computed, and has computed what is missing.
    pub fn update(&mut self, document: &Arc<Document>, selection: &Selection, jobs: &Jobs) {
        let wanted = Counted { selection: selection.for_analysis(), measure: selection.measure };
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
        // One job at a time: during a drag each result is shown, then the newest wish is worked on.
        if self.job.is_none() {
            let (document, counted) = (Arc::clone(document), wanted.clone());
            let job = jobs.start("tables", move |_| Tables::compute(&document, counted));
            self.job = Some((wanted, job));
            self.receive();
        }
    }

    /// The newest tables; `None` while the first ones are computed.
    pub fn tables(&self) -> Option<Result<&Arc<Tables>, &Refusal>> {
        self.current.as_ref().map(Result::as_ref)
    }

    /// Whether newer tables are being computed.
    pub fn is_working(&self) -> bool {
        self.job.is_some()
    }

    fn receive(&mut self) {
        let Some((counted, job)) = &self.job else { return };
        let refusal = |message: String| Err(Refusal { counted: counted.clone(), message });
        let result = match job.poll() {
            Poll::Pending => return,
            Poll::Ready(Ok(tables)) => Ok(Arc::new(tables)),
            Poll::Ready(Err(error)) => refusal(error.to_string()),
            Poll::Lost => refusal("counting failed; this is a fault of traceview".to_owned()),
        };
        self.current = Some(result);
        self.job = None;
    }
}

impl Tables {
    fn compute(document: &Document, counted: Counted) -> Result<Self, MeasureError> {
        let profile = &document.profile;
        let values = StackValues::of(profile, &counted.selection, counted.measure)?;
        Ok(Self { functions: functions(profile, &values), tree: call_tree(profile, &values), counted })
    }
}
