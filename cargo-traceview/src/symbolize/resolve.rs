//! Addresses of one image to functions, inlined functions and lines.

use addr2line::Context;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use super::demangle::{demangle, is_mangled};
use super::dwarf;
use super::effort::Budget;
use super::source::{Reader, SymbolSource, slice};
use super::split::SplitDwarf;
use super::symbol_table::{TableSymbol, code_around, underscores};
use super::unnamed::unnamed;
use crate::image::Image;

/// What is known about one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The symbol table's function that the address lies in: the code as the linker knows it.
    pub symbol: Option<NativeSymbol>,
    /// The functions of the source at this address, outermost first, each inlined into the one before it; never empty.
    /// The position in this list is the inline depth.
    pub frames: Vec<Frame>,
    /// Whether there is a function's name at all. If not, the one frame is named `LIB+0xADDR`.
    pub named: bool,
}

impl Resolved {
    /// What is said of an address that nothing is known about.
    pub(super) fn unknown(image: &Image, svma: u64) -> Self {
        let name = unnamed(image, svma).into();
        let frame = Frame { name, linkage_name: None, file: None, line: None, column: None };
        Resolved { symbol: None, frames: vec![frame], named: false }
    }
}

/// A function of the symbol table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeSymbol {
    /// Its readable name.
    pub name: Arc<str>,
    /// Its first address.
    pub svma: u64,
    /// Its length in bytes.
    pub size: u64,
}

/// A function of the source, and the line reached in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The readable name.
    pub name: Arc<str>,
    /// The mangled name that `name` was made of, where there is one.
    pub linkage_name: Option<Arc<str>>,
    /// The source file as the compiler saw it, absolute unless paths were remapped.
    pub file: Option<Arc<str>>,
    /// The line, from 1: of the address in the innermost frame, of the inlined call in the others.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
}

/// Resolves addresses of one image; made by [`SymbolSource::symbolizer`].
///
/// Addresses are looked up as they are: for a caller's frame pass the return address minus one, which lies within the
/// call. DWARF that is damaged costs lines and inlined functions, at the places it covers; the symbol table still names
/// the function.
pub struct Symbolizer<'a> {
    source: &'a SymbolSource,
    context: Option<Context<Reader<'a>>>,
    split: SplitDwarf<'a>,
    /// For what is judged of its answers.
    budget: Budget,
    naming: Naming<'a>,
}

/// Makes names of what DWARF and symbol tables have, each once, for any number of images.
#[derive(Default)]
pub(super) struct Naming<'a> {
    names: FxHashMap<&'a [u8], Name>,
    pub(super) texts: FxHashSet<Arc<str>>,
}

/// A name in both its forms; kept because thousands of addresses share one function.
#[derive(Clone)]
struct Name {
    readable: Arc<str>,
    linkage: Option<Arc<str>>,
}

/// A DWARF frame before names are made of it.
#[derive(Default)]
pub(super) struct DwarfFrame<'a> {
    pub(super) name: Option<&'a [u8]>,
    pub(super) location: Location,
}

/// A place in the source.
#[derive(Default)]
pub(super) struct Location {
    pub(super) file: Option<Arc<str>>,
    /// From 1.
    pub(super) line: Option<u32>,
    /// From 1.
    pub(super) column: Option<u32>,
}

impl<'a> Symbolizer<'a> {
    pub(super) fn new(source: &'a SymbolSource) -> Self {
        let dwarf = || source.dwarf();
        // Address ranges of units have an index that addr2line uses but doesn't need; one damaged entry in it must not
        // cost all units.
        let without_index = || gimli::Dwarf { debug_aranges: slice(None).into(), ..dwarf() };
        let context = if source.has_debug_info() && !source.is_excessive() {
            Context::from_dwarf(dwarf()).or_else(|_| Context::from_dwarf(without_index())).ok()
        } else {
            None
        };
        let split = SplitDwarf::new(source);
        Symbolizer { source, context, split, budget: Budget::default(), naming: Naming::default() }
    }

    /// Names the functions at an address of the image (its own address space, SVMA).
    pub fn resolve(&mut self, svma: u64) -> Resolved {
        let frames = self.dwarf_frames(svma);
        self.naming.resolved(self.source, svma, frames)
    }

