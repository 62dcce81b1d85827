//! The profile as transforms show it: made in the background, and kept while it may be asked for again.

use std::sync::Arc;

use traceview_core::analysis::Transform;

use crate::analyses::Analyses;
use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll, Progress};

/// A profile and what was counted of it.
pub(super) struct Face {
    pub(super) document: Arc<Document>,
    pub(super) analyses: Analyses,
}

/// A profile with what transforms made of it.
pub(super) struct Faces {
    own: Face,
    /// The ones that were made, the last one that was asked for at the end.
    made: Vec<(Vec<Transform>, Face)>,
    /// What the shown one was made by; none for the profile itself.
    shown: Vec<Transform>,
    job: Option<(Vec<Transform>, Job<Document>)>,
}

/// What became of a wish for other transforms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// What is shown is what is wished for.
    None,
    /// It is so from now on.
    Turned,
    /// It is being made; till then what was shown is shown.
    Working,
    /// It could not be made.
    Failed,
}

/// How many made ones are kept: the shown one and the one before it, which Back asks for. Each is as large as the profile.
const MOST_KEPT: usize = 2;

impl Face {
    fn new(document: Arc<Document>) -> Self {
        Self { document, analyses: Analyses::default() }
    }
}

impl Faces {
    pub(super) fn new(document: Arc<Document>) -> Self {
        Self { own: Face::new(document), made: Vec::new(), shown: Vec::new(), job: None }
    }

    /// The one that is shown.
    pub(super) fn shown(&self) -> &Face {
        self.made.iter().find(|(transforms, _)| *transforms == self.shown).map_or(&self.own, |(_, face)| face)
    }

    /// The one that is shown.
    pub(super) fn shown_mut(&mut self) -> &mut Face {
        match self.made.iter_mut().find(|(transforms, _)| *transforms == self.shown) {
            Some((_, face)) => face,
            None => &mut self.own,
        }
    }

    /// Whether what is shown was made by these.
    pub(super) fn shows(&self, transforms: &[Transform]) -> bool {
        self.shown == transforms
    }

    /// Shows what `wanted` make of the profile, as soon as there is that.
    pub(super) fn turn_to(&mut self, wanted: &[Transform], jobs: &Jobs) -> Turn {
        if self.shown == wanted {
            self.job = None;
            return Turn::None;
        }
        if wanted.is_empty() || self.made.iter().any(|(transforms, _)| transforms == wanted) {
            self.show(wanted);
            return Turn::Turned;
        }
        if self.job.as_ref().is_none_or(|(transforms, _)| transforms != wanted) {
            self.job = Some((wanted.to_vec(), self.start(wanted, jobs)));
        }
        match self.job.as_ref().map(|(_, job)| job.poll()) {
            Some(Poll::Ready(document)) => {
                self.job = None;
                self.made.push((wanted.to_vec(), Face::new(Arc::new(document))));
                self.show(wanted);
                Turn::Turned
            }
            Some(Poll::Pending) => Turn::Working,
            Some(Poll::Lost) | None => {
                self.job = None;
                Turn::Failed
            }
        }
    }

    fn show(&mut self, wanted: &[Transform]) {
        self.job = None;
        self.shown = wanted.to_vec();
        if let Some(at) = self.made.iter().position(|(transforms, _)| transforms == wanted) {
            let face = self.made.remove(at);
            self.made.push(face);
        }
        let surplus = self.made.len().saturating_sub(MOST_KEPT);
        self.made.drain(..surplus);
    }

    /// Makes it of the one that has most of it already.
    fn start(&self, wanted: &[Transform], jobs: &Jobs) -> Job<Document> {
        let begins = self.made.iter().filter(|(transforms, _)| wanted.starts_with(transforms));
        let nearest = begins.max_by_key(|(transforms, _)| transforms.len());
        let (done, from) = nearest.map_or((0, &self.own), |(transforms, face)| (transforms.len(), face));
        let (document, rest) = (Arc::clone(&from.document), wanted[done..].to_vec());
        jobs.start("transforms", move |progress: &Progress| {
            let mut profile = Arc::clone(&document.profile);
            for transform in rest {
                if progress.is_cancelled() {
                    break;
                }
                profile = Arc::new(transform.apply(&profile));
            }
            Document::new(document.name.clone(), document.path.clone(), profile)
        })
    }
}

#[cfg(test)]
mod tests {
    use traceview_core::model::FunctionId;

    use super::*;
    use crate::testing::{document, profiles};

    #[test]
    fn what_was_made_last_is_kept() {
        let mut faces = Faces::new(document(profiles::functions()));
        let jobs = Jobs::immediate();
        let merge = |function| Transform::MergeFunction(FunctionId::new(function));
        let (one, two) = ([merge(0)], [merge(0), merge(1)]);
        let own = Arc::clone(&faces.shown().document);
        assert_eq!(faces.turn_to(&[], &jobs), Turn::None);
        assert_eq!(faces.turn_to(&one, &jobs), Turn::Turned);
        let first = Arc::clone(&faces.shown().document);
        assert!(faces.shows(&one) && first.profile.stacks.len() < own.profile.stacks.len());
        assert_eq!(faces.turn_to(&two, &jobs), Turn::Turned);
        assert!(faces.shown().document.profile.stacks.len() < first.profile.stacks.len());
        // Back and back again.
        assert_eq!(faces.turn_to(&one, &jobs), Turn::Turned);
        assert!(Arc::ptr_eq(&faces.shown().document, &first), "it was not made again");
        assert_eq!(faces.turn_to(&[], &jobs), Turn::Turned);
        assert!(Arc::ptr_eq(&faces.shown().document, &own));
        for function in 2..4 {
            faces.turn_to(&[merge(function)], &jobs);
        }
        assert_eq!(faces.made.len(), MOST_KEPT);
    }

    #[test]
    fn what_was_shown_stays_until_the_other_is_there() {
        let mut faces = Faces::new(document(profiles::functions()));
        let (sender, woken) = std::sync::mpsc::channel();
        let jobs = Jobs::in_background(move || sender.send(()).expect("the test waits"));
        let own = Arc::clone(&faces.shown().document);
        let wanted = [Transform::DropFunction(FunctionId::new(0))];
        let mut turn = faces.turn_to(&wanted, &jobs);
        while turn == Turn::Working {
            assert!(Arc::ptr_eq(&faces.shown().document, &own));
            woken.recv().expect("a job that ends wakes");
            turn = faces.turn_to(&wanted, &jobs);
        }
        assert_eq!(turn, Turn::Turned);
        assert!(!Arc::ptr_eq(&faces.shown_mut().document, &own));
    }
}
