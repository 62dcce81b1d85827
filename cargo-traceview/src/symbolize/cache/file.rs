//! The content of a file of names.
//!
//! ```text
//! magic, version    8 bytes
//! key               length: u32, bytes
//! texts             count: u32, ends: count × u32, bytes
//! symbols           count: u32, count × (name: u32, svma: u64, size: u64)
//! frames            count: u32, count × (name, linkage name, file, line, column: u32)
//! addresses         count: u32, count × (svma: u64, symbol: u32, first frame: u32, end of frames: u32, named: u32)
//! checksum          CRC-32 of all before
//! ```
//!
//! Numbers are little-endian. Names, files and symbols are indices from 1 into their tables, and 0 for none. Addresses are
//! sorted. An address without a name has an empty one: what stands for it depends on the image's path.

use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

use super::key::Key;
use crate::symbolize::debug_file::crc32;
use crate::symbolize::resolve::{Frame, NativeSymbol, Resolved};

const MAGIC: [u8; 8] = *b"tvnames1";
const SYMBOL: usize = 20;
const FRAME: usize = 20;
const ADDRESS: usize = 24;

/// A file of names that was read, and found whole and to be of the image asked for.
#[derive(Debug)]
pub(in super::super) struct Stored {
    bytes: Vec<u8>,
    texts: Vec<Arc<str>>,
    symbols: Range<usize>,
    frames: Range<usize>,
    addresses: Range<usize>,
}

impl Stored {
    pub(super) fn parse(bytes: Vec<u8>, key: &Key) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32(content) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut reader = Reader { bytes: content, at: 0 };
        let magic = reader.take(MAGIC.len())?;
        let of = reader.table(1)?;
        if content[magic] != MAGIC || &content[of] != key.bytes() {
            return None;
        }
        let ends = reader.table(4)?;
        let mut texts = Vec::with_capacity(ends.len() / 4);
        let mut start = 0;
        for end in content[ends].chunks_exact(4) {
            let end = usize::try_from(number(end, 0)).ok()?;
            let text = reader.take(end.checked_sub(start)?)?;
            texts.push(std::str::from_utf8(&content[text]).ok()?.into());
            start = end;
        }
        let (symbols, frames, addresses) = (reader.table(SYMBOL)?, reader.table(FRAME)?, reader.table(ADDRESS)?);
        (reader.at == content.len()).then_some(Stored { bytes, texts, symbols, frames, addresses })
    }

    /// What is known about an address. `unnamed` gives the text for one without a name.
    pub(in super::super) fn find(&self, svma: u64, unnamed: impl FnOnce() -> String) -> Option<Resolved> {
        let rows = self.bytes[self.addresses.clone()].as_chunks::<ADDRESS>().0;
        let row = &rows[rows.binary_search_by_key(&svma, |row| long(row, 0)).ok()?];
        self.resolved(row, unnamed)
    }

    /// All addresses with what is known about them; those without a name have an empty one.
    pub(in super::super) fn all(&self) -> impl Iterator<Item = (u64, Resolved)> {
        let rows = self.bytes[self.addresses.clone()].as_chunks::<ADDRESS>().0;
        rows.iter().filter_map(|row| Some((long(row, 0), self.resolved(row, String::new)?)))
    }

    fn resolved(&self, row: &[u8; ADDRESS], unnamed: impl FnOnce() -> String) -> Option<Resolved> {
        let symbol = match index(number(row, 8)) {
            Some(index) => {
                let symbol = self.bytes[self.symbols.clone()].as_chunks::<SYMBOL>().0.get(index)?;
                Some(NativeSymbol {
                    name: self.text(number(symbol, 0))??,
                    svma: long(symbol, 4),
                    size: long(symbol, 12),
                })
            }
            None => None,
        };
        let range = number(row, 12) as usize..number(row, 16) as usize;
        let frames = self.bytes[self.frames.clone()].as_chunks::<FRAME>().0.get(range)?;
        let mut frames = frames.iter().map(|frame| self.frame(frame)).collect::<Option<Vec<Frame>>>()?;
        let named = number(row, 20) != 0;
        let outermost = frames.first_mut()?;
        if !named {
            outermost.name = unnamed().into();
        }
        Some(Resolved { symbol, frames, named })
    }

    fn frame(&self, frame: &[u8; FRAME]) -> Option<Frame> {
        let some = |number: u32| (number > 0).then_some(number);
        Some(Frame {
            name: self.text(number(frame, 0))??,
            linkage_name: self.text(number(frame, 4))?,
            file: self.text(number(frame, 8))?,
            line: some(number(frame, 12)),
            column: some(number(frame, 16)),
        })
    }

    /// A text, or that there is none; `None` if the number is of no text.
    fn text(&self, number: u32) -> Option<Option<Arc<str>>> {
        match index(number) {
            Some(index) => self.texts.get(index).cloned().map(Some),
            None => Some(None),
        }
    }
}

