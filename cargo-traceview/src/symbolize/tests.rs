//! Symbolizing real code: this test program, the C library, and what gcc makes.

use super::job::Job;
use super::unnamed::unnamed;
use super::{
    Ahead, Answers, NameBook, NameCache, Request, Resolved, Shortfall, SymbolSource, symbolize_image, symbolize_images,
};
use crate::image::Image;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

mod hostile;

/// Inlined into [`known_function`] at every optimization level.
#[inline(always)]
fn known_callee(value: u64) -> u64 {
    let mut value = std::hint::black_box(value);
    value = value.rotate_left(7) ^ 0x5eed;
    std::hint::black_box(value)
}

const KNOWN_LINE: u32 = line!() + 4;

#[inline(never)]
fn known_function(value: u64) -> u64 {
    known_callee(value).wrapping_add(1)
}

fn own_image() -> Arc<Image> {
    Arc::new(Image::open(&std::env::current_exe().unwrap()).unwrap())
}

/// The path of the file that is mapped at an address of this process, and the address in that file.
fn locate(avma: u64) -> (PathBuf, u64) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let hex = |digits| u64::from_str_radix(digits, 16).unwrap();
    for line in maps.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (start, end) = fields[0].split_once('-').unwrap();
        let (start, end) = (hex(start), hex(end));
        if (start..end).contains(&avma) {
            let path = PathBuf::from(fields[5]);
            let bias = Image::open(&path).unwrap().code_bias(start, hex(fields[2]), end - start).unwrap();
            return (path, avma - bias);
        }
    }
    panic!("nothing is mapped at {avma:#x}");
}

fn known_svma() -> u64 {
    locate(known_function as fn(u64) -> u64 as usize as u64).1
}

/// The addresses of the function around `svma`, as the symbol table has it.
fn function_range(source: &SymbolSource, svma: u64) -> Range<u64> {
    let symbol = source.symbols().find(svma).unwrap();
    symbol.svma..symbol.svma + symbol.size
}

fn names(resolved: &Resolved) -> Vec<&str> {
    resolved.frames.iter().map(|frame| &*frame.name).collect()
}

#[test]
fn a_function_of_this_program_has_name_file_line_and_inlined_callee() {
    assert_ne!(known_function(1), known_function(2));
    let source = SymbolSource::load(own_image());
    let mut symbolizer = source.symbolizer();
    let svma = known_svma();
    let path = "cargo_traceview::symbolize::tests::known_function";

    let entry = symbolizer.resolve(svma);
    let symbol = entry.symbol.unwrap();
    assert_eq!((&*symbol.name, symbol.svma), (path, svma));
    assert_eq!(&*entry.frames[0].name, path);
    assert!(entry.frames[0].linkage_name.as_deref().unwrap().starts_with("_"));
    assert!(entry.frames[0].file.as_deref().unwrap().ends_with("src/symbolize/tests.rs"));

    let inlined: Vec<Resolved> = function_range(&source, svma).map(|svma| symbolizer.resolve(svma)).collect();
    // Only the last segment where debug information is reduced to line tables.
    let is_callee = |frame: &super::Frame| frame.name.rsplit("::").next() == Some("known_callee");
    let nested = inlined.iter().find(|resolved| resolved.frames.get(1).is_some_and(is_callee)).unwrap();
    assert_eq!(names(nested)[0], path);
    assert!(nested.named);
    assert_eq!(nested.frames[0].line, Some(KNOWN_LINE), "the line of the inlined call");
    let line = nested.frames[1].line.unwrap();
    assert!((KNOWN_LINE - 13..KNOWN_LINE - 5).contains(&line), "line {line} in the callee");
}

