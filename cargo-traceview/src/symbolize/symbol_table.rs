//! The functions that an image's symbol tables name, made ready for looking up addresses.
//!
//! Symbols overlap: functions have aliases, hand-written assembly has labels and sizes of its own inside functions, and
//! sizes can be zero or wrong. All that is settled once: the table is a sorted list of disjoint pieces of code, each
//! owned by one symbol, so that a lookup is one binary search.

use object::LittleEndian;
use object::elf::{self, Sym64};
use object::pod::slice_from_all_bytes;
use object::read::elf::Sym as _;
use rustc_hash::FxHashMap;
use std::ops::Range;

use super::demangle::is_mangled;
use super::plt::{self, Stub, Target};
use crate::image::{Image, SharedBytes};

/// A function of the symbol table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSymbol<'a> {
    /// The name as the file has it, bytes that are not UTF-8 included.
    pub name: &'a [u8],
    /// The function's first address.
    pub svma: u64,
    /// Its length: as stated, or up to the next symbol where the file states none.
    pub size: u64,
    /// Whether the file states its length: then all of it is this function.
    pub sized: bool,
}

/// The symbol tables of one image, `.symtab` and `.dynsym` taken together.
#[derive(Debug, Default)]
pub struct SymbolTable {
    strings: Vec<SharedBytes>,
    symbols: Vec<Symbol>,
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    svma: u64,
    end: u64,
    name: u32,
    /// Index of the string table that `name` is an offset of.
    strings: u8,
    sized: bool,
    kind: SymbolKind,
    bind: Bind,
}

/// In the order of trust in its being a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SymbolKind {
    Function,
    /// The symbol of an `ifunc` names its resolver; what it resolves to has symbols of its own.
    IndirectFunction,
    /// Assembly that declares no type.
    Untyped,
}

/// In the order in which names are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bind {
    Global,
    Weak,
    Local,
}

/// A stretch of code of one symbol.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    symbol: u32,
}

impl SymbolTable {
    /// Reads the tables of `files`: an image, then what else has symbols of it (its separate debug file, or the image within
    /// it). The stubs of the image's linkage table are named as well.
    ///
    /// `code` are the addresses of the image's code, sorted: a symbol outside is no function (data, or the offset of a
    /// thread-local variable), and none reaches beyond the stretch it starts in.
    #[must_use]
    pub fn read(files: &[&Image], code: &[Range<u64>]) -> Self {
        let mut table = SymbolTable::default();
        for file in files {
            for (symbols, strings) in [(".symtab", ".strtab"), (".dynsym", ".dynstr")] {
                if let (Some(symbols), Some(strings)) = (file.section(symbols), file.section(strings)) {
                    table.add(&symbols.bytes, strings.bytes, code);
                }
            }
        }
        if let Some(image) = files.first() {
            table.add_stubs(&plt::stubs(image));
        }
        table.arrange(code);
        table
    }

