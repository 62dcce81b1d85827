//! The tree that is shown: that of the tables, or the inverted one, which is made when it is asked for and then grows.

use std::sync::Arc;

use traceview_core::analysis::{GrowingTree, InvertedTree, NodeId, Tree};
use traceview_core::model::Profile;

use crate::analyses::Tables;
use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll};

type Inverted = InvertedTree<Arc<Profile>>;

/// Both trees. While a new inverted one is made the old one stays.
#[derive(Debug, Default)]
pub(super) struct Trees {
    tables: Option<Arc<Tables>>,
    inverted: Option<(Arc<Tables>, Inverted)>,
    job: Option<(Arc<Tables>, Job<Inverted>)>,
}

/// A tree as it is shown.
#[derive(Debug)]
pub(super) enum Shown<'a> {
    TopDown(&'a Tree),
    Inverted(&'a mut Inverted),
}

impl Trees {
    /// Shows `tables` from now on, as soon as the tree that is asked for is there.
    pub(super) fn update(&mut self, document: &Document, tables: &Arc<Tables>, inverted: bool, jobs: &Jobs) {
        self.tables = Some(Arc::clone(tables));
        if !inverted {
            self.job = None;
            return;
        }
        self.receive();
        if self.inverted.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, tables)) {
            self.job = None;
        } else if self.job.is_none() {
            let (profile, values) = (Arc::clone(&document.profile), Arc::clone(&tables.values));
            let job = jobs.start("inverted tree", move |_| Inverted::new(profile, &values));
            self.job = Some((Arc::clone(tables), job));
            self.receive();
        }
    }

    /// The tree and what it is of.
    pub(super) fn shown(&mut self, inverted: bool) -> Option<(Arc<Tables>, Shown<'_>)> {
        if inverted {
            let (tables, tree) = self.inverted.as_mut()?;
            return Some((Arc::clone(tables), Shown::Inverted(tree)));
        }
        let tables = self.tables.as_ref()?;
        Some((Arc::clone(tables), Shown::TopDown(&tables.tree)))
    }

    fn receive(&mut self) {
        let Some((tables, job)) = &self.job else { return };
        match job.poll() {
            Poll::Pending => return,
            Poll::Ready(tree) => self.inverted = Some((Arc::clone(tables), tree)),
            Poll::Lost => {}
        }
        self.job = None;
    }
}

impl GrowingTree for Shown<'_> {
    fn tree(&self) -> &Tree {
        match self {
            Self::TopDown(tree) => tree,
            Self::Inverted(tree) => tree.tree(),
        }
    }

    fn is_leaf(&self, id: NodeId) -> bool {
        match self {
            Self::TopDown(tree) => tree.children(id).len() == 0,
            Self::Inverted(tree) => tree.is_leaf(id),
        }
    }

    fn expand(&mut self, id: NodeId) {
        match self {
            Self::TopDown(_) => {}
            Self::Inverted(tree) => tree.expand(id),
        }
    }
}
