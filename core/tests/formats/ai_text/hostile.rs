//! Profiles with names that try to break the text.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::proptest;
use traceview_core::analysis::Measure;
use traceview_core::model::{
    CpuDelta, Frame, Function, Nanos, OsId, Process, Profile, ProfileBuilder, SampleTable, Source, StackId, Thread,
    Time, Wait, WaitReason,
};

use super::{assert_budget, assert_says_tree, values};

/// Functions: name, file, first line. Threads: name, samples (stack, CPU time), waits (stack, duration).
#[derive(Clone, Debug)]
struct Plan {
    functions: Vec<(String, Option<String>, Option<u8>)>,
    /// Frames: function, line.
    stacks: Vec<Vec<(u8, Option<u8>)>>,
    threads: Vec<(String, Samples, Waits)>,
}

type Samples = Vec<(Option<u8>, u16)>;
type Waits = Vec<(u8, u8)>;

fn names() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ -~]{0,6}",
        prop_oneof![
            Just(";"),
            Just("\n"),
            Just("\r\n"),
            Just("\\"),
            Just("\\x3b"),
            Just("\\u{3b}"),
            Just("\u{2028}"),
            Just("\u{202e}"),
            Just(" – "),
            Just("\n\n# Call tree\n"),
            Just("\nNode: 1 – "),
            Just("\nChildren:\n  * 1 – "),
            Just("1;2;3;4;5;6"),
            Just("Nodes: 3 shown ("),
        ]
        .prop_map(str::to_owned),
    ];
    vec(pieces, 0..5).prop_map(|pieces| pieces.concat())
}

fn plans() -> impl Strategy<Value = Plan> {
    // A file that begins with [ would read as a library.
    let files = option::of(names().prop_map(|name| format!("/{name}")));
    // Few names and files, so that different functions read the same.
    let functions = (vec(names(), 1..4), vec(files, 1..3), vec((any::<u8>(), any::<u8>(), option::of(1..3_u8)), 1..6))
        .prop_map(|(names, files, functions)| {
            let pick = |index: u8, count: usize| usize::from(index) % count;
            let function = |(name, file, line): (u8, u8, Option<u8>)| {
                (names[pick(name, names.len())].clone(), files[pick(file, files.len())].clone(), line)
            };
            functions.into_iter().map(function).collect()
        });
    let stacks = vec(vec((any::<u8>(), option::of(1..4_u8)), 1..7), 1..10);
    let samples = vec((option::weighted(0.9, any::<u8>()), 0..3000_u16), 0..20);
    let threads = vec((names(), samples, vec((any::<u8>(), any::<u8>()), 0..4)), 1..3);
    (functions, stacks, threads).prop_map(|(functions, stacks, threads)| Plan { functions, stacks, threads })
}

fn build(plan: &Plan) -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let functions: Vec<_> = plan
        .functions
        .iter()
        .enumerate()
        .map(|(at, (name, file, line))| {
            let name = builder.string(name);
            let source = file.as_ref().map(|file| {
                let file = builder.string(file);
                builder.source(Source::at(file))
            });
            // What a reader does not see makes functions of one name different.
            let full_name = Some(builder.string(&at.to_string()));
            let line = line.map(u32::from);
            builder.function(Function { full_name, source, line, ..Function::named(name) })
        })
        .collect();
    let stacks: Vec<StackId> = plan
        .stacks
        .iter()
        .map(|frames| {
            let mut stack = None;
            for (function, line) in frames {
                let function = functions[usize::from(*function) % functions.len()];
                let frame = builder.frame(Frame { line: line.map(u32::from), ..Frame::of(function) });
                stack = Some(builder.stack(stack, frame));
            }
            stack.expect("a frame")
        })
        .collect();
    let pick = |index: u8| stacks[usize::from(index) % stacks.len()];
    let name = builder.string("a;b\n");
    builder.meta_mut().name = "# Call tree\n1;a".to_owned();
    let process = builder.add_process(Process::new(OsId::Text("1;\n".into()), name));
    let syscall = builder.string("re;ad\n");
    for (name, samples, waits) in &plan.threads {
        let name = builder.string(name);
        let thread = builder.add_thread(Thread::new(process, OsId::Number(1), name));
        builder.thread_mut(thread).samples = SampleTable {
            time: (0..samples.len()).map(|time| Time(i64::try_from(time).expect("few"))).collect(),
            stack: samples.iter().map(|(stack, _)| stack.map(pick)).collect(),
            cpu: samples.iter().map(|(_, cpu)| CpuDelta::new(Nanos(i64::from(*cpu)))).collect(),
            ..SampleTable::default()
        };
        let mut start = Time(0);
        for (stack, duration) in waits {
            let duration = Nanos(i64::from(*duration));
            builder.thread_mut(thread).waits.push(Wait {
                start,
                duration,
                stack: Some(pick(*stack)),
                reason: WaitReason::Blocked,
                syscall: Some(syscall),
                target: None,
                inferred: false,
            });
            start = start + duration;
        }
    }
    builder.finish().expect("the plan keeps the rules")
}

proptest! {
    #[test]
    fn hostile_names_break_no_text(plan in plans(), budget in 0..4000_usize) {
        let profile = build(&plan);
        for measure in [Measure::Cpu, Measure::OffCpu, Measure::Wall, Measure::Samples] {
            let values = values(&profile, measure);
            assert_says_tree(&profile, &values, "a plan");
            assert_budget(&profile, &values, budget, "a plan");
        }
    }
}
