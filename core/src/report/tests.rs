//! What the reports look like, and that extreme profiles do them no harm.

use serde_json::Value;

use super::{
    Found, InfoSource, Style, SummaryLines, TreeDirection, TreeLimits, groups_json, info_json, threads_json, top_json,
    tree_json, waits_json, write_groups, write_info, write_summary, write_threads, write_top, write_tree, write_waits,
};
use crate::analysis::fixture::Fixture;
use crate::analysis::{
    GroupBy, InvertedTree, Measure, Selection, StackValues, call_tree, callee_tree, functions, functions_named, groups,
    thread_list, wait_list,
};
use crate::model::{
    ExitStatus, Frame, Function, Nanos, OsId, Process, ProcessId, Profile, Quality, ThreadUsage, Time, Values, Warning,
    WeightUnit,
};

const WIDE: Style = Style { width: None, color: false };
const NARROW: Style = Style { width: Some(50), color: false };

/// 100 samples of 1 ms, and waits of 1.5 s.
fn demo() -> Fixture {
    let mut fixture = Fixture::new();
    let main = fixture.thread("demo", 100);
    fixture.samples(
        main,
        &[
            ("_start;main:3;work:7;memchr::memmem::find:412", 50),
            ("_start;main:3;work:7;memchr::memmem::find:413", 10),
            ("_start;main:3;work:8", 20),
            ("_start;main:4;[kernel] read", 15),
            ("[cut: too deep];memchr::memmem::find:412", 3),
            ("libc.so.6+0x1234", 2),
        ],
    );
    let waiting = fixture.stack("_start;main:9");
    fixture.wait(main, 200_000_000, 1_000_000_000, Some(waiting), "futex");
    fixture.wait(main, 1_300_000_000, 500_000_000, Some(waiting), "read");
    let thread = fixture.builder.thread_mut(main);
    thread.is_main = true;
    thread.usage = Some(ThreadUsage {
        cpu: Nanos(101_000_000),
        user: Some(Nanos(80_000_000)),
        system: Some(Nanos(20_000_000)),
        ..ThreadUsage::default()
    });
    fixture.thread("idle", 101);
    fixture.builder.process_mut(ProcessId::new(0)).exit = Some(ExitStatus::Code(3));
    let meta = fixture.builder.meta_mut();
    meta.name = "demo".to_owned();
    meta.recording_start = Some(Time(0));
    meta.recording_end = Some(Time(2_140_000_000));
    meta.start_unix_ns = Some(1_700_000_000_000_000_000);
    meta.quality = Some(Quality { lost_samples: 1, stopped: Nanos(2_000_000), ..Quality::default() });
    meta.warnings.push(Warning {
        code: "stripped".to_owned(),
        message: "libc.so.6 has only exported names".to_owned(),
        count: 2,
        first: Some("/usr/lib/libc.so.6".to_owned()),
    });
    fixture
}

fn values(profile: &Profile, measure: Measure) -> StackValues {
    StackValues::of(profile, &Selection::default(), measure).expect("it can be added up")
}

fn top(profile: &Profile, most: usize, style: Style) -> String {
    let mut text = String::new();
    write_top(&mut text, profile, &functions(profile, &values(profile, Measure::Cpu)), None, most, style).unwrap();
    text
}

fn tree(profile: &Profile, measure: Measure, limits: TreeLimits, style: Style) -> String {
    let mut text = String::new();
    let mut tree = call_tree(profile, &values(profile, measure));
    write_tree(&mut text, profile, &mut tree, None, (TreeDirection::TopDown, limits), style).unwrap();
    text
}

fn inverted(profile: &Profile, measure: Measure, limits: TreeLimits, style: Style) -> String {
    let mut text = String::new();
    let mut tree = InvertedTree::new(profile, &values(profile, measure));
    write_tree(&mut text, profile, &mut tree, None, (TreeDirection::Inverted, limits), style).unwrap();
    text
}

fn summary(profile: &Profile, style: Style) -> String {
    let mut text = String::new();
    write_summary(&mut text, profile, SummaryLines { saved: Some("Saved as @1 (0.9 MB).") }, style).unwrap();
    text
}

