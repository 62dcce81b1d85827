//! Locations and functions of the file to frames of the model. Those that no sample has are not read.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::super::super::ReadError;
use super::super::super::import_report::{ImportReport, Note};
use super::super::names::{CUT, LOST, NO_STACK, NOT_SAMPLED, UNKNOWN};
use super::super::schema;
use super::Maker;
use super::libraries::{Libraries, Place};
use super::rows::Rows;
use crate::model::{Frame, FrameId, Function, FunctionId, FunctionKind, LibraryId, Source, StringId};

const UNKNOWN_MAPPING: Note = Note {
    code: "mapping-unknown",
    message: "locations have mappings that are not in the file; they are in no library",
};
const ODD_LINE: Note = Note { code: "line-out-of-range", message: "numbers of lines or columns are left out" };
const FOLDED: Note = Note {
    code: "functions-folded",
    message: "locations are of functions that the linker made one; the name is one of several",
};

/// The code of the file.
pub(super) struct Code<'a> {
    locations: Rows<'a>,
    functions: Rows<'a>,
    mappings: Rows<'a>,
    pub libraries: Libraries,
    /// The frames of locations, the outermost first.
    frames: Vec<FrameId>,
    /// Which of them each location has: from where, and how many.
    spans: Vec<(u32, u32)>,
    /// The functions that are in the model already, by row and kind.
    known: FxHashMap<(u32, FunctionKind), FunctionId>,
    names: Names<'a>,
    /// The location that lost samples are counted at.
    lost: Option<usize>,
}

/// The names of functions, and what was asked of them: each is looked through once, however many locations have it.
#[derive(Default)]
struct Names<'a> {
    texts: FxHashMap<i64, Cow<'a, str>>,
    /// Whether a text is the name of a library, where their lengths let it be.
    of_library: FxHashMap<(i64, StringId), bool>,
}

/// In place of where a location's frames begin: not read yet.
const NOT_READ: u32 = u32::MAX;

/// What the frames of a location have in common.
#[derive(Clone, Copy)]
struct At {
    library: Option<LibraryId>,
    /// In the library; or in memory.
    address: Option<u64>,
    kernel: bool,
}

/// What a location is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Code,
    /// No place in code: the root of a stack that was cut short, say.
    Nowhere,
    /// Where our own writer counts samples without a stack.
    NoStack,
    /// Where it counts those that were lost.
    Lost,
}

impl<'a> Code<'a> {
    pub(super) fn new(locations: Rows<'a>, functions: Rows<'a>, mappings: Rows<'a>, libraries: Libraries) -> Self {
        let spans = vec![(NOT_READ, 0); locations.len()];
        let (frames, known, names) = (Vec::new(), FxHashMap::default(), Names::default());
        Self { locations, functions, mappings, libraries, frames, spans, known, names, lost: None }
    }

    /// The row of the location with this id.
    #[inline]
    pub(super) fn location(&self, id: u64) -> Option<usize> {
        self.locations.row(id)
    }

    /// Whether samples at this location, which was [read](Self::read), are those that were lost.
    pub(super) fn is_lost(&self, location: usize) -> bool {
        self.lost == Some(location)
    }

    /// The frames of a location that was [read](Self::read), the outermost first.
    #[inline]
    pub(super) fn frames(&self, location: usize) -> &[FrameId] {
        let (start, len) = self.spans[location];
        &self.frames[start as usize..][..len as usize]
    }

    /// Makes the frames of a location, if that is still to be done.
    #[inline]
    pub(super) fn read(&mut self, location: usize, maker: &mut Maker<'a>) -> Result<(), ReadError> {
        if self.spans[location].0 == NOT_READ { self.make(location, maker) } else { Ok(()) }
    }

