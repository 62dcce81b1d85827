//! The names of functions, which can stand in another entry than the code, and in another unit.

use gimli::{AttributeValue, DebugInfoOffset, Dwarf, Unit, UnitOffset};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

use super::unit::read_root;
use super::{Code, Reader, Units, Unusual};
use crate::symbolize::effort::{Budget, Effort};

/// References followed from a function to its name; there are two or three in practice.
const MAX_REFERENCES: usize = 16;

/// Finds the names of functions; to be kept for some units, not for all, as it keeps other units that names stand in.
pub(in super::super) struct Names<'d, 'a> {
    pub(super) dwarf: &'d Dwarf<Reader<'a>>,
    pub(super) code: Code<'d>,
    pub(super) units: &'d Units,
    pub(super) effort: Effort<'d>,
    others: FxHashMap<usize, Rc<Unit<Reader<'a>>>>,
}

impl<'d, 'a> Names<'d, 'a> {
    pub(in super::super) fn new(
        dwarf: &'d Dwarf<Reader<'a>>,
        code: &'d [Range<u64>],
        units: &'d Units,
        budget: &'d Budget,
    ) -> Self {
        Names { dwarf, code: Code(code), units, effort: budget.effort(), others: FxHashMap::default() }
    }

    /// The name in an entry of `unit` with these attributes, or in the one it refers to; the linker's name if there is
    /// one.
    pub(super) fn of_entry(
        &mut self,
        unit: &Unit<Reader<'a>>,
        linkage_name: Option<AttributeValue<Reader<'a>>>,
        name: Option<AttributeValue<Reader<'a>>>,
        origin: Option<AttributeValue<Reader<'a>>>,
    ) -> Result<Option<&'a [u8]>, Unusual> {
        for name in [linkage_name, name].into_iter().flatten() {
            if let Some(name) = self.text(unit, name)? {
                return Ok(Some(name));
            }
        }
        let Some(mut origin) = origin else { return Ok(None) };
        let mut other: Option<Rc<Unit<Reader<'a>>>> = None;
        for _ in 0..MAX_REFERENCES {
            let offset = match origin {
                AttributeValue::UnitRef(offset) => offset,
                AttributeValue::DebugInfoRef(offset) => {
                    let unit = self.unit_around(offset)?;
                    let offset = offset.to_unit_offset(&unit.header).ok_or(Unusual)?;
                    other = Some(unit);
                    offset
                }
                // In a file of its own.
                _ => return Err(Unusual),
            };
            match self.at(other.as_deref().unwrap_or(unit), offset)? {
                Found::Name(name) => return Ok(name),
                Found::In(next) => origin = next,
            }
        }
        Ok(None)
    }

    fn at(&mut self, unit: &Unit<Reader<'a>>, offset: UnitOffset) -> Result<Found<'a>, Unusual> {
        let mut entries = unit.entries_raw(Some(offset))?;
        let abbreviation = entries.read_abbreviation()?.ok_or(Unusual)?;
        self.effort.spend(1 + abbreviation.attributes().len())?;
        let (mut name, mut origin) = (None, None);
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            match attribute.name() {
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                    if let Some(name) = self.text(unit, attribute.value())? {
                        return Ok(Found::Name(Some(name)));
                    }
                }
                gimli::DW_AT_name => name = self.text(unit, attribute.value())?,
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => origin = Some(attribute.value()),
                _ => {}
            }
        }
        Ok(match (name, origin) {
            (None, Some(origin)) => Found::In(origin),
            (name, _) => Found::Name(name),
        })
    }

    /// A damaged name is none.
    fn text(
        &mut self,
        unit: &Unit<Reader<'a>>,
        value: AttributeValue<Reader<'a>>,
    ) -> Result<Option<&'a [u8]>, Unusual> {
        // In a file of its own.
        if let AttributeValue::DebugStrRefSup(_) = value {
            return Err(Unusual);
        }
        let text = self.dwarf.attr_string(unit, value).ok().map(|text| text.slice());
        self.effort.spend_text(text.map_or(0, <[u8]>::len))?;
        Ok(text)
    }

    /// The unit that an offset of the section lies in.
    fn unit_around(&mut self, offset: DebugInfoOffset) -> Result<Rc<Unit<Reader<'a>>>, Unusual> {
        let after = self.units.offsets.partition_point(|&unit| unit <= offset.0);
        let begin = *self.units.offsets[..after].last().ok_or(Unusual)?;
        if let Some(unit) = self.others.get(&begin) {
            return Ok(Rc::clone(unit));
        }
        let header = self.dwarf.unit_header(DebugInfoOffset(begin))?;
        self.units.spend_on(&header, &mut self.effort)?;
        // Without its lines.
        let unit = Rc::new(read_root(self.dwarf, header, &mut self.effort)?.0);
        self.others.insert(begin, Rc::clone(&unit));
        Ok(unit)
    }
}

/// What an entry says about a name.
enum Found<'a> {
    Name(Option<&'a [u8]>),
    /// It is in another entry.
    In(AttributeValue<Reader<'a>>),
}
