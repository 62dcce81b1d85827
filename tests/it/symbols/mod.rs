//! Names, files, lines and inlined functions of a corpus of programs, as binutils' `addr2line -afi` gives them.
//!
//! Raw names are compared: how they are shown is another matter. Where both differ, [`explained`] says why.

mod corpus;
mod hostile;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use cargo_traceview::image::Image;
use cargo_traceview::symbolize::{Resolved, SymbolSource, symbolize_image};
use corpus::{BUILDS, CHANGED, SPLIT};
use traceview_tests::tools::has_tool;

/// Addresses asked for in each program.
const ADDRESSES: usize = 400;

/// What the test's directory ends in.
const DIRECTORY: &str = "-corpus/";

/// A function, and the place reached in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    name: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

/// Functions at an address, innermost first.
type Chain = Vec<Frame>;

/// What `addr2line` says of one program.
struct Expected {
    program: PathBuf,
    svmas: Vec<u64>,
    chains: Vec<Chain>,
}

#[test]
fn every_kind_of_program_is_named_as_addr2line_names_it() {
    if !["rustc", "cc", "c++", "objcopy", "addr2line", "nm", "xz", "dwz"].into_iter().all(has_tool) {
        return;
    }
    let root = tempfile::Builder::new().suffix(DIRECTORY.trim_end_matches('/')).tempdir().unwrap();
    let expected: Vec<Expected> = in_parallel(BUILDS.len(), |index| {
        let program = corpus::compile(&BUILDS[index], root.path());
        let svmas = some_addresses(&program);
        let chains = addr2line(&program, &svmas);
        Expected { program, svmas, chains }
    });
    let of = |name: &str| &expected[BUILDS.iter().position(|build| build.name == name).unwrap()];
    let mut reports: Vec<(String, Report)> = in_parallel(BUILDS.len(), |index| {
        let expected = &expected[index];
        (BUILDS[index].name.to_owned(), compare(&expected.program, expected, Detail::All))
    });
    reports.extend(in_parallel(SPLIT.len(), |index| {
        let (build, twin) = &SPLIT[index];
        let program = corpus::compile(build, root.path());
        (build.name.to_owned(), compare(&program, of(twin), Detail::All))
    }));
    reports.extend(in_parallel(CHANGED.len(), |index| {
        let (name, script) = CHANGED[index];
        let original = of("opt-3");
        let program = corpus::changed(&original.program, name, script, root.path());
        let detail = if matches!(name, "symbols-only" | "embedded") { Detail::Names } else { Detail::All };
        (name.to_owned(), compare(&program, original, detail))
    }));
    let mut unexplained = Vec::new();
    for (name, report) in &reports {
        println!(
            "{name}: {} addresses, {} frames, differences: {:?}",
            report.addresses, report.frames, report.explained
        );
        assert!(report.addresses > ADDRESSES / 2, "{name}: {} addresses", report.addresses);
        unexplained.extend(report.unexplained.iter().map(|difference| format!("{name}: {difference}")));
    }
    assert_eq!(unexplained, Vec::<String>::new());
}

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Names, files and lines of all functions.
    All,
    /// The name of the function that is not inlined.
    Names,
}

#[derive(Default)]
struct Report {
    addresses: usize,
    frames: usize,
    /// Number of addresses by the reason why they differ.
    explained: BTreeMap<&'static str, usize>,
    unexplained: Vec<String>,
}

fn compare(program: &Path, expected: &Expected, detail: Detail) -> Report {
    let image = Arc::new(Image::open(program).unwrap());
    let aliases = symbols(&expected.program);
    let mut report = Report::default();
    for ((svma, expected), resolved) in
        expected.svmas.iter().zip(&expected.chains).zip(symbolize_image(&image, &expected.svmas, &|_| {}))
    {
        let ours = chain(&resolved);
        report.addresses += 1;
        report.frames += expected.len();
        let (ours, theirs) = match detail {
            Detail::All => (&ours[..], &expected[..]),
            Detail::Names => (&ours[ours.len() - 1..], &expected[expected.len() - 1..]),
        };
        let same = match detail {
            Detail::All => ours == theirs,
            Detail::Names => function(&ours[0]) == function(&theirs[0]),
        };
        if same {
            continue;
        }
        match explained(ours, theirs, &aliases) {
            Some(reason) => *report.explained.entry(reason).or_default() += 1,
            None => report.unexplained.push(format!("{svma:#x}:\n  ours   {ours:?}\n  theirs {theirs:?}")),
        }
    }
    report
}

/// A function's name without what LLVM adds when it makes a symbol of it global.
fn function(frame: &Frame) -> Option<&str> {
    frame.name.as_deref().map(|name| name.split(".llvm.").next().unwrap_or(name))
}

