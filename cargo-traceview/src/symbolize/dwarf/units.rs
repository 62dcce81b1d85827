//! Where the units of `.debug_info` are, and the abbreviations that they are written in.

use gimli::{Abbreviations, DebugAbbrevOffset, Dwarf, Section as _, UnitHeader};
use std::sync::Arc;

use super::Reader;
use crate::symbolize::effort::{Budget, Effort, Exceeded};
use crate::symbolize::partial::Numbers;

/// Attributes of one entry. Compilers declare some twenty.
const MAX_ATTRIBUTES: usize = 128;

/// The units of a file.
#[derive(Debug, Default)]
pub(in super::super) struct Units {
    /// Where each unit begins, up to the first damaged header.
    pub(in super::super) offsets: Vec<usize>,
    /// Where the section ends.
    pub(in super::super) end: usize,
    /// Where tables of abbreviations begin, sorted, with their lengths.
    tables: Vec<(usize, usize)>,
    /// The tables that several units have in common.
    shared: Vec<(DebugAbbrevOffset, Arc<Abbreviations>)>,
}

impl Units {
    /// Finds all units.
    pub(in super::super) fn find(dwarf: &Dwarf<Reader<'_>>) -> Result<Self, Exceeded> {
        let mut units = Units { end: dwarf.debug_info.reader().len(), ..Units::default() };
        let mut abbreviations: Vec<usize> = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            if let Some(offset) = header.debug_info_offset() {
                units.offsets.push(offset.0);
                abbreviations.push(header.debug_abbrev_offset().0);
            }
        }
        abbreviations.sort_unstable();
        let budget = Budget::default();
        budget.allow_for(dwarf);
        let mut effort = budget.effort();
        for same in abbreviations.chunk_by(|one, other| one == other) {
            let len = table_len(dwarf.debug_abbrev.reader().slice(), same[0], &mut effort)?;
            units.tables.push((same[0], len));
            let offset = DebugAbbrevOffset(same[0]);
            if same.len() > 1
                && let Ok(abbreviations) = dwarf.debug_abbrev.abbreviations(offset)
            {
                units.shared.push((offset, Arc::new(abbreviations)));
            }
        }
        Ok(units)
    }

    /// Tells a reader the abbreviations that several units have in common, so that it need not read them again for each.
    pub(in super::super) fn share_with<'a>(&self, dwarf: &mut Dwarf<Reader<'a>>) {
        for (offset, abbreviations) in &self.shared {
            dwarf.abbreviations_cache.set::<Reader<'a>>(*offset, Arc::clone(abbreviations));
        }
    }

    /// Counts reading the abbreviations of a unit.
    pub(in super::super) fn spend_on(
        &self,
        header: &UnitHeader<Reader<'_>>,
        effort: &mut Effort<'_>,
    ) -> Result<(), Exceeded> {
        let offset = header.debug_abbrev_offset();
        let is_shared = self.shared.binary_search_by_key(&offset.0, |(shared, _)| shared.0).is_ok();
        let table = self.tables.binary_search_by_key(&offset.0, |(table, _)| *table);
        let len = table.map_or(0, |index| self.tables[index].1);
        effort.spend(if is_shared { 1 } else { 1 + len })
    }
}

/// The length of the table of abbreviations at an offset, as far as it can be read.
fn table_len(section: &[u8], offset: usize, effort: &mut Effort<'_>) -> Result<usize, Exceeded> {
    let mut numbers = Numbers { section, at: offset };
    let mut declared = offset;
    while skip_declaration(&mut numbers)? {
        effort.spend(numbers.at - declared)?;
        declared = numbers.at;
    }
    Ok(numbers.at.min(section.len()).saturating_sub(offset))
}

/// Skips a declaration; false at the end of a table, or where it can't be read any more.
fn skip_declaration(numbers: &mut Numbers<'_>) -> Result<bool, Exceeded> {
    let Some(1..) = numbers.next() else { return Ok(false) };
    if numbers.next().is_none() {
        return Ok(false);
    }
    // Whether there are children.
    numbers.at += 1;
    for _ in 0..=MAX_ATTRIBUTES {
        let (Some(name), Some(form)) = (numbers.next(), numbers.next()) else { return Ok(false) };
        if (name, form) == (0, 0) {
            return Ok(true);
        }
        if form == u64::from(gimli::DW_FORM_implicit_const.0) && numbers.next().is_none() {
            return Ok(false);
        }
    }
    // No damage, as it has been read: it is made so.
    Err(Exceeded)
}
