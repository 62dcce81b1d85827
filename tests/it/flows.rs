//! Who started, ended and waited for whom: markers with stacks, linked by flows, as the programs themselves know it. And what
//! processes used, as counters.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use traceview_core::format::{self, ReadOptions};
use traceview_core::model::{
    FieldValue, FlowAnchor, FlowMember, Marker, OsId, Profile, StackId, Thread, ThreadId, Time,
};
use traceview_tests::recording::{Recorded, number, percentage};

use crate::traceview;

type Pairs = BTreeSet<(i64, i64)>;

fn profile(recorded: &Recorded<'_>) -> Profile {
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    recorded.profile()
}

/// `1:2 3:4 ` of a workload's truth.
fn pairs(truth: &Value, name: &str) -> Pairs {
    let pair = |text: &str| {
        let (waiter, awaited) = text.split_once(':').unwrap();
        (waiter.parse().unwrap(), awaited.parse().unwrap())
    };
    truth[name].as_str().unwrap().split_whitespace().map(pair).collect()
}

fn system_id(id: &OsId) -> i64 {
    let OsId::Number(id) = id else { panic!("{id}") };
    *id
}

fn tid(profile: &Profile, thread: ThreadId) -> i64 {
    system_id(&profile.threads[thread.index()].tid)
}

fn pid(profile: &Profile, thread: ThreadId) -> i64 {
    system_id(&profile.processes[profile.threads[thread.index()].process.index()].pid)
}

/// The markers of a kind, with their threads.
fn markers<'a>(profile: &'a Profile, name: &'a str) -> Vec<(&'a Thread, Marker)> {
    let of_thread = |thread: &'a Thread| (0..thread.markers.len()).map(move |row| (thread, thread.markers.get(row)));
    profile.threads.iter().flat_map(of_thread).filter(|(_, marker)| profile.string(marker.name) == name).collect()
}

fn count(profile: &Profile, name: &str) -> usize {
    markers(profile, name).len()
}

fn text<'a>(profile: &'a Profile, marker: &Marker, field: &str) -> Option<&'a str> {
    let fields = profile.payloads.get(marker.payload.unwrap());
    let field = fields.iter().find(|other| profile.string(other.key) == field)?;
    let FieldValue::Text(text) = field.value else { panic!("{field:?}") };
    Some(profile.string(text))
}

/// The two ends of each flow of that name, which are markers of these kinds.
fn ends(profile: &Profile, name: &str, kinds: [&str; 2]) -> Vec<[FlowMember; 2]> {
    let flows = (0..profile.flows.len()).filter(|flow| profile.string(profile.flows.name[*flow]) == name);
    let flows = flows.map(|flow| <[FlowMember; 2]>::try_from(profile.flows.members_of(flow)).unwrap());
    flows
        .inspect(|ends| {
            assert!(ends[0].time <= ends[1].time, "{name}: {ends:?}");
            let names = ends.map(|end| {
                let FlowAnchor::Marker(row) = end.anchor else { panic!("{end:?}") };
                profile.string(profile.threads[end.thread.index()].markers.name[row.index()])
            });
            assert_eq!(names, kinds, "{name}");
        })
        .collect()
}

/// The threads that flows of that name link.
fn linked(profile: &Profile, name: &str, kinds: [&str; 2]) -> Pairs {
    let ends = ends(profile, name, kinds);
    let pairs: Pairs = ends.iter().map(|ends| (tid(profile, ends[0].thread), tid(profile, ends[1].thread))).collect();
    assert_eq!(pairs.len(), ends.len(), "{name}: some are linked twice");
    pairs
}

fn swapped(pairs: &Pairs) -> Pairs {
    pairs.iter().map(|(from, to)| (*to, *from)).collect()
}

fn joins(profile: &Profile) -> Pairs {
    swapped(&linked(profile, "join", ["Thread exit", "Join"]))
}

/// Pairs of waiting thread and ended process.
fn waits(profile: &Profile) -> Pairs {
    let ends = ends(profile, "wait", ["Process exit", "Wait"]);
    ends.iter().map(|ends| (tid(profile, ends[1].thread), pid(profile, ends[0].thread))).collect()
}

/// The functions of a stack, innermost first.
fn functions(profile: &Profile, stack: StackId) -> Vec<&str> {
    let name = |node| profile.string(profile.functions.name[profile.leaf_function(node).index()]);
    profile.stacks.ancestors(stack).map(name).collect()
}

/// That all markers of the kind have whole stacks through one of these functions.
fn assert_stacks(profile: &Profile, kind: &str, through: &[&str]) {
    let rooted = profile.rooted_stacks();
    for (thread, marker) in markers(profile, kind) {
        let stack = marker.stack.unwrap_or_else(|| panic!("{kind} of {} has no stack", thread.tid));
        let functions = functions(profile, stack);
        assert!(rooted[stack.index()], "{kind}: {functions:?}");
        let is_through = |wanted: &&str| functions.iter().any(|name| name.ends_with(wanted));
        assert!(through.iter().any(is_through), "{kind}: {functions:?}");
    }
}

