//! Stacks as people see them: by function, not by place in its code.

use rustc_hash::FxHashMap;
use traceview_core::model::{FunctionId, Profile, SampleTable, StackId, StackTable};

use super::stack_index::StackIndex;

/// The call nodes of a profile: its stack nodes, those with equal functions from the root on taken together.
///
/// Samples in different lines of a function have different stack nodes. Boxes are made of call nodes, so that a function
/// that goes on running is one box. A call node is a row of [`table`](Self::table), which has the frame of the first
/// stack node of its kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallNodes {
    table: StackTable,
    index: StackIndex,
    of_stack: Vec<StackId>,
}

impl CallNodes {
    /// Takes together the stack nodes of `profile`.
    pub fn of(profile: &Profile) -> Self {
        let stacks = &profile.stacks;
        let mut known: FxHashMap<(Option<StackId>, FunctionId), StackId> = FxHashMap::default();
        let mut table = StackTable::default();
        let mut of_stack: Vec<StackId> = Vec::with_capacity(stacks.len());
        for (prefix, frame) in stacks.prefix.iter().zip(&stacks.frame) {
            let caller = prefix.map(|prefix| of_stack[prefix.index()]);
            let function = profile.frames.function[frame.index()];
            let node = *known.entry((caller, function)).or_insert_with(|| {
                table.prefix.push(caller);
                table.frame.push(*frame);
                StackId::new(table.len() - 1)
            });
            of_stack.push(node);
        }
        Self { index: StackIndex::new(&table), table, of_stack }
    }

    /// The call nodes, in the form of stacks.
    pub fn table(&self) -> &StackTable {
        &self.table
    }

    /// Their depths.
    pub fn index(&self) -> &StackIndex {
        &self.index
    }

    /// The call node of a stack node.
    pub fn of_stack(&self, stack: StackId) -> StackId {
        self.of_stack[stack.index()]
    }

    /// The times of `samples` with call nodes in place of their stacks.
    pub fn samples(&self, samples: &SampleTable) -> SampleTable {
        SampleTable {
            time: samples.time.clone(),
            stack: samples.stack.iter().map(|stack| stack.map(|stack| self.of_stack(stack))).collect(),
            cpu: samples.cpu.clone(),
            ..SampleTable::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use traceview_core::model::{Frame, Function, ProfileBuilder};

    use super::*;

    #[test]
    fn lines_of_a_function_are_one_call_node() {
        let mut builder = ProfileBuilder::with_standard_categories();
        let functions = ["main", "work"].map(|name| {
            let name = builder.string(name);
            builder.function(Function::named(name))
        });
        let mut stack = |caller, function: usize, line| {
            let frame = builder.frame(Frame { line: Some(line), ..Frame::of(functions[function]) });
            builder.stack(caller, frame)
        };
        let main = [1, 2].map(|line| stack(None, 0, line));
        let work = [0, 1, 1].map(|caller| stack(Some(main[caller]), 1, 10 + u32::try_from(caller).unwrap()));
        let recursive = stack(Some(work[1]), 1, 11);
        let profile = builder.finish().unwrap();
        let nodes = CallNodes::of(&profile);
        assert_eq!(nodes.table().len(), 3, "main, work, and work in work");
        assert_eq!(nodes.of_stack(main[0]), nodes.of_stack(main[1]));
        assert_eq!(nodes.of_stack(work[0]), nodes.of_stack(work[1]));
        assert_ne!(nodes.of_stack(recursive), nodes.of_stack(work[1]));
        let prefix = |stack| nodes.table().prefix[nodes.of_stack(stack).index()];
        assert_eq!(prefix(work[1]), Some(nodes.of_stack(main[0])));
        assert_eq!(nodes.index().depth(nodes.of_stack(recursive)), 2);
    }
}
