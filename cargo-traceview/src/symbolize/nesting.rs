//! How deep the functions of DWARF are nested.
//!
//! [`addr2line`] reads a function that is inlined into an inlined one by calling itself. A file made to harm, a few
//! kilobytes long, would end us by a stack that is full, and with us the recording: no handler of panics sees that.

use gimli::{Dwarf, UnitHeader};

use super::source::Reader;

/// Optimizers stop far below, and this is far from filling the stack of a thread.
const MAX_INLINED: usize = 512;

/// Whether a unit has a function that is inlined through more others than any compiler's.
pub(super) fn is_too_deep(dwarf: &Dwarf<Reader<'_>>) -> bool {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        // What is damaged is left by all readers at the same place.
        if is_unit_too_deep(dwarf, header).unwrap_or(false) {
            return true;
        }
    }
    false
}

fn is_unit_too_deep(dwarf: &Dwarf<Reader<'_>>, header: UnitHeader<Reader<'_>>) -> gimli::Result<bool> {
    let abbreviations = dwarf.abbreviations(&header)?;
    let mut entries = header.entries_raw(&abbreviations, None)?;
    // Depths of the inlined functions around the entry at hand.
    let mut open: Vec<isize> = Vec::new();
    while !entries.is_empty() {
        let depth = entries.next_depth();
        while open.pop_if(|around| depth <= *around).is_some() {}
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if abbreviation.tag() == gimli::DW_TAG_inlined_subroutine {
            open.push(depth);
            if open.len() > MAX_INLINED {
                return Ok(true);
            }
        }
        entries.skip_attributes(abbreviation.attributes())?;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};

    use super::{MAX_INLINED, is_too_deep};

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
            is_too_deep(&Dwarf::load(load).unwrap())
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