#[test]
fn a_search_that_panics_costs_lines_and_not_the_recording() {
    let request = Request { image: own_image(), svmas: vec![known_svma(), 1, known_svma()] };
    // As if all threads had panicked at once.
    let settled = |mut job: Job| {
        job.ask(&request.svmas, 1);
        job.settle();
        job.answers(&request.svmas)
    };
    let Answers { resolved: in_table, shortfall } = settled(Job::new(&request.image, None));
    assert_eq!(shortfall, Some(Shortfall::Fault));
    let path = "cargo_traceview::symbolize::tests::known_function";
    assert_eq!([0, 2].map(|index| names(&in_table[index])), [[path], [path]]);
    assert!(in_table[0].named && !in_table[1].named && in_table[0].frames[0].line.is_none());
    let Answers { resolved: unread, shortfall } = settled(Job::unreadable(&request.image));
    assert_eq!(shortfall, Some(Shortfall::Fault));
    let expected = request.svmas.iter().map(|&svma| unnamed(&request.image, svma));
    assert_eq!(
        unread.iter().map(|resolved| names(resolved).join(" ")).collect::<Vec<_>>(),
        expected.collect::<Vec<_>>()
    );
    assert!(unread.iter().all(|resolved| !resolved.named));

    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().join("names"));
    let requests = [Request { svmas: vec![known_svma(), 1], ..request }];
    let answers = symbolize_images(&requests, Some(&cache), &|_, _| panic!("a fault in a thread"));
    let whole = symbolize_images(&requests, None, &|_, _| {});
    assert_eq!(answers[0].resolved, whole[0].resolved, "all was found before the fault");
    assert_eq!((answers[0].shortfall, whole[0].shortfall), (Some(Shortfall::Fault), None));
    assert!(!directory.path().join("names").exists(), "what may be incomplete is not kept");
}

#[test]
fn the_c_library_is_named_by_its_symbol_table() {
    let (path, svma) = locate(libc::getppid as *const () as u64);
    let image = Arc::new(Image::open(&path).unwrap());
    let resolved = symbolize_image(&image, &[svma, svma + 1], &|_| {});
    for resolved in &resolved {
        assert_eq!(&*resolved.symbol.as_ref().unwrap().name, "getppid");
        assert_eq!(&*resolved.frames[0].name, "getppid", "also where a debug file gives its alias");
        assert!(resolved.named);
    }
}

#[test]
fn an_address_without_symbol_says_where_it_is() {
    let image = own_image();
    let end = image.code().last().unwrap().end + 0x10_0000_0000;
    let resolved = symbolize_image(&image, &[end], &|_| {}).remove(0);
    let file = image.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(names(&resolved), [format!("{file}+{end:#x}")]);
    assert!(!resolved.named && resolved.symbol.is_none());
}

/// A copy of this program with bytes of one section changed.
fn damaged(section: &str, damage: impl FnOnce(&mut [u8])) -> Arc<Image> {
    let image = own_image();
    let bytes = image.section(section).unwrap().bytes;
    let offset = bytes.as_ptr() as usize - image.data().as_ptr() as usize;
    let mut copy = image.data().to_vec();
    damage(&mut copy[offset..offset + bytes.len()]);
    Arc::new(Image::from_bytes(copy, image.path().to_path_buf()).unwrap())
}

#[test]
fn addresses_outside_of_all_code_are_asked_of_nobody() {
    let image = own_image();
    let source = SymbolSource::load(Arc::clone(&image));
    let mut symbolizer = source.symbolizer();
    for svma in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        assert_eq!(symbolizer.resolve(svma), Resolved::unknown(&image, svma), "{svma:#x}");
    }
}

#[test]
fn destroyed_debug_information_leaves_the_symbol_tables_names() {
    let svma = known_svma();
    for section in [".debug_info", ".debug_abbrev"] {
        for byte in [0x00, 0xff, 0x7f] {
            let image = damaged(section, |bytes| bytes.fill(byte));
            let resolved = symbolize_image(&image, &[svma], &|_| {}).remove(0);
            assert_eq!(names(&resolved), ["cargo_traceview::symbolize::tests::known_function"], "{section}: {byte:#x}");
        }
    }
}

#[test]
fn a_destroyed_unit_index_costs_nothing() {
    let svma = known_svma();
    let whole = symbolize_image(&own_image(), &[svma], &|_| {});
    if own_image().section(".debug_aranges").is_some() {
        let image = damaged(".debug_aranges", |bytes| bytes.fill(0xff));
        assert_eq!(symbolize_image(&image, &[svma], &|_| {}), whole);
    }
}

#[test]
fn scattered_damage_never_panics_and_never_loses_the_symbol() {
    let svma = known_svma();
    let source = SymbolSource::load(own_image());
    let svmas: Vec<u64> = function_range(&source, svma).chain(own_image().code()[0].clone().step_by(40_009)).collect();
    let sections = [".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_ranges", ".debug_rnglists"];
    for section in sections.into_iter().filter(|section| own_image().section(section).is_some()) {
        for seed in 1_u64..4 {
            let mut state = seed;
            let image = damaged(section, |bytes| {
                for _ in 0..bytes.len() / 300 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let at = usize::try_from(state >> 20).unwrap() % bytes.len();
                    bytes[at] = (state >> 8) as u8;
                }
            });
            let resolved = symbolize_image(&image, &svmas, &|_| {});
            let symbol = resolved[0].symbol.as_ref().unwrap();
            assert_eq!(&*symbol.name, "cargo_traceview::symbolize::tests::known_function");
            assert!(resolved.iter().all(|resolved| !resolved.frames.is_empty()));
        }
    }
}

