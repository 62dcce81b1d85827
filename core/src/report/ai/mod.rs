//! Call trees as text for an AI assistant: a header that explains itself, the hottest functions, a table of files, and the
//! tree.
//!
//! The tree has the two forms that Chrome DevTools has for its assistant, without what limits these (which
//! [`chrome::calltree`](crate::format::chrome::calltree) does to the character): any amounts of any threads; names that can
//! break no line; ranges of children that name their last. What reads the same below one caller is one node. Light nodes
//! are left out, and with a budget all but the heaviest; the header says how many and how much.
//!
//! All steps go once through the nodes, in an array in which callers come first: [`calls`] merges and weighs, [`keep`]
//! chooses, [`body`] writes.

mod body;
mod calls;
mod escape;
mod header;
mod keep;
mod naming;
mod scale;
mod waits;

#[cfg(test)]
mod tests;

use body::{Body, chars};
use calls::{Calls, Hot};
use header::Header;
use keep::Kept;
use scale::Scale;

use crate::analysis::{MeasureError, Selection, StackValues};
use crate::model::{Profile, TimeRange};

/// Functions that are listed above the tree.
const MOST_HOTTEST: usize = 10;

/// How nodes are written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AiForm {
    /// Blocks of `key: value` lines, depth first.
    Blocks,
    /// A line `id;name;total;self;place;children` for each, level by level.
    Lines,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AiOptions {
    /// How nodes are written.
    pub form: AiForm,
    /// Nodes with a smaller share than this (and what is below them) are left out.
    pub min_percent: f64,
    /// The text has no more characters than this: the heaviest nodes are kept.
    pub budget: Option<usize>,
}

/// What the amounts are of, for the header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AiSubject<'a> {
    /// What the amounts were taken of.
    pub selection: &'a Selection,
    /// The time that was asked for, also where the profile was made of it, as of slices.
    pub range: TimeRange,
    /// The file, if its name is to be told.
    pub file: Option<&'a str>,
    /// What else was chosen, as short phrases.
    pub filters: &'a [String],
}

/// Why there is no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AiTextError {
    /// Not even the heaviest node has room.
    #[error("{budget} characters are too few: with one function alone the text has {needed}")]
    NoRoom {
        /// What was allowed.
        budget: usize,
        /// What it takes at least.
        needed: usize,
    },
    /// The amounts can't be taken.
    #[error(transparent)]
    Measure(#[from] MeasureError),
}

impl AiOptions {
    /// Nodes with less than this are left out if nobody says otherwise.
    pub const MIN_PERCENT: f64 = 0.5;
}

/// The call tree of `values`, which were taken of `subject`, as text.
///
/// # Errors
/// When the budget is too small for anything.
pub fn ai_text(
    profile: &Profile,
    values: &StackValues,
    subject: &AiSubject<'_>,
    options: AiOptions,
) -> Result<String, AiTextError> {
    let whole = values.whole();
    let scale = Scale::of(&whole);
    let calls = Calls::of(profile, values);
    let header = Header::of(profile, values, subject, &scale, options)?;
    let AiOptions { form, min_percent, budget } = options;
    let body = Body { calls: &calls, whole: &whole, scale: &scale, form, min_percent };
    let kept = Kept::at_least(&calls, min_percent);
    match budget {
        None => Ok(text(&header, &body, body.hottest(MOST_HOTTEST), &kept, false)),
        Some(budget) => within(&header, &body, &kept, budget),
    }
}

fn text(header: &Header, body: &Body<'_>, hottest: &[Hot], kept: &Kept, is_terse: bool) -> String {
    header.text(kept, is_terse) + &body.text(hottest, kept)
}

/// The text with as many of these nodes as have room, the heaviest.
fn within(header: &Header, body: &Body<'_>, all: &Kept, budget: usize) -> Result<String, AiTextError> {
    let order = all.heaviest_first(body.calls);
    let hottest = body.hottest(MOST_HOTTEST);
    // What explains may have a half, and the list of functions a quarter.
    let is_terse = chars(&header.text(all, false)) > budget / 2;
    let has_list = !is_terse && body.ledger(hottest).1.chars <= budget / 4;
    let hottest = if has_list { hottest } else { &[] };
    let sizes = sizes(body, hottest, &order, budget);
    let mut above = chars(&header.text(all, is_terse));
    loop {
        let count = sizes.partition_point(|size| size.saturating_add(above) <= budget);
        if count == 0 {
            break;
        }
        let text = text(header, body, hottest, &all.only(body.calls, &order[..count]), is_terse);
        match chars(&text) {
            chars if chars > budget => above += chars - budget,
            _ => return Ok(text),
        }
    }
    let least = text(header, body, &[], &all.only(body.calls, &order[..order.len().min(1)]), true);
    match chars(&least) {
        needed if needed > budget => Err(AiTextError::NoRoom { budget, needed }),
        _ => Ok(least),
    }
}

/// How long the body is with the first node, the first two, …, at most, as far as it is not longer than `limit`.
fn sizes(body: &Body<'_>, hottest: &[Hot], order: &[u32], limit: usize) -> Vec<usize> {
    let (mut ledger, mut cost) = body.ledger(hottest);
    let sizes = (1..).zip(order).map(|(count, node)| {
        cost += ledger.enter(*node);
        cost.most(count, ledger.files())
    });
    sizes.take_while(|size| *size <= limit).collect()
}
