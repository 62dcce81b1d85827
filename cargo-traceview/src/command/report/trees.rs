//! Call trees: of everything, or around a function.

use traceview_core::analysis::{GrowingTree, InvertedTree, StackValues, call_tree, callee_tree, functions_named};
use traceview_core::model::Profile;
use traceview_core::report::{Found, Style, TreeDirection, TreeLimits, tree_json, write_tree};

use super::printed;
use crate::cli::args::ReportArgs;
use crate::error::Error;

/// Inverted trees can be as large as all stacks written out, so JSON ends after this many rows (and says so).
const MOST_INVERTED_ROWS: usize = 100_000;

/// Which tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape<'a> {
    TopDown,
    Inverted,
    /// Of what this function called.
    Callees(&'a str),
    /// Of who called it.
    Callers(&'a str),
}

impl<'a> Shape<'a> {
    /// The one that is asked for, if any.
    pub(super) fn of(args: &'a ReportArgs) -> Option<Self> {
        match (&args.callers, &args.callees) {
            (Some(name), _) => Some(Self::Callers(name)),
            (None, Some(name)) => Some(Self::Callees(name)),
            (None, None) if args.tree => Some(Self::TopDown),
            (None, None) => args.inverted.then_some(Self::Inverted),
        }
    }

    fn direction(self) -> TreeDirection {
        match self {
            Self::TopDown | Self::Callees(_) => TreeDirection::TopDown,
            Self::Inverted | Self::Callers(_) => TreeDirection::Inverted,
        }
    }
}

/// The tree of `values`, which a search may have left, as text or JSON.
///
/// # Errors
/// When it is one around a function and it is not clear which.
pub(super) fn render(
    profile: &Profile,
    values: &StackValues,
    found: Option<Found<'_>>,
    (shape, as_json): (Shape<'_>, bool),
    style: Style,
) -> Result<String, Error> {
    let mut tree: Box<dyn GrowingTree + '_> = match shape {
        Shape::TopDown => Box::new(call_tree(profile, values)),
        Shape::Inverted => Box::new(InvertedTree::new(profile, values)),
        Shape::Callees(name) => Box::new(callee_tree(profile, values, &functions_named(profile, values, name)?)),
        Shape::Callers(name) => {
            Box::new(InvertedTree::callers(profile, values, &functions_named(profile, values, name)?))
        }
    };
    if as_json {
        let max_rows = match shape.direction() {
            TreeDirection::TopDown => usize::MAX,
            TreeDirection::Inverted => MOST_INVERTED_ROWS,
        };
        return Ok(tree_json(profile, &mut *tree, found, TreeLimits { max_rows, ..TreeLimits::NONE }));
    }
    let limits = match shape {
        Shape::TopDown | Shape::Inverted => TreeLimits::READABLE,
        Shape::Callees(_) | Shape::Callers(_) => readable_below(&*tree),
    };
    let mut text = String::new();
    printed(write_tree(&mut text, profile, &mut *tree, found, (shape.direction(), limits), style));
    Ok(text)
}

/// What a person wants to read of a tree whose roots are but a part of everything: what is readable of that part.
fn readable_below(tree: &dyn GrowingTree) -> TreeLimits {
    let tree = tree.tree();
    let part: f64 = tree.roots().map(|root| tree.node(root).total.value).sum();
    let min_percent = TreeLimits::READABLE.min_percent * tree.whole.percent(part) / 100.0;
    TreeLimits { min_percent, ..TreeLimits::READABLE }
}
