//! The call tree as the text has it: what reads the same below one caller is one node.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::escape::escaped;
use crate::analysis::{Callee, StackValues, Tree, WaitKind, call_tree, functions};
use crate::model::{FunctionId, Profile, StringId};
use crate::report::label::{Labels, known_path};

/// A call tree of which no two siblings read the same.
#[derive(Debug)]
pub(super) struct Calls<'p> {
    /// Callers before what they called; among siblings the heaviest first.
    pub(super) nodes: Vec<Call>,
    /// What nodes are called.
    pub(super) names: Vec<Name<'p>>,
    /// Where their source is.
    pub(super) places: Vec<Place>,
    /// What the weights of nodes are shares of.
    pub(super) weight: f64,
    /// Children by parent, those without one at the end.
    children: Vec<u32>,
    /// Where the children of each begin.
    starts: Vec<u32>,
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Index of its name.
    pub(super) name: u32,
    /// Index of the node around it.
    pub(super) parent: Option<u32>,
    /// What was counted in itself.
    pub(super) own: f64,
    /// What was counted in it and below.
    pub(super) total: f64,
    /// The sum of the absolute values of all that is counted in it and below: what is freed weighs, too.
    pub(super) weight: f64,
}

/// What nodes are called, and where that is.
#[derive(Debug)]
pub(super) struct Name<'p> {
    /// The name, escaped.
    pub(super) text: Cow<'p, str>,
    /// Index of the place.
    pub(super) place: Option<u32>,
}

/// A place of the source: file and line where a function begins; without these whose code it is.
#[derive(Debug)]
pub(super) struct Place {
    /// Escaped.
    pub(super) text: String,
    /// The line in which most was counted, and how much.
    pub(super) hottest: Option<(u32, f64)>,
}

impl<'p> Calls<'p> {
    /// The call tree of `values`.
    pub(super) fn of(profile: &'p Profile, values: &StackValues) -> Self {
        let tree = call_tree(profile, values);
        let mut namer = Namer::of(profile);
        let mut nodes: Vec<Call> = Vec::with_capacity(tree.len());
        let mut node_of: Vec<u32> = Vec::with_capacity(tree.len());
        let mut known: FxHashMap<(Option<u32>, u32), u32> = FxHashMap::default();
        for id in tree.ids() {
            let node = tree.node(id);
            let parent = node.parent.map(|parent| node_of[parent.index()]);
            let name = namer.name(node.callee);
            let at = *known.entry((parent, name)).or_insert_with(|| {
                nodes.push(Call { name, parent, own: 0.0, total: 0.0, weight: 0.0 });
                row(nodes.len() - 1)
            });
            nodes[at as usize].own += node.own.value;
            nodes[at as usize].total += node.total.value;
            node_of.push(at);
        }
        let weight = weigh(&mut nodes, &tree);
        namer.add_hottest(profile, values);
        let Namer { names, places, .. } = namer;
        let mut calls = Self { nodes, names, places, weight, children: Vec::new(), starts: Vec::new() };
        calls.link();
        calls
    }

    /// The nodes below `parent`, or the outermost ones.
    pub(super) fn children(&self, parent: Option<u32>) -> &[u32] {
        let slot = parent.map_or(self.nodes.len(), |parent| parent as usize);
        &self.children[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }

    /// The name of a node.
    pub(super) fn name(&self, node: u32) -> &Name<'p> {
        &self.names[self.nodes[node as usize].name as usize]
    }

    /// The share of a weight in percent.
    pub(super) fn percent(&self, weight: f64) -> f64 {
        crate::analysis::percent(weight, self.weight)
    }

    /// What each name has of its own, the most first.
    pub(super) fn hottest_names(&self) -> Vec<(u32, f64)> {
        let mut own: Vec<(u32, f64)> = (0..row(self.names.len())).map(|name| (name, 0.0)).collect();
        self.nodes.iter().for_each(|node| own[node.name as usize].1 += node.own);
        own.sort_by(|left, right| right.1.abs().total_cmp(&left.1.abs()));
        own
    }

