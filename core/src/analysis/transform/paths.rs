//! Which nodes lie at a path of functions, and which stacks end in one.

use crate::model::{FunctionId, Profile, StackId};

/// By node: whether the functions from the root to it are `path`.
pub(super) fn is_node_of(profile: &Profile, path: &[FunctionId]) -> Vec<bool> {
    // How long the path to each node is, if it begins as `path` does.
    let mut lengths: Vec<Option<usize>> = Vec::with_capacity(profile.stacks.len());
    for (node, prefix) in profile.stacks.prefix.iter().enumerate() {
        let above = prefix.map_or(Some(0), |prefix| lengths[prefix.index()]);
        let function = profile.leaf_function(StackId::new(node));
        lengths.push(above.filter(|length| path.get(*length) == Some(&function)).map(|length| length + 1));
    }
    lengths.into_iter().map(|length| length == Some(path.len())).collect()
}

/// By node: whether the functions from it outwards begin with `path`.
///
/// Knuth, Morris and Pratt's search for the reversed path, on all stacks at once. Their failure links in Knuth's strong form
/// are followed O(log n) times for one function, so that branching stacks can't make it slow.
pub(super) fn ends_in(profile: &Profile, path: &[FunctionId]) -> Vec<bool> {
    let pattern: Vec<FunctionId> = path.iter().rev().copied().collect();
    let search = Search::new(&pattern);
    let mut states: Vec<usize> = Vec::with_capacity(profile.stacks.len());
    for (node, prefix) in profile.stacks.prefix.iter().enumerate() {
        let before = prefix.map_or(0, |prefix| states[prefix.index()]);
        states.push(search.next(before, profile.leaf_function(StackId::new(node))));
    }
    states.into_iter().map(|state| state == pattern.len()).collect()
}

/// A state is how many functions of the pattern were seen last.
struct Search<'a> {
    pattern: &'a [FunctionId],
    /// By state: where to go on when the next function is another than the pattern's.
    failure: Vec<Option<usize>>,
}

impl<'a> Search<'a> {
    fn new(pattern: &'a [FunctionId]) -> Self {
        let mut search = Self { pattern, failure: vec![None] };
        // The longest proper prefix of the pattern that what was seen ends in.
        let mut border = 0;
        for state in 1..=pattern.len() {
            let next = pattern.get(state);
            let failure = if next == pattern.get(border) { search.failure[border] } else { Some(border) };
            search.failure.push(failure);
            if let Some(next) = next {
                border = search.next(border, *next);
            }
        }
        search
    }

    fn next(&self, mut state: usize, function: FunctionId) -> usize {
        loop {
            if self.pattern.get(state) == Some(&function) {
                return state + 1;
            }
            match self.failure[state] {
                Some(shorter) => state = shorter,
                None => return 0,
            }
        }
    }
}
