//! Functions of a unit at given addresses, and the functions inlined there.

use gimli::{AttributeValue, EntriesRaw, Unit};

use super::unit::Extent;
use super::{Names, Reader, Unusual};

/// A function at an address.
pub(super) struct Function<'a> {
    pub(super) name: Option<&'a [u8]>,
    /// Where it was inlined; nowhere for one that was not.
    pub(super) call: Call,
}

/// A place in the function around an inlined one.
#[derive(Clone, Copy, Default)]
pub(super) struct Call {
    /// Index in the unit's table of files.
    pub(super) file: Option<u64>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

/// The functions at each of the sorted `addresses`, outermost first.
pub(super) fn functions_at<'a>(
    names: &mut Names<'_, 'a>,
    unit: &Unit<Reader<'a>>,
    addresses: &[u64],
) -> Result<Vec<Vec<Function<'a>>>, Unusual> {
    let mut chains: Vec<Vec<Function<'a>>> = addresses.iter().map(|_| Vec::new()).collect();
    // Functions that enclose the entry at hand, innermost last.
    let mut open: Vec<Scope> = Vec::new();
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let depth = entries.next_depth();
        while open.pop_if(|scope| depth <= scope.depth).is_some() {}
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        names.effort.spend(1 + abbreviation.attributes().len())?;
        let has_code = || abbreviation.attributes().iter().any(|attribute| Extent::is_said_by(attribute.name()));
        let level = match abbreviation.tag() {
            gimli::DW_TAG_subprogram if has_code() => 0,
            // One without code, or in code that is not asked for.
            gimli::DW_TAG_subprogram => {
                entries.skip_attributes(abbreviation.attributes())?;
                open.push(Scope { depth, level: 0, is_reached: false });
                continue;
            }
            gimli::DW_TAG_inlined_subroutine if open.last().is_some_and(|scope| scope.is_reached) => {
                open.last().map_or(0, |scope| scope.level) + 1
            }
            _ => {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
        };
        let entry = Entry::read(&mut entries, abbreviation)?;
        let call = entry.call(unit);
        let mut reached: Vec<usize> = Vec::new();
        let code = names.code;
        entry.extent.for_each_range(names.dwarf, unit, &mut names.effort, |range, effort| {
            if !code.can_begin_at(range.begin) {
                return Ok(());
            }
            let first = addresses.partition_point(|&address| address < range.begin);
            let within = addresses[first..].partition_point(|&address| address < range.end);
            effort.spend(within)?;
            for (index, chain) in (first..).zip(&mut chains[first..first + within]) {
                // Another function at the same place is the same code under another name. Ranges can overlap, too.
                if chain.len() == level {
                    chain.push(Function { name: None, call });
                    reached.push(index);
                }
            }
            Ok(())
        })?;
        open.push(Scope { depth, level, is_reached: !reached.is_empty() });
        if !reached.is_empty() {
            let name = names.of_entry(unit, entry.linkage_name, entry.name, entry.origin)?;
            for index in reached {
                chains[index].last_mut().expect("the function was put there").name = name;
            }
        }
    }
    Ok(chains)
}

/// A function, inlined or not, while its children are read.
struct Scope {
    depth: isize,
    /// How many functions it is inlined through.
    level: usize,
    /// Whether an address is in it.
    is_reached: bool,
}

/// The attributes of a function.
#[derive(Default)]
struct Entry<'a> {
    extent: Extent<'a>,
    linkage_name: Option<AttributeValue<Reader<'a>>>,
    name: Option<AttributeValue<Reader<'a>>>,
    origin: Option<AttributeValue<Reader<'a>>>,
    call_file: Option<u64>,
    call_line: Option<u64>,
    call_column: Option<u64>,
}

impl<'a> Entry<'a> {
    fn read(entries: &mut EntriesRaw<'_, Reader<'a>>, abbreviation: &gimli::Abbreviation) -> gimli::Result<Self> {
        let mut entry = Entry::default();
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            let value = attribute.value();
            match attribute.name() {
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => entry.linkage_name = Some(value),
                gimli::DW_AT_name => entry.name = Some(value),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => entry.origin = Some(value),
                gimli::DW_AT_call_file => {
                    if let AttributeValue::FileIndex(index) = value {
                        entry.call_file = Some(index);
                    }
                }
                gimli::DW_AT_call_line => entry.call_line = attribute.udata_value(),
                gimli::DW_AT_call_column => entry.call_column = attribute.udata_value(),
                _ => entry.extent.note(&attribute),
            }
        }
        Ok(entry)
    }

    fn call(&self, unit: &Unit<Reader<'a>>) -> Call {
        let number = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok()).filter(|&value| value > 0);
        Call {
            // Files count from 1 before DWARF 5.
            file: self.call_file.filter(|&index| index > 0 || unit.header.version() >= 5),
            line: number(self.call_line),
            column: number(self.call_column),
        }
    }
}