/// Why ours may differ; `aliases` has the address of each symbol.
fn explained(ours: &[Frame], theirs: &[Frame], aliases: &BTreeMap<String, u64>) -> Option<&'static str> {
    if theirs.len() < ours.len() && left_out(ours, theirs) {
        return Some("binutils leaves out functions inlined into several ranges (DWARF 5; llvm-addr2line has them)");
    }
    if let [their] = theirs
        && their.line.is_none()
        && ours.last().is_some_and(|our| our.name == their.name && our.line.is_some())
    {
        return Some("binutils finds no line (units of DWARF 4 in a program of DWARF 5)");
    }
    let address = |frame: &Frame| aliases.get(frame.name.as_deref()?);
    let mut reason = None;
    for (our, their) in ours.iter().zip(theirs).filter(|(our, their)| our != their) {
        if our.name != their.name {
            if address(our).is_none() || address(our) != address(their) {
                return None;
            }
            reason = Some("two symbols have the same address (binutils takes the first one)");
        }
        let is_unit = |file: &String| file.contains("/@/");
        if our.file != their.file && our.line == their.line && their.file.as_ref().is_some_and(is_unit) {
            reason = Some("binutils gives the unit's name for the file's (DWARF 5)");
        } else if (&our.file, our.line) != (&their.file, their.line) {
            if our.file.is_some() || our.line.is_some() || their.line.is_some() {
                return None;
            }
            reason = reason.or(Some("no debug information (binutils names an object file of the symbol table)"));
        }
    }
    reason.filter(|_| ours.len() == theirs.len())
}

/// Whether `theirs` is what remains of `ours` when inlined functions are left out: each place is then that of the call of the
/// function before it, and the innermost one the place of the address.
fn left_out(ours: &[Frame], theirs: &[Frame]) -> bool {
    let place = |frame: &Frame| (frame.file.clone(), frame.line);
    let mut at = 0;
    for their in theirs {
        if ours.get(at).is_none_or(|our| place(our) != place(their)) {
            return false;
        }
        match ours[at..].iter().position(|our| our.name == their.name) {
            Some(further) => at += further + 1,
            None => return false,
        }
    }
    at == ours.len()
}

/// The symbols of a program by name.
fn symbols(program: &Path) -> BTreeMap<String, u64> {
    let output = Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let symbol = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let svma = u64::from_str_radix(fields.next()?, 16).ok()?;
        Some((fields.nth(1)?.to_owned(), svma))
    };
    text.lines().filter_map(symbol).collect()
}

fn chain(resolved: &Resolved) -> Chain {
    let frames = resolved.frames.iter().rev();
    frames
        .map(|frame| Frame {
            name: resolved.named.then(|| frame.linkage_name.as_ref().unwrap_or(&frame.name).to_string()),
            file: frame.file.as_deref().map(normal),
            line: frame.line,
        })
        .collect()
}

/// Addresses within functions, every other of them in code of the program itself and not of libraries.
fn some_addresses(program: &Path) -> Vec<u64> {
    let source = SymbolSource::load(Arc::new(Image::open(program).unwrap()));
    let text = source.image().section(".text").unwrap().svma_range();
    let is_own = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        ["program", "c_sort", "compare", "total", "cpp_mix", "mixing"].into_iter().any(|own| name.contains(own))
    };
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for svma in text.step_by(3) {
        if let Some(symbol) = source.symbols().find(svma) {
            if is_own(symbol.name) { own.push(svma) } else { other.push(svma) }
        }
    }
    let some = |svmas: Vec<u64>| {
        let step = (svmas.len() / (ADDRESSES / 2)).max(1);
        svmas.into_iter().step_by(step).take(ADDRESSES / 2)
    };
    let mut svmas: Vec<u64> = some(own).chain(some(other)).collect();
    svmas.sort_unstable();
    svmas
}

/// What binutils says.
fn addr2line(program: &Path, svmas: &[u64]) -> Vec<Chain> {
    let mut child = Command::new("addr2line")
        .args(["-afi", "-e"])
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let asked: String = svmas.iter().map(|svma| format!("{svma:#x}\n")).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || input.write_all(asked.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut chains: Vec<Chain> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            chains.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap();
        let (file, number) = place.split(" (discriminator").next().unwrap().rsplit_once(':').unwrap();
        chains.last_mut().unwrap().push(Frame {
            name: (line != "??").then(|| line.to_owned()),
            file: (file != "??").then(|| normal(file)),
            line: number.parse().ok().filter(|&number| number > 0),
        });
    }
    assert_eq!(chains.len(), svmas.len());
    chains
}

/// A path without steps to and fro, and without the test's directory and that of the build in it.
fn normal(path: &str) -> String {
    let path = path.split_once(DIRECTORY).map_or(path, |(_, within)| within.split_once('/').unwrap_or(("", within)).1);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Does `work` for 0 to `count`, on all processors; the results in order.
fn in_parallel<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let result = work(index);
                    results.lock().unwrap().push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
