//! The call frame information of a file: which rule leads from an address in it to the caller.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::{
    BaseAddresses, CieOrFde, DebugFrame, EhFrame, EhFrameOffset, FrameDescriptionEntry, LittleEndian, UnwindContext,
    UnwindSection,
};

use super::instructions;
use super::registers::RegisterFile;
use super::rule::{self, Bytes, Rule};
use super::walk::{CutReason, Memory};
use crate::image::{Image, SectionBytes};

/// Start code is a few instructions: it calls the first real function, or jumps to it.
const START_CODE: u64 = 0x60;

/// The longest call takes so many bytes.
const LONGEST_CALL: u64 = 7;

/// The end of the longest instruction that does nothing.
const LONGEST_PADDING: u64 = 8;

/// Hand-written functions without rules are no longer than this.
const LARGEST_HOLE: u64 = 4096;

/// Behind the system call that starts a thread it takes so many bytes to get to where the new thread has rules.
const THREAD_START: u64 = 32;

/// Sections of stubs that linkers make, and whether the first entry is of another kind.
const STUBS: [(&str, bool); 4] = [(".plt", true), (".plt.sec", false), (".plt.got", false), (".iplt", false)];

/// Memory that looking rules up takes.
pub(super) type Context = UnwindContext<usize>;

/// The call frame information of a file.
#[derive(Debug)]
pub(super) struct FrameTable {
    image: Arc<Image>,
    eh_frame: Option<SectionBytes>,
    eh_frame_hdr: Option<SectionBytes>,
    debug_frame: Option<SectionBytes>,
    bases: BaseAddresses,
    stubs: Vec<(SectionBytes, bool)>,
    /// What the header's table does not have, sorted; built when it is needed.
    index: OnceLock<Vec<Entry>>,
}

/// An entry for a function.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    end: u64,
    place: Place,
}

/// Where an entry is.
#[derive(Clone, Copy, Debug)]
enum Place {
    EhFrame(usize),
    DebugFrame(usize),
}

/// Where a rule holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// What to do.
    pub(super) rule: Rule,
    /// Whether the return address that was asked for is not that of a call, but where code starts that was made to look
    /// like the caller.
    pub(super) is_start: bool,
}

/// Code that no entry is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hole {
    /// Where the last entry before it starts: the code can be a part of that function.
    start: u64,
    address: u64,
    /// Whether code without a caller follows closely: a new thread begins in between.
    pub(super) leads_to_outermost: bool,
}

impl Hole {
    /// Whether a call of `target` can have led there: no other function lies between.
    pub(super) fn is_reached_from(&self, target: u64) -> bool {
        (self.start..=self.address).contains(&target) && self.address - target <= LARGEST_HOLE
    }
}

impl FrameTable {
    /// That of `image`.
    pub(super) fn new(image: Arc<Image>) -> Self {
        let section = |name: &str| image.section(name);
        let (eh_frame, eh_frame_hdr) = (section(".eh_frame"), section(".eh_frame_hdr"));
        let mut bases = BaseAddresses::default();
        if let Some(eh_frame) = &eh_frame {
            bases = bases.set_eh_frame(eh_frame.svma);
        }
        if let Some(header) = &eh_frame_hdr {
            bases = bases.set_eh_frame_hdr(header.svma);
        }
        if let Some(text) = section(".text") {
            bases = bases.set_text(text.svma);
        }
        if let Some(got) = section(".got") {
            bases = bases.set_got(got.svma);
        }
        let debug_frame = section(".debug_frame");
        let stubs = STUBS.iter().filter_map(|(name, has_header)| Some((section(name)?, *has_header))).collect();
        Self { eh_frame, eh_frame_hdr, debug_frame, bases, stubs, index: OnceLock::new(), image }
    }

    /// The rule for the code at `svma`: the instruction that comes next, or with `is_return` the last byte of the call
    /// that is to return.
    pub(super) fn rule(&self, svma: u64, is_return: bool, context: &mut Context) -> Found {
        let after = svma.wrapping_add(1);
        let is_start = is_return && !self.is_after_call(after) && self.is_start_of_code(after);
        let svma = if is_start { after } else { svma };
        Found { rule: self.rule_at(svma, context), is_start }
    }

