//! Beginnings and ends of one thread as spans.
//!
//! An end closes the innermost open span of its name, or the innermost of all if it has no name or no open span has that. What
//! was opened inside and is still open stays so: its end may come, and then the two overlap. If it does not come, it ended no
//! later than the span around it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::nest::Span;
use crate::format::chrome::events::TextId;

/// Spans of a thread that have begun.
#[derive(Default)]
pub(super) struct OpenSpans {
    /// The innermost last. One that ended before one inside it leaves its end behind.
    stack: Vec<Open>,
    /// Where in `stack` the open spans of each name are.
    by_name: FxHashMap<Option<TextId>, Vec<u32>>,
    /// How many of `stack` are open.
    open: usize,
}

#[derive(Clone, Copy)]
struct Open {
    start: i64,
    row: u32,
    name: Option<TextId>,
    end: Option<i64>,
}

/// What an end closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Closed {
    /// A span of its name, or of any if it has none.
    Span(Span),
    /// The innermost span, which has another name.
    OtherName(Span),
    /// Nothing: no span was open.
    Nothing,
}

impl OpenSpans {
    pub(super) fn begin(&mut self, row: u32, start: i64, name: Option<TextId>) {
        let place = u32::try_from(self.stack.len()).expect("fewer spans than events");
        self.by_name.entry(name).or_default().push(place);
        self.stack.push(Open { start, row, name, end: None });
        self.open += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// The span of `name` that would end, by the event that began it.
    pub(super) fn has(&self, name: TextId) -> bool {
        self.by_name.get(&Some(name)).is_some_and(|places| !places.is_empty())
    }

    pub(super) fn end(&mut self, row: u32, time: i64, name: Option<TextId>) -> Closed {
        let named = name.and_then(|name| self.by_name.get(&Some(name))?.last().copied());
        let Some(innermost) = self.stack.last() else { return Closed::Nothing };
        let place = named.unwrap_or_else(|| u32::try_from(self.stack.len() - 1).expect("fewer spans than events"));
        let is_other = name.is_some() && named.is_none() && innermost.name.is_some();
        let open = &mut self.stack[place as usize];
        let span =
            Span { start: open.start, end: time.max(open.start), begin: open.row, finish: row, incomplete: false };
        open.end = Some(span.end);
        // The last one of its name: a nearer one would have been closed instead.
        if let Some(places) = self.by_name.get_mut(&open.name) {
            places.pop();
        }
        self.open -= 1;
        while self.stack.last().is_some_and(|open| open.end.is_some()) {
            self.stack.pop();
        }
        if is_other { Closed::OtherName(span) } else { Closed::Span(span) }
    }

    /// The spans that never ended, up to `last` or the end of a span around them.
    pub(super) fn finish(&mut self, last: i64, mut add: impl FnMut(Span)) {
        let mut ends = BinaryHeap::new();
        for open in &self.stack {
            match open.end {
                Some(end) => ends.push(Reverse(end)),
                None => {
                    // What had ended when this one began was not around it, nor is it around any later one.
                    while ends.peek().is_some_and(|Reverse(end)| *end < open.start) {
                        ends.pop();
                    }
                    let end = ends.peek().map_or(last, |Reverse(end)| *end).max(open.start);
                    add(Span { start: open.start, end, begin: open.row, finish: open.row, incomplete: true });
                }
            }
        }
        self.stack.clear();
        self.by_name.clear();
        self.open = 0;
    }
}
