//! Where a program starts. Libraries have that field too, and linkers put any function's address there.

use object::LittleEndian;
use object::elf::{self, FileHeader64, ProgramHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};

/// What dynamic linkers start with, or any code that must save what the kernel left on the stack: `mov %rsp,%rdi`, maybe
/// behind `xor %rbp,%rbp`.
const STARTS: [&[u8]; 2] = [&[0x48, 0x89, 0xe7], &[0x48, 0x31, 0xed, 0x48, 0x89, 0xe7]];

type Header = FileHeader64<LittleEndian>;
type ProgramHeader = ProgramHeader64<LittleEndian>;

/// The address that the kernel starts the program or the dynamic linker at; 0 for libraries.
pub(super) fn read(header: &Header, program_headers: &[ProgramHeader], data: &[u8]) -> u64 {
    let entry = header.e_entry(LittleEndian);
    let has_interpreter = || program_headers.iter().any(|header| header.p_type(LittleEndian) == elf::PT_INTERP);
    let is_program = header.e_type(LittleEndian) == elf::ET_EXEC
        || has_interpreter()
        || is_marked_as_program(program_headers, data)
        || code(program_headers, entry, data).is_some_and(|code| STARTS.iter().any(|start| code.starts_with(start)));
    if is_program { entry } else { 0 }
}

/// Whether linkers said that it is a program and no library, although it can be loaded anywhere.
fn is_marked_as_program(program_headers: &[ProgramHeader], data: &[u8]) -> bool {
    let entries =
        program_headers.iter().filter_map(|header| header.dynamic(LittleEndian, data).ok().flatten()).flatten();
    let mut flags = entries.filter(|entry| entry.tag(LittleEndian) == elf::DT_FLAGS_1);
    flags.any(|entry| elf::DynamicFlags1(entry.val(LittleEndian)).contains(elf::DF_1_PIE))
}

/// The code from `svma` on.
fn code<'data>(program_headers: &[ProgramHeader], svma: u64, data: &'data [u8]) -> Option<&'data [u8]> {
    program_headers.iter().filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD).find_map(|header| {
        let offset = svma.checked_sub(header.p_vaddr(LittleEndian))?;
        let bytes = header.data(LittleEndian, data).ok()?;
        bytes.get(usize::try_from(offset).ok()?..)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Image;

    #[test]
    fn only_programs_and_dynamic_linkers_have_one() {
        let own = Image::open(&std::env::current_exe().unwrap()).unwrap();
        assert_ne!(own.entry(), 0);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mapped = |name: &str| {
            let path =
                maps.lines().filter_map(|line| line.split_ascii_whitespace().nth(5)).find(|path| path.contains(name));
            Image::open(path.unwrap().as_ref()).unwrap()
        };
        assert_ne!(mapped("/ld-linux").entry(), 0, "the kernel starts it");
        let mut library = std::fs::read(mapped("/libgcc_s").path()).unwrap();
        let text = mapped("/libgcc_s").section(".text").unwrap().svma;
        // As older linkers do.
        library[24..32].copy_from_slice(&text.to_le_bytes());
        assert_eq!(Image::from_bytes(library, "library".into()).unwrap().entry(), 0);
    }
}
