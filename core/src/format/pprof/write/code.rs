//! Functions, locations and stacks of the file. Each is made when a sample first needs it, so none is unused, and ids
//! follow the order of first use.

use rustc_hash::FxHashMap;

use super::super::schema::{Function, Line};
use super::strings::Strings;
use crate::model::{Frame, FrameId, FunctionKind, LibraryId, Profile, StackId};

/// The file's code tables in the making.
pub(super) struct Code<'a> {
    profile: &'a Profile,
    /// The id of each function; the key has none itself.
    functions: FxHashMap<Function, u64>,
    locations: FxHashMap<Location, u32>,
    /// The caller's row and the location of each stack: those of the model with inlined frames joined.
    stacks: Vec<(Option<u32>, u32)>,
    stack_index: FxHashMap<(Option<u32>, u32), u32>,
    /// The row of each node of the model that was asked for.
    stack_of: Vec<Option<u32>>,
}

/// A location; its id is one more than its row.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Location {
    pub place: Place,
    /// Relative to the library's base; in memory outside of libraries, the AVMA; else 0.
    pub address: u64,
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
    pub(super) fn new(profile: &'a Profile) -> Self {
        Self {
            profile,
            functions: FxHashMap::default(),
            locations: FxHashMap::default(),
            stacks: Vec::new(),
            stack_index: FxHashMap::default(),
            stack_of: vec![None; profile.stacks.len()],
        }
    }

    /// The row of a stack of the model. Equal stacks share one, whatever else the model tells apart.
    pub(super) fn stack(&mut self, innermost: StackId, strings: &mut Strings<'_>) -> u32 {
        let stacks = &self.profile.stacks;
        let mut caller = None;
        let mut missing = Vec::new();
        let mut next = Some(innermost);
        while let Some(inner) = next {
            if let Some(row) = self.stack_of[inner.index()] {
                caller = Some(row);
                break;
            }
            let outer = self.outermost_at(inner);
            missing.push((inner, outer));
            next = stacks.prefix[outer.index()];
        }
        for (inner, outer) in missing.into_iter().rev() {
            let location = self.location(inner, outer, strings);
            let row = self.stack_row(caller, location);
            self.stack_of[inner.index()] = Some(row);
            caller = Some(row);
        }
        caller.expect("a stack has at least one node")
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
        let location = self.intern(Location { place, address: 0, resolved: true, lines: [line].into() });
        self.stack_row(caller, location)
    }

    /// The ids of a stack's locations, the innermost first.
    pub(super) fn location_ids(&self, stack: u32) -> impl Iterator<Item = u64> {
        let rows = std::iter::successors(Some(stack), |row| self.stacks[*row as usize].0);
        rows.map(|row| u64::from(self.stacks[row as usize].1) + 1)
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

    /// The node of the function that all down to `inner` was inlined into.
    fn outermost_at(&self, inner: StackId) -> StackId {
        let (stacks, frames) = (&self.profile.stacks, &self.profile.frames);
        let frame = |node: StackId| frames.get(stacks.frame[node.index()]);
        let mut outer = inner;
        let mut callee = frame(inner);
        while let Some(prefix) = stacks.prefix[outer.index()].filter(|_| callee.inline_depth > 0) {
            let caller = frame(prefix);
            let is_around = caller.address.is_some()
                && (caller.library, caller.address) == (callee.library, callee.address)
                && caller.inline_depth + 1 == callee.inline_depth;
            if !is_around {
                break;
            }
            (outer, callee) = (prefix, caller);
        }
        outer
    }

    /// The location of the frames from `inner` out to `outer`.
    fn location(&mut self, inner: StackId, outer: StackId, strings: &mut Strings<'_>) -> u32 {
        let profile = self.profile;
        let node_after = |node: &StackId| profile.stacks.prefix[node.index()].filter(|_| *node != outer);
        let nodes = std::iter::successors(Some(inner), node_after);
        let frames: Vec<FrameId> = nodes.map(|node| profile.stacks.frame[node.index()]).collect();
        let lines = frames.iter().map(|frame| self.line(profile.frames.get(*frame), strings)).collect();
        let kind = |frame: &FrameId| profile.functions.kind[profile.frames.function[frame.index()].index()];
        let frame = profile.frames.get(frames[0]);
        let (place, address) = match (frame.library, frame.address) {
            (Some(library), address) => (Place::Library(library), address.unwrap_or_default()),
            (None, Some(avma)) => (Place::Memory, avma),
            (None, None) if kind(&frames[0]) == FunctionKind::Kernel => (Place::Kernel, 0),
            (None, None) => (Place::Nowhere, 0),
        };
        let resolved = !frames.iter().any(|frame| kind(frame) == FunctionKind::Unsymbolized);
        self.intern(Location { place, address, resolved, lines })
    }

    fn line(&mut self, frame: Frame, strings: &mut Strings<'_>) -> Line {
        let profile = self.profile;
        let function = profile.functions.get(frame.function);
        let unnamed = function.kind == FunctionKind::Unsymbolized && frame.inline_depth == 0;
        let function = if let Some(library) = frame.library.filter(|_| unnamed) {
            let name = in_brackets(profile.string(profile.libraries[library.index()].name));
            Function { name: strings.text(&name), ..Function::default() }
        } else {
            let name = match profile.string(function.name) {
                "" => strings.text("[unknown]"),
                _ => strings.id(function.name),
            };
            let system_name = function.full_name.map_or(0, |full| strings.id(full));
            let filename = function.source.map_or(0, |source| strings.id(profile.sources[source.index()].path));
            let system_name = if system_name == name { 0 } else { system_name };
            let start_line = function.line.map_or(0, i64::from);
            Function { id: 0, name, system_name, filename, start_line }
        };
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

    fn stack_row(&mut self, caller: Option<u32>, location: u32) -> u32 {
        *self.stack_index.entry((caller, location)).or_insert_with(|| {
            self.stacks.push((caller, location));
            row(self.stacks.len() - 1)
        })
    }
}

/// `[vdso]` has them already.
fn in_brackets(library: &str) -> String {
    if library.starts_with('[') { library.to_owned() } else { format!("[{library}]") }
}

fn row(index: usize) -> u32 {
    u32::try_from(index).expect("a profile has fewer than u32::MAX stacks")
}
