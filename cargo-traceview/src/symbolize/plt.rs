//! The stubs through which code calls functions of other libraries ("procedure linkage table"). No symbol table has them; a
//! stub is named `NAME@plt` after the function whose address the dynamic linker puts into the slot that it jumps through.
//!
//! Here is x86_64's code of stubs, as GNU ld, gold, lld and mold write it.

use object::LittleEndian;
use object::elf::{self, Rela64, Sym64};
use object::pod::{Pod, slice_from_all_bytes};
use object::read::elf::Sym as _;

use crate::image::{Image, SectionBytes};

/// Where stubs are. Slots that need no lazy binding, and stubs that are targets of indirect branches, have tables of their
/// own.
const SECTIONS: [&str; 4] = [".plt", ".plt.sec", ".plt.got", ".iplt"];
/// Stubs begin at multiples of this.
const ALIGNMENT: usize = 8;
/// The longest stub.
const MAX_LEN: usize = 16;

/// A stub and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stub {
    /// First address.
    pub(super) svma: u64,
    /// Length in bytes.
    pub(super) size: u64,
    pub(super) target: Target,
}

/// Where a stub leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To a function of this name, in whichever library has it.
    Name(Vec<u8>),
    /// To what the function at this address of the image chooses when the program starts (`ifunc`).
    ChosenBy(u64),
}

/// The stubs of `image`, by address.
pub(super) fn stubs(image: &Image) -> Vec<Stub> {
    let jumps: Vec<Jump> =
        SECTIONS.iter().filter_map(|name| image.section(name)).flat_map(|code| jumps(&code)).collect();
    if jumps.is_empty() {
        return Vec::new();
    }
    let mut slots = Vec::new();
    for name in [".rela.plt", ".rela.dyn", ".rela.iplt"] {
        if let Some(relocations) = image.section(name) {
            slots.extend(array::<Rela64<LittleEndian>>(&relocations.bytes).iter().filter_map(Slot::read));
        }
    }
    slots.sort_by_key(|slot| slot.svma);
    let names = DynamicNames { symbols: image.section(".dynsym"), strings: image.section(".dynstr") };
    let named = jumps.into_iter().filter_map(|Jump { svma, size, slot }| {
        let slot = &slots[slots.binary_search_by_key(&slot, |known| known.svma).ok()?];
        let target = if slot.chosen { Target::ChosenBy(slot.addend) } else { Target::Name(names.get(slot.symbol)?) };
        Some(Stub { svma, size, target })
    });
    let mut stubs: Vec<Stub> = named.collect();
    stubs.sort_by_key(|stub| stub.svma);
    stubs
}

/// A stub's code: a jump to the address in a slot.
#[derive(Debug, PartialEq, Eq)]
struct Jump {
    svma: u64,
    size: u64,
    slot: u64,
}

fn jumps(section: &SectionBytes) -> Vec<Jump> {
    let code: &[u8] = &section.bytes;
    let starts = (0..code.len()).step_by(ALIGNMENT);
    let found: Vec<(usize, u64)> =
        starts.filter_map(|at| Some((at, slot_of_jump(&code[at..], section.svma.wrapping_add(at as u64))?))).collect();
    let ends = found.iter().skip(1).map(|(next, _)| *next).chain([code.len()]);
    let sized = found.iter().zip(ends).map(|(&(at, slot), end)| Jump {
        svma: section.svma.wrapping_add(at as u64),
        size: (end - at).min(MAX_LEN) as u64,
        slot,
    });
    sized.collect()
}

/// The slot whose address the code at `svma` jumps to.
fn slot_of_jump(code: &[u8], svma: u64) -> Option<u64> {
    let mut rest = code;
    // `endbr64`; `mov $index, %r11d`; the prefix `bnd`.
    for optional in [&[0xf3, 0x0f, 0x1e, 0xfa][..], &[0x41, 0xbb], &[0xf2]] {
        if let Some(behind) = rest.strip_prefix(optional) {
            rest = if optional == [0x41, 0xbb] { behind.get(4..)? } else { behind };
        }
    }
    // `jmp *displacement(%rip)`
    let displacement = rest.strip_prefix(&[0xff, 0x25])?.first_chunk::<4>()?;
    let next = svma.wrapping_add((code.len() - rest.len() + 6) as u64);
    Some(next.wrapping_add_signed(i32::from_le_bytes(*displacement).into()))
}

