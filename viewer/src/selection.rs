//! What the person has selected: one copy, which all panels show.

use traceview_core::analysis::{self, Measure, Transform};
use traceview_core::model::{FunctionId, MarkerId, Nanos, SliceId, StackId, ThreadId, Time, TimeRange};

use crate::call_path::CallPath;

/// What is looked at and what is selected. Panels read it; only [`Action`](crate::action::Action)s change it.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// The part of time that the timeline and the chart show.
    pub visible: TimeRange,
    /// The part of time that is selected; tables count it alone.
    pub range: Option<TimeRange>,
    /// The threads that tables count; `None`: all.
    pub threads: Option<Vec<ThreadId>>,
    /// The thread of the flame chart.
    pub charted: Option<ThreadId>,
    /// The function that is selected, in the tables and as a highlight in the chart.
    pub function: Option<FunctionId>,
    /// The node of the call tree that it was selected by, if it was by one.
    pub call: Option<CallPath>,
    /// The node that fills the width of the flame graph; `None`: all of it.
    pub graph_zoom: Option<CallPath>,
    /// Whether the flame graph has its outermost functions at the lower edge.
    pub graph_upwards: bool,
    /// The box, slice, wait or marker that was clicked.
    pub picked: Option<Picked>,
    /// Whether the arrows of what was clicked are of the whole chain, not only to its neighbours.
    pub chain: bool,
    /// What is searched for; empty: nothing.
    pub search: String,
    /// What the tables count.
    pub measure: Measure,
    /// How stacks are changed, one after the other. Stacks have other ids then.
    pub transforms: Vec<Transform>,
}

/// Something with a place in time that was clicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picked {
    /// The thread that it is part of.
    pub thread: ThreadId,
    /// What it is.
    pub what: PickedKind,
    /// When it began.
    pub start: Time,
    /// How long it lasted.
    pub duration: Nanos,
}

/// Kinds of [`Picked`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PickedKind {
    /// A box of the flame chart: consecutive samples with this node on their stack.
    Box(StackId),
    /// A slice of a trace.
    Slice(SliceId),
    /// A row of the thread's waits.
    Wait(usize),
    /// A marker of the thread.
    Marker(MarkerId),
    /// A member of a flow that is bound to nothing else: its row in the table of members.
    Station(u32),
}

impl Selection {
    /// All of `extent`, nothing selected.
    pub fn new(extent: TimeRange, charted: Option<ThreadId>) -> Self {
        Self {
            visible: extent,
            range: None,
            threads: None,
            charted,
            function: None,
            call: None,
            graph_zoom: None,
            graph_upwards: false,
            picked: None,
            chain: false,
            search: String::new(),
            measure: Measure::Cpu,
            transforms: Vec::new(),
        }
    }

    /// The part of the profile that tables count.
    pub fn for_analysis(&self) -> analysis::Selection {
        let range = self.range.unwrap_or(TimeRange::ALL);
        analysis::Selection { range, threads: self.threads.clone(), label_sets: None }
    }

    /// The same where stacks and functions have other ids: what is selected by them is not selected.
    pub fn without_stacks(&self) -> Self {
        let picked = self.picked.filter(|picked| !picked.is_of_stacks());
        Self { picked, function: None, call: None, graph_zoom: None, ..self.clone() }
    }

    /// Whether the tables count `thread`.
    pub fn counts(&self, thread: ThreadId) -> bool {
        self.threads.as_ref().is_none_or(|threads| threads.contains(&thread))
    }
}

impl Picked {
    /// Whether it is known by a stack, or by a row of a table from which transforms take rows.
    pub fn is_of_stacks(&self) -> bool {
        matches!(self.what, PickedKind::Box(_) | PickedKind::Wait(_))
    }

    /// Its time.
    pub fn range(&self) -> TimeRange {
        TimeRange { start: self.start, end: self.start + self.duration }
    }
}