    /// The function that `svma` lies in.
    #[must_use]
    pub fn find(&self, svma: u64) -> Option<TableSymbol<'_>> {
        let after = self.pieces.partition_point(|piece| piece.start <= svma);
        let piece = self.pieces[..after].last().filter(|piece| svma < piece.end)?;
        let symbol = &self.symbols[piece.symbol as usize];
        Some(TableSymbol {
            name: self.name(symbol),
            svma: symbol.svma,
            size: symbol.end - symbol.svma,
            sized: symbol.sized,
        })
    }

    /// Number of functions with distinct addresses.
    #[must_use]
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether no function is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    fn add(&mut self, symbols: &[u8], strings: SharedBytes, code: &[Range<u64>]) {
        let Ok(index) = u8::try_from(self.strings.len()) else { return };
        // A table cut off in the middle of an entry: the whole entries count.
        let whole = symbols.len() / size_of::<Sym64<LittleEndian>>() * size_of::<Sym64<LittleEndian>>();
        let Ok(symbols) = slice_from_all_bytes::<Sym64<LittleEndian>>(&symbols[..whole]) else { return };
        self.strings.push(strings);
        let strings = &self.strings;
        let functions = symbols.iter().filter_map(|symbol| Symbol::read(symbol, index, code));
        self.symbols.extend(functions.filter(|symbol| is_function_name(name_of(strings, symbol))));
    }

    fn add_stubs(&mut self, stubs: &[Stub]) {
        let Ok(index) = u8::try_from(self.strings.len()) else { return };
        let resolvers = self.resolver_names();
        let mut text = Vec::new();
        let mut symbols = Vec::with_capacity(stubs.len());
        for Stub { svma, size, target } in stubs {
            let name = match target {
                Target::Name(name) => Some(&**name),
                Target::ChosenBy(resolver) => resolvers.get(resolver).copied(),
            };
            let (Some(name), Ok(offset)) = (name, u32::try_from(text.len())) else { continue };
            text.extend_from_slice(name);
            text.extend_from_slice(b"@plt\0");
            let (kind, bind) = (SymbolKind::Function, Bind::Local);
            let end = svma.saturating_add(*size);
            symbols.push(Symbol { svma: *svma, end, name: offset, strings: index, sized: true, kind, bind });
        }
        self.strings.push(SharedBytes::owned(text));
        self.symbols.extend(symbols);
    }

    /// The names of `ifunc`s by their address; of several the one that people know.
    fn resolver_names(&self) -> FxHashMap<u64, &[u8]> {
        let mut names: FxHashMap<u64, &[u8]> = FxHashMap::default();
        let rank = |name: &[u8]| (underscores(name), name.len());
        for symbol in self.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::IndirectFunction) {
            let name = self.name(symbol);
            names
                .entry(symbol.svma)
                .and_modify(|known| {
                    if (rank(name), name) < (rank(known), *known) {
                        *known = name;
                    }
                })
                .or_insert(name);
        }
        names
    }

    /// Sorts, drops aliases, gives unsized symbols a size, and cuts the code into disjoint pieces.
    fn arrange(&mut self, code: &[Range<u64>]) {
        let SymbolTable { strings, symbols, .. } = self;
        // Names are only compared where addresses are the same; most are not.
        symbols.sort_by(|a, b| {
            let rank = |symbol: &Symbol| {
                let name = name_of(strings, symbol);
                (symbol.kind, !symbol.sized, underscores(name), symbol.bind, name.len())
            };
            let names = || name_of(strings, a).cmp(name_of(strings, b)).then(b.end.cmp(&a.end));
            a.svma.cmp(&b.svma).then_with(|| rank(a).cmp(&rank(b)).then_with(names))
        });
        symbols.dedup_by_key(|symbol| symbol.svma);

        drop_inner_labels(symbols);
        for index in 0..symbols.len() {
            if !symbols[index].sized {
                let next = symbols.get(index + 1).map_or(u64::MAX, |next| next.svma);
                let stretch = code_around(code, symbols[index].svma).map_or(0, |stretch| stretch.end);
                symbols[index].end = next.min(stretch);
            }
        }
        self.pieces = disjoint_pieces(symbols);
    }

    fn name(&self, symbol: &Symbol) -> &[u8] {
        name_of(&self.strings, symbol)
    }
}

impl Symbol {
    fn read(symbol: &Sym64<LittleEndian>, strings: u8, code: &[Range<u64>]) -> Option<Self> {
        let endian = LittleEndian;
        let section = symbol.st_shndx(endian);
        if section == elf::SHN_UNDEF || section == elf::SHN_ABS || section == elf::SHN_COMMON {
            return None;
        }
        let kind = match symbol.st_type() {
            elf::STT_FUNC => SymbolKind::Function,
            elf::STT_GNU_IFUNC => SymbolKind::IndirectFunction,
            elf::STT_NOTYPE => SymbolKind::Untyped,
            _ => return None,
        };
        let bind = match symbol.st_bind() {
            elf::STB_LOCAL => Bind::Local,
            elf::STB_WEAK => Bind::Weak,
            _ => Bind::Global,
        };
        let svma = symbol.st_value(endian);
        let size = symbol.st_size(endian);
        let stretch = code_around(code, svma)?;
        let end = svma.saturating_add(size).min(stretch.end);
        Some(Symbol { svma, end, name: symbol.st_name(endian), strings, sized: size > 0, kind, bind })
    }
}

