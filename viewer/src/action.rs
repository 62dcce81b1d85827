//! What a person does, as values: panels and menus say [`Action`]s, and [`State`] is the only place that carries them
//! out, so that each can be undone.

use traceview_core::analysis::{Measure, Transform, default_measure};
use traceview_core::model::{FunctionId, Nanos, ThreadId, Time, TimeRange};

use crate::call_path::CallPath;
use crate::command::Command;
use crate::document::Document;
use crate::selection::{Picked, Selection};

/// A change to what is looked at or selected.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Zoom or pan the timeline and the chart to this.
    Show(TimeRange),
    /// Select a part of time; `None`: all of it again.
    SelectRange(Option<TimeRange>),
    /// Show this thread's flame chart.
    Chart(ThreadId),
    /// Show this thread's flame chart and count it alone in the tables.
    SelectThread(ThreadId),
    /// Count this thread too, or not any more.
    ToggleThread(ThreadId),
    /// Count all threads again.
    SelectAllThreads,
    /// Select a function.
    SelectFunction(Option<FunctionId>),
    /// Select a node of the call tree, and with it its function.
    SelectCall(CallPath),
    /// Give a node of the flame graph all of its width; `None`: show all of it again.
    ZoomGraph(Option<CallPath>),
    /// Draw the flame graph with the outermost functions at its lower edge, or at the top again.
    GraphUpwards(bool),
    /// Select a box, slice, wait or marker.
    Pick(Option<Picked>),
    /// Select it and move there in time, if it does not begin in view.
    JumpTo(Picked),
    /// Draw the whole chain of arrows, or only those to neighbours.
    ShowChain(bool),
    /// Search for this.
    Search(String),
    /// Count this in the tables.
    Measure(Measure),
    /// Change the stacks, besides the changes that were made before.
    Transform(Transform),
    /// Take back all changes of stacks but the first so many.
    KeepTransforms(usize),
    /// Put this text on the clipboard.
    Copy(String),
    /// Show this tab of tables, by the name it has in [`PANELS`](crate::panels::PANELS).
    ShowTable(&'static str),
    /// Do what a key or a menu entry does, after all that was done at the same moment.
    Run(Command),
}

impl Action {
    /// Whether it names stacks or functions, whose ids transforms change.
    pub fn is_of_stacks(&self) -> bool {
        match self {
            Self::SelectFunction(Some(_)) | Self::SelectCall(_) | Self::ZoomGraph(Some(_)) | Self::Transform(_) => true,
            Self::Pick(Some(picked)) | Self::JumpTo(picked) => picked.is_of_stacks(),
            _ => false,
        }
    }
}

/// The selection with its history.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    selection: Selection,
    extent: TimeRange,
    back: Vec<Selection>,
    forward: Vec<Selection>,
    /// What the last step in `back` was taken before, and when: a drag or a wheel turn is one step, not hundreds.
    last_step: Option<(Kind, f64)>,
}

/// Actions of one kind that follow each other quickly are one step of the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Show,
    Range,
    Search,
    Other,
}

/// The shortest part of time that can be shown.
pub const SHORTEST_VIEW: Nanos = Nanos(50);

/// Seconds within which continued zooming, panning, dragging or typing stays one step.
const ONE_STEP: f64 = 0.6;
const MOST_STEPS: usize = 200;

impl State {
    /// A document as it is first shown.
    pub fn new(document: &Document) -> Self {
        let mut selection = Selection::new(document.extent, document.busiest_thread());
        selection.measure = default_measure(&document.profile);
        Self { selection, extent: document.extent, back: Vec::new(), forward: Vec::new(), last_step: None }
    }

    /// What is selected.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Whether there is a step to go back.
    pub fn can_undo(&self) -> bool {
        !self.back.is_empty()
    }

    /// Whether there is a step to go forward again.
    pub fn can_redo(&self) -> bool {
        !self.forward.is_empty()
    }

