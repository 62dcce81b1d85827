//! Functions, locations and stacks of the file: only what samples need, in the order in which the model has it.

use rustc_hash::FxHashMap;

use super::super::names::UNKNOWN;
use super::super::schema::{Function, Line};
use super::packed::Packed;
use super::strings::Strings;
use crate::model::{Frame, FrameId, FunctionKind, LibraryId, Profile, StackId};

/// The file's code tables in the making.
pub(super) struct Code<'a> {
    profile: &'a Profile,
    /// The id of each function; the key has none itself.
    functions: FxHashMap<Function, u64>,
    locations: FxHashMap<Location, u32>,
    /// The texts that stand for names of functions in libraries where there are none.
    in_brackets: FxHashMap<LibraryId, i64>,
    /// Stacks by row: those that end at a node of the model, by its row, then all others.
    stacks: Vec<Stack>,
    /// The rows of stacks that more than one node can stand for, and of those that end at none.
    index: FxHashMap<Stack, u32>,
    /// For each node the row of its stack, where equal stacks have several nodes; where none have, that is the node's own.
    row_of: Option<Vec<u32>>,
}

/// A stack: the row of its innermost location, and the row of the stack that called it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Stack {
    location: u32,
    caller: u32,
}

/// In place of a row.
const NONE: u32 = u32::MAX;

/// So many callers up are stacks followed before the locations on the way are encoded.
const STEPS: usize = 16;

/// A location; its id is one more than its row.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Location {
    pub place: Place,
    /// Relative to the library's base; in memory outside of libraries, the AVMA.
    pub address: Option<u64>,
    /// Whether all of its functions have names, so that nobody has to look for them.
    pub resolved: bool,
    pub lines: Box<[Line]>,
}

/// Where a location is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    Library(LibraryId),
    /// Code of no file, at an address.
    Memory,
    Kernel,
    /// Not a place in code.
    Nowhere,
}

impl<'a> Code<'a> {
    /// The code of these stacks.
    pub(super) fn of(profile: &'a Profile, used: impl Iterator<Item = StackId>, strings: &mut Strings<'_>) -> Self {
        let (functions, locations, index) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        let (in_brackets, stacks) = (FxHashMap::default(), Vec::new());
        let mut code = Self { profile, functions, locations, in_brackets, stacks, index, row_of: None };
        let chains = code.find_chains();
        let innermost = code.innermost_nodes(used);
        let is_shared = code.place(&innermost, chains, strings);
        if is_shared.contains(&true) {
            code.join(&innermost, &is_shared);
        }
        code
    }

    /// The row of the stack that ends at a node, which must be one of those that were said to be used.
    pub(super) fn stack(&self, node: StackId) -> u32 {
        self.row_of.as_ref().map_or(row(node.index()), |row_of| row_of[node.index()])
    }

    /// The row of a stack that ends in something that is not code: `name`, called by `caller`.
    pub(super) fn stack_ending_in(
        &mut self,
        caller: Option<u32>,
        name: &str,
        place: Place,
        strings: &mut Strings<'_>,
    ) -> u32 {
        let function = Function { name: strings.text(name), ..Function::default() };
        let line = Line { function_id: self.function(function), ..Line::default() };
        let location = self.intern(Location { place, address: None, resolved: true, lines: [line].into() });
        let stack = Stack { location, caller: caller.unwrap_or(NONE) };
        *self.index.entry(stack).or_insert_with(|| {
            self.stacks.push(stack);
            row(self.stacks.len() - 1)
        })
    }

    /// The ids of a stack's locations, the innermost first.
    pub(super) fn location_ids(&self, stack: u32) -> impl Iterator<Item = u64> {
        let caller = |stack: &Stack| self.stacks.get(stack.caller as usize).copied();
        let stacks = std::iter::successors(Some(self.stacks[stack as usize]), caller);
        stacks.map(|stack| u64::from(stack.location) + 1)
    }