    fn rule_at(&self, svma: u64, context: &mut Context) -> Rule {
        if self.is_program_start(svma) {
            return Rule::Outermost;
        }
        if self.code(svma).is_some_and(instructions::is_signal_return) {
            return Rule::Interrupted;
        }
        let Some(place) = self.place(svma) else { return self.rule_of_stub(svma) };
        let rule = match place {
            Place::EhFrame(offset) => {
                self.eh_frame().and_then(|section| rule_in(&section, &self.bases, offset.into(), svma, context))
            }
            Place::DebugFrame(offset) => {
                self.debug_frame().and_then(|section| rule_in(&section, &self.bases, offset.into(), svma, context))
            }
        };
        rule.unwrap_or(Rule::Unknown)
    }

    /// The registers in the caller, by an [intricate](Rule::Intricate) rule, and whether that was interrupted there.
    pub(super) fn step(
        &self,
        svma: u64,
        context: &mut Context,
        registers: &RegisterFile,
        memory: &mut impl Memory,
    ) -> Result<(RegisterFile, bool), CutReason> {
        match self.place(svma).ok_or(CutReason::NoRule)? {
            Place::EhFrame(offset) => {
                let section = self.eh_frame().ok_or(CutReason::NoRule)?;
                step_in((&section, &self.bases, offset.into()), svma, context, registers, memory)
            }
            Place::DebugFrame(offset) => {
                let section = self.debug_frame().ok_or(CutReason::NoRule)?;
                step_in((&section, &self.bases, offset.into()), svma, context, registers, memory)
            }
        }
    }

    /// The code of the function around `svma`, which has no entry, from its start up to there. Functions start where the
    /// one before ends, or behind padding at multiples of sixteen.
    pub(super) fn code_in_hole(&self, svma: u64) -> Option<&[u8]> {
        const ALIGNMENT: u64 = 16;
        let (_, before) = self.header_entry(svma)?;
        let byte = |svma: u64| self.code(svma).and_then(|code| code.first()).copied();
        let is_padding = |byte: Option<u8>| matches!(byte, None | Some(0x90 | 0xcc | 0x66 | 0x0f | 0x00));
        let is_behind_padding = |svma: u64| {
            let before =
                svma.checked_sub(LONGEST_PADDING).and_then(|start| self.code(start)?.get(..LONGEST_PADDING as usize));
            before.is_none_or(instructions::ends_with_padding)
        };
        let lowest = before.end.max(svma.saturating_sub(LARGEST_HOLE)).checked_next_multiple_of(ALIGNMENT)?;
        let follows = (!is_padding(byte(before.end))).then_some(before.end);
        let behind_padding = (lowest..=svma)
            .step_by(ALIGNMENT as usize)
            .filter(|start| (follows.is_none() && *start == lowest) || is_behind_padding(*start));
        let start = behind_padding.last().or(follows)?;
        // The entry before can be that of the function itself, if it has no rule there that can be read.
        self.code(start)?.get(..usize::try_from(svma.checked_sub(start)?).ok()?)
    }

    /// What is known of code that has no rule.
    pub(super) fn hole(&self, svma: u64, context: &mut Context) -> Hole {
        let leads_to_outermost = (1..=THREAD_START)
            .map(|distance| svma.wrapping_add(distance))
            .find(|behind| self.place(*behind).is_some())
            .is_some_and(|behind| self.rule_at(behind, context) == Rule::Outermost);
        let start = self.header_entry(svma).map_or(0, |(_, function)| function.start);
        Hole { start, address: svma, leads_to_outermost }
    }

    /// Whether `svma` is in a large part of the file that nothing is known of: it is the code of a compiler that makes no
    /// tables, and keeps frame pointers instead (Go's, the snapshot of V8).
    pub(super) fn is_in_part_without_rules(&self, svma: u64) -> bool {
        let before = |svma| self.header_entry(svma).map(|(_, function)| function);
        if self.place(svma).is_some() || self.is_stub(svma) {
            return false;
        }
        let last = before(svma);
        let far = svma.saturating_add(LARGEST_HOLE);
        let goes_far_back = svma.saturating_sub(last.as_ref().map_or(0, |function| function.end)) > LARGEST_HOLE;
        goes_far_back && self.place(far).is_none() || self.code(far).is_some() && before(far) == last
    }

