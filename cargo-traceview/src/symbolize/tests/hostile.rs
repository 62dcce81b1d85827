//! Debug information made so that reading it has no end.

use super::{compile_source, names, own_image};
use crate::image::Image;
use crate::symbolize::{Answers, NameBook, NameCache, Request, Shortfall, SymbolSource, symbolize_images};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{panic, slice, thread};

/// After that, work that is not counted is taken for endless. What is counted ends after seconds.
const ENDLESS: Duration = Duration::from_secs(600);

/// A program with a long function and the sections that `assembly` fills.
fn program(assembly: &str, arguments: &[&str]) -> Option<Arc<Image>> {
    let directory = tempfile::tempdir().unwrap();
    let lines: String = assembly.lines().map(|line| format!("\"{}\\n\"\n", line.replace('"', "\\\""))).collect();
    let source = format!(
        "__attribute__((noinline)) void known(void) {{ __asm__ volatile(\".skip 65536, 0x90\"); }}\n\
         int main(void) {{ known(); }}\n__asm__({lines});\n"
    );
    compile_source(directory.path(), &source, &[&["-O1"], arguments].concat())
}

/// Some addresses in `known`.
fn in_known(image: &Arc<Image>) -> Vec<u64> {
    let source = SymbolSource::load(Arc::clone(image));
    assert!(source.has_debug_info());
    let of_known = |svma: &u64| source.symbols().find(*svma).is_some_and(|symbol| symbol.name == b"known");
    let svmas: Vec<u64> = image.code().iter().cloned().flatten().filter(of_known).step_by(13).collect();
    assert!(svmas.len() > 5000, "{}", svmas.len());
    svmas
}

/// Looks up all of `known` together, and some of it one by one, both with nothing but the name that the symbol table has.
fn check(what: &'static str, assembly: &str) {
    let Some(image) = program(assembly, &["-g0"]) else { return };
    unless_endless(what, move || {
        let request = Request { image: Arc::clone(&image), svmas: in_known(&image) };
        let answers = symbolize_images(slice::from_ref(&request), None, &|_, _| {}).remove(0);
        check_in_table(what, &answers);
        let source = SymbolSource::load(image);
        let mut symbolizer = source.symbolizer();
        for (svma, resolved) in request.svmas.iter().zip(answers.resolved).step_by(64) {
            assert_eq!(symbolizer.resolve(*svma), resolved, "{what}");
        }
    });
}

/// All that is known is that it is `known`, and why.
fn check_in_table(what: &str, answers: &Answers) {
    assert_eq!(answers.shortfall, Some(Shortfall::Excess), "{what}");
    for resolved in &answers.resolved {
        assert_eq!((names(resolved), resolved.frames[0].line), (vec!["known"], None), "{what}");
    }
}

/// Fails in place of never returning.
fn unless_endless(what: &str, work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        drop(done);
    });
    let timeout: Result<(), _> = is_done.recv_timeout(ENDLESS);
    assert_ne!(timeout, Err(mpsc::RecvTimeoutError::Timeout), "{what}");
    if let Err(failure) = worker.join() {
        panic::resume_unwind(failure);
    }
}

/// Opens a section in the assembler.
fn section(name: &str, content: &str) -> String {
    format!(".pushsection {name},\"\",@progbits\n{content}\n.popsection\n")
}

/// A unit of version 4 with these entries, written in the abbreviations at an offset.
fn unit(abbreviations: &str, entries: &str) -> String {
    format!(".long 2f-1f\n1: .short 4\n.long {abbreviations}\n.byte 8\n{entries}\n2:")
}

#[test]
fn functions_inlined_without_end() {
    // Said to be split off, so that the reader of single addresses gets it.
    let abbreviations = ".byte 1,0x11,1, 0xb1,0x42,0x07, 0x11,0x01, 0x12,0x07, 0,0\n\
                         .byte 2,0x2e,1, 0x11,0x01, 0x12,0x07, 0,0\n.byte 3,0x1d,1, 0,0, 0";
    let entries = ".byte 1\n.quad 0x1234, known, 65536\n.byte 2\n.quad known, 65536\n\
                   .fill 200000,1,3\n.fill 200000,1,0\n.byte 0,0";
    let info = section(".debug_info", &unit("0", entries));
    check("inlined", &format!("{}{info}", section(".debug_abbrev", abbreviations)));
}

#[test]
fn one_list_of_ranges_for_many_functions() {
    let list = section(".debug_ranges", ".rept 30000\n.quad 0, 65536\n.endr\n.quad 0,0");
    for (what, id, value) in [("in passing", "", ""), ("singly", "0xb1,0x42,0x07,", ".quad 0x1234")] {
        let abbreviations =
            format!(".byte 1,0x11,1, {id} 0x11,0x01, 0x12,0x07, 0,0\n.byte 2,0x2e,0, 0x55,0x17, 0,0, 0");
        let entries = format!(".byte 1\n{value}\n.quad known, 65536\n.rept 60000\n.byte 2\n.long 0\n.endr\n.byte 0");
        let info = section(".debug_info", &unit("0", &entries));
        check(what, &format!("{}{list}{info}", section(".debug_abbrev", &abbreviations)));
    }
}

