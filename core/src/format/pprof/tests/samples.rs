//! Samples, their values and labels, and what a file says of itself.

use super::{WITH_WAITS, written, written_with};
use crate::analysis::fixture::Fixture;
use crate::model::{
    FlowAnchor, FlowMember, FlowPhase, Label, LabelValue, OsId, Quality, Time, ValueColumn, ValueType, Values,
    WeightUnit,
};

#[test]
fn equal_stacks_of_a_thread_are_one_sample() {
    let mut fixture = Fixture::new();
    let (main, worker) = (fixture.thread("main", 100), fixture.thread("worker", 101));
    fixture.samples(main, &[("main;work", 3), ("main", 1), ("main;work", 2)]);
    fixture.samples(worker, &[("main;work", 4)]);
    *fixture.builder.meta_mut() = crate::model::Meta {
        name: "demo".to_owned(),
        command_line: vec!["demo".to_owned(), "-x".to_owned()],
        start_unix_ns: Some(1_000_000),
        recording_start: Some(Time(5)),
        recording_end: Some(Time(9_000_005)),
        recorder: Some("cargo-traceview 1".to_owned()),
        quality: Some(Quality { ticks: 10, missed_ticks: 2, lost_samples: 7, ..Quality::default() }),
        ..fixture.builder.tables().meta.clone()
    };
    let file = written(&fixture.finish());
    assert_eq!(file.types(), ["samples/count", "cpu/nanoseconds"]);
    let samples: Vec<_> = file
        .root
        .sample
        .iter()
        .map(|sample| (file.stack(sample), sample.value.clone(), file.labels(sample).join(" ")))
        .collect();
    let row =
        |stack: &str, count: i64, labels: &str| (stack.to_owned(), vec![count, count * 1_000_000], labels.to_owned());
    assert_eq!(
        samples,
        [
            row("work;main", 5, "thread_name=main tid=100 id pid=100 id"),
            row("main", 1, "thread_name=main tid=100 id pid=100 id"),
            row("work;main", 4, "thread_name=worker tid=101 id pid=100 id"),
            // The CPU time of lost samples is in the next one of their threads.
            ("traceview::lost_samples".to_owned(), vec![7, 0], String::new()),
        ]
    );
    let root = &file.root;
    assert_eq!((root.time_nanos, root.duration_nanos, root.period), (1_000_005, 9_000_000, 1_000_000));
    assert_eq!(file.text(root.default_sample_type), "cpu");
    let period_type = root.period_type.expect("a type");
    assert_eq!((file.text(period_type.r#type), file.text(period_type.unit)), ("cpu", "nanoseconds"));
    let comments: Vec<&str> = root.comment.iter().map(|row| file.text(*row)).collect();
    let rate = "sampled at 1000 Hz: 10 looks, 2 missed, 7 samples lost";
    assert_eq!(comments, ["recorded by cargo-traceview 1", "command: demo -x", rate]);
    assert_eq!((root.drop_frames, root.keep_frames, root.doc_url), (0, 0, 0));
    assert_eq!(file.warnings, []);
}

#[test]
fn a_count_is_a_time_where_cpu_times_are_not_known() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let stack = fixture.stack("main");
    for time in 0..3 {
        fixture.sample(thread, time, (time > 0).then_some(stack), None);
    }
    fixture.builder.thread_mut(thread).samples.weight = Values::Integer(vec![9, 2, 3]);
    fixture.builder.meta_mut().quality = Some(Quality { lost_samples: 2, ..Quality::default() });
    let file = written(&fixture.finish());
    let expected =
        [("main".to_owned(), vec![5, 5_000_000]), ("traceview::lost_samples".to_owned(), vec![2, 2_000_000])];
    assert_eq!(file.values().into_iter().collect::<Vec<_>>(), expected, "without a stack nothing ran");
}

#[test]
fn cpu_time_without_a_stack_is_kept() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let stack = fixture.stack("main");
    fixture.sample(thread, 1, Some(stack), Some(5));
    fixture.sample(thread, 2, None, Some(7));
    fixture.sample(thread, 3, None, Some(0));
    let values = written(&fixture.finish()).values();
    assert_eq!((&*values["main"], &*values["[no stack]"]), (&[1, 5][..], &[1, 7][..]));
}

#[test]
fn waits_are_written_on_request_and_apart_from_cpu_time() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    fixture.samples(thread, &[("main", 2)]);
    let stack = fixture.stack("main;lock");
    fixture.wait(thread, 10, 500, Some(stack), "futex");
    fixture.wait(thread, 600, 70, None, "read");
    fixture.wait(thread, 700, 30, Some(stack), "futex");
    let profile = fixture.finish();
    let file = written(&profile);
    assert_eq!(file.types(), ["samples/count", "cpu/nanoseconds"]);
    assert_eq!(file.values().len(), 1);
    assert_eq!(file.warning("waits-left-out"), Some(3));
    assert_eq!(file.warnings[0].first.as_deref(), Some("thread main"));

    let file = written_with(&profile, &WITH_WAITS);
    assert_eq!(file.types(), ["samples/count", "cpu/nanoseconds", "wall/nanoseconds"]);
    let expected = [
        ("[wait] futex;lock;main".to_owned(), vec![0, 0, 530]),
        ("[wait] read".to_owned(), vec![0, 0, 70]),
        ("main".to_owned(), vec![2, 2_000_000, 2_000_000]),
    ];
    assert_eq!(file.values().into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(file.warnings, []);
    assert_eq!(file.text(file.root.default_sample_type), "cpu");
}

#[test]
fn other_weights_and_values_have_types_of_their_own() {
    let mut fixture = Fixture::new();
    let (heap, trace) = (fixture.thread("heap", 1), fixture.thread("trace", 2));
    let stack = fixture.stack("main");
    for thread in [heap, trace] {
        for time in 0..2 {
            fixture.sample(thread, time, Some(stack), None);
        }
    }
    let [objects, count, bytes] = ["objects", "count", "bytes"].map(|text| fixture.builder.string(text));
    let value_type = fixture.builder.value_type(ValueType { name: objects, unit: count });
    // Its name is that of another type.
    let twin = fixture.builder.value_type(ValueType { name: objects, unit: bytes });
    let samples = &mut fixture.builder.thread_mut(heap).samples;
    (samples.weight, samples.weight_unit) = (Values::Integer(vec![4096, i64::MAX]), WeightUnit::Bytes);
    samples.values = vec![
        ValueColumn { value_type, values: Values::Float(vec![1.25, 1.5]) },
        ValueColumn { value_type, values: Values::Ones },
        ValueColumn { value_type: twin, values: Values::Ones },
    ];
    let samples = &mut fixture.builder.thread_mut(trace).samples;
    (samples.weight, samples.weight_unit) = (Values::Float(vec![0.25, f64::NAN]), WeightUnit::TracingMs);
    fixture.builder.meta_mut().interval = None;
    let file = written(&fixture.finish());
    assert_eq!(file.types(), ["samples/count", "time/nanoseconds", "space/bytes", "objects/count"]);
    assert_eq!(file.text(file.root.default_sample_type), "time");
    assert_eq!((file.root.period, &file.root.period_type), (0, &None));
    assert_eq!(file.root.sample[0].value, [2, 0, i64::MAX, 3], "sums stay in range, and 2.75 is nearly 3");
    assert_eq!(file.root.sample[1].value, [2, 250_000, 0, 0]);
    let codes = ["values-rounded", "values-not-finite", "values-left-out", "values-too-large"];
    assert_eq!(codes.map(|code| file.warning(code)), [Some(1), Some(1), Some(2), Some(1)]);
}

#[test]
fn what_is_beyond_64_bits_is_the_largest_number_and_told() {
    let mut fixture = Fixture::new();
    let threads = [fixture.thread("a", 1), fixture.thread("b", 2), fixture.thread("c", 3)];
    for thread in threads {
        let stack = fixture.stack("main");
        (0..2).for_each(|time| fixture.sample(thread, time, Some(stack), None));
    }
    let name = fixture.builder.string("bytes");
    let value_type = fixture.builder.value_type(ValueType { name, unit: name });
    let huge = [[2.0_f64.powi(62); 2], [-2.0_f64.powi(62); 2], [-2.0_f64.powi(63); 2]];
    for (thread, values) in threads.into_iter().zip(huge) {
        let samples = &mut fixture.builder.thread_mut(thread).samples;
        samples.weight = Values::Integer(vec![1, i64::MIN]);
        samples.values = vec![ValueColumn { value_type, values: Values::Float(values.to_vec()) }];
    }
    fixture.builder.meta_mut().interval = Some(crate::model::Nanos(2));
    fixture.builder.meta_mut().quality = Some(Quality { lost_samples: 1 << 62, ..Quality::default() });
    let file = written(&fixture.finish());
    assert_eq!(file.types(), ["samples/count", "cpu/nanoseconds", "bytes/bytes"]);
    let values: Vec<_> = file.root.sample.iter().map(|sample| &*sample.value).collect();
    let (weight, cpu) = (1 + i64::MIN, i64::MIN + 2);
    assert_eq!(
        values,
        [[weight, cpu, i64::MAX], [weight, cpu, i64::MIN], [weight, cpu, i64::MIN], [1 << 62, i64::MAX, 0]]
    );
    // In each thread a CPU time; the sums of the first (2^63) and the third (-2^64), and the lost time.
    assert_eq!(file.warning("values-too-large"), Some(3 + 2 + 1));
    assert_eq!(file.warning("values-rounded"), None);
}

#[test]
fn labels_are_text_or_number_and_stand_once() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 0);
    fixture.samples(thread, &[("main", 3)]);
    let [request, bytes, kb, pid, empty, x] =
        ["request", "bytes", "kilobytes", "pid", "", "x"].map(|text| fixture.builder.string(text));
    let label = |key, value| Label { key, value };
    let set = fixture.builder.label_set(vec![
        label(request, LabelValue::Text(x)),
        label(request, LabelValue::Number(1, None)),
        label(bytes, LabelValue::Number(0, None)),
        label(kb, LabelValue::Number(-3, Some(bytes))),
        label(pid, LabelValue::Text(x)),
        label(x, LabelValue::Text(empty)),
        label(empty, LabelValue::Text(x)),
    ]);
    fixture.builder.thread_mut(thread).samples.labels = vec![None, Some(set), Some(set)];
    let worker = fixture.thread("", 1);
    fixture.builder.thread_mut(worker).tid = OsId::Text("worker#1".into());
    fixture.samples(worker, &[("main", 1)]);
    let file = written(&fixture.finish());
    let labels: Vec<String> = file.root.sample.iter().map(|sample| file.labels(sample).join(", ")).collect();
    let thread = "thread_name=main, tid=0 id, pid=100 id";
    let own = "request=x, bytes=0 bytes, kilobytes=-3 bytes";
    assert_eq!(labels, [thread.to_owned(), format!("{thread}, {own}"), "tid=worker#1, pid=100 id".to_owned()]);
    assert_eq!(file.root.sample[1].value, [2, 2_000_000]);
    assert_eq!(file.warning("labels-left-out"), Some(4));
}