    /// Carries out `action` at `now`, in seconds from any start: actions at one moment are one step of the history.
    /// [`Action::Copy`], [`Action::ShowTable`] and [`Action::Run`] change nothing here.
    pub fn apply(&mut self, action: &Action, now: f64) {
        let before = self.selection.clone();
        self.change(action);
        if self.selection == before {
            return;
        }
        let kind = match action {
            Action::Show(_) => Kind::Show,
            Action::SelectRange(Some(_)) => Kind::Range,
            Action::Search(_) => Kind::Search,
            _ => Kind::Other,
        };
        let continues = self.last_step.is_some_and(|(last, at)| {
            // What one click does is one step, though it may select several things.
            let same_frame = now <= at;
            same_frame || (kind != Kind::Other && last == kind && now - at < ONE_STEP)
        });
        if !continues {
            self.back.push(before);
            if self.back.len() > MOST_STEPS {
                self.back.remove(0);
            }
        }
        self.forward.clear();
        self.last_step = Some((kind, now));
    }

    /// Takes back the last step.
    pub fn undo(&mut self) {
        if let Some(before) = self.back.pop() {
            self.forward.push(std::mem::replace(&mut self.selection, before));
            self.last_step = None;
        }
    }

    /// Takes the last undone step again.
    pub fn redo(&mut self) {
        if let Some(after) = self.forward.pop() {
            self.back.push(std::mem::replace(&mut self.selection, after));
            self.last_step = None;
        }
    }

    fn change(&mut self, action: &Action) {
        let selection = &mut self.selection;
        match action {
            Action::Show(range) => selection.visible = fit(*range, self.extent),
            Action::SelectRange(range) => {
                selection.range = range.map(|range| clamp(range, self.extent)).filter(|it| it.start < it.end);
            }
            Action::Chart(thread) => selection.charted = Some(*thread),
            Action::SelectThread(thread) => {
                selection.charted = Some(*thread);
                selection.threads = Some(vec![*thread]);
            }
            Action::ToggleThread(thread) => selection.toggle_thread(*thread),
            Action::SelectAllThreads => selection.threads = None,
            Action::SelectFunction(function) => {
                selection.function = *function;
                selection.call = selection.call.take().filter(|call| call.function() == *function);
            }
            Action::SelectCall(call) => {
                selection.function = call.function();
                selection.call = Some(call.clone());
            }
            Action::ZoomGraph(call) => selection.graph_zoom.clone_from(call),
            Action::GraphUpwards(upwards) => selection.graph_upwards = *upwards,
            Action::Pick(picked) => selection.pick(*picked),
            Action::JumpTo(picked) => {
                selection.pick(Some(*picked));
                if !selection.visible.contains(picked.start) {
                    let length = selection.visible.end - selection.visible.start;
                    let start = picked.start + Nanos(-(length.0 / 2));
                    selection.visible = fit(TimeRange { start, end: start + length }, self.extent);
                }
            }
            Action::ShowChain(chain) => selection.chain = *chain,
            Action::Search(text) => selection.search.clone_from(text),
            Action::Measure(measure) => selection.measure = *measure,
            Action::Transform(transform) => selection.transform(transform),
            Action::KeepTransforms(kept) => selection.keep_transforms(*kept),
            Action::Copy(_) | Action::ShowTable(_) | Action::Run(_) => {}
        }
    }
}

impl Selection {
    fn pick(&mut self, picked: Option<Picked>) {
        self.picked = picked;
        if let Some(picked) = picked {
            self.charted = Some(picked.thread);
        }
    }

    /// The selected function stays: it keeps its id. It may have another one as an async function, and none if it is left out.
    fn transform(&mut self, transform: &Transform) {
        if self.transforms.contains(transform) {
            return;
        }
        self.transforms.push(transform.clone());
        self.picked = self.picked.filter(|picked| !picked.is_of_stacks());
        self.function = self.function.filter(|function| match transform {
            Transform::FoldAsync => false,
            Transform::MergeFunction(gone) | Transform::DropFunction(gone) => gone != function,
            _ => true,
        });
        self.call = self.call.take().filter(|_| self.function.is_some());
        self.graph_zoom = self.graph_zoom.take().filter(|_| *transform != Transform::FoldAsync);
    }

