//! Debug information that [`addr2line`] must not be given.
//!
//! It reads a function that is inlined into an inlined one by calling itself. A file made to harm, a few kilobytes long,
//! would end us by a stack that is full, and with us the recording: no handler of panics sees that. Nor can it be stopped
//! when it has begun to read what takes it hours, see [`effort`](super::effort).

use gimli::{Dwarf, Unit, UnitHeader};

use super::dwarf::{Extent, Units, Unusual};
use super::effort::{Budget, Effort, Exceeded};
use super::source::Reader;

/// Functions inlined into each other. Optimizers stop far below, and this is far from filling the stack of a thread.
const MAX_INLINED: usize = 512;
/// Bytes of a function's name.
const MAX_NAME: usize = 256 << 10;
/// Steps to find the name of a function, through some other entries.
const NAME: usize = 16;

/// Whether functions are inlined through more others than any compiler's, have names longer than any, or reading it all is more work than is allowed.
pub(super) fn is_excessive(dwarf: &Dwarf<Reader<'_>>, units: &Units, budget: &Budget) -> bool {
    let mut effort = budget.effort();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        // What is damaged is left by all readers at the same place.
        let is_beyond = is_beyond_limits(dwarf, units, header, &mut effort).unwrap_or(false);
        if is_beyond || budget.is_exceeded() {
            return true;
        }
    }
    false
}

/// Whether functions of a unit are nested too deep, or their names too long. Counts the work of reading it as [`addr2line`] does.
fn is_beyond_limits<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    units: &Units,
    header: UnitHeader<Reader<'a>>,
    effort: &mut Effort<'_>,
) -> Result<bool, Unusual> {
    units.spend_on(&header, effort)?;
    let unit = dwarf.unit(header)?;
    spend_on_lines(dwarf, &unit, effort)?;
    let mut entries = unit.entries_raw(None)?;
    // Depths of the inlined functions around the entry at hand, and of those that are not.
    let (mut inlined, mut functions): (Vec<isize>, Vec<isize>) = (Vec::new(), Vec::new());
    while !entries.is_empty() {
        let depth = entries.next_depth();
        for around in [&mut inlined, &mut functions] {
            while around.pop_if(|around| depth <= *around).is_some() {}
        }
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        // Each function is read with all in it.
        effort.spend((1 + abbreviation.attributes().len()).saturating_mul(1 + functions.len()))?;
        match abbreviation.tag() {
            gimli::DW_TAG_subprogram => functions.push(depth),
            gimli::DW_TAG_inlined_subroutine => inlined.push(depth),
            _ if depth > 0 => {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            _ => {}
        }
        if inlined.len() > MAX_INLINED {
            return Ok(true);
        }
        effort.spend(NAME)?;
        let mut extent = Extent::default();
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            if matches!(
                attribute.name(),
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name | gimli::DW_AT_name
            ) {
                let len = dwarf.attr_string(&unit, attribute.value()).map_or(0, |name| name.len());
                effort.spend_text(len)?;
                if len > MAX_NAME {
                    return Ok(true);
                }
            }
            extent.note(&attribute);
        }
        // A list that is damaged ends there for all readers.
        let _is_damaged = extent.for_each_range(dwarf, &unit, effort, |_, _| Ok(())).is_err();
    }
    Ok(false)
}

/// Counts reading the table of lines of a unit, and the paths of all its files.
fn spend_on_lines<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    effort: &mut Effort<'_>,
) -> Result<(), Exceeded> {
    let Some(program) = &unit.line_program else { return Ok(()) };
    let header = program.header();
    effort.spend(header.unit_length())?;
    effort.spend(header.unit_length())?;
    let len = |text| dwarf.attr_string(unit, text).map_or(0, |text| text.len());
    let root = unit.comp_dir.map_or(0, |directory| directory.len());
    for file in header.file_names() {
        effort.spend_text(root + file.directory(header).map_or(0, len) + len(file.path_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};

    use super::{MAX_INLINED, is_excessive};
    use crate::symbolize::dwarf::Units;
    use crate::symbolize::effort::Budget;

    /// A unit, a function in it, and in that one inlined functions: without attributes, in pairs of which the first has
    /// `depth` levels.
    fn unit(depth: usize) -> Vec<u8> {
        let entries = [&[1, 2][..], &vec![3; depth], &vec![0; depth], &[3, 0], &[0, 0]].concat();
        let header = [&[4, 0][..], &[0; 4], &[8]].concat();
        let len = u32::try_from(header.len() + entries.len()).unwrap();
        [&len.to_le_bytes()[..], &header, &entries].concat()
    }

    #[test]
    fn only_what_no_compiler_makes_is_too_deep() {
        let abbreviations = [1, 0x11, 1, 0, 0, 2, 0x2e, 1, 0, 0, 3, 0x1d, 1, 0, 0, 0];
        let check = |units: &[u8]| {
            let section = |id| match id {
                SectionId::DebugAbbrev => &abbreviations[..],
                SectionId::DebugInfo => units,
                _ => &[],
            };
            let load = |id| Ok::<_, gimli::Error>(EndianSlice::new(section(id), LittleEndian));
            let dwarf = Dwarf::load(load).unwrap();
            is_excessive(&dwarf, &Units::find(&dwarf).unwrap(), &Budget::default())
        };
        let (deep, deeper) = (unit(MAX_INLINED), unit(MAX_INLINED + 1));
        assert!(!check(&deep));
        assert!(check(&deeper));
        assert!(check(&[&*deep, &*deeper].concat()), "in any unit");
        assert!(!check(&deep.repeat(3)), "one beside the other is not deeper");
        for len in 0..deep.len() {
            assert!(!check(&deeper[..len]), "cut off");
        }
    }
}