    /// The same of several stacks, encoded. Their nodes are far apart in memory: so they are not waited for one by one, but
    /// a step is made on each stack before the next one, and nothing else is done in between.
    pub(super) fn encode_location_ids(&self, stacks: &mut [u32], ids: &mut [Packed]) {
        const END: Stack = Stack { location: NONE, caller: NONE };
        ids.iter_mut().for_each(Packed::clear);
        let count = stacks.len();
        let mut locations = vec![NONE; count * STEPS];
        while stacks.iter().any(|stack| *stack != NONE) {
            for step in locations.chunks_exact_mut(count) {
                for (at, location) in stacks.iter_mut().zip(step) {
                    let stack = self.stacks.get(*at as usize).copied().unwrap_or(END);
                    *location = stack.location;
                    *at = stack.caller;
                }
            }
            for (index, ids) in ids[..count].iter_mut().enumerate() {
                let steps = locations[index..].iter().step_by(count).take_while(|location| **location != NONE);
                ids.extend(steps.map(|location| u64::from(*location) + 1), STEPS);
            }
        }
    }

    /// All locations and functions in order of their ids.
    pub(super) fn into_tables(self) -> (Vec<Location>, Vec<Function>) {
        let mut locations: Vec<(Location, u32)> = self.locations.into_iter().collect();
        locations.sort_unstable_by_key(|(_, row)| *row);
        let functions = self.functions.into_iter().map(|(function, id)| Function { id, ..function });
        let mut functions: Vec<Function> = functions.collect();
        functions.sort_unstable_by_key(|function| function.id);
        (locations.into_iter().map(|(location, _)| location).collect(), functions)
    }

    /// Finds for each node the frames that it and those around were inlined into each other as, and the innermost node of
    /// the location that called these. They recur on many stacks, so they have rows of their own, which stand in place of
    /// the location for now. Returns how many rows there are.
    fn find_chains(&mut self) -> usize {
        let (stacks, frames) = (&self.profile.stacks, &self.profile.frames);
        let mut count = 0;
        let mut add = || {
            count += 1;
            row(count - 1)
        };
        // By the row of those around, if any, and the frame.
        let mut alone = vec![NONE; frames.len()];
        let mut inlined: FxHashMap<(u32, FrameId), u32> = FxHashMap::default();
        self.stacks.reserve_exact(stacks.len());
        for (frame, prefix) in stacks.frame.iter().zip(&stacks.prefix) {
            let around = prefix.filter(|prefix| self.is_inlined_into(*frame, stacks.frame[prefix.index()]));
            let stack = match around {
                Some(around) => {
                    let Stack { location: around, caller } = self.stacks[around.index()];
                    Stack { location: *inlined.entry((around, *frame)).or_insert_with(&mut add), caller }
                }
                None => {
                    let chain = &mut alone[frame.index()];
                    if *chain == NONE {
                        *chain = add();
                    }
                    Stack { location: *chain, caller: prefix.map_or(NONE, |prefix| row(prefix.index())) }
                }
            };
            self.stacks.push(stack);
        }
        count
    }

    /// For each node whether it is the innermost of a location: a stack that is used ends there, or goes on in a callee.
    fn innermost_nodes(&self, used: impl Iterator<Item = StackId>) -> Vec<bool> {
        let mut innermost = vec![false; self.stacks.len()];
        used.for_each(|node| innermost[node.index()] = true);
        // Callees stand behind their callers.
        for (node, stack) in self.stacks.iter().enumerate().rev() {
            if stack.caller != NONE && innermost[node] {
                innermost[stack.caller as usize] = true;
            }
        }
        innermost
    }

    /// Gives each of the nodes its location. Says for each location whether differing frames have it.
    fn place(&mut self, innermost: &[bool], chains: usize, strings: &mut Strings<'_>) -> Vec<bool> {
        let mut location_of = vec![NONE; chains];
        let mut is_shared = Vec::new();
        for node in (0..innermost.len()).filter(|node| innermost[*node]) {
            let location = &mut location_of[self.stacks[node].location as usize];
            if *location == NONE {
                let frames: Vec<FrameId> = self.inlined_frames(StackId::new(node)).collect();
                *location = self.location(&frames, strings);
                match is_shared.get_mut(*location as usize) {
                    Some(is_shared) => *is_shared = true,
                    None => is_shared.push(false),
                }
            }
            self.stacks[node].location = *location;
        }
        is_shared
    }

    /// Gives each of the nodes its row.
    fn join(&mut self, innermost: &[bool], is_shared: &[bool]) {
        let mut row_of = vec![NONE; innermost.len()];
        // Different nodes are different stacks, but where they differ in nothing that the file knows.
        let mut has_others = vec![false; innermost.len()];
        for node in (0..innermost.len()).filter(|node| innermost[*node]) {
            let Stack { location, caller } = self.stacks[node];
            let stack = Stack { location, caller: row_of.get(caller as usize).copied().unwrap_or(NONE) };
            self.stacks[node] = stack;
            let of_caller = has_others.get(stack.caller as usize).copied().unwrap_or(false);
            has_others[node] = of_caller || is_shared[location as usize];
            let own = row(node);
            row_of[node] = if has_others[node] { *self.index.entry(stack).or_insert(own) } else { own };
        }
        self.row_of = Some(row_of);
    }