fn index(number: u32) -> Option<usize> {
    number.checked_sub(1).map(|index| index as usize)
}

/// The number at an offset of a row; rows have a fixed size.
fn number(row: &[u8], at: usize) -> u32 {
    row[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn long(row: &[u8], at: usize) -> u64 {
    row[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, len: usize) -> Option<Range<usize>> {
        let end = self.at.checked_add(len).filter(|&end| end <= self.bytes.len())?;
        let range = self.at..end;
        self.at = end;
        Some(range)
    }

    /// A table of rows of `size` bytes, with their count before them.
    fn table(&mut self, size: usize) -> Option<Range<usize>> {
        let count = self.take(4)?;
        let count = usize::try_from(number(&self.bytes[count], 0)).ok()?;
        self.take(count.checked_mul(size)?)
    }
}

/// The content of a file; `None` if the names are too many for it.
pub(super) fn encode(key: &Key, names: &[(u64, &Resolved)]) -> Option<Vec<u8>> {
    let mut tables = Tables::default();
    for (svma, resolved) in names {
        tables.add(*svma, resolved)?;
    }
    let mut bytes = MAGIC.to_vec();
    put_table(&mut bytes, key.bytes(), 1)?;
    put_table(&mut bytes, &tables.ends, 4)?;
    bytes.extend_from_slice(&tables.texts);
    put_table(&mut bytes, &tables.symbols, SYMBOL)?;
    put_table(&mut bytes, &tables.frames, FRAME)?;
    put_table(&mut bytes, &tables.addresses, ADDRESS)?;
    let checksum = crc32(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Some(bytes)
}

fn put_table(bytes: &mut Vec<u8>, table: &[u8], size: usize) -> Option<()> {
    bytes.extend_from_slice(&rows(table, size)?.to_le_bytes());
    bytes.extend_from_slice(table);
    Some(())
}

fn rows(table: &[u8], size: usize) -> Option<u32> {
    u32::try_from(table.len() / size).ok()
}

#[derive(Default)]
struct Tables<'a> {
    texts: Vec<u8>,
    ends: Vec<u8>,
    symbols: Vec<u8>,
    frames: Vec<u8>,
    addresses: Vec<u8>,
    text_numbers: FxHashMap<&'a str, u32>,
    symbol_numbers: FxHashMap<(&'a str, u64, u64), u32>,
}

impl<'a> Tables<'a> {
    fn add(&mut self, svma: u64, resolved: &'a Resolved) -> Option<()> {
        let Resolved { symbol, frames, named } = resolved;
        let symbol = symbol.as_ref().map_or(Some(0), |symbol| self.symbol(symbol))?;
        let first = rows(&self.frames, FRAME)?;
        for (depth, frame) in frames.iter().enumerate() {
            let name = if *named || depth > 0 { &frame.name } else { "" };
            let mut optional = |text: &'a Option<Arc<str>>| text.as_deref().map_or(Some(0), |text| self.text(text));
            let (linkage_name, file) = (optional(&frame.linkage_name)?, optional(&frame.file)?);
            let numbers = [self.text(name)?, linkage_name, file, frame.line.unwrap_or(0), frame.column.unwrap_or(0)];
            self.frames.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        }
        self.addresses.extend_from_slice(&svma.to_le_bytes());
        let numbers = [symbol, first, rows(&self.frames, FRAME)?, u32::from(*named)];
        self.addresses.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        Some(())
    }

    fn text(&mut self, text: &'a str) -> Option<u32> {
        if let Some(number) = self.text_numbers.get(text) {
            return Some(*number);
        }
        self.texts.extend_from_slice(text.as_bytes());
        self.ends.extend_from_slice(&u32::try_from(self.texts.len()).ok()?.to_le_bytes());
        let number = rows(&self.ends, 4)?;
        self.text_numbers.insert(text, number);
        Some(number)
    }

    fn symbol(&mut self, symbol: &'a NativeSymbol) -> Option<u32> {
        let key = (&*symbol.name, symbol.svma, symbol.size);
        if let Some(number) = self.symbol_numbers.get(&key) {
            return Some(*number);
        }
        let name = self.text(&symbol.name)?;
        self.symbols.extend_from_slice(&name.to_le_bytes());
        self.symbols.extend([symbol.svma, symbol.size].into_iter().flat_map(u64::to_le_bytes));
        let number = rows(&self.symbols, SYMBOL)?;
        self.symbol_numbers.insert(key, number);
        Some(number)
    }
}