fn info(profile: &Profile, style: Style) -> String {
    let mut text = String::new();
    let source = InfoSource { format: "firefox".to_owned(), version: Some(64) };
    write_info(&mut text, profile, &source, style).unwrap();
    text
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).expect("valid JSON")
}

/// The lines of a raw string, without the indentation of this file.
fn lines(text: &str) -> String {
    text.lines().skip(1).map(|line| format!("{}\n", line.strip_prefix("        |").unwrap_or("?"))).collect()
}

#[test]
fn the_hottest_functions_with_their_lines() {
    let profile = demo().finish();
    let wide = lines(
        r"
        |CPU time 100 ms in 100 samples
        |  self  ±95 %   total  function                           hottest line
        |63.0 %    9.3  63.0 %  memchr::memmem::find (memchr 1.0)  src/memchr.rs:412
        |20.0 %    7.8  80.0 %  work
        |15.0 %    7.0  15.0 %  [kernel] read
        |2.0 % in 1 more function",
    );
    assert_eq!(top(&profile, 3, WIDE), wide);
    let narrow = lines(
        r"
        |CPU time 100 ms in 100 samples
        |  self  ±95 %   total  function
        |63.0 %    9.3  63.0 %  memchr::memmem::find
        |37.0 % in 3 more functions",
    );
    assert_eq!(top(&profile, 1, Style { width: Some(44), color: false }), narrow);
}

#[test]
fn functions_that_read_the_same_are_told_apart() {
    let mut fixture = demo();
    for (full, samples) in [("_ZN1g17h3f2a1b0000000000E", 30), ("_ZN1g17h00c4d10000000000E.llvm.7", 25)] {
        let thread = fixture.thread("t", 5);
        let [name, full] = ["g", full].map(|text| fixture.builder.string(text));
        let function = fixture.builder.function(Function { full_name: Some(full), ..Function::named(name) });
        let frame = fixture.builder.frame(Frame::of(function));
        let stack = fixture.builder.stack(None, frame);
        (0..samples).for_each(|time| fixture.sample(thread, time, Some(stack), Some(1_000_000)));
    }
    let profile = fixture.finish();
    let text = top(&profile, 3, WIDE);
    assert!(text.contains("  g [h3f2a1]\n") && text.contains("  g [h00c4d]\n"), "{text}");
    assert!(text.contains("memchr::memmem::find (memchr 1.0)  "), "those that are alone need nothing: {text}");
    assert!(top(&profile, 2, WIDE).contains("  g\n"), "what is not shown need not be told apart");
    assert!(tree(&profile, Measure::Cpu, TreeLimits::NONE, WIDE).contains("g [h3f2a1]\n"));
}

fn by(profile: &Profile, by: GroupBy, thing: &str, most: usize) -> String {
    let mut text = String::new();
    write_groups(&mut text, profile, &groups(profile, &values(profile, Measure::Cpu), by), None, (thing, most), WIDE)
        .unwrap();
    text
}

#[test]
fn groups_of_code() {
    let profile = demo().finish();
    let crates = lines(
        r"
        |CPU time 100 ms in 100 samples
        |  self  ±95 %   total  crate
        |63.0 %    9.3  63.0 %  memchr 1.0
        |20.0 %    7.8  95.0 %  demo
        |15.0 %    7.0  15.0 %  kernel
        | 2.0 %    3.2   2.0 %  libc.so.6
        | 0.0 %    1.8   3.0 %  unknown",
    );
    assert_eq!(by(&profile, GroupBy::Crate, "crate", 20), crates);
    let categories = lines(
        r"
        |CPU time 100 ms in 100 samples
        |  self  ±95 %   total  category
        |63.0 %    9.3  63.0 %  Dependency
        |37.0 % in 4 more categories",
    );
    assert_eq!(by(&profile, GroupBy::Category, "category", 1), categories);
    let json =
        parse(&groups_json(&profile, &groups(&profile, &values(&profile, Measure::Cpu), GroupBy::Crate), None, 1));
    assert_eq!((&json["complete"], &json["total"]), (&false.into(), &100_000_000.into()));
    let row = &json["rows"][0];
    let expected = ["memchr 1.0", "memchr", "1.0"].map(Value::from);
    assert_eq!([&row["name"], &row["crate"], &row["version"]], [&expected[0], &expected[1], &expected[2]]);
    assert_eq!((&row["self"], &row["total_percent"], &row["module"]), (&63_000_000.into(), &63.0.into(), &Value::Null));
    let empty = Fixture::new().finish();
    assert!(by(&empty, GroupBy::Line, "line", 20).contains("No line was seen."));
}