#[test]
fn one_table_of_lines_for_many_units() {
    let abbreviations = section(".debug_abbrev", ".byte 1,0x11,0, 0x10,0x17, 0,0, 0");
    let lines = ".long 4f-3f\n3: .short 4\n.long 6f-5f\n5: .byte 1,1,1,0xfb,14,13,0,1,1,1,1,0,0,0,1,0,0,0,1\n\
                 .byte 0\n.asciz \"a.c\"\n.byte 0,0,0,0\n6: .byte 0,9,2\n.quad known\n\
                 .fill 400000,1,0x20\n.byte 0,1,1\n4:";
    let info = format!(".rept 20000\n{}\n.endr", unit("0", ".byte 1\n.long 0"));
    check("lines", &format!("{abbreviations}{}{}", section(".debug_line", lines), section(".debug_info", &info)));
}

#[test]
fn tables_of_abbreviations_within_each_other() {
    let declarations = ".set code, 0\n.rept 40000\n.set code, code+1\n\
                        .byte (code & 127) | 128, ((code >> 7) & 127) | 128, code >> 14, 0x11, 0, 0, 0\n.endr\n.byte 0";
    let unit = unit("table", ".byte 0xc0, 0xb8, 2");
    let info = format!(".set table, -7\n.rept 30000\n.set table, table+7\n{unit}\n.endr");
    check("tables", &format!("{}{}", section(".debug_abbrev", declarations), section(".debug_info", &info)));
}

#[test]
fn attributes_without_size() {
    let abbreviations = ".byte 1,0x11,1, 0x11,0x01, 0x12,0x07, 0,0\n.byte 2,0x34,0\n\
                         .fill 50000,2,0x193f\n.byte 0,0, 0";
    let info = unit("0", ".byte 1\n.quad known, 65536\n.fill 300000,1,2\n.byte 0");
    check("attributes", &format!("{}{}", section(".debug_abbrev", abbreviations), section(".debug_info", &info)));
}

#[test]
fn names_within_each_other() {
    let abbreviations = ".byte 1,0x11,1, 0x11,0x01, 0x12,0x07, 0,0\n\
                         .byte 2,0x2e,0, 0x11,0x01, 0x12,0x0b, 0x03,0x0e, 0,0, 0";
    let entries = ".byte 1\n.quad known, 65536\n.set index, -1\n.rept 5000\n.set index, index+1\n\
                   .byte 2\n.quad known+index*13\n.byte 13\n.long index\n.endr\n.byte 0";
    let text = section(".debug_str", ".fill 4000000,1,0x61\n.byte 0");
    let info = section(".debug_info", &unit("0", entries));
    check("names", &format!("{}{text}{info}", section(".debug_abbrev", abbreviations)));
}

#[test]
fn one_list_of_ranges_for_many_units() {
    // Around none of the addresses: all that it takes is to know it later on.
    let list = section(".debug_ranges", ".rept 20000\n.quad 1, 2\n.endr\n.quad 0,0");
    let abbreviations = section(".debug_abbrev", ".byte 1,0x11,0, 0x11,0x01, 0x55,0x17, 0,0, 0");
    let info = format!(".rept 200\n{}\n.endr", unit("0", ".byte 1\n.quad known\n.long 0"));
    check("claims", &format!("{abbreviations}{list}{}", section(".debug_info", &info)));
}

/// Some units that all claim `known`.
fn many_units() -> String {
    let abbreviations = section(".debug_abbrev", ".byte 1,0x11,0, 0x11,0x01, 0x12,0x07, 0,0, 0");
    let info = format!(".rept 30000\n{}\n.endr", unit("0", ".byte 1\n.quad known, 65536"));
    format!("{abbreviations}{}", section(".debug_info", &info))
}

#[test]
fn many_units_of_the_same_code() {
    check("units", &many_units());
}

#[test]
fn what_one_round_finds_excessive_is_used_in_none() {
    let Some(image) = program(&many_units(), &["-g", "-Wl,--build-id"]) else { return };
    let svmas = in_known(&image);
    let request = |count| [Request { image: Arc::clone(&image), svmas: svmas[..count].to_vec() }];
    let (few, all) = (request(5), request(svmas.len()));
    unless_endless("rounds", move || {
        let directory = tempfile::tempdir().unwrap();
        let kept = directory.path().join("names");
        let begun = |rounds: &[&[Request]]| {
            let mut book = NameBook::new(Some(NameCache::at(kept.clone())));
            rounds.iter().for_each(|requests| book.look_up_aside(requests, &AtomicBool::new(false)));
            book
        };
        check_in_table("in the last round", &begun(&[&few]).finish(&all, &|_, _| {})[0]);
        check_in_table("in a round before", &begun(&[&few, &all]).finish(&few, &|_, _| {})[0]);
        check_in_table("from the first on", &begun(&[&all, &few]).finish(&all, &|_, _| {})[0]);
        assert!(!kept.exists(), "the next recording can do with less");
        let Answers { resolved, shortfall } = begun(&[&few]).finish(&few, &|_, _| {}).remove(0);
        assert!(shortfall.is_none() && kept.exists());
        assert!(resolved.iter().all(|resolved| resolved.frames[0].line == Some(1)), "{resolved:?}");
    });
}

#[test]
fn what_compilers_make_is_far_below_the_limit() {
    let image = own_image();
    let svmas = image.code().iter().cloned().flatten().step_by(997).collect();
    let [together, singly] = crate::symbolize::job::tests::effort(&Request { image, svmas });
    for (what, (spent, allowed)) in [("together", together), ("singly", singly)] {
        assert!(spent > 0 && spent < allowed / 4, "{what}: {spent} of {allowed} steps");
    }
}