#[test]
fn several_images_at_once_give_what_each_gives_alone() {
    let program = own_image();
    let (libc_path, getppid) = locate(libc::getppid as *const () as u64);
    let library = Arc::new(Image::open(&libc_path).unwrap());
    // More than one part for the program.
    let svmas: Vec<u64> = program.code().iter().cloned().flatten().step_by(97).take(9000).collect();
    assert_eq!(svmas.len(), 9000);
    let requests = [
        Request { image: Arc::clone(&program), svmas: svmas.clone() },
        Request { image: Arc::clone(&library), svmas: vec![getppid] },
        Request { image: Arc::clone(&library), svmas: Vec::new() },
    ];
    let most = AtomicUsize::new(0);
    let together = symbolize_images(&requests, None, &|done, total| {
        assert!(done <= total && total == 9001);
        most.fetch_max(done, Ordering::Relaxed);
    });
    assert_eq!(most.into_inner(), 9001);
    assert_eq!(together.len(), 3);
    assert_eq!(together[0].resolved, symbolize_image(&program, &svmas, &|_| {}));
    assert_eq!(&*together[1].resolved[0].frames[0].name, "getppid");
    assert!(together[2].resolved.is_empty());
    assert_eq!(symbolize_images(&[], None, &|_, _| {}), Vec::new());
}

#[test]
fn names_found_in_rounds_are_those_found_at_once() {
    let image = own_image();
    let svmas: Vec<u64> = image.code().iter().cloned().flatten().step_by(50_021).collect();
    let share = svmas.len() / 4;
    let request = |svmas: &[u64]| [Request { image: Arc::clone(&image), svmas: svmas.to_vec() }];
    let (stopped, not_stopped) = (AtomicBool::new(true), AtomicBool::new(false));
    let mut book = NameBook::new(None);
    for (round, svmas) in svmas.chunks(share).take(3).enumerate() {
        // What is given up is nothing that was found.
        book.look_up_aside(&request(svmas), &stopped);
        if round > 0 {
            book.look_up_aside(&request(svmas), &not_stopped);
        }
    }
    let done = AtomicUsize::new(0);
    let found = book.finish(&request(&svmas), &|now, total| {
        assert_eq!(total, svmas.len());
        assert!(now >= 2 * share, "what earlier rounds have found is found");
        done.fetch_max(now, Ordering::Relaxed);
    });
    assert_eq!(done.into_inner(), svmas.len());
    assert_eq!(found, [Answers { resolved: symbolize_image(&image, &svmas, &|_| {}), shortfall: None }]);
}

#[test]
fn what_is_told_while_a_program_runs_has_names_when_it_ends() {
    let (image, svma) = (own_image(), known_svma());
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().join("names"));
    let (seen, is_seen) = mpsc::channel();
    let ahead = Ahead::start(Some(cache.clone()), is_seen);
    seen.send(vec![(Arc::clone(&image), svma), (Arc::clone(&image), 1)]).unwrap();
    // Each image that is known is held by what knows it.
    let begin = Instant::now();
    while Arc::strong_count(&image) < 3 && begin.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(5));
    }
    drop(seen);
    let request = Request { image: Arc::clone(&image), svmas: vec![1, svma] };
    let found = ahead.finish().finish(std::slice::from_ref(&request), &|_, _| {});
    assert_eq!(found, symbolize_images(&[request], None, &|_, _| {}));
    assert!(directory.path().join("names").exists(), "the next recording has them");
}

/// Addresses that the pass over the units answers unlike the reader of single addresses, of the image's code.
fn differences(image: &Arc<Image>, step: usize) -> (usize, Vec<(Resolved, Resolved)>) {
    let svmas: Vec<u64> = image.code().iter().cloned().flatten().step_by(step).collect();
    let source = SymbolSource::load(Arc::clone(image));
    let mut symbolizer = source.symbolizer();
    let together = symbolize_image(image, &svmas, &|_| {});
    let singly = svmas.iter().map(|&svma| symbolizer.resolve(svma));
    (svmas.len(), together.into_iter().zip(singly).filter(|(together, singly)| together != singly).collect())
}