fn not_seen(profile: &Profile) -> usize {
    let fact = profile.meta.extra.iter().find(|(name, _)| name == "Waiter not seen");
    fact.map_or(0, |(_, count)| count.parse().unwrap())
}

#[test]
fn a_thousand_threads_are_linked_with_who_started_and_joined_them() {
    let traceview = traceview();
    let recorded = traceview.record("", "kin", "threads 1000 40");
    let (truth, profile) = (recorded.truth(), profile(&recorded));
    let (joiners, sleepers) = (pairs(&truth, "joiners"), pairs(&truth, "sleepers"));
    assert_eq!((joiners.len(), sleepers.len()), (20, 1000), "an id was used twice");
    let all: Pairs = joiners.union(&sleepers).copied().collect();
    for kind in ["Spawn thread", "Thread start", "Thread exit"] {
        assert_eq!(count(&profile, kind), all.len(), "{kind}");
    }
    assert_eq!((count(&profile, "Exec"), count(&profile, "Process exit")), (1, 1));
    assert_eq!(linked(&profile, "spawn", ["Spawn thread", "Thread start"]), all);
    let joins = joins(&profile);
    assert_eq!(count(&profile, "Join"), joins.len());
    assert!(joins.is_subset(&all), "invented: {:?}", joins.difference(&all));
    assert_eq!(joins.len() + not_seen(&profile), all.len());
    // All whose waiter was asleep at a tick before: in 40 ms there is one, unless the recorder gets no CPU. Main waits for its
    // joiners in turn, and most of those have ended by then.
    assert!(joins.len() * 10 >= all.len() * 8, "only {} joins", joins.len());
    assert_stacks(&profile, "Spawn thread", &["kin::start_and_join", "kin::threads"]);
    assert_stacks(&profile, "Join", &["kin::start_and_join", "kin::threads"]);
    assert_stacks(&profile, "Thread start", &["clone3"]);
}

#[test]
fn a_hundred_processes_are_linked_with_who_started_and_waited_for_them() {
    let traceview = traceview();
    let recorded = traceview.record("", "kin", "processes 100 40");
    let (truth, profile) = (recorded.truth(), profile(&recorded));
    let [spawned, forked, vforked, any] = ["spawned", "forked", "vforked", "any"].map(|way| pairs(&truth, way));
    let union = |a: &Pairs, b: &Pairs| -> Pairs { a.union(b).copied().collect() };
    assert_eq!(linked(&profile, "fork", ["Fork", "Process start"]), union(&forked, &any));
    assert_eq!(linked(&profile, "vfork", ["Vfork", "Process start"]), union(&spawned, &vforked));
    let counts = ["Fork", "Vfork", "Process start", "Process exit"].map(|kind| count(&profile, kind));
    assert_eq!(counts, [50, 50, 100, 101]);
    assert_eq!(count(&profile, "Exec"), 1 + spawned.len());
    let waits = waits(&profile);
    assert_eq!(count(&profile, "Wait"), waits.len());
    let all = union(&union(&spawned, &forked), &union(&vforked, &any));
    assert!(waits.is_subset(&all), "invented: {:?}", waits.difference(&all));
    for (way, pairs) in [("spawned", &spawned), ("forked", &forked), ("any", &any)] {
        let seen = waits.intersection(pairs).count();
        assert!(seen * 10 >= pairs.len() * 8, "{way}: only {seen} waits");
    }
    assert_stacks(&profile, "Fork", &["kin::by_fork", "kin::by_fork_and_any"]);
    assert_stacks(&profile, "Vfork", &["kin::by_spawn", "kin::by_vfork"]);
    assert_stacks(&profile, "Wait", &["kin::by_spawn", "kin::by_fork", "kin::by_vfork", "kin::by_fork_and_any"]);
    let forked: BTreeSet<String> = forked.iter().map(|(_, pid)| pid.to_string()).collect();
    for (thread, exit) in markers(&profile, "Process exit") {
        let expected = if forked.contains(&thread.tid.to_string()) { "exit status 3" } else { "exit status 0" };
        assert_eq!(text(&profile, &exit, "status"), Some(expected), "{}", thread.tid);
    }
}

