//! Write, read: the same profile.

use traceview_core::format::{self, WriteOptions};
use traceview_core::model::{
    CpuDelta, Frame, Function, Nanos, OsId, Process, Profile, ProfileBuilder, Thread, Time, Values, Wait, WaitReason,
};
use traceview_tests::gecko_validator::violations;
use traceview_tests::rich_profile::rich_profile;

use super::{difference, firefox, json, read, written};

fn assert_round_trip(profile: &Profile) {
    let bytes = written(profile);
    let back = read(&bytes).expect("our own file");
    assert_eq!(difference(profile, &back), None);
    assert_eq!(violations(&json(&bytes)), [""; 0]);
}

/// A profile of one thread that `fill` fills; its process has the pid 1.
fn one_thread(fill: impl FnOnce(&mut ProfileBuilder, &mut Thread)) -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let name = builder.string("main");
    let process = builder.add_process(Process {
        pid: OsId::Number(1),
        parent: None,
        name,
        command_line: Vec::new(),
        start: None,
        end: None,
        exit: None,
    });
    let mut thread = Thread::new(process, OsId::Number(1), name);
    thread.is_main = true;
    builder.meta_mut().interval = Some(Nanos(1_000_000));
    fill(&mut builder, &mut thread);
    builder.add_thread(thread);
    builder.finish().expect("the rules of the model are kept")
}

#[test]
fn a_profile_with_every_table_filled_comes_back_equal_and_keeps_every_rule() {
    assert_round_trip(&rich_profile());
}

#[test]
fn compressed_files_are_the_same_and_smaller() {
    let profile = rich_profile();
    let mut packed = Vec::new();
    format::write(&profile, firefox(true), &WriteOptions::default(), &mut packed).expect("memory does not fail");
    assert!(packed.len() * 2 < written(&profile).len());
    assert_eq!(difference(&profile, &read(&packed).expect("our own file")), None);
}

#[test]
fn equal_profiles_give_equal_bytes() {
    assert_eq!(written(&rich_profile()), written(&rich_profile()));
    let back = read(&written(&rich_profile())).expect("our own file");
    assert_eq!(written(&back), written(&rich_profile()));
}

#[test]
fn what_had_to_be_repaired_is_reported() {
    let mut bytes = Vec::new();
    let repairs = format::write(&rich_profile(), firefox(false), &WriteOptions::default(), &mut bytes)
        .expect("memory does not fail");
    let repairs: Vec<_> = repairs.iter().map(|repair| (&*repair.code, repair.count)).collect();
    // Two members of flows are at threads, not at markers.
    let expected =
        [("marker-kind-renamed", 2), ("flows-not-shown", 2), ("main-thread-chosen", 2), ("times-made-up", 1)];
    assert_eq!(repairs, expected);
}

#[test]
fn a_wait_is_an_idle_sample_and_an_end() {
    let profile = one_thread(|builder, thread| {
        let [main, futex] = ["main", "futex"].map(|text| builder.string(text));
        let function = builder.function(Function::named(main));
        let frame = builder.frame(Frame::of(function));
        let stack = Some(builder.stack(None, frame));
        thread.samples.time = [0, 1_000_000, 12_000_000].map(Time).into();
        thread.samples.stack = vec![stack; 3];
        thread.samples.cpu = [0, 1_000_000, 900_000].map(|ns| CpuDelta::new(Nanos(ns))).into();
        let wait = Wait {
            start: Time(1_500_000),
            duration: Nanos(9_600_000),
            stack,
            reason: WaitReason::Blocked,
            syscall: Some(futex),
            target: None,
            inferred: false,
        };
        thread.waits.push(wait);
    });
    let file = json(&written(&profile));
    let samples = &file["threads"][0]["samples"];
    assert_eq!(samples["time"], serde_json::json!([0.0, 1.0, 1.5, 11.1, 12.0]));
    assert_eq!(samples["stack"], serde_json::json!([0, 0, 1, null, 0]));
    assert_eq!(samples["weight"], serde_json::json!([1, 1, 10.0, 0, 1]));
    assert_eq!(samples["threadCPUDelta"], serde_json::json!([0, 1_000_000, 0, 0, 900_000]));
    let shared = &file["shared"];
    assert_eq!(shared["stackTable"]["prefix"][1], 0);
    let frame = usize::try_from(shared["stackTable"]["frame"][1].as_u64().expect("a frame")).expect("small");
    let category = &shared["frameTable"]["category"][frame];
    let category = usize::try_from(category.as_u64().expect("a category")).expect("small");
    assert_eq!(file["meta"]["categories"][category]["name"], "Idle");
    let function = usize::try_from(shared["frameTable"]["func"][frame].as_u64().expect("a function")).expect("small");
    let name = usize::try_from(shared["funcTable"]["name"][function].as_u64().expect("a name")).expect("small");
    assert_eq!(shared["stringArray"][name], "futex");
    assert_round_trip(&profile);
}

#[test]
fn where_running_stopped_without_a_wait_a_row_without_a_stack_says_so() {
    let profile = one_thread(|builder, thread| {
        let main = builder.string("main");
        let function = builder.function(Function::named(main));
        let frame = builder.frame(Frame::of(function));
        let stack = Some(builder.stack(None, frame));
        // After the first sample it did not run, after the second it did though nobody looked, after the third it ended.
        thread.samples.time = [0, 10_000_000, 20_000_000].map(Time).into();
        thread.samples.stack = vec![stack; 3];
        thread.samples.cpu = [0, 1_000_000, 9_500_000].map(|ns| CpuDelta::new(Nanos(ns))).into();
        thread.end = Some(Time(25_000_000));
    });
    let file = json(&written(&profile));
    let samples = &file["threads"][0]["samples"];
    assert_eq!(samples["time"], serde_json::json!([0.0, 1.0, 10.0, 20.0, 21.0]));
    assert_eq!(samples["stack"], serde_json::json!([0, null, 0, 0, null]));
    assert_eq!(samples["weight"], serde_json::Value::Null);
    assert_round_trip(&profile);
}