#[test]
fn guesses_are_greyed() {
    let profile = demo().finish();
    let text = top(&profile, 9, Style { width: Some(80), color: true });
    let grey: Vec<&str> = text.lines().filter(|line| line.starts_with("\x1b[2m")).collect();
    assert_eq!(grey, ["\x1b[2m 2.0 %    3.2   2.0 %  libc.so.6+0x1234\x1b[0m"]);
}

#[test]
fn chains_are_not_indented() {
    let profile = demo().finish();
    let expected = lines(
        r"
        |CPU time 100 ms in 100 samples
        | total  ±95 %    self  function
        |95.0 %    4.5          _start
        |95.0 %    4.5          ↳ main
        |80.0 %    7.8  20.0 %    work
        |60.0 %    9.4  60.0 %      memchr::memmem::find (memchr 1.0)
        |15.0 %    7.0  15.0 %    [kernel] read
        |1 row",
    );
    let text = tree(&profile, Measure::Cpu, TreeLimits { min_percent: 4.0, max_rows: 5 }, WIDE);
    assert_eq!(text, expected.replace("1 row", "2 branches below 4.0 % not shown"));
    let text = tree(&profile, Measure::Cpu, TreeLimits { min_percent: 0.0, max_rows: 2 }, WIDE);
    assert!(text.ends_with("↳ main\n… and more: only the first 2 rows are shown\n"), "{text}");
}

#[test]
fn waits_are_leaves_of_the_frame_that_waited() {
    let profile = demo().finish();
    let expected = lines(
        r"
        |CPU time and waits 1.60 s
        | total    self  function
        |99.7 %          _start
        |99.7 %          ↳ main
        |62.5 %  62.5 %    [wait] futex
        |31.2 %  31.2 %    [wait] read
        | 5.0 %   1.2 %    work
        | 3.8 %   3.8 %      memchr::memmem::find (memchr 1.0)
        | 0.9 %   0.9 %    [kernel] read
        |2 branches below 0.5 % not shown",
    );
    assert_eq!(tree(&profile, Measure::Wall, TreeLimits::READABLE, WIDE), expected);
}

#[test]
fn inverted_trees_start_where_samples_were_taken() {
    let profile = demo().finish();
    let expected = lines(
        r"
        |CPU time 100 ms in 100 samples
        | share  ±95 %  function, below it its callers
        |63.0 %    9.3  memchr::memmem::find (memchr 1.0)
        |60.0 %    9.4    work
        |60.0 %    9.4    ↰ main
        |60.0 %    9.4    ↰ _start
        | 3.0 %    3.7    [cut: too deep]
        |20.0 %    7.8  work
        |20.0 %    7.8  ↰ main
        |20.0 %    7.8  ↰ _start
        |15.0 %    7.0  [kernel] read
        |15.0 %    7.0  ↰ main
        |15.0 %    7.0  ↰ _start
        | 2.0 %    3.2  libc.so.6+0x1234",
    );
    assert_eq!(inverted(&profile, Measure::Cpu, TreeLimits::READABLE, WIDE), expected);
}

#[test]
fn the_summary_says_how_it_went() {
    let expected = lines(
        r"
        |Recorded 2.14 s wall, 101 ms CPU (user 80.0 ms, kernel 20.0 ms), 2 threads; main waited 1.50 s ([wait] futex 1.00 s)
        |100 samples, rooted 97.0 %, named 99.4 %, own code named 100.0 %, lost 1, program stopped 2.0 % of its CPU time, exit 3
        |3 samples with [cut: too deep]
        |  self  ±95 %   total  function                           hottest line
        |63.0 %    9.3  63.0 %  memchr::memmem::find (memchr 1.0)  memchr.rs:412
        |20.0 %    7.8  80.0 %  work
        |15.0 %    7.0  15.0 %  [kernel] read
        | 2.0 %    3.2   2.0 %  libc.so.6+0x1234
        |Crates: memchr 63 %, demo 20 %, kernel 15 %, libc.so.6 2 %.  Saved as @1 (0.9 MB).",
    );
    assert_eq!(summary(&demo().finish(), Style { width: Some(100), color: false }), expected);
}