    /// The DWARF frames at an address, outermost first; none where DWARF knows nothing.
    fn dwarf_frames(&mut self, svma: u64) -> Vec<DwarfFrame<'a>> {
        // Debug information can claim more than there is, and sums of addresses far outside of all code overflow.
        let Some(context) = self.context.as_ref().filter(|_| code_around(self.source.image.code(), svma).is_some())
        else {
            return Vec::new();
        };
        let texts = &mut self.naming.texts;
        let mut place = |location: addr2line::Location<'_>| Location {
            file: location.file.map(|file| intern(texts, file)),
            line: location.line,
            column: location.column.filter(|&column| column > 0),
        };
        let mut frames = Vec::new();
        let mut outermost = None;
        let complete = self.split.complete(context.find_frames(svma)).and_then(|mut found| {
            while let Some(frame) = found.next()? {
                let name = frame.function.map(|function| function.name.slice());
                frames.push(DwarfFrame { name, location: frame.location.map(&mut place).unwrap_or_default() });
                outermost = frame.dw_die_offset;
            }
            Ok(())
        });
        if complete.is_err() {
            // A damaged unit: its functions are lost, its lines may be readable still.
            let location = context.find_location(svma).ok().flatten();
            return location.map(|location| DwarfFrame { name: None, location: place(location) }).into_iter().collect();
        }
        // Linkers leave the debug information of what they dropped, at address 0 for example.
        if let Some(entry) = outermost
            && let Some(unit) = self.split.complete(context.find_dwarf_and_unit(svma))
        {
            self.budget.allow_for_addresses(1);
            let place = (self.source.image.code(), svma);
            if !dwarf::is_of_code(&unit, entry, place, &mut self.budget.effort()).unwrap_or(false) {
                return Vec::new();
            }
        }
        frames.reverse();
        frames
    }
}

impl<'a> Naming<'a> {
    /// Names what DWARF found at an address (outermost first), which can be nothing.
    pub(super) fn resolved(&mut self, source: &'a SymbolSource, svma: u64, mut dwarf: Vec<DwarfFrame<'a>>) -> Resolved {
        if dwarf.is_empty() {
            dwarf.push(DwarfFrame::default());
        }
        let symbol = source.symbols.find(svma);
        let mut frames = Vec::with_capacity(dwarf.len());
        let mut named = true;
        for (depth, frame) in dwarf.into_iter().enumerate() {
            let raw = if depth == 0 { outermost_name(frame.name, symbol) } else { frame.name };
            let name = match raw {
                Some(raw) => self.name(raw),
                None => {
                    named &= depth > 0;
                    Name { readable: intern(&mut self.texts, &unnamed(&source.image, svma)), linkage: None }
                }
            };
            let Location { file, line, column } = frame.location;
            frames.push(Frame { name: name.readable, linkage_name: name.linkage, file, line, column });
        }
        let symbol = symbol.map(|symbol| NativeSymbol {
            name: self.name(symbol.name).readable,
            svma: symbol.svma,
            size: symbol.size,
        });
        Resolved { symbol, frames, named }
    }

    fn name(&mut self, raw: &'a [u8]) -> Name {
        if let Some(name) = self.names.get(raw) {
            return name.clone();
        }
        let text = String::from_utf8_lossy(raw);
        let readable = intern(&mut self.texts, &demangle(&text));
        let linkage = (*readable != *text).then(|| intern(&mut self.texts, &text));
        let name = Name { readable, linkage };
        self.names.insert(raw, name.clone());
        name
    }
}

/// The name of the function that is not inlined: DWARF's, unless the symbol table has a better one.
///
/// It has where DWARF's is a bare identifier and its own the whole path (debug information reduced to line tables), and
/// where DWARF gives an internal alias (`__GI___libc_read`) of what people call (`read`): all addresses of a function have
/// the one name that the symbol table prefers.
fn outermost_name<'a>(dwarf: Option<&'a [u8]>, symbol: Option<TableSymbol<'a>>) -> Option<&'a [u8]> {
    let mangled = |name: &[u8]| std::str::from_utf8(name).is_ok_and(is_mangled);
    let name = symbol.map(|symbol| symbol.name);
    let Some(dwarf) = dwarf.filter(|name| !name.is_empty()) else { return name };
    let better = |symbol: &TableSymbol<'_>| {
        let internal = underscores(symbol.name).cmp(&underscores(dwarf));
        // A dot marks a piece or copy that the compiler made of the function (`f.part.0`).
        let is_alias = internal.is_lt() || (internal.is_eq() && symbol.sized);
        mangled(symbol.name) || (is_alias && !symbol.name.contains(&b'.'))
    };
    if mangled(dwarf) { Some(dwarf) } else { symbol.filter(better).map(|symbol| symbol.name).or(Some(dwarf)) }
}

/// The one copy of a text.
pub(super) fn intern(texts: &mut FxHashSet<Arc<str>>, text: &str) -> Arc<str> {
    if let Some(known) = texts.get(text) {
        return Arc::clone(known);
    }
    let shared: Arc<str> = text.into();
    texts.insert(Arc::clone(&shared));
    shared
}