/// How internal a name is: people know `read` rather than its aliases `__read` and `__GI___read`. Mangled names all
/// begin with an underscore, which says nothing.
pub(super) fn underscores(name: &[u8]) -> usize {
    let mangled = std::str::from_utf8(name).is_ok_and(is_mangled);
    if mangled { 0 } else { name.iter().take_while(|&&byte| byte == b'_').count() }
}

fn name_of<'a>(strings: &'a [SharedBytes], symbol: &Symbol) -> &'a [u8] {
    let table: &[u8] = &strings[usize::from(symbol.strings)];
    let from = table.get(symbol.name as usize..).unwrap_or_default();
    // Without an end the name is damaged: the table's last byte is a zero.
    let len = from.iter().position(|&byte| byte == 0).unwrap_or(0);
    &from[..len]
}

/// Labels of assemblers and linkers (`.L12`, `$x`) mark places, not functions.
fn is_function_name(name: &[u8]) -> bool {
    !matches!(name.first(), None | Some(b'.' | b'$'))
}

/// The stretch of code that an address lies in.
pub(super) fn code_around(code: &[Range<u64>], svma: u64) -> Option<&Range<u64>> {
    let after = code.partition_point(|stretch| stretch.start <= svma);
    code[..after].last().filter(|stretch| stretch.contains(&svma))
}

/// Drops symbols without a size that lie within a function that has one.
fn drop_inner_labels(symbols: &mut Vec<Symbol>) {
    let mut covered = 0;
    symbols.retain(|symbol| {
        if symbol.sized {
            covered = covered.max(symbol.end);
        }
        symbol.sized || symbol.svma >= covered
    });
}

/// Cuts sorted, possibly nested symbols into pieces, where the innermost symbol owns the code.
fn disjoint_pieces(symbols: &[Symbol]) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(symbols.len());
    // Symbols that have begun, innermost last; `at` is where the next piece begins.
    let mut open: Vec<u32> = Vec::new();
    let mut at = 0;
    for (index, symbol) in (0_u32..).zip(symbols) {
        at = close(symbols, &mut open, &mut pieces, at, symbol.svma);
        if let Some(&outer) = open.last()
            && at < symbol.svma
        {
            pieces.push(Piece { start: at, end: symbol.svma, symbol: outer });
        }
        at = symbol.svma;
        open.push(index);
    }
    close(symbols, &mut open, &mut pieces, at, u64::MAX);
    pieces
}

