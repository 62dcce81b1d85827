//! A unit of `.debug_info`: its root, and which addresses it claims.

use gimli::{Attribute, AttributeValue, Dwarf, RangeListsOffset, Unit, UnitHeader, UnitType};
use std::ops::Range;

use super::{Claimed, Names, Reader, Unusual, lines};
use crate::symbolize::effort::{Effort, Exceeded};

/// Steps for a range that is kept: each of its bytes.
const KEPT: usize = size_of::<Range<u64>>();

/// What a unit claims.
#[derive(Default)]
pub(super) struct Claims<'a> {
    /// All of it, if the unit says it at its root.
    pub(super) all: Option<Claimed>,
    /// The unit ready to be read, if it claims one of the addresses.
    pub(super) unit: Option<Result<Unit<Reader<'a>>, Unusual>>,
    /// The addresses that it claims, sorted: index, and end of the range claimed.
    pub(super) of_addresses: Vec<(usize, u64)>,
}

/// Reads the root of a unit, and the rest of what it takes to read the unit only if it claims one of the sorted
/// `addresses`.
pub(super) fn claims<'a>(names: &mut Names<'_, 'a>, offset: usize, addresses: &[u64]) -> Result<Claims<'a>, Unusual> {
    let Names { dwarf, code, units, effort, .. } = names;
    let nothing = || Claims { all: Some(Box::default()), ..Claims::default() };
    let header = dwarf.unit_header(gimli::DebugInfoOffset(offset))?;
    // Others hold types, or what units with code refer to.
    if !matches!(header.type_(), UnitType::Compilation | UnitType::Skeleton(_)) {
        return Ok(nothing());
    }
    units.spend_on(&header, effort)?;
    let (mut unit, root) = read_root(dwarf, header, effort)?;
    // Before DWARF 5 the header doesn't tell. Its lines, if it has some, are those of a unit that includes it.
    if root.is_partial {
        return Ok(nothing());
    }
    let mut claims = Vec::new();
    let mut all = Vec::new();
    // Ranges of a unit don't overlap, unless they are damaged.
    let most = 2 * addresses.len();
    let any = root.extent.for_each_range(dwarf, &unit, effort, |range, effort| {
        if !code.can_begin_at(range.begin) {
            return Ok(());
        }
        // Units can share a list that is longer than all of them.
        effort.spend(KEPT)?;
        all.push(range.begin..range.end);
        if claims.len() <= most {
            let first = addresses.partition_point(|&address| address < range.begin);
            let within = (first..).zip(&addresses[first..]).take_while(|&(_, &address)| address < range.end);
            let before = claims.len();
            claims.extend(within.map(|(index, _)| (index, range.end)));
            effort.spend(claims.len() - before)?;
        }
        Ok(())
    })?;
    if any {
        let all = Some(all.into_boxed_slice());
        if claims.is_empty() {
            return Ok(Claims { all, ..Claims::default() });
        }
        let is_usual = claims.len() <= most && unit.dwo_id.is_none();
        claims.sort_unstable();
        // Of several ranges around an address the one that ends first counts.
        claims.dedup_by_key(|(address, _)| *address);
        let complete = root.complete(dwarf, &mut unit, effort);
        let unit = if is_usual && complete.is_ok() { Ok(unit) } else { Err(Unusual) };
        return Ok(Claims { all, unit: Some(unit), of_addresses: claims });
    }
    // It doesn't say where its code is; its lines do.
    root.complete(dwarf, &mut unit, effort)?;
    let Some(program) = unit.line_program.clone() else { return Ok(nothing()) };
    let Ok((rows, _)) = lines::rows_at(program, *code, effort, addresses) else { return Ok(Claims::default()) };
    claims.extend(rows.iter().enumerate().filter_map(|(index, row)| Some((index, row.as_ref()?.end))));
    let unit = if unit.dwo_id.is_some() { Err(Unusual) } else { Ok(unit) };
    Ok(Claims { all: None, unit: (!claims.is_empty()).then_some(unit), of_addresses: claims })
}

/// What the root of a unit says, as far as it is not read at once.
pub(super) struct Root<'a> {
    extent: Extent<'a>,
    /// Whether it has no code of its own.
    is_partial: bool,
    name: Option<AttributeValue<Reader<'a>>>,
    comp_dir: Option<AttributeValue<Reader<'a>>>,
    lines: Option<gimli::DebugLineOffset>,
}

impl<'a> Root<'a> {
    /// Reads the line program's header with its tables of files, which is most of the work.
    fn complete(
        &self,
        dwarf: &Dwarf<Reader<'a>>,
        unit: &mut Unit<Reader<'a>>,
        effort: &mut Effort<'_>,
    ) -> Result<(), Unusual> {
        unit.name = self.name.and_then(|name| dwarf.attr_string(unit, name).ok());
        unit.comp_dir = self.comp_dir.and_then(|directory| dwarf.attr_string(unit, directory).ok());
        if let Some(offset) = self.lines {
            let program = dwarf.debug_line.program(offset, unit.header.address_size(), unit.comp_dir, unit.name)?;
            // The table of files and the program are one.
            effort.spend(program.header().unit_length())?;
            unit.line_program = Some(program);
        }
        Ok(())
    }
}