#[test]
fn names_of_all_sorts_survive() {
    let names = ["\"quoted\"", "line\nbreak\ttab\u{0}nul", "\u{feff}bom", "back\\slash", "🦀 crab", "\u{2028}", ""];
    let long = "x".repeat(2_000);
    let profile = one_thread(|builder, thread| {
        for name in names.into_iter().chain([&*long]) {
            let name = builder.string(name);
            let function = builder.function(Function::named(name));
            let frame = builder.frame(Frame::of(function));
            thread.samples.stack.push(Some(builder.stack(None, frame)));
            thread.samples.time.push(Time(0));
            thread.name = name;
        }
        builder.meta_mut().name = names.concat();
    });
    assert_round_trip(&profile);
}

#[test]
fn what_json_cannot_say_is_kept() {
    let profile = one_thread(|builder, thread| {
        let main = builder.string("main");
        let function = builder.function(Function::named(main));
        let frame = builder.frame(Frame::of(function));
        let stack = Some(builder.stack(None, frame));
        thread.samples.time = vec![Time(i64::MIN), Time((1 << 53) + 1), Time(i64::MAX)];
        thread.samples.stack = vec![stack; 3];
        thread.samples.weight = Values::Float(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    });
    let bytes = written(&profile);
    assert_eq!(violations(&json(&bytes)), [""; 0]);
    let back = read(&bytes).expect("our own file");
    assert_eq!(back.threads[0].samples.time, profile.threads[0].samples.time);
    let Values::Float(weights) = &back.threads[0].samples.weight else { panic!("fractional weights") };
    assert_eq!(weights[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(weights[2].is_nan());
}

#[test]
fn more_categories_than_a_file_can_have_survive() {
    let profile = one_thread(|builder, thread| {
        for index in 0..300 {
            let name = builder.string(&format!("category {index}"));
            let color = traceview_core::model::Color::Blue;
            builder.add_category(traceview_core::model::Category { name, color, subcategories: vec![name, name] });
        }
        let main = builder.string("main");
        let function = builder.function(Function::named(main));
        for category in [0, 253, 254, 255, 256, 307] {
            let category = Some(traceview_core::model::CategoryId::new(category));
            let subcategory = u16::from(category > Some(traceview_core::model::CategoryId::new(7)));
            let frame = builder.frame(Frame { category, subcategory, ..Frame::of(function) });
            thread.samples.stack.push(Some(builder.stack(None, frame)));
            thread.samples.time.push(Time(0));
        }
    });
    assert_round_trip(&profile);
}

#[test]
fn a_profile_without_threads_is_refused() {
    let profile = ProfileBuilder::new().finish().expect("an empty profile");
    let error = format::write(&profile, firefox(false), &WriteOptions::default(), Vec::new())
        .expect_err("no threads")
        .to_string();
    assert_eq!(error, "a Firefox profiles file cannot hold this profile: it has no threads");
}

#[test]
fn an_output_that_fails_is_an_error() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let written = bytes.len().min(self.0);
            self.0 -= written;
            if written == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(written) }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for (gzip, size) in [(false, 0), (false, 10_000), (true, 0), (true, 1_000)] {
        let error =
            format::write(&rich_profile(), firefox(gzip), &WriteOptions::default(), Full(size)).expect_err("no space");
        let format::WriteError::Io(error) = error else { panic!("{error}") };
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }
}

/// A thread that was sampled `count` times, with waits.
pub(super) fn many_samples(count: i64) -> Profile {
    one_thread(|builder, thread| {
        let functions: Vec<_> = (0..500)
            .map(|index| {
                let name = builder.string(&format!("crate::module::function_{index}"));
                let function = builder.function(Function::named(name));
                builder.frame(Frame::of(function))
            })
            .collect();
        let mut seed = 1_u64;
        for sample in 0..count {
            let mut stack = None;
            for depth in 0..8 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let choice = usize::try_from(seed >> 33).unwrap_or_default() % (2 + depth);
                stack = Some(builder.stack(stack, functions[depth * 50 + choice]));
            }
            let jitter = i64::try_from(seed >> 45).unwrap_or_default();
            thread.samples.time.push(Time(sample * 1_000_000 + jitter % 400_000));
            thread.samples.stack.push(stack);
            thread.samples.cpu.push(CpuDelta::new(Nanos(1_000_000 - jitter % 1_000)));
            if sample % 100 == 99 {
                let start = Time(sample * 1_000_000 + 500_000);
                let (duration, reason) = (Nanos(100_000), WaitReason::Blocked);
                thread.waits.push(Wait {
                    start,
                    duration,
                    stack,
                    reason,
                    syscall: None,
                    target: None,
                    inferred: sample % 3 == 0,
                });
            }
        }
    })
}

/// Anything quadratic would make this test take minutes.
#[test]
fn many_samples_are_written_and_read_back() {
    let profile = many_samples(200_000);
    let mut bytes = Vec::new();
    format::write(&profile, firefox(true), &WriteOptions::default(), &mut bytes).expect("memory does not fail");
    let back = read(&bytes).expect("our own file");
    assert!(*profile == *back, "the same profile");
}
