//! Partial units: what `dwz` moved out of several units of a file, because they share it.
//!
//! They have no code, but name a table of lines. Up to DWARF 4 only the tag of their root tells them from units with code, and
//! readers that look for code by the lines of units without address ranges would find the code of others in them, without
//! functions. So that table is hidden from all readers here.

use crate::image::SharedBytes;

/// Stands instead of `DW_AT_stmt_list`: nobody asks the root of a unit for it, and its code is as long.
const IGNORED: u8 = gimli::DW_AT_visibility.0 as u8;

/// `.debug_abbrev` in which the roots of partial units have no lines.
pub(super) fn without_lines(abbreviations: SharedBytes) -> SharedBytes {
    let places = lines_of_partial_units(&abbreviations);
    if places.is_empty() {
        return abbreviations;
    }
    let mut changed = abbreviations.to_vec();
    for place in places {
        changed[place] = IGNORED;
    }
    SharedBytes::owned(changed)
}

/// Where `DW_AT_stmt_list` stands in the declarations of partial units, as far as the section can be read.
fn lines_of_partial_units(section: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut numbers = Numbers { section, at: 0 };
    while let Some(code) = numbers.next() {
        // The end of a table.
        if code == 0 {
            continue;
        }
        let Some(tag) = numbers.next() else { break };
        // Whether there are children.
        numbers.at += 1;
        loop {
            let place = numbers.at;
            let (Some(name), Some(form)) = (numbers.next(), numbers.next()) else { return places };
            if form == u64::from(gimli::DW_FORM_implicit_const.0) && numbers.next().is_none() {
                return places;
            }
            if (name, form) == (0, 0) {
                break;
            }
            let is_lines = name == u64::from(gimli::DW_AT_stmt_list.0) && numbers.section[place] < 0x80;
            if is_lines && tag == u64::from(gimli::DW_TAG_partial_unit.0) {
                places.push(place);
            }
        }
    }
    places
}

/// The declarations of abbreviations: numbers in groups of seven bits; higher bits than 63 are dropped.
pub(super) struct Numbers<'a> {
    pub(super) section: &'a [u8],
    pub(super) at: usize,
}

impl Numbers<'_> {
    pub(super) fn next(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *self.section.get(self.at)?;
            self.at += 1;
            if shift < 64 {
                number |= u64::from(byte & 0x7f) << shift;
            }
            shift += 7;
            if byte < 0x80 {
                return Some(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{lines_of_partial_units, without_lines};
    use crate::image::SharedBytes;

    #[test]
    fn only_partial_units_lose_their_lines() {
        // Two tables. `compile_unit`: lines, name. `partial_unit`: name, a constant of two bytes, lines.
        let section = [
            &[1, 0x11, 1, 0x10, 0x17, 0x03, 0x0e, 0, 0, 0][..],
            &[2, 0x3c, 1, 0x03, 0x0e, 0x0b, 0x21, 0x80, 0x01, 0x10, 0x17, 0, 0, 0],
        ]
        .concat();
        assert_eq!(lines_of_partial_units(&section), [19]);
        let changed = without_lines(SharedBytes::owned(section.clone()));
        let differing: Vec<usize> = (0..section.len()).filter(|&at| changed[at] != section[at]).collect();
        assert_eq!((differing, changed[19]), (vec![19], 0x17));
        for len in 0..section.len() {
            assert!(lines_of_partial_units(&section[..len]).len() <= 1);
        }
        assert_eq!(lines_of_partial_units(&[0xff; 100]), [0; 0]);
    }
}
