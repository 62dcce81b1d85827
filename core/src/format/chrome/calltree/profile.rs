//! A CPU profile as DevTools prepares it: a tree of calls, samples in order of time, and nodes that stand for no code.

use rustc_hash::FxHashMap;

use super::CallTreeError;
use super::raw_profile::{CallFrame, NodeKey, RawProfile};

/// The index of the outermost node, which stands for the whole program.
const ROOT: u32 = 0;

/// A profile that calls can be made from.
#[derive(Debug)]
pub(super) struct CpuProfile<'a> {
    pub nodes: Vec<Node<'a>>,
    by_key: FxHashMap<NodeKey, u32>,
    by_trace_id: FxHashMap<String, NodeKey>,
    /// The node of each sample, where there is one.
    pub samples: Vec<Option<u32>>,
    /// When each sample was taken, in ms; behind them one more, when the last one's time ended.
    pub times: Vec<f64>,
    /// The end in ms, for profiles whose times don't say it.
    pub end: f64,
    pub garbage_collector: Option<u32>,
    program: Option<u32>,
    idle: Option<u32>,
}

/// A function in its place among the calls.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub frame: CallFrame<'a>,
    pub parent: Option<u32>,
    /// How many nodes are between it and the outermost; of that itself -1.
    pub depth: i64,
    /// Equal for functions that are taken for the same when a sample follows another.
    pub same: u32,
}

impl<'a> CpuProfile<'a> {
    pub(super) fn of(raw: RawProfile<'a>) -> Result<Self, CallTreeError> {
        let times = times_of(&raw)?;
        let end = raw.end / 1000.0;
        let by_trace_id = raw.trace_ids.into_iter().map(|(id, node)| (id.into_owned(), node)).collect();
        let keys: Vec<Option<NodeKey>> = raw.samples;
        let Tree { nodes, by_key, top } = Tree::of(raw.nodes);
        let samples = keys.iter().map(|key| key.and_then(|key| by_key.get(&key).copied())).collect();
        let mut profile = Self {
            nodes,
            by_key,
            by_trace_id,
            samples,
            times,
            end,
            garbage_collector: None,
            program: None,
            idle: None,
        };
        profile.find_special(&top);
        if !profile.samples.is_empty() {
            profile.sort_samples();
            profile.close_times();
            profile.fill_gaps();
        }
        Ok(profile)
    }

    /// The node in which an event was that has this id for it.
    pub(super) fn node_of_trace_id(&self, id: &str) -> Option<u32> {
        let key = self.by_trace_id.get(id)?;
        self.by_key.get(key).copied()
    }

    /// Whether a node stands for no code of the page.
    pub(super) fn is_special(&self, node: u32) -> bool {
        node == ROOT || [self.program, self.idle, self.garbage_collector].contains(&Some(node))
    }

    /// The nodes on the outermost level that stand for something else than code. Of several the last counts that comes before all
    /// are known.
    fn find_special(&mut self, top: &[u32]) {
        for node in top {
            if self.garbage_collector.is_some() && self.program.is_some() && self.idle.is_some() {
                return;
            }
            match &*self.nodes[*node as usize].frame.name {
                "(garbage collector)" => self.garbage_collector = Some(*node),
                "(program)" => self.program = Some(*node),
                "(idle)" => self.idle = Some(*node),
                _ => {}
            }
        }
    }

    fn sort_samples(&mut self) {
        let mut order: Vec<u32> = (0..).take(self.times.len()).collect();
        order.sort_by(|one, other| self.times[*one as usize].total_cmp(&self.times[*other as usize]));
        let sample = |at: &u32| self.samples.get(*at as usize).copied().flatten();
        self.samples = order.iter().map(sample).collect();
        self.times = order.iter().map(|at| self.times[*at as usize]).collect();
    }

    /// Makes milliseconds of the times, and adds the end of the last sample's time: an average interval behind it.
    fn close_times(&mut self) {
        self.times.iter_mut().for_each(|time| *time /= 1000.0);
        let (Some(first), Some(last)) = (self.times.first(), self.times.last()) else { return };
        #[expect(clippy::cast_precision_loss, reason = "JavaScript's numbers are doubles")]
        let average = (last - first) / (self.times.len() - 1) as f64;
        self.times.push(last + average);
    }

