//! Model to file.

use std::io::Write;

use rustc_hash::FxHashMap;

use super::super::{WriteError, WriteOptions};
use super::left_out;
use super::measure::{Measure, Value};
use super::names::Names;
use super::tree::{Tree, Written};
use crate::analysis::WaitKind;
use crate::model::{FunctionId, Nanos, Profile, StackId, Thread, Wait, Warning};

const NO_STACK: &str = "[no stack]";

/// Writes `profile`. Returns what the file has no place for.
///
/// # Errors
/// If `out` fails, or there is no stack to write: an empty text says nothing, not even what it is.
pub fn write(profile: &Profile, options: &WriteOptions, out: &mut dyn Write) -> Result<Vec<Warning>, WriteError> {
    let measure = Measure::of(profile, options);
    let mut folder = Folder {
        profile,
        measure,
        // In what is no time, waits cannot be counted.
        waits: options.off_cpu && measure == Measure::Time,
        names: Names::default(),
        of_function: vec![None; profile.functions.len()],
        of_wait: FxHashMap::default(),
        node_of: vec![None; profile.stacks.len()],
        written: Written::default(),
    };
    for (name, threads) in groups(profile, folder.waits, &mut folder.names) {
        let tree = folder.fold(name, &threads);
        tree.write(folder.names.texts(), measure.divisor(), out, &mut folder.written)?;
    }
    if folder.written.lines == 0 {
        return Err(WriteError::Unsupported { format: "collapsed", reason: "it has no samples that count something" });
    }
    Ok(left_out::warnings(profile, options, measure, &folder.names, &folder.written))
}

struct Folder<'a> {
    profile: &'a Profile,
    measure: Measure,
    /// Whether waits are counted too.
    waits: bool,
    names: Names,
    /// The name of each function and kind of wait, once it is needed.
    of_function: Vec<Option<u32>>,
    of_wait: FxHashMap<WaitKind, u32>,
    /// The node of each stack in the tree that is being made.
    node_of: Vec<Option<u32>>,
    written: Written,
}

impl Folder<'_> {
    /// The tree of some threads, below the frame `name` if there is one.
    fn fold(&mut self, name: Option<u32>, threads: &[&Thread]) -> Tree {
        let (profile, waits) = (self.profile, self.waits);
        let mut tree = Tree::new(self.measure.is_fractional(profile));
        let root = name.map(|name| tree.push(None, name));
        let mut used = Vec::new();
        for thread in threads {
            for (stack, value) in self.measure.counted(profile, thread).into_iter().flatten() {
                let node = match stack {
                    Some(stack) => self.node(stack, root, &mut tree, &mut used),
                    None => tree.push(root, self.names.add(NO_STACK)),
                };
                tree.add(node, value, &mut self.written);
            }
            for wait in counted_waits(thread).filter(|_| waits) {
                let caller = wait.stack.map(|stack| self.node(stack, root, &mut tree, &mut used)).or(root);
                let node = tree.push(caller, self.wait_name(&wait));
                tree.add(node, Value::Whole(wait.duration.0.into()), &mut self.written);
            }
        }
        used.into_iter().for_each(|stack: StackId| self.node_of[stack.index()] = None);
        tree
    }

    /// The node of a stack, made if it is not there; the stacks of those that were made are added to `used`.
    fn node(&mut self, stack: StackId, root: Option<u32>, tree: &mut Tree, used: &mut Vec<StackId>) -> u32 {
        if let Some(node) = self.node_of[stack.index()] {
            return node;
        }
        let start = used.len();
        let is_new = |stack: &StackId| self.node_of[stack.index()].is_none();
        used.extend(self.profile.stacks.ancestors(stack).take_while(is_new));
        used[start..].reverse();
        let outermost = used.get(start).and_then(|stack| self.profile.stacks.prefix[stack.index()]);
        let mut caller = outermost.map_or(root, |stack| self.node_of[stack.index()]);
        for stack in &used[start..] {
            let name = self.name(self.profile.leaf_function(*stack));
            caller = Some(tree.push(caller, name));
            self.node_of[stack.index()] = caller;
        }
        caller.expect("a stack has a frame")
    }

    fn name(&mut self, function: FunctionId) -> u32 {
        let names = &mut self.names;
        let text = self.profile.string(self.profile.functions.name[function.index()]);
        *self.of_function[function.index()].get_or_insert_with(|| names.add(text))
    }

    fn wait_name(&mut self, wait: &Wait) -> u32 {
        let kind = WaitKind::of(self.profile, wait);
        let names = &mut self.names;
        *self.of_wait.entry(kind).or_insert_with(|| names.add(&kind.label(self.profile)))
    }
}

/// The threads that are written as one, in the order of their names. The name is missing where there is but one.
fn groups<'a>(profile: &'a Profile, waits: bool, names: &mut Names) -> Vec<(Option<u32>, Vec<&'a Thread>)> {
    let has_part = |thread: &&Thread| !thread.samples.is_empty() || (waits && counted_waits(thread).next().is_some());
    let threads: Vec<&Thread> = profile.threads.iter().filter(has_part).collect();
    if threads.iter().all(|thread| thread.name == threads[0].name) {
        return vec![(None, threads)];
    }
    let mut known = FxHashMap::default();
    let named = |thread| *known.entry(thread).or_insert_with(|| names.add(profile.string(thread)));
    let numbers: Vec<u32> = threads.iter().map(|thread| thread.name).map(named).collect();
    let mut named: Vec<(u32, &Thread)> = numbers.into_iter().zip(threads).collect();
    named.sort_by(|(a, _), (b, _)| names.texts()[*a as usize].cmp(&names.texts()[*b as usize]));
    let groups = named.chunk_by(|(a, _), (b, _)| a == b);
    groups.map(|group| (Some(group[0].0), group.iter().map(|(_, thread)| *thread).collect())).collect()
}

fn counted_waits(thread: &Thread) -> impl Iterator<Item = Wait> {
    thread.waits.iter().filter(|wait| wait.duration > Nanos::ZERO)
}
