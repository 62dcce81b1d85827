//! Profiles of any sort are written and read again.

use proptest::prelude::*;

use crate::format::{WriteOptions, chrome};
use crate::model::{
    Category, Color, CpuDelta, Field, FieldValue, FlowAnchor, FlowMember, FlowPhase, Frame, Function, Marker,
    MarkerTiming, Nanos, OsId, Process, Profile, ProfileBuilder, Slice, SliceId, StandardCategory, Thread, Time, Wait,
    WaitReason,
};

/// What happens on a thread next: after some time a slice begins or the innermost one ends, or there is a marker.
#[derive(Clone, Debug)]
enum Step {
    Begin(i64, String, bool),
    End(i64),
    Marker(i64, String, Option<i64>),
}

#[derive(Clone, Debug)]
struct Track {
    pid: i64,
    tid: i64,
    name: String,
    steps: Vec<Step>,
    waits: Vec<(i64, i64)>,
    samples: Vec<(i64, Option<i64>)>,
}

fn step() -> impl Strategy<Value = Step> {
    let marker = (0..5_i64, ".{0,4}", prop::option::of(0..9_i64));
    prop_oneof![
        (0..5_i64, ".{0,4}", any::<bool>()).prop_map(|(after, name, has_category)| Step::Begin(
            after,
            name,
            has_category
        )),
        (0..5_i64).prop_map(Step::End),
        marker.prop_map(|(after, name, length)| Step::Marker(after, name, length)),
    ]
}

fn track() -> impl Strategy<Value = Track> {
    let steps = prop::collection::vec(step(), 0..30);
    let pairs = prop::collection::vec((0..50_i64, 0..50_i64), 0..5);
    let samples = prop::collection::vec((0..50_i64, prop::option::of(0..50_i64)), 0..9);
    (0..3_i64, 0..3_i64, ".{0,4}", steps, pairs, samples).prop_map(|(pid, tid, name, steps, waits, samples)| Track {
        pid,
        tid,
        name,
        steps,
        waits,
        samples,
    })
}

/// Adds the slices and markers of a thread, which begin at `time`.
fn add_steps(builder: &mut ProfileBuilder, thread: &mut Thread, steps: &[Step], mut time: i64) {
    let name = builder.string("a category");
    let other = builder.string("Other");
    let named = builder.add_category(Category { name, color: Color::Red, subcategories: vec![other] });
    let mut open: Vec<usize> = Vec::new();
    for step in steps {
        match step {
            Step::Begin(after, name, has_category) => {
                time += after;
                let key = builder.string(name);
                let fields =
                    [Field { key, value: FieldValue::Text(key) }, Field { key: other, value: FieldValue::Float(0.1) }];
                let args = has_category.then(|| builder.add_payload(fields));
                let id = thread.slices.push(Slice {
                    start: Time(time),
                    duration: Nanos(0),
                    name: key,
                    category: if *has_category { named } else { StandardCategory::Other.id() },
                    parent: open.last().map(|parent| SliceId::new(*parent)),
                    depth: u32::try_from(open.len()).expect("few"),
                    lane: 0,
                    args,
                    incomplete: false,
                });
                open.push(id.index());
            }
            Step::End(after) => {
                time += after;
                if let Some(slice) = open.pop() {
                    thread.slices.duration[slice] = Nanos(time - thread.slices.start[slice].0);
                }
            }
            Step::Marker(after, name, length) => {
                time += after;
                let (name, category) = (builder.string(name), StandardCategory::Other.id());
                let timing = match length {
                    Some(length) => MarkerTiming::Interval(Time(time), Time(time + length)),
                    None => MarkerTiming::Instant(Time(time)),
                };
                let (schema, payload, stack) = (None, None, None);
                thread.markers.push(Marker { name, timing, category, schema, payload, stack });
            }
        }
    }
    for slice in open {
        thread.slices.duration[slice] = Nanos(time - thread.slices.start[slice].0);
        thread.slices.incomplete[slice] = true;
    }
}

fn profile(tracks: &[Track], flows: &[Vec<(usize, usize, i64)>], start: i64) -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let function = builder.string("f");
    let function = builder.function(Function::named(function));
    let frame = builder.frame(Frame::of(function));
    let stack = builder.stack(None, frame);
    for track in tracks {
        let name = builder.string(&track.name);
        let process = builder.add_process(Process::new(OsId::Number(track.pid), name));
        let mut thread = Thread::new(process, OsId::Number(track.tid), name);
        add_steps(&mut builder, &mut thread, &track.steps, start);
        let mut time = start;
        for (after, length) in &track.waits {
            let (start, duration) = (Time(time + after), Nanos(*length));
            let (reason, syscall) = (WaitReason::Blocked, Some(name));
            let wait = Wait { start, duration, stack: None, reason, syscall, target: None, inferred: false };
            thread.waits.push(wait);
            time += after + length;
        }
        time = start;
        for (after, cpu) in &track.samples {
            time += after;
            thread.samples.time.push(Time(time));
            thread.samples.stack.push((after % 3 > 0).then_some(stack));
            let cpu = cpu.map_or(CpuDelta::UNKNOWN, |cpu| CpuDelta::new(Nanos(cpu)));
            thread.samples.cpu.push(cpu);
        }
        builder.add_thread(thread);
    }
    let name = builder.string("flow");
    let empty = builder.string("");
    for flow in flows {
        let id = builder.string(&(flow.len() % 3).to_string());
        let threads = &builder.tables().threads;
        let member = |(thread, row, later): &(usize, usize, i64)| {
            let index = thread % threads.len().max(1);
            let slices = &threads.get(index)?.slices;
            let row = row % slices.len().max(1);
            let start = *slices.start.get(row)?;
            let time = Time(start.0 + later % (slices.duration[row].0 + 1));
            let (thread, anchor) = (crate::model::ThreadId::new(index), FlowAnchor::Slice(SliceId::new(row)));
            Some(FlowMember { thread, time, phase: FlowPhase::Step, anchor })
        };
        let mut members: Vec<FlowMember> = flow.iter().filter_map(member).collect();
        members.sort_by_key(|member| member.time);
        if let [first, .., last] = &mut members[..] {
            (first.phase, last.phase) = (FlowPhase::Start, FlowPhase::End);
            builder.add_flow(name, empty, id, &members);
        }
    }
    builder.finish().expect("a valid profile")
}