/// A place that the dynamic linker fills with an address.
struct Slot {
    svma: u64,
    symbol: u32,
    addend: u64,
    chosen: bool,
}

impl Slot {
    fn read(relocation: &Rela64<LittleEndian>) -> Option<Self> {
        let chosen = match relocation.r_type(LittleEndian, false) {
            elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_GLOB_DAT => false,
            elf::R_X86_64_IRELATIVE => true,
            _ => return None,
        };
        Some(Slot {
            svma: relocation.r_offset.get(LittleEndian),
            symbol: relocation.r_sym(LittleEndian, false),
            addend: relocation.r_addend.get(LittleEndian).cast_unsigned(),
            chosen,
        })
    }
}

/// The symbols that relocations speak of.
struct DynamicNames {
    symbols: Option<SectionBytes>,
    strings: Option<SectionBytes>,
}

impl DynamicNames {
    fn get(&self, index: u32) -> Option<Vec<u8>> {
        let symbols = array::<Sym64<LittleEndian>>(&self.symbols.as_ref()?.bytes);
        let offset = symbols.get(index as usize)?.st_name(LittleEndian);
        let from = self.strings.as_ref()?.bytes.get(offset as usize..)?;
        let len = from.iter().position(|&byte| byte == 0)?;
        (len > 0).then(|| from[..len].to_vec())
    }
}

/// The whole entries of a table that may be cut off.
fn array<T: Pod>(bytes: &[u8]) -> &[T] {
    let whole = bytes.len() / size_of::<T>() * size_of::<T>();
    // Sections of damaged files can lie at odd addresses.
    slice_from_all_bytes(&bytes[..whole]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Jump, jumps, slot_of_jump};
    use crate::image::{SectionBytes, SharedBytes};

    #[test]
    fn every_linkers_stubs_are_read() {
        let jump = [0xff, 0x25, 0x10, 0, 0, 0];
        let with = |prefix: &[u8]| [prefix, &jump].concat();
        assert_eq!(slot_of_jump(&jump, 0x1000), Some(0x1016));
        assert_eq!(slot_of_jump(&with(&[0xf2]), 0x1000), Some(0x1017));
        assert_eq!(slot_of_jump(&with(&[0xf3, 0x0f, 0x1e, 0xfa]), 0x1000), Some(0x101a));
        assert_eq!(slot_of_jump(&with(&[0xf3, 0x0f, 0x1e, 0xfa, 0xf2]), 0x1000), Some(0x101b));
        assert_eq!(slot_of_jump(&with(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 1, 2, 3, 4]), 0x1000), Some(0x1020));
        assert_eq!(slot_of_jump(&[0xff, 0x25, 0xf0, 0xff, 0xff, 0xff], 0x1000), Some(0xff6));
        for other in [&b""[..], &jump[..5], &[0xff, 0x35, 0, 0, 0, 0], &[0x68, 0, 0, 0, 0], &[0x41, 0xbb, 1]] {
            assert_eq!(slot_of_jump(other, 0x1000), None, "{other:?}");
        }
    }

    #[test]
    fn stubs_end_where_the_next_begins_and_the_first_entry_is_none() {
        // Pushes and jumps to the dynamic linker; a lazy stub; two short ones.
        let mut code = vec![0xff, 0x35, 2, 0, 0, 0, 0xff, 0x25, 4, 0, 0, 0, 0x0f, 0x1f, 0x40, 0];
        code.extend([0xff, 0x25, 0, 1, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0]);
        code.extend([0xff, 0x25, 0, 2, 0, 0, 0x66, 0x90, 0xff, 0x25, 0, 3, 0, 0, 0x66, 0x90]);
        let section = SectionBytes { svma: 0x1000, bytes: SharedBytes::owned(code) };
        let stub = |svma, size, slot| Jump { svma, size, slot };
        assert_eq!(jumps(&section), [stub(0x1010, 16, 0x1116), stub(0x1020, 8, 0x1226), stub(0x1028, 8, 0x132e)]);
    }
}
