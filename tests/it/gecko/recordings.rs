//! Real recordings: their files keep every rule of the format, and give the equal model when written again.

use std::fs;
use std::sync::mpsc;

use cargo_traceview::assemble::{Context, assemble};
use cargo_traceview::sampler::{self, Launch, Options, Progress, SignalGuard};
use cargo_traceview::symbolize::{NameBook, OriginRules};
use traceview_core::model::Meta;
use traceview_tests::firefox::read_json;
use traceview_tests::gecko_validator::violations;
use traceview_tests::workload::workload;

use super::{difference, read, written};
use crate::traceview;

#[test]
fn real_recordings_keep_the_rules_and_are_read_back_equal() {
    let traceview = traceview();
    let workloads = [
        ("demo", ""),
        ("families", "fork 200"),
        ("families", "thread_exec 20"),
        ("kin", "threads 100 5"),
        ("kin", "processes 20 5"),
        ("libc_heavy", "0.5"),
        ("idle_mix", "all 10"),
    ];
    for (workload, args) in workloads {
        let recorded = traceview.record("", workload, args);
        assert_eq!(violations(&read_json(&recorded.path)), [""; 0], "{workload}");
        let profile = read(&fs::read(&recorded.path).unwrap()).unwrap();
        assert!(profile.threads.iter().any(|thread| !thread.samples.is_empty()), "{workload}");
        let again = read(&written(&profile)).unwrap();
        assert_eq!(difference(&profile, &again), None, "{workload}");
    }
}

/// What the recorder has in memory, before any file was written.
#[test]
fn what_was_recorded_is_what_is_read() {
    let signals = SignalGuard::new();
    let launch = Launch { program: workload("threads").into(), args: vec!["0.3".into()], env: Vec::new() };
    let options = Options {
        rate_hz: 1000,
        follow_children: true,
        off_cpu: true,
        duration: None,
        kill_after: None,
        tracers: None,
    };
    let (seen, _) = mpsc::channel();
    let (recording, _) = sampler::record(&launch, &options, &signals, &Progress::default(), seen).unwrap();
    let context = Context {
        meta: Meta { name: "threads".to_owned(), ..Meta::default() },
        rate_hz: 1000,
        origins: OriginRules::default(),
        follow_children: true,
    };
    let profile = assemble(&recording, &context, NameBook::new(None), &|_, _| {}).unwrap();
    assert!(profile.threads.len() >= 4 && profile.threads.iter().any(|thread| !thread.waits.is_empty()));
    assert_eq!(difference(&profile, &read(&written(&profile)).unwrap()), None);
}