    /// The selected function may be one that a transform made.
    fn keep_transforms(&mut self, kept: usize) {
        if kept < self.transforms.len() {
            self.transforms.truncate(kept);
            *self = self.without_stacks();
        }
    }

    fn toggle_thread(&mut self, thread: ThreadId) {
        let threads = self.threads.get_or_insert_default();
        match threads.iter().position(|it| *it == thread) {
            Some(at) => {
                threads.remove(at);
            }
            None => {
                threads.push(thread);
                self.charted = Some(thread);
            }
        }
        if threads.is_empty() {
            self.threads = None;
        }
    }
}

/// `range` moved into `extent`, and not shorter than [`SHORTEST_VIEW`] nor longer than `extent`.
pub(crate) fn fit(range: TimeRange, extent: TimeRange) -> TimeRange {
    let whole = i128::from(extent.end.0) - i128::from(extent.start.0);
    let asked = i128::from(range.end.0) - i128::from(range.start.0);
    let length = asked.clamp(i128::from(SHORTEST_VIEW.0).min(whole), whole);
    // What was asked for in the middle stays there.
    let start = i128::from(range.start.0) + (asked - length) / 2;
    let start = start.clamp(i128::from(extent.start.0), i128::from(extent.end.0) - length);
    let time = |ns: i128| Time(i64::try_from(ns).unwrap_or(extent.end.0));
    TimeRange { start: time(start), end: time(start + length) }
}