    #[cold]
    fn make(&mut self, row: usize, maker: &mut Maker<'a>) -> Result<(), ReadError> {
        let (location, offset) = self.locations.decode::<schema::Location>(row)?;
        let place = || format!("location {} at byte {offset}", location.id);
        if location.is_folded {
            maker.report.note(FOLDED, place);
        }
        let start = self.frames.len();
        let mut at = self.place_of(&location, &mut maker.report, offset);
        let sort = self.sort_of(&location, at, maker)?;
        if sort == Sort::Nowhere {
            at = At { library: None, address: None, kernel: false };
        }
        if sort == Sort::Lost {
            self.lost = Some(row);
        }
        if matches!(sort, Sort::Code | Sort::Nowhere) {
            if location.line.is_empty() {
                let function = unnamed(at, None, None, maker);
                self.frames.push(maker.builder.frame(frame_at(at, function, 0)));
            }
            for (depth, line) in location.line.iter().rev().enumerate() {
                let depth = u16::try_from(depth).unwrap_or(u16::MAX);
                let function = self.function(line.function_id, at, depth, maker)?;
                let mut number = |value: i64| {
                    let number = u32::try_from(value).ok();
                    if number.is_none() {
                        maker.report.note(ODD_LINE, place);
                    }
                    number.filter(|number| *number != 0)
                };
                let (line, column) = (number(line.line), number(line.column));
                self.frames.push(maker.builder.frame(Frame { line, column, ..frame_at(at, function, depth) }));
            }
        }
        let short = |number: usize| u32::try_from(number).unwrap_or(NOT_READ);
        self.spans[row] = (short(start), short(self.frames.len() - start));
        Ok(())
    }

    fn place_of(&self, location: &schema::Location, report: &mut ImportReport, offset: usize) -> At {
        let mapping = self.mappings.row(location.mapping_id);
        if mapping.is_none() && location.mapping_id != 0 {
            report.note(UNKNOWN_MAPPING, || {
                format!("location {} at byte {offset}: mapping {}", location.id, location.mapping_id)
            });
        }
        let address = (location.address != 0).then_some(location.address);
        match mapping.map_or(Place::Memory, |row| self.libraries.get(row)) {
            Place::Library { library, base } => {
                At { library: Some(library), address: address.map(|avma| avma.wrapping_sub(base)), kernel: false }
            }
            Place::Memory => At { library: None, address, kernel: false },
            Place::Kernel => At { library: None, address: None, kernel: true },
        }
    }

    /// What a location without an address is, by the function that all others were inlined into.
    fn sort_of(&mut self, location: &schema::Location, at: At, maker: &Maker<'a>) -> Result<Sort, ReadError> {
        let (Some(line), None, false) = (location.line.last(), at.address, at.kernel) else { return Ok(Sort::Code) };
        let Some(function) = self.functions.row(line.function_id) else { return Ok(Sort::Code) };
        let (function, _) = self.functions.decode::<schema::Function>(function)?;
        let is_alone = location.line.len() == 1;
        Ok(match self.names.get(function.name, maker) {
            LOST if is_alone && maker.builder.tables().meta.quality.is_some() => Sort::Lost,
            NO_STACK if is_alone => Sort::NoStack,
            UNKNOWN | NOT_SAMPLED => Sort::Nowhere,
            name if name.starts_with(CUT) => Sort::Nowhere,
            _ => Sort::Code,
        })
    }

    /// The function with this id, as it is `at` a place.
    fn function(&mut self, id: u64, at: At, depth: u16, maker: &mut Maker<'a>) -> Result<FunctionId, ReadError> {
        let row = self.functions.row(id).expect("the lines of locations were checked");
        let (function, _) = self.functions.decode::<schema::Function>(row)?;
        let is_unnamed = depth == 0 && self.names.is_unnamed(function.name, at, maker);
        let name = self.names.get(function.name, maker);
        let is_nowhere = at.library.is_none() && at.address.is_none();
        let kind = match name {
            _ if at.kernel => FunctionKind::Kernel,
            name if is_nowhere && name.starts_with(CUT) => FunctionKind::Cut,
            NOT_SAMPLED if is_nowhere => FunctionKind::Unsampled,
            name if is_unnamed => {
                let kept = (name == CODE_IN_MEMORY).then_some(function.name);
                return Ok(unnamed(at, kept, Some(&function), maker));
            }
            _ => FunctionKind::Native,
        };
        let key = (u32::try_from(row).unwrap_or(u32::MAX), kind);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let name = if name.is_empty() { maker.builder.string(UNKNOWN) } else { maker.text(function.name) };
        let full_name = (function.system_name != 0).then(|| maker.text(function.system_name));
        let full_name = full_name.filter(|full_name| *full_name != name);
        let id = add(Function { kind, full_name, ..Function::named(name) }, &function, maker);
        self.known.insert(key, id);
        Ok(id)
    }
}