#[test]
fn threads_that_look_the_same_are_one() {
    let mut fixture = Fixture::new();
    // The system gave an id again.
    let threads = [fixture.thread("worker", 7), fixture.thread("other", 8), fixture.thread("worker", 7)];
    for thread in threads {
        fixture.samples(thread, &[("main", 1)]);
    }
    let file = written(&fixture.finish());
    let values: Vec<_> = file.root.sample.iter().map(|sample| sample.value[0]).collect();
    assert_eq!(values, [2, 1]);
}

#[test]
fn what_has_no_place_is_told() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let name = fixture.builder.string("request");
    let slice = crate::model::Slice {
        start: Time(0),
        duration: crate::model::Nanos(1),
        name,
        category: crate::model::StandardCategory::Other.id(),
        parent: None,
        depth: 0,
        lane: 0,
        args: None,
        incomplete: false,
    };
    fixture.builder.thread_mut(thread).slices.push(slice);
    let member = FlowMember { thread, time: Time(0), phase: FlowPhase::Start, anchor: FlowAnchor::Thread };
    fixture.builder.add_flow(name, name, name, &[member]);
    let file = written(&fixture.finish());
    let told: Vec<&str> = file.warnings.iter().map(|warning| &*warning.message).collect();
    assert_eq!(
        told,
        [
            "slices are left out (1): a pprof file has no place for them",
            "flows are left out (1): a pprof file has no place for them"
        ]
    );
    assert_eq!(file.root.sample, []);
}