fn clamp(range: TimeRange, extent: TimeRange) -> TimeRange {
    TimeRange { start: range.start.max(extent.start), end: range.end.min(extent.end) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::PickedKind;

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Time(start), end: Time(end) }
    }

    fn state() -> State {
        let extent = range(0, 1_000_000);
        let selection = Selection::new(extent, None);
        State { selection, extent, back: Vec::new(), forward: Vec::new(), last_step: None }
    }

    #[test]
    fn the_view_stays_inside_the_profile() {
        for (asked, shown) in [
            (range(-10, 1_000_000), range(0, 1_000_000)),
            (range(-500, 500), range(0, 1000)),
            (range(999_900, 1_000_900), range(999_000, 1_000_000)),
            (range(500, 510), range(480, 530)),
            (range(510, 500), range(480, 530)),
            (range(i64::MIN, i64::MAX), range(0, 1_000_000)),
        ] {
            let mut state = state();
            state.apply(&Action::Show(asked), 0.0);
            assert_eq!(state.selection().visible, shown, "{asked:?}");
        }
    }

    #[test]
    fn a_profile_shorter_than_the_shortest_view_is_shown_whole() {
        let extent = range(5, 6);
        assert_eq!(fit(range(5, 6), extent), extent);
    }

    #[test]
    fn one_turn_of_the_wheel_is_one_step_back() {
        let mut state = state();
        for step in 1..50 {
            state.apply(&Action::Show(range(step, 1_000_000 - step)), step as f64 * 0.016);
        }
        state.apply(&Action::Search("x".to_owned()), 1.0);
        state.undo();
        assert_eq!(state.selection().search, "");
        assert_eq!(state.selection().visible, range(49, 1_000_000 - 49));
        state.undo();
        assert_eq!(state.selection().visible, range(0, 1_000_000));
        assert!(!state.can_undo());
        state.redo();
        state.redo();
        assert_eq!(state.selection().search, "x");
        assert!(!state.can_redo());
    }

    #[test]
    fn what_one_click_selects_is_one_step_back() {
        let mut state = state();
        let picked = Picked { thread: ThreadId::new(0), what: PickedKind::Wait(0), start: Time(5), duration: Nanos(5) };
        state.apply(&Action::Search("x".to_owned()), 1.0);
        state.apply(&Action::Pick(Some(picked)), 2.0);
        state.apply(&Action::SelectFunction(Some(FunctionId::new(3))), 2.0);
        state.undo();
        assert_eq!((state.selection().picked, state.selection().function), (None, None));
        assert_eq!(state.selection().search, "x");
    }

    #[test]
    fn a_jump_moves_in_time_no_more_than_needed_and_is_one_step() {
        let mut state = state();
        let at = |start| Picked {
            thread: ThreadId::new(1),
            what: PickedKind::Wait(0),
            start: Time(start),
            duration: Nanos(5),
        };
        state.apply(&Action::Show(range(1000, 2000)), 0.0);
        state.apply(&Action::JumpTo(at(1999)), 1.0);
        assert_eq!(state.selection().visible, range(1000, 2000));
        assert_eq!((state.selection().picked, state.selection().charted), (Some(at(1999)), Some(ThreadId::new(1))));
        state.apply(&Action::JumpTo(at(5000)), 2.0);
        assert_eq!(state.selection().visible, range(4500, 5500));
        state.undo();
        assert_eq!((state.selection().visible, state.selection().picked), (range(1000, 2000), Some(at(1999))));
    }

    #[test]
    fn the_last_thread_taken_away_means_all_again() {
        let mut state = state();
        let [a, b] = [ThreadId::new(0), ThreadId::new(1)];
        state.apply(&Action::SelectThread(a), 0.0);
        state.apply(&Action::ToggleThread(b), 0.0);
        assert_eq!(state.selection().threads, Some(vec![a, b]));
        assert_eq!(state.selection().charted, Some(b));
        state.apply(&Action::ToggleThread(a), 0.0);
        state.apply(&Action::ToggleThread(b), 0.0);
        assert_eq!(state.selection().threads, None);
    }

    #[test]
    fn other_stacks_are_other_boxes() {
        let mut state = state();
        let picked = |what| Picked { thread: ThreadId::new(0), what, start: Time(5), duration: Nanos(5) };
        let [on_stack, wait] =
            [PickedKind::Box(traceview_core::model::StackId::new(3)), PickedKind::Wait(0)].map(picked);
        state.apply(&Action::Pick(Some(on_stack)), 0.0);
        state.apply(&Action::SelectFunction(Some(FunctionId::new(3))), 0.0);
        state.apply(&Action::Transform(Transform::FoldAsync), 1.0);
        let selection = state.selection();
        assert_eq!((selection.picked, selection.function), (None, None));
        assert_eq!(selection.transforms, [Transform::FoldAsync]);
        state.undo();
        let selection = state.selection();
        assert_eq!((selection.picked, selection.transforms.len()), (Some(on_stack), 0));
        state.apply(&Action::Pick(Some(wait)), 2.0);
        state.apply(&Action::Transform(Transform::FocusFunction(FunctionId::new(3))), 3.0);
        let selection = state.selection();
        assert_eq!((selection.picked, selection.function), (None, Some(FunctionId::new(3))), "it keeps its id");
        state.apply(&Action::Transform(Transform::DropFunction(FunctionId::new(3))), 4.0);
        state.apply(&Action::Transform(Transform::FocusFunction(FunctionId::new(3))), 5.0);
        assert_eq!((state.selection().function, state.selection().transforms.len()), (None, 2), "not twice");
        state.apply(&Action::KeepTransforms(1), 6.0);
        assert_eq!(state.selection().transforms.len(), 1);
    }

    #[test]
    fn an_empty_range_is_no_range() {
        let mut state = state();
        state.apply(&Action::SelectRange(Some(range(5, 5))), 0.0);
        assert_eq!(state.selection().range, None);
        state.apply(&Action::SelectRange(Some(range(-5, 5))), 0.0);
        assert_eq!(state.selection().range, Some(range(0, 5)));
    }
}
