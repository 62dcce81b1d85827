//! Where a chart begins when it is first shown: not at the dozens of calls by which `std` and a runtime start every
//! thread and task, but at the first code that somebody has written for this program.

use traceview_core::model::{StackId, StandardCategory};

use crate::document::Document;
use crate::lod::{CallNodes, SampleBoxes};

/// The smallest depth at which one of the boxes is of the workspace, or of a dependency in a thread that never ran code of
/// the workspace; 0 where it ran neither.
pub(super) fn first_written_depth(document: &Document, calls: &CallNodes, boxes: &SampleBoxes) -> u32 {
    let by_preference = [StandardCategory::Workspace, StandardCategory::Dependency];
    let mut depths = by_preference.into_iter().map(|category| first_depth(document, calls, boxes, category));
    depths.find_map(|depth| depth).unwrap_or(0)
}

/// The smallest depth at which one of the boxes is of `category`.
fn first_depth(document: &Document, calls: &CallNodes, boxes: &SampleBoxes, category: StandardCategory) -> Option<u32> {
    let profile = &document.profile;
    let is_it = document.categories_called(category);
    if !is_it.contains(&true) {
        return None;
    }
    let table = calls.table();
    // By call node, the depth of the first such call from the root to it. Callers stand before what they call.
    let mut first: Vec<Option<u32>> = Vec::with_capacity(table.len());
    for (node, (caller, frame)) in table.prefix.iter().zip(&table.frame).enumerate() {
        let inherited = caller.and_then(|caller| first[caller.index()]);
        let category = document.facts.category(profile.frames.function[frame.index()]);
        let is_such = category.is_some_and(|category| is_it[category.index()]);
        let own = is_such.then(|| calls.index().depth(StackId::new(node)));
        first.push(inherited.or(own));
    }
    boxes.strips().iter().filter_map(|strip| first[strip.innermost.index()]).min()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use traceview_core::model::{Frame, Function};

    use super::super::model::ThreadRows;
    use super::*;
    use crate::testing::{MS, TestProfile, document};

    /// Where the chart of a thread begins that has a sample for each stack, whose calls are given by their categories.
    fn opening(stacks: &[&[StandardCategory]]) -> u32 {
        let mut making = TestProfile::recorded();
        let thread = making.thread("worker");
        for (row, calls) in stacks.iter().enumerate() {
            let mut stack = None;
            for category in *calls {
                let name = making.builder.string(category.name());
                let function = making.builder.function(Function::named(name));
                let frame = Frame { category: Some(category.id()), ..Frame::of(function) };
                let frame = making.builder.frame(frame);
                stack = Some(making.builder.stack(stack, frame));
            }
            making.sample(thread, i64::try_from(row + 1).unwrap() * MS, stack.unwrap());
        }
        let document = document(making.finish());
        let calls = Arc::new(CallNodes::of(&document.profile));
        ThreadRows::new(&document, &calls, thread).opening
    }

    #[test]
    fn a_chart_begins_with_the_first_code_of_the_program_in_any_sample() {
        use StandardCategory::{Dependency, Kernel, Std, System, Workspace};
        assert_eq!(opening(&[&[System, Std, Std, Workspace, Std], &[System, Std, Std, Workspace]]), 3);
        assert_eq!(opening(&[&[System, Std, Std, Workspace], &[System, Dependency, Workspace], &[System]]), 2);
        assert_eq!(opening(&[&[System, Dependency, Std, Dependency, Workspace]]), 4, "behind an async runtime");
        assert_eq!(
            opening(&[&[System, Std, Dependency], &[System, Std, Std, Dependency]]),
            2,
            "a runtime's own thread"
        );
        assert_eq!(opening(&[&[Workspace, Std]]), 0);
        assert_eq!(opening(&[&[System, Std], &[System, Kernel]]), 0, "nobody's code: from the root");
    }
}