    /// The addresses of the function around `svma`, if the table has it.
    pub(super) fn function(&self, svma: u64) -> Option<Range<u64>> {
        match self.place(svma)? {
            Place::EhFrame(offset) => entry_in(&self.eh_frame()?, &self.bases, offset.into()),
            Place::DebugFrame(offset) => entry_in(&self.debug_frame()?, &self.bases, offset.into()),
        }
    }

    /// The code from `svma` on, as far as the file has it.
    pub(super) fn code(&self, svma: u64) -> Option<&[u8]> {
        // Program headers can say anything.
        self.image.segments().iter().find_map(|segment| {
            let offset = svma.checked_sub(segment.svma).filter(|offset| *offset < segment.file_size)?;
            let start = usize::try_from(segment.file_offset.checked_add(offset)?).ok()?;
            let end = usize::try_from(segment.file_offset.checked_add(segment.file_size)?).ok()?;
            self.image.data().get(start..end)
        })
    }

    /// The code up to return address `svma`, as long as the longest call.
    pub(super) fn code_before(&self, svma: u64) -> Option<&[u8]> {
        self.code(svma.checked_sub(LONGEST_CALL)?)?.get(..LONGEST_CALL as usize)
    }

    /// Whether `svma` is in the stubs of the linkage table.
    pub(super) fn is_stub(&self, svma: u64) -> bool {
        self.stubs.iter().any(|(section, _)| section.svma_range().contains(&svma))
    }

    fn is_after_call(&self, svma: u64) -> bool {
        self.code_before(svma).is_none_or(instructions::is_call)
    }

    /// Whether a function starts at `svma`: the end of a signal's handler, or what a context was made to return to.
    fn is_start_of_code(&self, svma: u64) -> bool {
        self.code(svma).is_some_and(instructions::is_signal_return)
            || self.function(svma).is_some_and(|function| svma.wrapping_sub(function.start) <= 1)
    }

    /// Whether `svma` is in the code that the kernel starts a program or its dynamic linker at. Nobody called that,
    /// whatever its rules say and its stack looks like.
    fn is_program_start(&self, svma: u64) -> bool {
        let entry = self.image.entry();
        entry != 0
            && svma.checked_sub(entry).is_some_and(|offset| offset < START_CODE)
            // What follows has a caller.
            && self.function(svma).is_none_or(|function| function.contains(&entry))
    }

    fn rule_of_stub(&self, svma: u64) -> Rule {
        let stub = self.stubs.iter().find(|(section, _)| section.svma_range().contains(&svma));
        let pushed = stub.and_then(|(section, has_header)| {
            let offset = usize::try_from(svma - section.svma).ok()?;
            instructions::pushed_by_stub(&section.bytes, offset, *has_header)
        });
        match pushed.and_then(|pushed| i32::try_from(pushed + 8).ok()) {
            Some(end) => Rule::above_stack_pointer(end),
            None => Rule::Unknown,
        }
    }