/// Reads the root of a unit.
pub(super) fn read_root<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    header: UnitHeader<Reader<'a>>,
    effort: &mut Effort<'_>,
) -> Result<(Unit<Reader<'a>>, Root<'a>), Unusual> {
    let (encoding, file_type) = (header.encoding(), dwarf.file_type);
    let abbreviations = dwarf.abbreviations(&header)?;
    let mut unit = Unit {
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: gimli::DebugStrOffsetsBase::default_for_encoding_and_file(encoding, file_type),
        addr_base: gimli::DebugAddrBase(0),
        loclists_base: gimli::DebugLocListsBase::default_for_encoding_and_file(encoding, file_type),
        rnglists_base: gimli::DebugRngListsBase::default_for_encoding_and_file(encoding, file_type),
        line_program: None,
        dwo_id: match header.type_() {
            UnitType::Skeleton(id) => Some(id),
            _ => None,
        },
        header,
    };
    let mut entries = unit.header.entries_raw(&unit.abbreviations, None)?;
    let abbreviation = entries.read_abbreviation()?.ok_or(gimli::Error::MissingUnitDie)?;
    let is_partial = abbreviation.tag() == gimli::DW_TAG_partial_unit;
    let mut root = Root { extent: Extent::default(), is_partial, name: None, comp_dir: None, lines: None };
    effort.spend(1 + abbreviation.attributes().len())?;
    for specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(*specification)?;
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_name, value) => root.name = Some(value),
            (gimli::DW_AT_comp_dir, value) => root.comp_dir = Some(value),
            (gimli::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => root.lines = Some(offset),
            (gimli::DW_AT_str_offsets_base, AttributeValue::DebugStrOffsetsBase(base)) => unit.str_offsets_base = base,
            (gimli::DW_AT_addr_base | gimli::DW_AT_GNU_addr_base, AttributeValue::DebugAddrBase(base)) => {
                unit.addr_base = base;
            }
            (gimli::DW_AT_rnglists_base | gimli::DW_AT_GNU_ranges_base, AttributeValue::DebugRngListsBase(base)) => {
                unit.rnglists_base = base;
            }
            (gimli::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) => unit.dwo_id = Some(id),
            _ => root.extent.note(&attribute),
        }
    }
    // What ranges are relative to.
    if let Some(low) = root.extent.low {
        unit.low_pc = dwarf.attr_address(&unit, low)?.unwrap_or(0);
    }
    Ok((unit, root))
}

/// The addresses of a unit, function or inlined function, as its attributes give them.
#[derive(Default)]
pub(in super::super) struct Extent<'a> {
    low: Option<AttributeValue<Reader<'a>>>,
    high: Option<AttributeValue<Reader<'a>>>,
    ranges: Option<AttributeValue<Reader<'a>>>,
}

impl<'a> Extent<'a> {
    /// Takes an attribute, if it is one of these.
    pub(in super::super) fn note(&mut self, attribute: &Attribute<Reader<'a>>) {
        match attribute.name() {
            gimli::DW_AT_low_pc => self.low = Some(attribute.value()),
            gimli::DW_AT_high_pc => self.high = Some(attribute.value()),
            gimli::DW_AT_ranges => self.ranges = Some(attribute.value()),
            _ => {}
        }
    }

    /// Whether an attribute says where code is.
    pub(super) fn is_said_by(name: gimli::DwAt) -> bool {
        matches!(name, gimli::DW_AT_low_pc | gimli::DW_AT_ranges)
    }

    /// Calls `each` for all ranges that are not empty, and says whether there were any.
    pub(in super::super) fn for_each_range(
        &self,
        dwarf: &Dwarf<Reader<'a>>,
        unit: &Unit<Reader<'a>>,
        effort: &mut Effort<'_>,
        mut each: impl FnMut(gimli::Range, &mut Effort<'_>) -> Result<(), Exceeded>,
    ) -> Result<bool, Unusual> {
        let mut any = false;
        let mut add = |range: gimli::Range, effort: &mut Effort<'_>| {
            if range.begin < range.end {
                any = true;
                each(range, effort)?;
            }
            Ok::<(), Unusual>(())
        };
        if let Some(offset) = self.range_list(dwarf, unit)? {
            let mut ranges = dwarf.ranges(unit, offset)?;
            // Not all that a list consists of is a range.
            while let Some(raw) = ranges.next_raw()? {
                effort.spend(1)?;
                if let Some(range) = ranges.convert_raw(raw)? {
                    add(range, effort)?;
                }
            }
        } else if let (Some(low), Some(high)) = (self.low, self.high) {
            let Some(begin) = dwarf.attr_address(unit, low)? else { return Ok(false) };
            // An address, or the size. Code that the linker dropped begins at -1: its end wraps around.
            let end = match high.udata_value() {
                Some(size) => begin.wrapping_add(size),
                None => dwarf.attr_address(unit, high)?.unwrap_or(begin),
            };
            add(gimli::Range { begin, end }, effort)?;
        }
        Ok(any)
    }

    fn range_list(
        &self,
        dwarf: &Dwarf<Reader<'a>>,
        unit: &Unit<Reader<'a>>,
    ) -> gimli::Result<Option<RangeListsOffset>> {
        self.ranges.map_or(Ok(None), |ranges| dwarf.attr_ranges_offset(unit, ranges))
    }
}