#[test]
fn nested_shells_are_linked_as_they_say() {
    let traceview = traceview();
    let script = traceview.path("script.sh");
    let inner = r#"sh -c "echo \$PPID:\$\$; sleep 0.1; true"; true"#;
    fs::write(&script, format!("sh -c 'echo $PPID:$$; {inner}'\ntrue\n")).unwrap();
    let recorded = traceview.record_program("", Path::new("/bin/sh"), &script.display().to_string(), b"");
    let profile = profile(&recorded);
    let said = pairs(&serde_json::json!({ "said": recorded.finished.text() }), "said");
    assert_eq!(said.len(), 2, "{}", recorded.finished.text());
    // Shells may use either.
    let mut started = linked(&profile, "fork", ["Fork", "Process start"]);
    started.extend(linked(&profile, "vfork", ["Vfork", "Process start"]));
    assert!(said.is_subset(&started), "{said:?} {started:?}");
    let sleep: Vec<_> = started.difference(&said).collect();
    let innermost = said.iter().find(|(_, child)| said.iter().all(|(parent, _)| parent != child)).unwrap();
    assert!(matches!(sleep[..], [(parent, _)] if *parent == innermost.1), "{said:?} {started:?}");
    assert_eq!(waits(&profile), started, "all slept when their children ended");
    assert_eq!((profile.processes.len(), count(&profile, "Process exit"), not_seen(&profile)), (4, 4, 0));
    let commands = markers(&profile, "Exec").into_iter().map(|(_, exec)| text(&profile, &exec, "command").unwrap());
    assert_eq!(commands.filter(|command| command.contains("sleep 0.1")).count(), 3);
}

#[test]
fn ends_that_nobody_was_seen_waiting_for_are_counted_and_not_linked() {
    let traceview = traceview();
    let recorded = traceview.record("", "kin", "lone 50");
    let profile = profile(&recorded);
    assert_eq!((count(&profile, "Join"), count(&profile, "Wait"), not_seen(&profile)), (0, 0, 3));
    let child = number(&recorded.truth(), "child");
    for (thread, exit) in markers(&profile, "Process exit") {
        let expected = (thread.tid.to_string() == child.to_string()).then_some("not seen");
        assert_eq!(text(&profile, &exit, "waiter"), expected, "nobody of the recording waits for its first process");
    }
    assert!(!recorded.finished.stderr.contains("not seen"), "no warning: {}", recorded.finished.stderr);
}

#[test]
fn children_that_are_not_recorded_leave_their_creators_markers() {
    let traceview = traceview();
    let recorded = traceview.record("--no-children", "kin", "processes 8 5");
    let profile = profile(&recorded);
    assert_eq!(["Fork", "Vfork", "Process start", "Process exit"].map(|kind| count(&profile, kind)), [4, 4, 0, 1]);
    let pairs = pairs(&recorded.truth(), "forked");
    let said: BTreeSet<&str> =
        markers(&profile, "Fork").into_iter().filter_map(|(_, fork)| text(&profile, &fork, "pid")).collect();
    assert!(pairs.iter().all(|(_, child)| said.contains(child.to_string().as_str())), "{pairs:?} {said:?}");
    assert!((0..profile.flows.len()).all(|flow| profile.string(profile.flows.name[flow]) != "fork"));
}

#[test]
fn a_thread_that_runs_another_program_is_linked_with_what_it_became() {
    let traceview = traceview();
    let recorded = traceview.record("", "families", "thread_exec 50");
    let bytes = fs::read(&recorded.path).unwrap();
    let profile = format::read(&bytes, &ReadOptions::default()).unwrap().profile;
    let [[from, to]] = ends(&profile, "exec", ["Thread exit", "Exec"])[..] else { panic!("one exec") };
    let (from, to) = (&profile.threads[from.thread.index()], &profile.threads[to.thread.index()]);
    assert_eq!(profile.string(from.name), "tv-execer");
    assert_eq!(to.tid, profile.processes[to.process.index()].pid);
    assert_eq!((count(&profile, "Exec"), count(&profile, "Process exit")), (2, 1));
    let exits = markers(&profile, "Process exit");
    assert_eq!(text(&profile, &exits[0].1, "status"), Some("exit status 7"));
}

#[test]
fn counters_show_what_each_process_used() {
    let traceview = traceview();
    let recorded = traceview.record("", "families", "fork 400");
    let (truth, profile) = (number(&recorded.truth(), "cpu_ns"), profile(&recorded));
    assert_eq!((profile.processes.len(), profile.counters.len()), (2, 4));
    let child = profile.processes.iter().position(|process| process.parent.is_some()).unwrap();
    let of_child = |category: &str| {
        let mut counters = profile.counters.iter().filter(|counter| counter.process.index() == child);
        counters.find(|counter| profile.string(counter.category) == category).unwrap()
    };
    let cpu = of_child("CPU");
    let sum: f64 = cpu.delta.iter().sum();
    let percent = percentage(sum as u64, truth);
    assert!((97.0..=103.0).contains(&percent), "{percent:.1} % of {truth} ns");
    assert!(cpu.time.len() >= 10, "{} moments in 400 ms", cpu.time.len());
    let memory = of_child("Memory");
    assert_eq!(profile.string(memory.display.unit), "bytes");
    let resident = memory.delta.iter().sum::<f64>();
    assert!((100_000.0..1e9).contains(&resident), "{resident} bytes");
    let (start, end) = (profile.processes[child].start.unwrap(), profile.processes[child].end.unwrap());
    let within = |time: &Time| (start..=end).contains(time);
    assert!(cpu.time.iter().chain(&memory.time).all(within), "{start:?}..{end:?}: {:?}", cpu.time);
}