/// Name, start, duration and arguments of the slices of a thread.
fn slices(profile: &Profile, thread: &Thread) -> Vec<(String, i64, i64, String)> {
    let slices = &thread.slices;
    let facts = |row: usize| {
        let args = slices.args[row].map(|args| profile.payloads.get(args));
        let args = args.into_iter().flatten().map(|field| match field.value {
            FieldValue::Text(text) => format!("{}={}", profile.string(field.key), profile.string(text)),
            other => format!("{}={other:?}", profile.string(field.key)),
        });
        let name = profile.string(slices.name[row]).to_owned();
        (name, slices.start[row].0, slices.duration[row].0, args.collect())
    };
    let mut found: Vec<_> = (0..slices.len()).map(facts).collect();
    found.sort();
    found
}

/// What flows pass through: names and starts. Times can be others: a flow whose start is bound to nothing begins with what was
/// not its start.
fn flows(profile: &Profile) -> Vec<Vec<(String, i64)>> {
    let member = |member: &FlowMember| {
        let thread = &profile.threads[member.thread.index()];
        let FlowAnchor::Slice(slice) = member.anchor else { return (String::new(), member.time.0) };
        let name = profile.string(thread.slices.name[slice.index()]).to_owned();
        (name, thread.slices.start[slice.index()].0)
    };
    let of_flow = |flow| {
        let mut members: Vec<_> = profile.flows.members_of(flow).iter().map(member).collect();
        members.sort();
        members
    };
    let mut found: Vec<Vec<_>> = (0..profile.flows.len()).map(of_flow).collect();
    found.sort();
    found
}

proptest! {
    #[test]
    fn slices_flows_and_waits_of_any_profile_come_back(
        tracks in prop::collection::vec(track(), 0..4),
        links in prop::collection::vec(prop::collection::vec((0..4_usize, 0..30_usize, 0..9_i64), 2..5), 0..5),
        start in -100..100_i64,
    ) {
        let profile = profile(&tracks, &links, start);
        let mut text = Vec::new();
        let warnings = chrome::write(&profile, &WriteOptions::default(), &mut text).unwrap();
        let shown = String::from_utf8(text.clone()).expect("text");
        prop_assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok(), "{}", shown);
        let read = chrome::read(&text).unwrap();
        let is_shown = |thread: &&Thread| {
            thread.slices.len() + thread.markers.len() + thread.waits.len() > 0
                || thread.samples.cpu.iter().any(|cpu| cpu.get().is_none_or(|cpu| cpu > Nanos::ZERO))
        };
        let mut others = read.threads.iter().filter(|thread| matches!(thread.tid, OsId::Number(_)));
        for thread in profile.threads.iter().filter(is_shown) {
            let Some(twin) = others.next() else { panic!("a thread is missing: {shown}") };
            prop_assert_eq!(read.string(twin.name), profile.string(thread.name));
            prop_assert_eq!(slices(&read, twin), slices(&profile, thread), "{}", &shown);
            let waits = |thread: &Thread| thread.waits.iter().map(|wait| (wait.start, wait.duration)).collect::<Vec<_>>();
            prop_assert_eq!(waits(twin), waits(thread), "{}", &shown);
        }
        if !warnings.iter().any(|warning| warning.code == "flows-elsewhere") {
            prop_assert_eq!(flows(&read), flows(&profile), "{}", &shown);
        }
    }

    /// Flows of traces are as their events lay; they come back exactly.
    #[test]
    fn flows_of_any_trace_come_back(
        slices in prop::collection::vec((0..3_u8, 0..20_i64, 0..9_i64, 0..2_u8), 1..20),
        phases in prop::collection::vec((0..3_u8, 0..20_i64, 0..4_usize, 0..4_u8, 0..2_u8), 0..20),
    ) {
        let slice = |(tid, ts, dur, cat): &(u8, i64, i64, u8)| {
            let phase = if tid + cat == 3 { r#"b","id":9"# } else { r#"X""# };
            format!(r#"{{"ph":"{phase},"name":"{tid} {ts} {dur}","cat":"{cat}","ts":{ts},"dur":{dur},"pid":1,"tid":{tid}}}"#)
        };
        let phase = |(tid, ts, phase, id, cat): &(u8, i64, usize, u8, u8)| {
            let letter = ["s", "t", "f", r#"f","bp":"e"#][*phase];
            format!(r#"{{"ph":"{letter}","name":"flow","id":{id},"cat":"{cat}","ts":{ts},"pid":1,"tid":{tid}}}"#)
        };
        let events: Vec<String> = slices.iter().map(slice).chain(phases.iter().map(phase)).collect();
        let text = format!("[{}]", events.join(","));
        let profile = chrome::read(text.as_bytes()).unwrap();
        let mut text = Vec::new();
        let warnings = chrome::write(&profile, &WriteOptions::default(), &mut text).unwrap();
        let read = chrome::read(&text).unwrap();
        let has_moved = warnings.iter().any(|warning| warning.code == "flows-elsewhere");
        prop_assert!(has_moved || flows(&read) == flows(&profile), "{events:?}\n{}", String::from_utf8_lossy(&text));
    }
}