#[test]
fn info_says_what_there_is_and_what_is_missing() {
    let profile = demo().finish();
    let expected = lines(
        r"
        |Format     firefox 64
        |Name       demo
        |Duration   2.14 s
        |CPU time   101 ms (user 80.0 ms, kernel 20.0 ms)
        |Stacks     100 samples, rooted 97.0 %, named 99.4 %, own code named 100.0 %, lost 1
        |Cut        3 samples with [cut: too deep]
        |Contains   1 process, 2 threads, 2 libraries, 7 functions, 11 frames, 12 stacks, 2 waits
        |
        |CPU time  samples  waited  PID/TID  thread  waited most for
        |  101 ms      100  1.50 s  100/100  demo    [wait] futex 1.00 s
        |                0          100/101  idle
        |
        |warning: stripped: libc.so.6 has only exported names (2 times); first: /usr/lib/libc.so.6",
    );
    assert_eq!(info(&profile, WIDE), expected);

    let json = parse(&info_json(&profile, &InfoSource { format: "firefox".to_owned(), version: Some(64) }));
    assert_eq!(json["duration_ns"], 2_140_000_000_i64);
    assert_eq!(json["start_unix_ns"], 1_700_000_000_000_000_000_i64);
    assert_eq!(json["symbolized_percent"], 99.4);
    assert_eq!((&json["rooted_percent"], &json["truncated"], &json["lost"]), (&97.0.into(), &3.into(), &1.into()));
    assert_eq!(json["threads"][0]["cpu_ns"], 101_000_000);
    assert_eq!((&json["threads"][1]["tid"], &json["threads"][1]["cpu_ns"]), (&101.into(), &Value::Null));
    let types: Vec<_> = json["sample_types"].as_array().expect("types").iter().map(Value::to_string).collect();
    assert_eq!(
        types,
        [
            r#"{"default":false,"name":"samples","total":100,"unit":"samples"}"#,
            r#"{"default":true,"name":"cpu","total":100000000,"unit":"ns"}"#
        ]
    );
    assert_eq!((&json["warnings"][0]["code"], &json["warnings"][0]["count"]), (&"stripped".into(), &2.into()));
}

#[test]
fn info_lists_processes_where_there_are_several() {
    let mut fixture = demo();
    let name = fixture.builder.string("sh");
    let command_line = ["sh", "-c", "sleep 1; true"].map(|word| fixture.builder.string(word)).to_vec();
    let first = fixture.builder.process_mut(ProcessId::new(0));
    (first.start, first.end) = (Some(Time(0)), Some(Time(2_140_000_000)));
    let child = Process {
        pid: OsId::Number(102),
        parent: Some(ProcessId::new(0)),
        name,
        command_line,
        start: Some(Time(500_000_000)),
        end: Some(Time(1_500_000_000)),
        exit: Some(ExitStatus::Signal(9)),
    };
    let unknown = Process { command_line: Vec::new(), start: None, end: None, exit: None, ..child.clone() };
    fixture.builder.add_process(child);
    fixture.builder.add_process(unknown);
    let profile = fixture.finish();
    let expected = lines(
        r"
        |
        |PID  parent  started   lived                          end  process
        |100             0 ns  2.14 s                       exit 3  demo
        |102     100   500 ms  1.00 s  ended by signal 9 (SIGKILL)  sh -c 'sleep 1; true'
        |102     100                                                sh
        |
        |CPU time",
    );
    let text = info(&profile, WIDE);
    assert!(text.contains(expected.trim_end()), "{text}");

    let json = parse(&info_json(&profile, &InfoSource { format: "firefox".to_owned(), version: Some(64) }));
    let list = json["process_list"].as_array().unwrap();
    assert_eq!((list.len(), &json["processes"]), (3, &3.into()));
    assert_eq!(
        list[1].to_string(),
        r#"{"command":["sh","-c","sleep 1; true"],"end_ns":1500000000,"exit":{"signal":9},"name":"sh","parent":0,"pid":102,"start_ns":500000000}"#
    );
    assert_eq!((&list[0]["exit"]["code"], &list[0]["parent"]), (&3.into(), &Value::Null));
    assert_eq!((&list[2]["exit"], &list[2]["end_ns"]), (&Value::Null, &Value::Null));
}

