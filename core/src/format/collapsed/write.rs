//! Model to file.

use std::io::Write;

use rustc_hash::FxHashMap;

use super::super::{WriteError, WriteOptions};
use super::left_out;
use super::measure::{Measure, Value};
use super::names::Names;
use super::tree::Tree;
use crate::analysis::WaitKind;
use crate::model::{FunctionId, Nanos, Profile, StackId, StringId, Thread, Wait, Warning};

const NO_STACK: &str = "[no stack]";

/// Writes `profile`. Returns what the file has no place for.
///
/// # Errors
/// If `out` fails.
pub fn write(profile: &Profile, options: &WriteOptions, out: &mut dyn Write) -> Result<Vec<Warning>, WriteError> {
    let measure = Measure::of(profile, options);
    let mut folder = Folder {
        profile,
        names: Names::default(),
        of_function: vec![None; profile.functions.len()],
        tree: Tree::new(measure.is_fractional(profile)),
        nodes: FxHashMap::default(),
    };
    let is_named = needs_thread_names(profile, options);
    for thread in &profile.threads {
        let root = is_named.then_some(thread.name);
        folder.samples(thread, measure, root);
        if options.off_cpu {
            folder.waits(thread, root);
        }
    }
    let Folder { mut names, tree, .. } = folder;
    let changed = (names.changed, names.first_changed.take());
    let divisor = if measure == Measure::Time { 1000 } else { 1 };
    let written = tree.write(&names.into_texts(), divisor, out)?;
    Ok(left_out::warnings(profile, options, measure, &changed, (tree.not_finite, written)))
}

struct Folder<'a> {
    profile: &'a Profile,
    names: Names,
    /// The name of each function, once it is needed.
    of_function: Vec<Option<u32>>,
    tree: Tree,
    /// The node of each stack below the name of its thread.
    nodes: FxHashMap<(Option<StringId>, StackId), u32>,
}

impl Folder<'_> {
    fn samples(&mut self, thread: &Thread, measure: Measure, root: Option<StringId>) {
        let profile = self.profile;
        for (stack, value) in measure.counted(profile, thread).into_iter().flatten() {
            let node = match stack {
                Some(stack) => self.stack(stack, root),
                None => self.below(None, root, NO_STACK),
            };
            self.tree.add(node, value);
        }
    }

    fn waits(&mut self, thread: &Thread, root: Option<StringId>) {
        for wait in counted_waits(thread) {
            let name = WaitKind::of(self.profile, &wait).label(self.profile);
            let node = self.below(wait.stack, root, &name);
            self.tree.add(node, Value::Whole(wait.duration.0));
        }
    }

    /// The node of a frame called `name` that `caller` calls.
    fn below(&mut self, caller: Option<StackId>, root: Option<StringId>, name: &str) -> u32 {
        let caller = match caller {
            Some(stack) => Some(self.stack(stack, root)),
            None => self.root(root),
        };
        let name = self.names.add(name);
        self.tree.node(caller, name)
    }

    fn stack(&mut self, stack: StackId, root: Option<StringId>) -> u32 {
        let mut new = Vec::new();
        let mut known = None;
        for stack in self.profile.stacks.ancestors(stack) {
            known = self.nodes.get(&(root, stack)).copied();
            if known.is_some() {
                break;
            }
            new.push(stack);
        }
        let mut node = known.or_else(|| self.root(root));
        for stack in new.into_iter().rev() {
            let name = self.name(self.profile.leaf_function(stack));
            let child = self.tree.node(node, name);
            self.nodes.insert((root, stack), child);
            node = Some(child);
        }
        node.expect("a stack has a frame")
    }

    fn root(&mut self, root: Option<StringId>) -> Option<u32> {
        let name = self.names.add(self.profile.string(root?));
        Some(self.tree.node(None, name))
    }

    fn name(&mut self, function: FunctionId) -> u32 {
        let names = &mut self.names;
        let text = self.profile.string(self.profile.functions.name[function.index()]);
        *self.of_function[function.index()].get_or_insert_with(|| names.add(text))
    }
}

/// Whether what is written comes from threads of different names.
fn needs_thread_names(profile: &Profile, options: &WriteOptions) -> bool {
    let has_part =
        |thread: &&Thread| !thread.samples.is_empty() || (options.off_cpu && counted_waits(thread).next().is_some());
    let mut names = profile.threads.iter().filter(has_part).map(|thread| thread.name);
    let first = names.next();
    names.any(|name| Some(name) != first)
}

fn counted_waits(thread: &Thread) -> impl Iterator<Item = Wait> {
    thread.waits.iter().filter(|wait| wait.duration > Nanos::ZERO)
}
