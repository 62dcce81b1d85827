//! The functions of a selection with their own and total amounts.

use super::amount::Amount;
use super::stack_values::StackValues;
use super::tree::Callee;
use super::whole::Whole;
use crate::model::{FrameId, FunctionId, FunctionKind, Profile, StackId, StandardCategory};

/// A function of a selection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FunctionRow {
    /// Which.
    pub function: FunctionId,
    /// Samples taken in it; waits in system calls that it made.
    pub own: Amount,
    /// Samples taken in it or in what it called, each once however often it is on the stack.
    pub total: Amount,
    /// Its line with the most of `own`; for a system call the line of the user's code that led to it.
    pub hottest: Option<HotLine>,
}

/// A line of a function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HotLine {
    /// The function that the line is in, and so its source file.
    pub function: FunctionId,
    /// Its number, 1-based.
    pub line: u32,
    /// What was taken in it.
    pub own: Amount,
}

/// The functions of a selection, the largest `own` first, then the largest total, then by name.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionList {
    /// What shares are of.
    pub whole: Whole,
    /// The functions.
    pub rows: Vec<FunctionRow>,
}

/// The functions of `values`.
pub fn functions(profile: &Profile, values: &StackValues) -> FunctionList {
    let own_by_stack = values.with_waits();
    let mut own = vec![Amount::default(); profile.functions.len()];
    let mut own_by_frame = vec![Amount::default(); profile.frames.len()];
    let mut own_by_call: Vec<HotPlace> = Vec::new();
    for (stack, (amount, frame)) in own_by_stack.iter().zip(&profile.stacks.frame).enumerate() {
        if amount.samples > 0 {
            let function = profile.frames.function[frame.index()];
            own[function.index()] += *amount;
            own_by_frame[frame.index()] += *amount;
            if profile.functions.kind[function.index()] == FunctionKind::Kernel {
                let place = calling_place(profile, StackId::new(stack));
                own_by_call.extend(place.map(|place| (function, place, *amount)));
            }
        }
    }
    let totals = function_totals(profile, &values.totals(&profile.stacks));
    let hottest = hottest_lines(profile, &own_by_frame, own_by_call);
    let mut rows: Vec<FunctionRow> = (0..profile.functions.len())
        .filter(|row| totals[*row].samples > 0)
        .map(|row| FunctionRow {
            function: FunctionId::new(row),
            own: own[row],
            total: totals[row],
            hottest: hottest[row],
        })
        .collect();
    rows.sort_unstable_by(|left, right| {
        let by_value = right.own.value.total_cmp(&left.own.value);
        by_value.then_with(|| right.total.value.total_cmp(&left.total.value)).then_with(|| {
            let [left, right] = [left, right].map(|row| Callee::Function(row.function));
            left.compare(right, profile)
        })
    });
    FunctionList { whole: values.whole(), rows }
}

/// The total of each function: the sum over its outermost nodes, so that recursion counts once.
fn function_totals(profile: &Profile, stack_totals: &[Amount]) -> Vec<Amount> {
    let mut totals = vec![Amount::default(); profile.functions.len()];
    let mut times_on_path = vec![0_u32; profile.functions.len()];
    walk(profile, stack_totals, |step| match step {
        Step::Enter(stack) => {
            let function = profile.leaf_function(stack).index();
            if times_on_path[function] == 0 {
                totals[function] += stack_totals[stack.index()];
            }
            times_on_path[function] += 1;
        }
        Step::Leave(stack) => times_on_path[profile.leaf_function(stack).index()] -= 1,
    });
    totals
}

/// A step of [`walk`].
pub(super) enum Step {
    Enter(StackId),
    Leave(StackId),
}

/// Visits the stack nodes with samples depth first. It goes by links, not by calls: stacks can be of any depth.
pub(super) fn walk(profile: &Profile, stack_totals: &[Amount], mut visit: impl FnMut(Step)) {
    let prefix = &profile.stacks.prefix;
    let mut first_root = None;
    let mut first_child = vec![None; prefix.len()];
    let mut next_sibling = vec![None; prefix.len()];
    for row in (0..prefix.len()).rev().filter(|row| stack_totals[*row].samples > 0) {
        let first = prefix[row].map_or(&mut first_root, |parent| &mut first_child[parent.index()]);
        next_sibling[row] = first.replace(StackId::new(row));
    }
    let mut at: Option<StackId> = first_root;
    while let Some(entered) = at {
        visit(Step::Enter(entered));
        at = first_child[entered.index()];
        let mut left = entered;
        while at.is_none() {
            visit(Step::Leave(left));
            at = next_sibling[left.index()];
            match prefix[left.index()] {
                Some(parent) if at.is_none() => left = parent,
                _ => break,
            }
        }
    }
}

/// A function, a place of it (or that led to it), and what was taken there.
type HotPlace = (FunctionId, (FunctionId, u32), Amount);

/// The innermost line above a system call that is in code of the user or of a dependency, or else any: wrappers of `std`
/// and libc are the same for all calls.
fn calling_place(profile: &Profile, stack: StackId) -> Option<(FunctionId, u32)> {
    let frames = &profile.frames;
    let mut first = None;
    for node in profile.stacks.ancestors(stack).skip(1) {
        let frame = profile.stacks.frame[node.index()];
        let Some(line) = frames.line[frame.index()] else { continue };
        let place = (frames.function[frame.index()], line);
        if !is_wrapper(profile, frame) {
            return Some(place);
        }
        first.get_or_insert(place);
    }
    first
}

/// The innermost frame that is in code of the user or of a dependency, or else the innermost one.
pub(super) fn user_frame(profile: &Profile, stack: StackId) -> FrameId {
    let frames = profile.stacks.ancestors(stack).map(|node| profile.stacks.frame[node.index()]);
    let mut of_user = frames.filter(|frame| !is_wrapper(profile, *frame));
    of_user.next().unwrap_or(profile.stacks.frame[stack.index()])
}

/// Whether `frame` is in what stands between a user's code and the kernel.
fn is_wrapper(profile: &Profile, frame: FrameId) -> bool {
    let wrapper = [StandardCategory::Std, StandardCategory::System, StandardCategory::Kernel];
    let category = profile.frames.category[frame.index()];
    let category = category.map(|id| profile.string(profile.categories[id.index()].name));
    category.is_some_and(|category| wrapper.iter().any(|wrapper| wrapper.name() == category))
}

/// For each function its place with the most; of equal ones the first.
fn hottest_lines(profile: &Profile, own_by_frame: &[Amount], own_by_call: Vec<HotPlace>) -> Vec<Option<HotLine>> {
    let frames = &profile.frames;
    let of_frames = own_by_frame.iter().enumerate().filter(|(_, own)| own.samples > 0).filter_map(|(row, own)| {
        let function = frames.function[row];
        Some((function, (function, frames.line[row]?), *own))
    });
    let mut places: Vec<HotPlace> = of_frames.chain(own_by_call).collect();
    places.sort_unstable_by_key(|(function, place, _)| (*function, *place));
    let mut hottest: Vec<Option<HotLine>> = vec![None; profile.functions.len()];
    for same in places.chunk_by(|left, right| (left.0, left.1) == (right.0, right.1)) {
        let (of, (function, line), _) = same[0];
        let own: Amount = same.iter().map(|(_, _, own)| *own).sum();
        let best = &mut hottest[of.index()];
        if best.is_none_or(|best| own.value > best.own.value) {
            *best = Some(HotLine { function, line, own });
        }
    }
    hottest
}