fn sum(rows: &[Value], field: &str) -> i64 {
    rows.iter().map(|row| row[field].as_i64().expect("an integer")).sum()
}

#[test]
fn json_rows_add_up() {
    let mut fixture = demo();
    let main = crate::model::ThreadId::new(0);
    fixture.sample(main, 2_000_000_000, None, Some(77));
    let profile = fixture.finish();

    let json = parse(&top_json(&profile, &functions(&profile, &values(&profile, Measure::Cpu)), None, usize::MAX));
    let rows = json["rows"].as_array().unwrap();
    assert_eq!((&json["unit"], &json["complete"]), (&"ns".into(), &true.into()));
    assert_eq!(json["total"], 100_000_077);
    assert_eq!(json["without_stack"], 77);
    assert_eq!(sum(rows, "self") + 77, 100_000_077);
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(row["self"].as_i64())));
    assert_eq!(
        rows[0].to_string(),
        r#"{"category":"Dependency","crate":"memchr","file":"src/memchr.rs","full_name":null,"line":412,"#.to_owned()
            + r#""module":"demo","name":"memchr::memmem::find","samples":63,"self":63000000,"#
            + r#""self_interval":[53.22,71.82],"self_percent":63.0,"total":63000000,"total_interval":[53.22,71.82],"total_percent":63.0,"#
            + r#""version":"1.0"}"#
    );

    let mut tree = call_tree(&profile, &values(&profile, Measure::Wall));
    let json = parse(&tree_json(&profile, &mut tree, None, TreeLimits::NONE));
    let rows = json["rows"].as_array().unwrap();
    let total = json["total"].as_i64().unwrap();
    assert_eq!(total, 1_600_000_077);
    let below = |parent: Value| -> i64 {
        let of_parent = rows.iter().filter(|row| row["parent"] == parent);
        of_parent.map(|row| row["total"].as_i64().unwrap()).sum()
    };
    assert_eq!(below(Value::Null), total - 77);
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row["total"].as_i64().unwrap(), row["self"].as_i64().unwrap() + below(index.into()), "{row}");
        let depth = row["parent"]
            .as_u64()
            .map_or(0, |parent| rows[usize::try_from(parent).unwrap()]["depth"].as_u64().unwrap() + 1);
        assert_eq!(row["depth"], depth);
        assert!(row["parent"].as_u64().is_none_or(|parent| parent < index as u64), "parents come first");
    }
    let wait = rows.iter().find(|row| row["name"] == "[wait] futex").unwrap();
    assert_eq!(
        (&wait["category"], &wait["module"], &wait["self_interval"]),
        (&"Idle".into(), &Value::Null, &Value::Null)
    );
}

/// All reports of `profile`, to see that none of them fails; gives the text.
#[test]
fn times_are_whole_nanoseconds_in_json() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let stack = fixture.stack("main");
    fixture.sample(thread, 0, Some(stack), None);
    let samples = &mut fixture.builder.thread_mut(thread).samples;
    samples.weight_unit = WeightUnit::TracingMs;
    // A double near 2.09 of which a million is not quite a whole number.
    samples.weight = Values::Float(vec![2.09_f64.next_down()]);
    let profile = fixture.finish();
    let json = parse(&top_json(&profile, &functions(&profile, &values(&profile, Measure::Weights)), None, 1));
    assert_eq!((&json["total"], &json["rows"][0]["self"]), (&2_090_000.into(), &2_090_000.into()));
}

