//! Tables of a real library, whole and damaged.

use std::path::PathBuf;

use super::*;

/// Memory in which each word is made of its address.
struct Anything;

impl Memory for Anything {
    fn word(&mut self, address: u64) -> Result<u64, CutReason> {
        Ok(address.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn code(&self, _: u64, _: &mut [u8]) -> usize {
        0
    }
}

/// Numbers that look random and are the same each time.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn library() -> Image {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let path = maps.split_ascii_whitespace().find(|field| field.contains("/libgcc_s")).unwrap();
    Image::open(path.as_ref()).unwrap()
}

/// Whatever can be asked of the table for an address.
fn ask(table: &FrameTable, svma: u64, context: &mut Context) {
    let registers = RegisterFile::all(std::array::from_fn(|index| svma.rotate_left(index as u32 * 3)));
    let found = table.rule(svma, svma & 1 == 0, context);
    if let Rule::Plain(plain) = found.rule {
        let _ = plain.step(&registers, svma & 2 == 0, &mut Anything);
    }
    let _ = table.step(svma, context, &registers, &mut Anything);
    table.hole(svma, context).is_reached_from(svma.wrapping_sub(16));
    let _ = (table.code_in_hole(svma), table.function(svma), table.code_before(svma));
}

#[test]
fn the_headers_table_leads_to_every_entry() {
    let table = FrameTable::new(Arc::new(library()));
    let mut entries = Vec::new();
    collect(&table.eh_frame().unwrap(), &table.bases, &mut entries, Place::EhFrame);
    assert!(table.header_table().is_some() && entries.len() > 50);
    for Entry { start, end, .. } in entries {
        assert_eq!([start, end - 1].map(|svma| table.function(svma)), [Some(start..end), Some(start..end)]);
    }
    assert!(table.index().is_empty(), "no entry is there twice");
}

#[test]
fn damaged_files_do_no_harm() {
    let library = library();
    let whole = library.data().to_vec();
    let offset = |name: &str| {
        let section = library.section(name).unwrap();
        let segment = library
            .segments()
            .iter()
            .find(|segment| segment.svma <= section.svma && section.svma < segment.svma + segment.mem_size);
        let segment = segment.unwrap();
        ((section.svma - segment.svma + segment.file_offset) as usize, section.bytes.len())
    };
    let parts = [(0, 0x400), offset(".eh_frame_hdr"), offset(".eh_frame"), offset(".eh_frame")];
    let code = library.section(".text").unwrap().svma_range();
    let (mut state, mut context) = (7, Context::new());
    for round in 0..400_usize {
        let mut bytes = whole.clone();
        let (start, len) = parts[round % parts.len()];
        for _ in 0..=round % 17 * 20 {
            // Mostly where the sections begin, which says how to read the rest.
            let reach = if next(&mut state).is_multiple_of(2) { 64 } else { len };
            let place = start + next(&mut state) as usize % reach;
            bytes[place] = [0, 0xff, 0x80, next(&mut state) as u8][next(&mut state) as usize % 4];
        }
        let Ok(image) = Image::from_bytes(bytes, PathBuf::from("damaged")) else { continue };
        let table = FrameTable::new(Arc::new(image));
        for _ in 0..50 {
            let any = next(&mut state);
            ask(&table, code.start + any % (code.end - code.start), &mut context);
            ask(&table, any, &mut context);
            ask(&table, u64::MAX - any % 32, &mut context);
        }
    }
}
