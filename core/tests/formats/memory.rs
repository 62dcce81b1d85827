//! Files made to fill the memory: however small their rows are, reading takes a few times their size, or ends with an error
//! that names the place. Each is read in a process of its own, whose peak is the reader's.

#![expect(clippy::disallowed_methods, reason = "a test asks the kernel how much memory it has")]

use std::fmt::Write;
use std::process::Command;

use traceview_core::format::{self, ReadOptions};

/// About how large each file is.
const SIZE: usize = 6 << 20;
/// What the rows of a small file may take (`format/room.rs`), and what else is there besides rows.
const LEAST: usize = (32 << 20) + (24 << 20);

const CASE: &str = "TRACEVIEW_MEMORY_CASE";

/// A name, how many times the file's size reading may take, and the file.
type Case = (&'static str, usize, fn() -> Vec<u8>);

const CASES: &[Case] = &[
    ("collapsed: one stack of frames without names", 4, || [";".repeat(SIZE).as_bytes(), b" 1\n"].concat()),
    ("collapsed: one stack of distinct names", 4, || {
        let mut text = String::from("main;a 1\n");
        fill(&mut text, |text, index| _ = write!(text, "{index:x};"));
        (text + " 1\n").into_bytes()
    }),
    ("collapsed: no two stacks alike", 4, || {
        let mut text = String::new();
        let mut random = 1_u64;
        fill(&mut text, |text, index| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            text.push(if (random >> 40) & 1 == 0 { 'a' } else { 'b' });
            text.push_str(if index % 50 == 49 { " 1\n" } else { ";" });
        });
        text.into_bytes()
    }),
    ("perf script: a thread a sample", 4, || {
        let mut text = String::new();
        fill(&mut text, |text, index| {
            _ = write!(text, "a {index}/{index} 1.100000: 1 cycles:\n\t               1 f (l)\n\n");
        });
        text.into_bytes()
    }),
    ("perf script: a name a sample", 4, || {
        let mut text = String::new();
        fill(&mut text, |text, index| _ = write!(text, "a{index} 1.100000: 1 cycles:\n\t               1 f (l)\n\n"));
        text.into_bytes()
    }),
    ("perf script: one deep stack", 4, || {
        let mut text = String::from("a 1/1 1.100000: 1 cycles:\n");
        fill(&mut text, |text, index| _ = writeln!(text, "\t               1 f{index:x} (l)"));
        (text + "\n").into_bytes()
    }),
    ("speedscope: a profile a sample", 4, || {
        speedscope(r#"{"name":"a"}"#, |text, index| {
            _ = write!(text, r#"{}{{"type":"sampled","samples":[[0]],"weights":[1]}}"#, comma(index));
        })
    }),
    ("speedscope: empty profiles", 4, || {
        speedscope(r#"{"name":"a"}"#, |text, index| _ = write!(text, "{}{{}}", comma(index)))
    }),
    ("speedscope: no two stacks alike", 4, || {
        let mut random = 1_u64;
        let mut profile = |text: &mut String, index: usize| {
            let start = if index == 0 { r#"{"type":"sampled","weights":[],"samples":[["# } else { "," };
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let digit = (random >> 40) & 7;
            _ = write!(text, "{start}{digit}{}", if index % 50 == 49 { "],[0" } else { "" });
        };
        let mut text =
            speedscope_head(&(0..8).map(|name| format!(r#"{{"name":"{name}"}}"#)).collect::<Vec<_>>().join(","));
        fill(&mut text, &mut profile);
        (text + "]]}]}").into_bytes()
    }),
    ("Firefox: empty threads", 4, || {
        let head = r#"{"meta":{"version":27,"preprocessedProfileVersion":48,"interval":1},"libs":[],"threads":["#;
        let mut text = String::from(head);
        fill(&mut text, |text, index| _ = write!(text, "{}{{}}", comma(index)));
        (text + "]}").into_bytes()
    }),
    ("Firefox: empty counters", 4, || {
        let head = r#"{"meta":{"version":27,"preprocessedProfileVersion":48,"interval":1},"threads":[],"counters":["#;
        let mut text = String::from(head);
        fill(&mut text, |text, index| _ = write!(text, "{}{{}}", comma(index)));
        (text + "]}").into_bytes()
    }),
    ("Firefox, raw: empty threads", 4, || {
        let mut text = String::from(r#"{"meta":{"version":27,"interval":1},"libs":[],"threads":["#);
        let thread = r#"{"name":"","markers":{"schema":{},"data":[]},"samples":{"schema":{},"data":[]},"stackTable":{"schema":{},"data":[]},"frameTable":{"schema":{},"data":[]},"stringTable":[]}"#;
        fill(&mut text, |text, index| _ = write!(text, "{}{thread}", comma(index)));
        (text + "]}").into_bytes()
    }),
    ("Firefox: empty strings", 4, || {
        let head = r#"{"meta":{"version":27,"preprocessedProfileVersion":64,"interval":1},"threads":[],"shared":{"stringArray":["#;
        let mut text = String::from(head);
        while text.len() < 5 * SIZE {
            text.push_str(if text.len() == head.len() { "\"\"" } else { ",\"\"" });
        }
        (text + "]}}").into_bytes()
    }),
    ("Firefox, raw: empty strings", 4, || {
        let head = r#"{"meta":{"version":27,"interval":1},"libs":[],"threads":[{"name":"","markers":{"schema":{},"data":[]},"samples":{"schema":{},"data":[]},"stackTable":{"schema":{},"data":[]},"frameTable":{"schema":{},"data":[]},"stringTable":["#;
        let mut text = String::from(head);
        while text.len() < 5 * SIZE {
            text.push_str(if text.len() == head.len() { "\"\"" } else { ",\"\"" });
        }
        (text + "]}]}").into_bytes()
    }),
    ("Chrome: a thread an event", 4, || {
        let mut text = String::from("[");
        fill(&mut text, |text, index| {
            _ = write!(text, r#"{}{{"ph":"X","ts":1,"dur":1,"pid":1,"tid":{index}}}"#, comma(index));
        });
        (text + "]").into_bytes()
    }),
    ("Chrome: empty events", 4, || {
        let mut text = String::from(r#"{"traceEvents":["#);
        fill(&mut text, |text, index| _ = write!(text, "{}{{}}", comma(index)));
        (text + "]}").into_bytes()
    }),
    ("Chrome: threads that do nothing", 4, || {
        let mut text = String::from("[");
        fill(&mut text, |text, index| {
            let args = r#""name":"thread_name","args":{"name":"t"}"#;
            _ = write!(text, r#"{}{{"ph":"M","tid":{index},{args}}}"#, comma(index));
        });
        (text + "]").into_bytes()
    }),
    ("Chrome: ids of threads alone", 4, || {
        let mut text = String::from("[");
        fill(&mut text, |text, index| _ = write!(text, r#"{}{{"tid":{index}}}"#, comma(index)));
        (text + "]").into_bytes()
    }),
    ("Chrome: one event with many arguments", 4, || {
        let mut text = String::from(r#"[{"ph":"X","ts":1,"dur":1,"args":{"#);
        fill(&mut text, |text, index| _ = write!(text, r#"{}"{index:x}":1"#, comma(index)));
        (text + "}}]").into_bytes()
    }),
    ("Chrome: keys beside the events", 4, || {
        let mut text = String::from(r#"{"traceEvents":[]"#);
        fill(&mut text, |text, index| _ = write!(text, r#","{index:x}":1"#));
        (text + "}").into_bytes()
    }),
    ("V8: a node a sample", 4, || {
        let mut text = String::from(r#"{"startTime":0,"endTime":9,"samples":[],"timeDeltas":[],"nodes":["#);
        fill(&mut text, |text, index| {
            let id = index + 1;
            _ = write!(text, r#"{}{{"id":{id},"callFrame":{{}},"children":[{}]}}"#, comma(index), id + 1);
        });
        (text + "]}").into_bytes()
    }),
    ("pprof: one stack", 8, || pprof(&[stack(|_| 1, SIZE)])),
    ("pprof: no two stacks alike", 8, || {
        let mut random = 1_u64;
        let sample = |_| {
            stack(
                |_| {
                    random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    ((random >> 40) & 1) as u8 + 1
                },
                50,
            )
        };
        pprof(&(0..SIZE / 58).map(sample).collect::<Vec<_>>())
    }),
    ("pprof: a label a sample", 8, || {
        pprof(&with_numbers(|number| {
            field(2, &[&[10, 1, 1, 18, 1, 1][..], &field(3, &[&[8, 3, 24][..], number].concat())].concat())
        }))
    }),
    ("pprof: mappings", 8, || {
        pprof(&with_numbers(|number| field(3, &[&[8][..], number, &[16], number, &[24], number].concat())))
    }),
    ("pprof: functions", 8, || pprof(&with_numbers(|number| field(5, &[&[8][..], number].concat())))),
    ("pprof: locations without code", 8, || pprof(&with_numbers(|number| field(4, &[&[8][..], number].concat())))),
    ("pprof: empty texts", 8, || pprof(&vec![vec![50, 0]; SIZE / 2])),
];

#[test]
fn files_made_to_fill_the_memory_do_not() {
    let exe = std::env::current_exe().expect("the test's own program");
    let mut too_much = Vec::new();
    for (name, factor, _) in CASES {
        let mut child = Command::new(&exe);
        child.args(["--exact", "memory::one_case", "--ignored", "--nocapture"]).env(CASE, name);
        let output = child.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&output.stderr));
        let line = text.lines().find_map(|line| line.split_once("used ")).expect("what was used").1;
        let numbers: Vec<usize> = line.split(' ').take(2).map(|number| number.parse().expect("a number")).collect();
        let (used, size) = (numbers[0], numbers[1]);
        println!("{name}: {:.1} times its size, {line}", used as f64 / size as f64);
        if used > factor * size + LEAST * factor / 4 {
            too_much.push(format!("{name}: {} MiB for a file of {} MiB", used >> 20, size >> 20));
        }
    }
    assert!(too_much.is_empty(), "{too_much:#?}");
}

#[test]
#[ignore = "a part of another test, which runs it as a process of its own"]
fn one_case() {
    let Ok(name) = std::env::var(CASE) else { return };
    let (_, _, file) = CASES.iter().find(|(known, ..)| *known == name).expect("a case");
    let file = file();
    // From here on the peak counts.
    std::fs::write("/proc/self/clear_refs", "5").expect("a process can do that to itself");
    let before = memory("VmRSS:");
    let result = format::read(&file, &ReadOptions::default());
    let used = memory("VmHWM:").saturating_sub(before);
    let outcome = match &result {
        Ok(contents) => format!("{} warnings", contents.profile.meta.warnings.len()),
        Err(error) => error.to_string(),
    };
    println!("used {used} {} {outcome}", file.len());
}

/// A line of what the kernel says about this process, in bytes.
fn memory(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("such a line");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

/// Adds parts until the text is large.
fn fill(text: &mut String, mut add: impl FnMut(&mut String, usize)) {
    let mut index = 0;
    while text.len() < SIZE {
        add(text, index);
        index += 1;
    }
}

fn comma(index: usize) -> &'static str {
    if index == 0 { "" } else { "," }
}

fn speedscope_head(frames: &str) -> String {
    let schema = "https://www.speedscope.app/file-format-schema.json";
    format!(r#"{{"$schema":"{schema}","shared":{{"frames":[{frames}]}},"profiles":["#)
}

fn speedscope(frames: &str, profile: impl FnMut(&mut String, usize)) -> Vec<u8> {
    let mut text = speedscope_head(frames);
    fill(&mut text, profile);
    (text + "]}").into_bytes()
}

/// A pprof file with texts, a function and two locations, and these fields.
fn pprof(fields: &[Vec<u8>]) -> Vec<u8> {
    let texts = ["", "samples", "count", "f"].map(|text| field(6, text.as_bytes()));
    let locations = [1, 2].map(|id| field(4, &[&[8, id][..], &field(4, &[8, 1, 16, id])].concat()));
    let mut file = [field(1, &[8, 1, 16, 2]), texts.concat(), locations.concat(), field(5, &[8, 1, 16, 3])].concat();
    fields.iter().for_each(|field| file.extend(field));
    file
}

/// Fields with all numbers of four bytes, as many as fit.
fn with_numbers(field: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
    let number = |number: u32| [0x80 | number as u8, 0x80 | (number >> 7) as u8, 0x80 | (number >> 14) as u8, 1];
    let size = field(&number(0)).len();
    (0_u32..).take(SIZE / size).map(|index| field(&number(index))).collect()
}

/// A sample of so many frames.
fn stack(location: impl FnMut(usize) -> u8, depth: usize) -> Vec<u8> {
    let locations: Vec<u8> = (0..depth).map(location).collect();
    field(2, &[field(1, &locations), vec![18, 1, 1]].concat())
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut rest = bytes.len();
    while rest > 0x7f {
        field.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    field.push(rest as u8);
    field.extend(bytes);
    field
}