fn all(profile: &Profile) -> String {
    let limits = TreeLimits { max_rows: 50, ..TreeLimits::READABLE };
    let mut text = String::new();
    for style in [WIDE, NARROW, Style { width: Some(0), color: true }] {
        for measure in [Measure::Cpu, Measure::Samples, Measure::OffCpu, Measure::Wall] {
            if StackValues::of(profile, &Selection::default(), measure).is_ok() {
                text += &tree(profile, measure, limits, style);
                text += &inverted(profile, measure, limits, style);
            }
        }
        text += &top(profile, 20, style);
        text += &summary(profile, style);
        text += &info(profile, style);
    }
    assert!(!text.contains("NaN") && !text.contains("inf %"), "{text}");
    text
}

#[test]
fn nothing_recorded_is_said_not_divided_by() {
    let empty = Fixture::new().finish();
    assert_eq!(top(&empty, 5, WIDE), "CPU time 0 ns in 0 samples\nNo function was seen.\n");
    assert_eq!(summary(&empty, WIDE), "Recorded 0 threads\n0 samples\nSaved as @1 (0.9 MB).\n");
    all(&empty);
    let json = parse(&info_json(&empty, &InfoSource { format: "firefox".to_owned(), version: None }));
    assert_eq!(
        (&json["rooted_percent"], &json["duration_ns"], &json["lost"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let json = parse(&top_json(&empty, &functions(&empty, &values(&empty, Measure::Cpu)), None, 5));
    assert_eq!((&json["total"], &json["rows"]), (&0.into(), &Value::Array(Vec::new())));

    let mut fixture = Fixture::new();
    let thread = fixture.thread("t", 1);
    let stack = fixture.stack("main");
    fixture.sample(thread, 0, Some(stack), Some(0));
    let idle = fixture.finish();
    assert_eq!(top(&idle, 5, WIDE), "CPU time 0 ns in 0 samples\nNo function was seen.\n");
    all(&idle);
}

#[test]
fn one_sample_is_hardly_evidence() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("t", 1);
    fixture.samples(thread, &[("main:1", 1)]);
    let profile = fixture.finish();
    let row = top(&profile, 5, WIDE).lines().nth(2).map(str::to_owned);
    assert_eq!(row.as_deref(), Some("100.0 %   39.7  100.0 %  main"));
    all(&profile);
}

#[test]
fn deep_stacks_and_long_names_fit() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("t", 1);
    let long = format!("app::{}::end", "x".repeat(2000));
    let deep = vec!["main", "even", "odd"].into_iter().cycle().take(100_000).collect::<Vec<_>>().join(";");
    // Samples along the way, so that no chain can be folded.
    for depth in [1_usize, 10, 1_000, 50_000] {
        let part = deep.split(';').take(depth).collect::<Vec<_>>().join(";");
        fixture.samples(thread, &[(&part, 10)]);
    }
    fixture.samples(thread, &[(&format!("{deep};{long}"), 60)]);
    let profile = fixture.finish();
    let list = functions(&profile, &values(&profile, Measure::Cpu));
    assert!(list.rows.iter().all(|row| row.total.samples <= 100), "recursion counts once");

    let narrow = top(&profile, 5, NARROW);
    assert!(narrow.contains("…xxx") && narrow.contains("x::end"), "{narrow}");
    let lines = narrow.lines().chain(narrow.lines());
    assert!(lines.clone().all(|line| line.chars().count() <= 50), "{narrow}");
    assert!(top(&profile, 5, WIDE).contains(&long), "without a width names are whole");

    let text = tree(&profile, Measure::Cpu, TreeLimits { max_rows: 100_001, ..TreeLimits::NONE }, NARROW);
    assert_eq!(text.lines().count(), 100_001 + 2);
    assert!(text.lines().all(|line| line.chars().count() <= 50));
    let mut whole_tree = call_tree(&profile, &values(&profile, Measure::Cpu));
    let json = parse(&tree_json(&profile, &mut whole_tree, None, TreeLimits::NONE));
    assert_eq!(json["rows"][100_000]["depth"], 100_000);
    all(&profile);
}

#[test]
fn names_stay_on_their_line() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("t\x1b[31m\n", 1);
    fixture.samples(thread, &[("evil\nrow\x1b[2J", 20)]);
    let profile = fixture.finish();
    assert!(top(&profile, 5, WIDE).contains("evil\\nrow\\u{1b}[2J"));
    let plain: String = all(&profile).replace("\x1b[2m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
    assert!(!plain.contains('\x1b'));
    let json = parse(&top_json(&profile, &functions(&profile, &values(&profile, Measure::Cpu)), None, 5));
    assert_eq!(json["rows"][0]["name"], "evil\nrow\x1b[2J", "JSON has the name as it is");
}

#[test]
fn weights_of_other_tools_keep_their_fractions() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("t", 1);
    let stack = fixture.stack("main");
    for time in 0..3 {
        fixture.sample(thread, time, Some(stack), None);
    }
    fixture.builder.thread_mut(thread).samples.weight = Values::Float(vec![0.5, 0.25, 1.0]);
    let profile = fixture.finish();
    let json = parse(&top_json(&profile, &functions(&profile, &values(&profile, Measure::Cpu)), None, 5));
    assert_eq!((&json["unit"], &json["total"]), (&"samples".into(), &1.75.into()));
    assert!(top(&profile, 5, WIDE).starts_with("3 samples of weight 1.75\n"));
    all(&profile);
}