#[test]
fn reading_units_once_gives_what_reading_address_by_address_gives() {
    let (count, different) = differences(&own_image(), 211);
    assert!(count > 5000, "{count} addresses");
    assert_eq!(different.first(), None, "{} of {count} differ", different.len());
}

#[test]
fn reading_units_once_knows_each_version_of_dwarf() {
    for arguments in [&["-gdwarf-4"][..], &["-gdwarf-5"], &["-gdwarf-2"], &["-gdwarf-5", "-flto"]] {
        for level in ["-O0", "-O2"] {
            let directory = tempfile::tempdir().unwrap();
            let arguments = [&[level][..], arguments].concat();
            let Some(image) = compile(directory.path(), &arguments) else { continue };
            let (count, different) = differences(&image, 1);
            assert!(count > 100, "{count} addresses");
            assert_eq!(different.first(), None, "{arguments:?}: {} of {count} differ", different.len());
            let known = resolve_known(&SymbolSource::load(image));
            assert!(known.iter().any(|(_, line)| line.is_some()), "{arguments:?}: {known:?}");
        }
    }
}

const C_SOURCE: &str = "\
static inline __attribute__((always_inline)) int callee(int x) {
    return x * 31 + 7;
}
__attribute__((noinline)) int known(volatile int *x) {
    *x = callee(*x);
    return *x;
}
int main(int argc, char **argv) {
    return known(&argc);
}
";

/// Functions that nobody calls, longer than what lies before a program's code.
const DROPPED: &str = r#"
void unused_NUMBER(void) { __asm__ volatile(".skip 0x8000, 0x90"); }
"#;

/// The functions at each address, and the line in the outermost.
type Lines = Vec<(String, Option<u32>)>;

/// [`C_SOURCE`] with dropped functions on both sides, as it depends on the compiler which come first; and without any. For
/// all code of `known` the functions, and the line in the outermost.
fn with_and_without_dropped(each_side: usize, arguments: &[&str]) -> Option<[Lines; 2]> {
    let dropped = |side: &str| -> String {
        (0..each_side).map(|index| DROPPED.replace("NUMBER", &format!("{side}{index}"))).collect()
    };
    let source = format!("{}#line 1\n{C_SOURCE}{}", dropped("before"), dropped("behind"));
    let gc = [arguments, &["-ffunction-sections", "-Wl,--gc-sections"]].concat();
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let image = compile_source(directories[0].path(), &source, &gc)?;
    let whole = compile(directories[1].path(), arguments)?;
    Some([image, whole].map(|image| {
        let svmas: Vec<u64> = image.code().iter().cloned().flatten().collect();
        let mut resolved = symbolize_image(&image, &svmas, &|_| {});
        // Not where the compiler's start code is either, which has no debug information that would contradict.
        let source = SymbolSource::load(Arc::clone(&image));
        let mut symbolizer = source.symbolizer();
        let singly: Vec<Resolved> = svmas.iter().map(|&svma| symbolizer.resolve(svma)).collect();
        let is_unused = |resolved: &&Resolved| resolved.frames[0].name.starts_with("unused");
        let unused = resolved.iter().chain(&singly).find(is_unused);
        assert_eq!(unused, None, "{arguments:?}");
        resolved.retain(|resolved| resolved.symbol.as_ref().is_some_and(|symbol| &*symbol.name == "known"));
        resolved.iter().map(|resolved| (names(resolved).join(" "), resolved.frames[0].line)).collect()
    }))
}

#[test]
fn what_the_linker_dropped_is_nowhere() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let Some([found, expected]) = with_and_without_dropped(1, &["-O1", "-g", version]) else { continue };
        assert!(expected.contains(&("known callee".to_owned(), Some(5))), "{version}: {expected:?}");
        assert_eq!(found, expected, "{version}");
    }
}