/// Ends the symbols that end at or before `until`; returns where the piece of what remains open begins.
fn close(symbols: &[Symbol], open: &mut Vec<u32>, pieces: &mut Vec<Piece>, from: u64, until: u64) -> u64 {
    let mut at = from;
    while let Some(&inner) = open.last() {
        let end = symbols[inner as usize].end;
        if end > until {
            break;
        }
        if at < end {
            pieces.push(Piece { start: at, end, symbol: inner });
            at = end;
        }
        open.pop();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{Bind, Symbol, SymbolKind, SymbolTable};
    use crate::image::{Image, SharedBytes};

    const CODE: std::ops::Range<u64> = 0x1000..0x2000;

    /// A table of symbols (name, address, size), all of them functions unless unsized.
    fn table(symbols: &[(&str, u64, u64)]) -> SymbolTable {
        let mut text = Vec::new();
        let mut entries = Vec::new();
        for &(name, svma, size) in symbols {
            let offset = u32::try_from(text.len()).unwrap();
            text.extend_from_slice(name.as_bytes());
            text.push(0);
            let kind = if size > 0 { SymbolKind::Function } else { SymbolKind::Untyped };
            let end = (svma + size).min(CODE.end);
            entries.push(Symbol { svma, end, name: offset, strings: 0, sized: size > 0, kind, bind: Bind::Global });
        }
        let strings = SharedBytes::owned(text);
        let mut table = SymbolTable { strings: vec![strings], symbols: entries, pieces: Vec::new() };
        table.arrange(&[CODE]);
        table
    }

    fn name_at(table: &SymbolTable, svma: u64) -> Option<&str> {
        table.find(svma).map(|symbol| std::str::from_utf8(symbol.name).unwrap())
    }

    #[test]
    fn an_address_behind_a_function_is_not_its() {
        let table = table(&[("b", 0x1100, 0x20), ("a", 0x1000, 0x10)]);
        let names: Vec<_> =
            [0xfff, 0x1000, 0x100f, 0x1010, 0x10ff, 0x1100, 0x111f, 0x1120].map(|at| name_at(&table, at)).into();
        assert_eq!(names, [None, Some("a"), Some("a"), None, None, Some("b"), Some("b"), None]);
    }

    #[test]
    fn unsized_symbols_reach_to_the_next_symbol_or_the_sections_end() {
        let table = table(&[("asm", 0x1000, 0), ("sized", 0x1080, 8), ("last", 0x1100, 0)]);
        assert_eq!(name_at(&table, 0x107f), Some("asm"));
        assert_eq!(table.find(0x1000).unwrap().size, 0x80);
        assert_eq!(name_at(&table, 0x1088), None);
        assert_eq!(name_at(&table, 0x1fff), Some("last"));
        assert_eq!(name_at(&table, 0x2000), None);
    }

    #[test]
    fn a_label_inside_a_function_does_not_cut_it() {
        let table = table(&[("f", 0x1000, 0x100), ("loop", 0x1040, 0)]);
        assert_eq!(name_at(&table, 0x1050), Some("f"));
    }

    #[test]
    fn nested_and_overlapping_functions_give_the_innermost() {
        let table = table(&[("outer", 0x1000, 0x100), ("inner", 0x1020, 0x10), ("over", 0x10f0, 0x20)]);
        let names: Vec<_> =
            [0x101f, 0x1020, 0x102f, 0x1030, 0x10ef, 0x10f0, 0x110f, 0x1110].map(|at| name_at(&table, at)).into();
        let (outer, inner, over) = (Some("outer"), Some("inner"), Some("over"));
        assert_eq!(names, [outer, inner, inner, outer, outer, over, over, None]);
    }

    #[test]
    fn a_size_beyond_the_section_ends_with_it() {
        let table = table(&[("huge", 0x1ff0, 0x1000_0000)]);
        assert_eq!(table.find(0x1fff).unwrap().size, 0x10);
        assert_eq!(name_at(&table, 0x2000), None);
    }

    #[test]
    fn of_aliases_the_plainest_wins() {
        let table =
            table(&[("__GI___read", 0x1000, 8), ("__read", 0x1000, 8), ("read", 0x1000, 8), ("label", 0x1000, 0)]);
        assert_eq!(name_at(&table, 0x1000), Some("read"));
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn damaged_names_and_tables_are_survived() {
        let image = Image::open(&std::env::current_exe().unwrap()).unwrap();
        let symbols = image.section(".symtab").unwrap();
        let all = std::slice::from_ref(&(0..u64::MAX));
        let mut cut = SymbolTable::default();
        cut.add(&symbols.bytes[..symbols.bytes.len() - 7], SharedBytes::owned(b"no end".to_vec()), all);
        cut.arrange(all);
        assert!(cut.is_empty(), "names outside the string table or without an end are none");
        let mut garbage = SymbolTable::default();
        let strings = image.section(".strtab").unwrap();
        garbage.add(&strings.bytes, symbols.bytes, all);
        garbage.arrange(all);
        for pair in garbage.pieces.windows(2) {
            assert!(pair[0].start < pair[0].end && pair[0].end <= pair[1].start);
        }
    }
}