    fn link(&mut self) {
        let slot_of = |node: &Call| node.parent.map_or(self.nodes.len(), |parent| parent as usize);
        self.starts = vec![0; self.nodes.len() + 2];
        self.nodes.iter().for_each(|node| self.starts[slot_of(node) + 1] += 1);
        for slot in 1..self.starts.len() {
            self.starts[slot] += self.starts[slot - 1];
        }
        let mut next = self.starts.clone();
        self.children = vec![0; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            let slot = &mut next[slot_of(node)];
            self.children[*slot as usize] = row(index);
            *slot += 1;
        }
        // They come in the order of their totals, which merging and negative amounts change.
        let nodes = &self.nodes;
        for ends in self.starts.windows(2) {
            let siblings = &mut self.children[ends[0] as usize..ends[1] as usize];
            siblings.sort_by(|left, right| nodes[*right as usize].weight.total_cmp(&nodes[*left as usize].weight));
        }
    }
}

/// Gives nodes their weights; what these are shares of.
fn weigh(nodes: &mut [Call], tree: &Tree) -> f64 {
    let mut roots = tree.whole.stackless.value.abs();
    for index in (0..nodes.len()).rev() {
        nodes[index].weight += nodes[index].own.abs();
        let Call { parent, weight, .. } = nodes[index];
        match parent {
            Some(parent) => nodes[parent as usize].weight += weight,
            None => roots += weight,
        }
    }
    // Shares are also of what a search took away.
    roots.max(tree.whole.total.value.abs())
}

/// Gives numbers to names and places.
struct Namer<'p> {
    labels: Labels<'p>,
    profile: &'p Profile,
    of_function: Vec<Option<u32>>,
    known: FxHashMap<NameKey, u32>,
    known_places: FxHashMap<String, u32>,
    names: Vec<Name<'p>>,
    places: Vec<Place>,
}

/// What reads the same.
#[derive(PartialEq, Eq, Hash)]
enum NameKey {
    Function(StringId, Option<u32>),
    Wait(WaitKind),
}

impl<'p> Namer<'p> {
    fn of(profile: &'p Profile) -> Self {
        Self {
            labels: Labels::of(profile),
            profile,
            of_function: vec![None; profile.functions.len()],
            known: FxHashMap::default(),
            known_places: FxHashMap::default(),
            names: Vec::new(),
            places: Vec::new(),
        }
    }

    fn name(&mut self, callee: Callee) -> u32 {
        match callee {
            Callee::Function(function) => {
                if let Some(known) = self.of_function[function.index()] {
                    return known;
                }
                let place = self.place(function);
                let name = self.profile.functions.name[function.index()];
                let profile = self.profile;
                let number =
                    self.add(NameKey::Function(name, place), || Name { text: escaped(profile.string(name)), place });
                self.of_function[function.index()] = Some(number);
                number
            }
            Callee::Wait(kind) => {
                let profile = self.profile;
                let text = || Cow::Owned(escaped(&kind.label(profile)).into_owned());
                self.add(NameKey::Wait(kind), || Name { text: text(), place: None })
            }
        }
    }

    fn add(&mut self, key: NameKey, name: impl FnOnce() -> Name<'p>) -> u32 {
        let names = &mut self.names;
        *self.known.entry(key).or_insert_with(|| {
            names.push(name());
            row(names.len() - 1)
        })
    }

    fn place(&mut self, function: FunctionId) -> Option<u32> {
        let callee = Callee::Function(function);
        let text = match (self.labels.file(callee), self.labels.first_line(callee)) {
            (Some(file), Some(line)) => format!("{}:{line}", escaped(known_path(file))),
            (Some(file), None) => escaped(known_path(file)).into_owned(),
            (None, _) => escaped(&self.labels.owner(callee)?).into_owned(),
        };
        let next = row(self.places.len());
        let place = *self.known_places.entry(text).or_insert(next);
        if place == next {
            self.places.push(Place { text: String::new(), hottest: None });
        }
        Some(place)
    }

    /// Puts the texts and the hottest lines to the places.
    fn add_hottest(&mut self, profile: &Profile, values: &StackValues) {
        for (text, place) in self.known_places.drain() {
            self.places[place as usize].text = text;
        }
        for row in &functions(profile, values).rows {
            let number = self.of_function[row.function.index()];
            let place = number.and_then(|number| self.names[number as usize].place);
            let (Some(place), Some(hot)) = (place, row.hottest.filter(|hot| hot.function == row.function)) else {
                continue;
            };
            let hottest = &mut self.places[place as usize].hottest;
            if hottest.is_none_or(|(_, own)| hot.own.value > own) {
                *hottest = Some((hot.line, hot.own.value));
            }
        }
    }
}

/// An index as nodes have it.
fn row(index: usize) -> u32 {
    u32::try_from(index).expect("a tree has fewer nodes than a profile has stacks")
}