    /// The frames of one location, the innermost first.
    fn inlined_frames(&self, inner: StackId) -> impl Iterator<Item = FrameId> {
        let stacks = &self.profile.stacks;
        let frame = |node: StackId| stacks.frame[node.index()];
        let around = move |node: &StackId| {
            stacks.prefix[node.index()].filter(|around| self.is_inlined_into(frame(*node), frame(*around)))
        };
        std::iter::successors(Some(inner), around).map(frame)
    }

    /// Whether the frame of a callee is of a function that was inlined into that of its caller.
    #[inline]
    fn is_inlined_into(&self, callee: FrameId, caller: FrameId) -> bool {
        let frames = &self.profile.frames;
        let (callee, caller) = (callee.index(), caller.index());
        frames.inline_depth[callee] > 0
            && frames.inline_depth[callee] - 1 == frames.inline_depth[caller]
            && frames.address[caller] == frames.address[callee]
            && frames.library[caller] == frames.library[callee]
    }

    /// The location of frames that were inlined into each other, the innermost first.
    fn location(&mut self, frames: &[FrameId], strings: &mut Strings<'_>) -> u32 {
        let profile = self.profile;
        let lines = frames.iter().map(|frame| self.line(profile.frames.get(*frame), strings)).collect();
        let kind = |frame: &FrameId| profile.functions.kind[profile.frames.function[frame.index()].index()];
        let frame = profile.frames.get(frames[0]);
        let (place, address) = match (frame.library, frame.address) {
            (Some(library), address) => (Place::Library(library), address),
            (None, Some(avma)) => (Place::Memory, Some(avma)),
            (None, None) if kind(&frames[0]) == FunctionKind::Kernel => (Place::Kernel, None),
            (None, None) => (Place::Nowhere, None),
        };
        // Where there is no file, nobody can look for names in it.
        let is_nowhere = place == Place::Nowhere;
        let resolved = is_nowhere || !frames.iter().any(|frame| kind(frame) == FunctionKind::Unsymbolized);
        self.intern(Location { place, address, resolved, lines })
    }

    fn line(&mut self, frame: Frame, strings: &mut Strings<'_>) -> Line {
        let profile = self.profile;
        let function = profile.functions.get(frame.function);
        let filename = function.source.map_or(0, |source| strings.id(profile.sources[source.index()].path));
        let start_line = function.line.map_or(0, i64::from);
        let is_unnamed = function.kind == FunctionKind::Unsymbolized && frame.inline_depth == 0;
        let (name, system_name) = match (frame.library, profile.string(function.name)) {
            (Some(library), _) if is_unnamed => {
                let name = || strings.text(&in_brackets(profile.string(profile.libraries[library.index()].name)));
                (*self.in_brackets.entry(library).or_insert_with(name), 0)
            }
            // An address is no name.
            (None, name) if is_unnamed && name.starts_with("0x") => (strings.text(UNKNOWN), 0),
            (_, "") => (strings.text(UNKNOWN), 0),
            _ => {
                let name = strings.id(function.name);
                let full_name = function.full_name.map_or(0, |full| strings.id(full));
                (name, if full_name == name { 0 } else { full_name })
            }
        };
        let function = Function { id: 0, name, system_name, filename, start_line };
        Line {
            function_id: self.function(function),
            line: frame.line.map_or(0, i64::from),
            column: frame.column.map_or(0, i64::from),
        }
    }

    fn function(&mut self, function: Function) -> u64 {
        let next = self.functions.len() as u64 + 1;
        *self.functions.entry(function).or_insert(next)
    }

    fn intern(&mut self, location: Location) -> u32 {
        let next = row(self.locations.len());
        *self.locations.entry(location).or_insert(next)
    }
}

/// `[vdso]` has them already.
fn in_brackets(library: &str) -> String {
    if library.starts_with('[') { library.to_owned() } else { format!("[{library}]") }
}

fn row(index: usize) -> u32 {
    u32::try_from(index).expect("a profile has fewer than u32::MAX stacks")
}