    /// Where V8 could not read the stack, it says `(program)`. Between two samples of the same outermost function it was in that.
    fn fill_gaps(&mut self) {
        let count = self.samples.len();
        if self.program.is_none() || count < 3 {
            return;
        }
        let outermost = self.outermost();
        let is_system = |node| [self.program, self.idle, self.garbage_collector].contains(&Some(node));
        let (mut before, mut here) = (self.samples[0], self.samples[1]);
        for at in 1..count - 1 {
            let after = self.samples[at + 1];
            let (Some(one), Some(other)) = (before, after) else { continue };
            let is_gap = here == self.program && !is_system(one) && !is_system(other);
            if is_gap && outermost[one as usize] == outermost[other as usize] {
                self.samples[at] = before;
            }
            (before, here) = (here, after);
        }
    }

    /// The node below the root that each node is in.
    fn outermost(&self) -> Vec<u32> {
        let mut outermost: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for (node, at) in self.nodes.iter().zip(0..) {
            // Parents come before their children.
            outermost.push(match node.parent {
                Some(parent) if parent != ROOT => outermost[parent as usize],
                _ => at,
            });
        }
        outermost
    }
}

/// When samples were taken, in µs.
fn times_of(raw: &RawProfile<'_>) -> Result<Vec<f64>, CallTreeError> {
    let mut time = raw.start;
    let mut times = Vec::with_capacity(raw.deltas.len());
    for delta in &raw.deltas {
        time += delta;
        if !time.is_finite() {
            return Err(CallTreeError::EndlessProfile { sample: times.len() });
        }
        times.push(time);
    }
    Ok(times)
}

/// The nodes in order, parents first.
struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    by_key: FxHashMap<NodeKey, u32>,
    /// Those below the root, in the order in which they are searched.
    top: Vec<u32>,
}

impl<'a> Tree<'a> {
    /// Links the nodes. If the first has a list of children, all have; else nodes name their parents.
    fn of(raw: Vec<super::raw_profile::RawNode<'a>>) -> Self {
        // Of equal ids the last counts.
        let sources: FxHashMap<NodeKey, usize> =
            raw.iter().enumerate().filter_map(|(at, node)| node.key.map(|key| (key, at))).collect();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); raw.len()];
        if raw.first().is_some_and(|root| root.children.is_some()) {
            for (node, children) in raw.iter().zip(&mut children) {
                let keys = node.children.iter().flatten().flatten();
                children.extend(keys.filter_map(|key| sources.get(key).copied()));
            }
        } else {
            for node in raw.iter().skip(1) {
                let parent = node.parent.and_then(|key| sources.get(&key).copied());
                let own = node.key.and_then(|key| sources.get(&key).copied());
                if let (Some(parent), Some(own)) = (parent, own) {
                    children[parent].push(own);
                }
            }
        }
        let mut tree = Self { nodes: Vec::with_capacity(raw.len()), by_key: FxHashMap::default(), top: Vec::new() };
        let mut frames: Vec<_> = raw.into_iter().map(|node| Some((node.key, node.frame))).collect();
        let mut classes: FxHashMap<_, u32> = FxHashMap::default();
        let mut todo: Vec<(usize, Option<u32>)> = if frames.is_empty() { Vec::new() } else { vec![(0, None)] };
        while let Some((source, parent)) = todo.pop() {
            // A node that is its own ancestor, or has two parents, is in its first place only.
            let Some((key, frame)) = frames[source].take() else { continue };
            let own = u32::try_from(tree.nodes.len()).expect("fewer nodes than bytes of a trace, and ids are as many");
            if let Some(key) = key {
                tree.by_key.insert(key, own);
            }
            if parent == Some(ROOT) {
                tree.top.push(own);
            }
            let depth = parent.map_or(-1, |parent| tree.nodes[parent as usize].depth + 1);
            let next = u32::try_from(classes.len()).expect("fewer than nodes");
            let class = (frame.script.clone(), frame.name.clone(), frame.line);
            let same = *classes.entry(class).or_insert(next);
            tree.nodes.push(Node { frame, parent, depth, same });
            todo.extend(children[source].iter().map(|child| (*child, Some(own))));
        }
        tree
    }
}
