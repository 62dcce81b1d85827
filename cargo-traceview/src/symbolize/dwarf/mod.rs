//! DWARF for many addresses at once: each unit is read once, on one thread, and only what covers an address is kept.
//!
//! Readers that answer one address at a time have to keep what they have parsed, for all units of a program. With all
//! addresses known beforehand a single pass over a unit does, and nothing remains of it but the answers.
//!
//! What is rare is left to such a reader, [`super::resolve::Symbolizer`]: damaged units ([`Unusual`]), units whose content is
//! split off or shared with other files.

mod functions;
mod lines;
mod names;
mod unit;
mod units;

use gimli::{Dwarf, UnitOffset, UnitRef};
use rustc_hash::FxHashSet;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use super::effort::{Effort, Exceeded};
use super::resolve::{DwarfFrame, Location, intern};
use super::source::Reader;
use super::symbol_table::code_around;
use functions::Function;
use lines::{Files, Row};
pub(super) use names::Names;
use unit::Claims;
pub(super) use unit::Extent;
pub(super) use units::Units;

/// A unit that this reader does not read: damaged, with its content elsewhere, or more work than is allowed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unusual;

impl From<gimli::Error> for Unusual {
    fn from(_: gimli::Error) -> Self {
        Unusual
    }
}

impl From<Exceeded> for Unusual {
    fn from(_: Exceeded) -> Self {
        Unusual
    }
}

/// The image's code, sorted.
#[derive(Clone, Copy)]
struct Code<'a>(&'a [Range<u64>]);

impl Code<'_> {
    /// Whether code is at `begin`, where debug information says that some begins. Linkers leave the debug information of
    /// what they dropped, at address 0 for example, from where it can reach over code that is there.
    fn can_begin_at(self, begin: u64) -> bool {
        code_around(self.0, begin).is_some()
    }
}

/// Bytes of a name that take a step when they are hashed.
const LOOKED_UP: usize = 64;

/// What one unit says about one address.
pub(super) struct Answer<'a> {
    /// Index of the address.
    pub(super) address: usize,
    /// Of units that claim the same address, the one of the smallest rank is right.
    pub(super) rank: Rank,
    /// Outermost first, never empty.
    pub(super) frames: Result<Vec<DwarfFrame<'a>>, Unusual>,
}

/// The end of the claimed range, and the unit's offset.
pub(super) type Rank = (u64, usize);

/// All that a unit claims.
pub(super) type Claimed = Box<[Range<u64>]>;

/// What the unit at `offset` says about the sorted `addresses`; and all that it claims, if it says that and is not damaged.
pub(super) fn look_up<'a>(
    names: &mut Names<'_, 'a>,
    offset: usize,
    addresses: &[u64],
    texts: &mut FxHashSet<Arc<str>>,
) -> (Vec<Answer<'a>>, Option<Claimed>) {
    // A damaged root claims no address.
    let Ok(claims) = unit::claims(names, offset, addresses) else { return (Vec::new(), None) };
    let Claims { all, unit, of_addresses: claims } = claims;
    let Some(unit) = unit else { return (Vec::new(), all) };
    let claimed: Vec<u64> = claims.iter().map(|&(address, _)| addresses[address]).collect();
    let frames: Vec<Result<_, Unusual>> = match unit.and_then(|unit| frames(names, unit, &claimed, texts)) {
        Ok(frames) => frames.into_iter().map(Ok).collect(),
        Err(Unusual) => claimed.iter().map(|_| Err(Unusual)).collect(),
    };
    let answers = claims
        .into_iter()
        .zip(frames)
        .map(|((address, end), frames)| Answer { address, rank: (end, offset), frames })
        .filter(|answer| !answer.frames.as_ref().is_ok_and(Vec::is_empty))
        .collect();
    (answers, all)
}

/// The frames at each of the sorted `addresses`; none for one that the unit has nothing at.
fn frames<'a>(
    names: &mut Names<'_, 'a>,
    mut unit: gimli::Unit<Reader<'a>>,
    addresses: &[u64],
    texts: &mut FxHashSet<Arc<str>>,
) -> Result<Vec<Vec<DwarfFrame<'a>>>, Unusual> {
    let chains = functions::functions_at(names, &unit, addresses)?;
    let (rows, mut files) = match unit.line_program.take() {
        Some(program) => {
            let (rows, header) = lines::rows_at(program, names.code, &mut names.effort, addresses)?;
            (rows, Some(Files::new(header)))
        }
        None => (vec![None; addresses.len()], None),
    };
    let dwarf: &Dwarf<Reader<'a>> = names.dwarf;
    let effort = &mut names.effort;
    let mut file = |index, effort: &mut Effort<'_>| match &mut files {
        Some(files) => files.path(index, dwarf, &unit, effort, |path| intern(texts, path)),
        None => Ok(None),
    };
    let mut all = Vec::with_capacity(addresses.len());
    for (chain, row) in chains.into_iter().zip(rows) {
        let mut frames = Vec::with_capacity(chain.len());
        let mut reached = match row {
            Some(Row { file: index, line, column, .. }) => Location { file: file(index, effort)?, line, column },
            None => Location::default(),
        };
        if chain.is_empty() {
            if row.is_some() {
                frames.push(DwarfFrame { name: None, location: reached });
            }
            all.push(frames);
            continue;
        }
        // From the inside: the line reached in a function is the one where the next one was inlined.
        for Function { name, call } in chain.into_iter().rev() {
            // It will be looked up, see `Naming`.
            effort.spend(1 + name.map_or(0, <[u8]>::len) / LOOKED_UP)?;
            let file = call.file.map_or(Ok(None), |index| file(index, effort))?;
            let called_from = Location { file, line: call.line, column: call.column };
            frames.push(DwarfFrame { name, location: mem::replace(&mut reached, called_from) });
        }
        frames.reverse();
        all.push(frames);
    }
    Ok(all)
}

/// Whether the function at `entry` has a range around an address, of code that is there.
pub(super) fn is_of_code(
    unit: &UnitRef<'_, Reader<'_>>,
    entry: UnitOffset,
    (code, svma): (&[Range<u64>], u64),
    effort: &mut Effort<'_>,
) -> Result<bool, Unusual> {
    let mut entries = unit.entries_raw(Some(entry))?;
    let abbreviation = entries.read_abbreviation()?.ok_or(Unusual)?;
    effort.spend(1 + abbreviation.attributes().len())?;
    let mut extent = Extent::default();
    for specification in abbreviation.attributes() {
        extent.note(&entries.read_attribute(*specification)?);
    }
    let mut is_of_code = false;
    extent.for_each_range(unit.dwarf, unit.unit, effort, |range, _| {
        is_of_code |= (range.begin..range.end).contains(&svma) && Code(code).can_begin_at(range.begin);
        Ok(())
    })?;
    Ok(is_of_code)
}