#[test]
fn what_the_linker_dropped_names_nothing_in_split_debug_information() {
    for (version, each_side) in [("-gdwarf-4", 1), ("-gdwarf-4", 5), ("-gdwarf-5", 1), ("-gdwarf-5", 5)] {
        let arguments = ["-O1", "-g", version, "-gsplit-dwarf"];
        let Some([found, expected]) = with_and_without_dropped(each_side, &arguments) else { continue };
        assert!(expected.contains(&("known callee".to_owned(), Some(5))), "{version}: {expected:?}");
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            // No answer is as good as what the symbol table says.
            assert!(
                found == expected || found == &("known".to_owned(), None),
                "{version}: {found:?}, not {expected:?}"
            );
        }
    }
}

/// Compiles [`C_SOURCE`]; `None`, with the reason printed, where that can't be done. With `CI=true` it must be possible.
fn compile(directory: &Path, arguments: &[&str]) -> Option<Arc<Image>> {
    compile_source(directory, C_SOURCE, arguments)
}

fn compile_source(directory: &Path, text: &str, arguments: &[&str]) -> Option<Arc<Image>> {
    let source = directory.join("known.c");
    std::fs::write(&source, text).unwrap();
    let program = directory.join("known");
    let output = Command::new("gcc").args(arguments).arg("-o").arg(&program).arg(&source).output();
    let why = match output {
        Ok(output) if output.status.success() => return Some(Arc::new(Image::open(&program).unwrap())),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "gcc {arguments:?} failed: {why}");
    println!("skipped: gcc {arguments:?} failed: {why}");
    None
}

/// Runs `objcopy` there; false, with the reason printed, where that can't be done. With `CI=true` it must be possible.
fn objcopy(directory: &Path, arguments: &[&str]) -> bool {
    let status = Command::new("objcopy").args(arguments).current_dir(directory).status();
    if status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        return true;
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "objcopy {arguments:?}: {status:?}");
    println!("skipped: objcopy {arguments:?}: {status:?}");
    false
}

/// Names and lines of all code of `known`.
fn resolve_known(source: &SymbolSource) -> Vec<(Vec<String>, Option<u32>)> {
    let mut symbolizer = source.symbolizer();
    let code = source.image().code().iter().cloned().flatten();
    code.map(|svma| symbolizer.resolve(svma))
        .filter(|resolved| resolved.symbol.as_ref().is_some_and(|symbol| &*symbol.name == "known"))
        .map(|resolved| (names(&resolved).into_iter().map(str::to_owned).collect(), resolved.frames[0].line))
        .collect()
}

#[test]
fn compressed_debug_information_of_every_kind() {
    for kind in ["none", "zlib", "zlib-gnu", "zstd"] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let directory = tempfile::tempdir().unwrap();
            if compile(directory.path(), &["-O1", "-g", version]).is_none() {
                continue;
            }
            // Not by the compiler, which knows fewer kinds than objcopy.
            let compress = format!("--compress-debug-sections={kind}");
            if !objcopy(directory.path(), &[&compress, "known", "compressed"]) {
                continue;
            }
            let image = Arc::new(Image::open(&directory.path().join("compressed")).unwrap());
            let resolved = resolve_known(&SymbolSource::load(image));
            let inlined = (vec!["known".to_owned(), "callee".to_owned()], Some(5));
            assert!(resolved.contains(&inlined), "{kind} {version}: {resolved:?}");
            assert!(resolved.contains(&(vec!["known".to_owned()], Some(6))), "{kind} {version}: {resolved:?}");
        }
    }
}

#[test]
fn a_separate_debug_file_gives_what_strip_took() {
    let directory = tempfile::tempdir().unwrap();
    let Some(image) = compile(directory.path(), &["-O1", "-g"]) else { return };
    let (program, debug) = (directory.path().join("known"), directory.path().join("known.debug"));
    let whole = resolve_known(&SymbolSource::load(Arc::clone(&image)));
    for arguments in [
        &["--only-keep-debug", "known", "known.debug"][..],
        &["--strip-all", "--add-gnu-debuglink=known.debug", "known", "stripped"],
    ] {
        if !objcopy(directory.path(), arguments) {
            return;
        }
    }
    std::fs::rename(directory.path().join("stripped"), &program).unwrap();
    let stripped = Arc::new(Image::open(&program).unwrap());
    assert!(!stripped.has_symtab() && !stripped.has_debug_info());
    let source = SymbolSource::load(Arc::clone(&stripped));
    assert_eq!(source.debug_file(), Some(debug.canonicalize().unwrap().as_path()));
    assert_eq!(resolve_known(&source), whole);
    let without = SymbolSource::with_debug_file(stripped, None);
    assert_eq!(resolve_known(&without), []);
}
