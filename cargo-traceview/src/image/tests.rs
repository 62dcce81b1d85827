//! Images read from real files: this test program and its C library.

use super::{Image, ImageError};
use std::path::{Path, PathBuf};

/// One line of `/proc/self/maps` with a file.
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    executable: bool,
    path: PathBuf,
}

fn own_mappings() -> Vec<Mapping> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap();
    let parse = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let executable = fields.next()?.contains('x');
        let offset = fields.next()?;
        let path = fields.nth(2)?;
        let hex = |digits| u64::from_str_radix(digits, 16).unwrap();
        Some(Mapping { start: hex(start), end: hex(end), offset: hex(offset), executable, path: path.into() })
    };
    text.lines().filter_map(parse).filter(|mapping| mapping.path.is_absolute()).collect()
}

fn own_image() -> Image {
    Image::open(&std::env::current_exe().unwrap()).unwrap()
}

#[test]
fn every_mapping_of_this_process_agrees_on_its_images_bias() {
    let mappings = own_mappings();
    let mut checked = 0;
    for code in mappings.iter().filter(|mapping| mapping.executable) {
        let image = Image::open(&code.path).unwrap();
        let bias = image.code_bias(code.start, code.offset, code.end - code.start).unwrap();
        let end = image.segments().iter().map(|segment| segment.svma + segment.mem_size).max().unwrap();
        // The tests map the same files for reading as well, elsewhere.
        let loaded = bias + image.base_svma()..bias + end;
        let of_image = |mapping: &&Mapping| mapping.path == code.path && loaded.contains(&mapping.start);
        for mapping in mappings.iter().filter(of_image) {
            let of_mapping = image.bias(mapping.start, mapping.offset, mapping.end - mapping.start);
            assert_eq!(of_mapping, Some(bias), "{} at {:#x}", mapping.path.display(), mapping.start);
            checked += 1;
        }
    }
    assert!(checked >= 8, "this program and its libraries have several mappings each, found {checked}");
}

#[test]
fn bytes_in_memory_are_the_bytes_of_the_text_section() {
    #[inline(never)]
    fn marker() -> u32 {
        std::hint::black_box(0x5eed)
    }
    let avma = marker as fn() -> u32 as usize as u64;
    let mappings = own_mappings();
    let code = mappings.iter().find(|mapping| (mapping.start..mapping.end).contains(&avma)).unwrap();
    let image = own_image();
    let bias = image.code_bias(code.start, code.offset, code.end - code.start).unwrap();
    let text = image.section(".text").unwrap();
    assert!(text.svma_range().contains(&(avma - bias)));
    let offset = code.offset + (avma - code.start);
    assert_eq!(image.svma_at_file_offset(offset), Some(avma - bias));
    let from_file = &image.data()[usize::try_from(offset).unwrap()..][..8];
    let in_section = usize::try_from(avma - bias - text.svma).unwrap();
    assert_eq!(from_file, &text.bytes[in_section..in_section + 8]);
}

#[test]
fn sections_outlive_their_image() {
    let image = own_image();
    assert!(image.is_pie() && image.has_symtab() && image.has_debug_info());
    let hdr = image.section(".eh_frame_hdr").unwrap();
    drop(image);
    assert_eq!(hdr.bytes[0], 1, "the version of .eh_frame_hdr");
    assert!(hdr.svma > 0);
}

#[test]
fn sections_without_content_are_not_there() {
    assert!(own_image().section(".bss").is_none());
    assert!(own_image().section(".no_such_section").is_none());
}

#[test]
fn the_c_library_has_a_build_id() {
    let mappings = own_mappings();
    let libc = mappings.iter().find(|mapping| mapping.path.to_string_lossy().contains("libc.so")).unwrap();
    let id = Image::open(&libc.path).unwrap().build_id().cloned().unwrap();
    assert_eq!(id.as_bytes().len(), 20);
    assert_eq!(id.breakpad_id().len(), 33);
}

#[test]
fn what_is_no_image_is_told_apart() {
    let missing = Image::open(Path::new("/nonexistent/lib.so")).unwrap_err();
    assert!(missing.is_not_found(), "{missing}");
    let device = Image::open(Path::new("/dev/null")).unwrap_err();
    assert!(matches!(device, ImageError::NotAFile { .. }), "{device}");
    for bytes in [&b""[..], b"\x7fELF", b"#!/bin/sh\nexit 0\n"] {
        let error = Image::from_bytes(bytes.to_vec(), "script".into()).unwrap_err();
        assert!(matches!(error, ImageError::NotElf { .. }), "{error}");
    }
}

#[test]
fn files_cut_off_anywhere_are_read_or_refused_without_a_panic() {
    let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    for len in (0..0x400).chain([whole.len() / 2, whole.len() - 1]) {
        if let Ok(image) = Image::from_bytes(whole[..len].to_vec(), "cut".into()) {
            assert!(image.section(".symtab").is_none_or(|section| !section.bytes.is_empty()));
        }
    }
}

#[test]
fn a_damaged_section_table_leaves_segments_and_build_id() {
    let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let intact = own_image();
    // e_shoff
    bytes[0x28..0x30].copy_from_slice(&u64::MAX.to_le_bytes());
    let image = Image::from_bytes(bytes, "damaged".into()).unwrap();
    assert_eq!(image.segments(), intact.segments());
    assert_eq!(image.build_id(), intact.build_id());
    assert!(!image.has_symtab());
}