/// What a recording calls code in memory that no file has.
const CODE_IN_MEMORY: &str = "[code in memory]";

impl<'a> Names<'a> {
    /// The text of this row.
    fn get(&mut self, text: i64, maker: &Maker<'a>) -> &str {
        self.texts.entry(text).or_insert_with(|| maker.texts.get(text))
    }

    /// Whether a function's name, the text of this row, only says that it has none.
    fn is_unnamed(&mut self, text: i64, at: At, maker: &Maker<'a>) -> bool {
        let name = &**self.texts.entry(text).or_insert_with(|| maker.texts.get(text));
        let Some(library) = at.library else { return name.is_empty() || [UNKNOWN, CODE_IN_MEMORY].contains(&name) };
        let tables = maker.builder.tables();
        let id = tables.libraries[library.index()].name;
        let library = tables.strings.get(id);
        let is_in_brackets = name.starts_with('[') && name.ends_with(']');
        let is_alike = |with: usize| is_in_brackets && name.len() == library.len() + with;
        let is_library = || name == library || name.get(1..name.len() - 1) == Some(library);
        name.is_empty()
            || ((is_alike(0) || is_alike(2)) && *self.of_library.entry((text, id)).or_insert_with(is_library))
    }
}

/// The function of code without a name; `kept` is the text of the name that it has for all that.
fn unnamed(at: At, kept: Option<i64>, function: Option<&schema::Function>, maker: &mut Maker<'_>) -> FunctionId {
    let tables = maker.builder.tables();
    let library = at.library.map(|library| short(tables.strings.get(tables.libraries[library.index()].name)));
    let name: StringId = match (kept, library, at.address) {
        (Some(text), ..) => maker.text(text),
        (None, Some((library, rest)), Some(address)) => maker.builder.string(&format!("{library}{rest}+{address:#x}")),
        (None, Some((library, _)), None) if library.starts_with('[') => {
            let library = at.library.expect("it has a name");
            tables.libraries[library.index()].name
        }
        (None, Some((library, rest)), None) => maker.builder.string(&format!("[{library}{rest}]")),
        (None, None, Some(address)) => maker.builder.string(&format!("{address:#x}")),
        (None, None, None) => maker.builder.string(UNKNOWN),
    };
    let row = Function { kind: FunctionKind::Unsymbolized, ..Function::named(name) };
    add(row, function.unwrap_or(&schema::Function::default()), maker)
}

/// The name of a library in the names of its code, and what says that it goes on. Each address has a copy, so the longest
/// that a file can make of it is not it.
fn short(library: &str) -> (&str, &str) {
    const LONGEST: usize = 100;
    match library.split_at_checked(library.floor_char_boundary(LONGEST)) {
        Some((start, rest)) if !rest.is_empty() => (start, "…"),
        _ => (library, ""),
    }
}

/// Adds a function with the file and line that the file says.
fn add(row: Function, function: &schema::Function, maker: &mut Maker<'_>) -> FunctionId {
    let source = (function.filename != 0).then(|| {
        let path = maker.text(function.filename);
        maker.builder.source(Source::at(path))
    });
    let line = u32::try_from(function.start_line).ok().filter(|line| *line != 0);
    if line.is_none() && function.start_line != 0 {
        maker.report.note(ODD_LINE, || format!("function {}", function.id));
    }
    maker.builder.function(Function { source, line, ..row })
}

fn frame_at(at: At, function: FunctionId, inline_depth: u16) -> Frame {
    Frame { library: at.library, address: at.address, inline_depth, ..Frame::of(function) }
}