#[test]
fn a_program_that_ended_before_the_first_look_has_no_samples_and_is_told_why() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("tiny", 7);
    let stack = fixture.stack("[not sampled]");
    fixture.sample(thread, 0, Some(stack), Some(700_000));
    let tiny = fixture.finish();
    let text = top(&tiny, 5, WIDE);
    assert!(text.starts_with("CPU time 700 µs in 0 samples\n"), "{text}");
    assert!(!text.contains('±'), "nothing was sampled that could be off: {text}");
    let text = summary(&tiny, WIDE);
    assert!(
        text.contains("\nNo samples: the program used less CPU time than the 1.00 ms between two looks; "),
        "{text}"
    );
    let json = parse(&info_json(&tiny, &InfoSource { format: "firefox".to_owned(), version: None }));
    assert_eq!(json["threads"][0]["samples"], 0);

    let mut fixture = Fixture::new();
    let thread = fixture.thread("busy", 7);
    fixture.samples(thread, &[("main", 3), ("[not sampled]", 1)]);
    let busy = fixture.finish();
    assert!(top(&busy, 5, WIDE).starts_with("CPU time 4.00 ms in 3 samples\n"), "{}", top(&busy, 5, WIDE));
    assert!(!summary(&busy, WIDE).contains("No samples"));
}

#[test]
fn a_search_says_what_it_left() {
    let profile = demo().finish();
    let mut values = values(&profile, Measure::Cpu);
    values.retain(&profile, |id| profile.string(profile.functions.name[id.index()]).contains("memmem"));
    let found = Some(Found { text: "memmem", amount: values.total });
    let expected = lines(
        r"
        |CPU time 100 ms in 100 samples
        |63.0 % of it in stacks with `memmem`: 63.0 ms in 63 samples
        |  self  ±95 %   total  function                           hottest line
        |63.0 %    9.3  63.0 %  memchr::memmem::find (memchr 1.0)  src/memchr.rs:412",
    );
    let mut text = String::new();
    write_top(&mut text, &profile, &functions(&profile, &values), found, 5, WIDE).unwrap();
    assert_eq!(text, expected);
    let json = parse(&top_json(&profile, &functions(&profile, &values), found, 5));
    assert_eq!((&json["total"], &json["found"]), (&100_000_000.into(), &63_000_000.into()));
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(5), "with their callers");
}