    fn eh_frame(&self) -> Option<EhFrame<Bytes<'_>>> {
        let mut section = EhFrame::new(&self.eh_frame.as_ref()?.bytes, LittleEndian);
        section.set_address_size(8);
        Some(section)
    }

    fn debug_frame(&self) -> Option<DebugFrame<Bytes<'_>>> {
        let mut section = DebugFrame::new(&self.debug_frame.as_ref()?.bytes, LittleEndian);
        section.set_address_size(8);
        Some(section)
    }

    /// Where the entry for `svma` is.
    fn place(&self, svma: u64) -> Option<Place> {
        self.place_by_header(svma).or_else(|| {
            let index = self.index();
            let behind = index.partition_point(|entry| entry.start <= svma);
            index[..behind].last().filter(|entry| svma < entry.end).map(|entry| entry.place)
        })
    }

    /// Builds what else would be built when it is needed.
    pub(super) fn prepare(&self) {
        self.index();
    }

    fn index(&self) -> &[Entry] {
        self.index.get_or_init(|| self.build_index())
    }

    fn place_by_header(&self, svma: u64) -> Option<Place> {
        let (place, function) = self.header_entry(svma)?;
        function.contains(&svma).then_some(place)
    }

    /// The header's table as all linkers make it, and what its numbers are added to: for each function, in order, where it
    /// starts and where its entry is. `None` if it is another, or empty.
    fn header_table(&self) -> Option<(u64, &[[u8; 8]])> {
        const FOUR_BYTES_TO_HERE: u8 = 0x1b;
        const FOUR_BYTES: u8 = 0x03;
        const FOUR_BYTES_TO_HEADER: u8 = 0x3b;
        let header = self.eh_frame_hdr.as_ref()?;
        let (head, table) = header.bytes.split_at_checked(12)?;
        let [1, FOUR_BYTES_TO_HERE, FOUR_BYTES, FOUR_BYTES_TO_HEADER, _, _, _, _, count @ ..] = head else {
            return None;
        };
        let count = u32::from_le_bytes(count.try_into().ok()?);
        let rows = table.as_chunks().0.get(..usize::try_from(count).ok()?)?;
        (!rows.is_empty()).then_some((header.svma, rows))
    }

    /// The last entry of the header's table that starts at `svma` or before.
    fn header_entry(&self, svma: u64) -> Option<(Place, Range<u64>)> {
        let (base, rows) = self.header_table()?;
        let word = |bytes: [u8; 4]| base.wrapping_add_signed(i32::from_le_bytes(bytes).into());
        let behind = rows.partition_point(|[a, b, c, d, ..]| word([*a, *b, *c, *d]) <= svma);
        let [.., a, b, c, d] = *rows[..behind].last()?;
        // Nothing says that it lies behind the section's start.
        let offset = word([a, b, c, d]).checked_sub(self.eh_frame.as_ref()?.svma)?;
        let offset = EhFrameOffset(usize::try_from(offset).ok()?);
        let function = entry_in(&self.eh_frame()?, &self.bases, offset)?;
        (function.start <= svma).then_some((Place::EhFrame(offset.0), function))
    }

    /// Entries of `.debug_frame`, and those of `.eh_frame` if no header's table can be read.
    fn build_index(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        if self.header_table().is_none()
            && let Some(section) = self.eh_frame()
        {
            collect(&section, &self.bases, &mut entries, Place::EhFrame);
        }
        if let Some(section) = self.debug_frame() {
            collect(&section, &self.bases, &mut entries, Place::DebugFrame);
        }
        entries.sort_by_key(|entry| entry.start);
        entries
    }
}

fn entry_at<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    offset: S::Offset,
) -> Option<FrameDescriptionEntry<Bytes<'a>>> {
    section.fde_from_offset(bases, offset, S::cie_from_offset).ok()
}

fn entry_in<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    offset: S::Offset,
) -> Option<Range<u64>> {
    let entry = entry_at(section, bases, offset)?;
    Some(entry.initial_address()..entry.end_address())
}

fn rule_in<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    offset: S::Offset,
    svma: u64,
    context: &mut Context,
) -> Option<Rule> {
    let entry = entry_at(section, bases, offset)?;
    let row = entry.unwind_info_for_address(section, bases, context, svma).ok()?;
    let is_usual = !entry.is_signal_trampoline() && entry.cie().return_address_register() == gimli::X86_64::RA;
    Some(if is_usual { Rule::of_row(row) } else { Rule::Intricate })
}

fn step_in<'a, S: UnwindSection<Bytes<'a>>>(
    (section, bases, offset): (&S, &BaseAddresses, S::Offset),
    svma: u64,
    context: &mut Context,
    registers: &RegisterFile,
    memory: &mut impl Memory,
) -> Result<(RegisterFile, bool), CutReason> {
    let entry = entry_at(section, bases, offset).ok_or(CutReason::NoRule)?;
    let row = entry.unwind_info_for_address(section, bases, context, svma).map_err(|_| CutReason::NoRule)?;
    let caller = rule::intricate((section, entry.cie().encoding()), row, registers, memory)?;
    Ok((caller, entry.is_signal_trampoline()))
}

/// All entries of a section up to the first that cannot be read.
fn collect<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    entries: &mut Vec<Entry>,
    place: impl Fn(usize) -> Place,
) {
    let mut all = section.entries(bases);
    while let Ok(Some(entry)) = all.next() {
        let CieOrFde::Fde(entry) = entry else { continue };
        let Ok(entry) = entry.parse(S::cie_from_offset) else { continue };
        entries.push(Entry { start: entry.initial_address(), end: entry.end_address(), place: place(entry.offset()) });
    }
}

#[cfg(test)]
mod tests;