#[test]
fn callers_and_callees_stand_around_a_function() {
    let profile = demo().finish();
    let values = values(&profile, Measure::Wall);
    let functions = functions_named(&profile, &values, "work").expect("there is one");
    let mut text = String::new();
    let limits = TreeLimits { min_percent: 0.0, max_rows: 9 };
    let mut callees = callee_tree(&profile, &values, &functions);
    write_tree(&mut text, &profile, &mut callees, None, (TreeDirection::TopDown, limits), WIDE).unwrap();
    let mut callers = InvertedTree::callers(&profile, &values, &functions);
    write_tree(&mut text, &profile, &mut callers, None, (TreeDirection::Inverted, limits), WIDE).unwrap();
    let expected = lines(
        r"
        |CPU time and waits 1.60 s
        |total   self  function
        |5.0 %  1.2 %  work
        |3.8 %  3.8 %    memchr::memmem::find (memchr 1.0)
        |CPU time and waits 1.60 s
        |share  function, below it its callers
        |5.0 %  work
        |5.0 %  ↰ main
        |5.0 %  ↰ _start",
    );
    assert_eq!(text, expected);
    let json = parse(&tree_json(&profile, &mut callers, None, limits));
    assert_eq!((&json["rows"][0]["self"], &json["rows"][0]["total"]), (&20_000_000.into(), &80_000_000.into()));
}

#[test]
fn waits_by_what_for_and_by_whom() {
    let mut fixture = demo();
    let main = crate::model::ThreadId::new(0);
    for start in [5, 6] {
        fixture.wait(main, start * 1_000_000_000, 20_000_000, None, "read");
    }
    let profile = fixture.finish();
    let list = wait_list(&profile, &Selection::default(), None);
    let expected = lines(
        r"
        |Time waited 1.54 s in 4 waits
        |   time   share  waits  longest  what, by whom
        | 1.00 s  64.9 %      1   1.00 s  [wait] futex
        | 1.00 s  64.9 %      1   1.00 s    main
        | 540 ms  35.1 %      3   500 ms  [wait] read
        | 500 ms  32.5 %      1   500 ms    main
        |40.0 ms   2.6 %      2  20.0 ms    (no stack)",
    );
    let mut text = String::new();
    write_waits(&mut text, &profile, &list, 5, WIDE).unwrap();
    assert_eq!(text, expected);
    let json = parse(&waits_json(&profile, &list, 1));
    assert_eq!((&json["total"], &json["waits"], &json["complete"]), (&1_540_000_000.into(), &4.into(), &false.into()));
    let row = &json["rows"][0];
    assert_eq!((&row["name"], &row["syscall"]), (&"[wait] futex".into(), &"futex".into()));
    assert_eq!((&row["longest_start"], &row["tid"]), (&200_000_000.into(), &100.into()));
    assert_eq!((&row["functions"][0]["name"], &row["functions"][0]["line"]), (&"main".into(), &9.into()));
    text.clear();
    write_waits(&mut text, &profile, &list, 1, WIDE).unwrap();
    assert!(text.ends_with("\n540 ms for 1 more thing\n"), "{text}");
}

#[test]
fn threads_with_what_they_did() {
    let profile = demo().finish();
    let list = thread_list(&profile, &Selection::default(), None);
    let expected = lines(
        r"
        |2 threads, CPU time 101 ms, 100 samples, waited 1.50 s
        |CPU time     user   kernel  samples  waits  waited  PID/TID  thread  waited most for
        |  101 ms  80.0 ms  20.0 ms      100      2  1.50 s  100/100  demo    [wait] futex 1.00 s
        |                                  0                 100/101  idle",
    );
    let mut text = String::new();
    write_threads(&mut text, &profile, &list, 20, WIDE).unwrap();
    assert_eq!(text, expected);
    let json = parse(&threads_json(&profile, &list, 1));
    assert_eq!((&json["total"], &json["complete"]), (&101_000_000.into(), &false.into()));
    let row = &json["rows"][0];
    assert_eq!(
        (&row["user"], &row["waited"], &row["longest_wait"]),
        (&80_000_000.into(), &1_500_000_000.into(), &1_000_000_000.into())
    );
    assert_eq!(row["waited_for"][1]["name"], "[wait] read");
    let empty = Fixture::new().finish();
    text.clear();
    write_threads(&mut text, &empty, &thread_list(&empty, &Selection::default(), None), 20, WIDE).unwrap();
    write_waits(&mut text, &empty, &wait_list(&empty, &Selection::default(), None), 20, WIDE).unwrap();
    assert_eq!(text, "0 threads, 0 samples\nTime waited 0 ns in 0 waits\n");
}
