//! Recordings of workloads that know where their time goes: off their CPU, in the kernel, in crowds, in short lives.

use serde_json::Value;
use traceview_core::model::{Profile, WaitReason};
use traceview_tests::recording::{Recorded, number, percentage};

use crate::{alone, traceview};

fn profile(recorded: &Recorded<'_>) -> Profile {
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    recorded.profile()
}

/// Names and numbers of the truth that begin so.
fn named<'a>(truth: &'a Value, prefix: &'a str) -> impl Iterator<Item = (&'a String, u64)> {
    let fields = truth.as_object().expect("the truth is an object");
    fields.iter().filter(move |(name, _)| name.starts_with(prefix)).map(|(name, _)| (name, number(truth, name)))
}

#[test]
fn time_off_cpu_is_told_by_what_was_waited_for() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "accounts", "off_cpu 50");
    let (truth, profile) = (recorded.truth(), profile(&recorded));
    let main = profile.threads.iter().find(|thread| thread.is_main).unwrap();
    let wall = number(&recorded.info(), "duration_ns");
    for (syscall, key) in [("clock_nanosleep", "sleep_ns"), ("read", "pipe_ns"), ("futex", "lock_ns")] {
        let is_it = |id| profile.string(id) == syscall;
        let waits =
            main.waits.iter().filter(|wait| wait.reason == WaitReason::Blocked && wait.syscall.is_some_and(is_it));
        let waited: i64 = waits.map(|wait| wait.duration.0).sum();
        let (seen, expected) = (percentage(waited.unsigned_abs(), wall), percentage(number(&truth, key), wall));
        // Two points of wall time, and what the thread waited for a CPU after it was woken.
        let queued = main.usage.map_or(0, |usage| usage.run_queue_wait.0.unsigned_abs());
        let tolerance = 2.0 + percentage(queued, wall);
        assert!(
            (seen - expected).abs() <= tolerance,
            "{syscall}: {seen:.1} % seen, {expected:.1} % in truth ±{tolerance:.1}"
        );
    }
}

/// Which part of the looks could not be made, as the summary says; others can have the CPUs.
fn missed_looks(stderr: &str) -> f64 {
    let looks = stderr.split(" looks a second instead of 1000").next().filter(|before| before.len() < stderr.len());
    let looks = looks.and_then(|before| before.rsplit(' ').next()?.replace(',', "").parse::<f64>().ok());
    looks.map_or(0.0, |looks| 1.0 - looks / 1000.0)
}

fn assert_fair(threads: &str, milliseconds: &str) {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "accounts", &format!("crowd {threads} {milliseconds}"));
    let (truth, file) = (recorded.truth(), recorded.file());
    let crowd: Vec<_> = named(&truth, "tv-crowd-").collect();
    let samples = |name: &str| {
        let samples = file.threads_named(name).flat_map(|thread| &thread.samples);
        samples.filter(|sample| sample.cpu_ns > 0).count() as u64
    };
    let all_samples: u64 = crowd.iter().map(|(name, _)| samples(name)).sum();
    let all_cpu: u64 = crowd.iter().map(|(_, cpu)| cpu).sum();
    let missed = missed_looks(&recorded.finished.stderr);
    let mut off = 0.0;
    for (name, cpu) in &crowd {
        let (sampled, truth) = (samples(name), percentage(*cpu, all_cpu));
        let share = percentage(sampled, all_samples);
        off += (share - truth).abs() / truth / crowd.len() as f64;
        // A tenth of its share and three standard errors of so few samples. Where others have the CPUs the profiler comes
        // late for some milliseconds at a time, which are those of a few threads.
        let tolerance =
            truth * (0.1 + 3.0 * missed) + 3.0 * percentage(1, all_samples) * (sampled.max(1) as f64).sqrt();
        assert!(
            (share - truth).abs() <= tolerance,
            "{name}: {share:.2} % of samples, {truth:.2} % of CPU ±{tolerance:.2}"
        );
    }
    let per_thread = all_samples as f64 / crowd.len() as f64;
    let tolerance = 0.1 + missed + 1.0 / per_thread.sqrt();
    assert!(off <= tolerance, "shares are off by {:.1} % on average ±{:.1} %", 100.0 * off, 100.0 * tolerance);
    let percent = percentage(crowd.iter().map(|(name, _)| recorded.cpu_of_thread(name)).sum(), all_cpu);
    assert!((99.0..=101.0).contains(&percent), "{percent:.2} % of the CPU time");
}

#[test]
fn sixteen_busy_threads_get_their_shares() {
    assert_fair("16", "4000");
}

#[test]
fn sixty_four_busy_threads_get_their_shares() {
    assert_fair("64", "6000");
}

#[test]
fn waits_too_short_to_be_seen_are_counted() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "accounts", "locks 10000");
    let (truth, profile) = (recorded.truth(), profile(&recorded));
    let main = profile.threads.iter().find(|thread| thread.is_main).unwrap();
    let counted = main.usage.and_then(|usage| usage.voluntary_switches).expect("the kernel counts them");
    let switches = number(&truth, "switches");
    // Stops are switches, too; most of the waits are no stops.
    assert!(switches >= 9_000, "{truth}");
    // Not the stops, where those are told apart.
    assert!((9_500..=switches + 200).contains(&counted), "{counted} counted, {switches} in truth");
}

#[test]
fn time_in_the_kernel_is_told_apart() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "accounts", "kernel 2000");
    let (truth, info) = (recorded.truth(), recorded.info());
    let total = number(&truth, "user_ns") + number(&truth, "system_ns");
    let in_truth = percentage(number(&truth, "system_ns"), total);
    let accounted = percentage(number(&info, "system_ns"), number(&info, "cpu_ns"));
    assert!((accounted - in_truth).abs() <= 3.0, "{accounted:.1} % accounted as system time, {in_truth:.1} % in truth");
    let file = recorded.file();
    let in_kernel = file.cpu_where(|frames| frames.first().is_some_and(|leaf| leaf.function.starts_with("[kernel] ")));
    let leaves = percentage(in_kernel, file.cpu());
    // The kernel's own split is by its ticks, 250 a second: for 500 of them the standard error is two points.
    assert!((leaves - in_truth).abs() <= 3.0 + 4.0, "{leaves:.1} % in leaves of the kernel, {in_truth:.1} % in truth");
}

/// The best of three, as a thread that has to wait for a CPU gets one at the kernel's ticks, which are in step with the clock, too.
#[test]
fn work_in_step_with_the_clock_is_shared_out_fairly() {
    let (_alone, traceview) = (alone(), traceview());
    let mut missed = 0.0;
    let mut errors = [(); 3].map(|()| {
        let recorded = traceview.record("", "accounts", "in_step 6000");
        missed += missed_looks(&recorded.finished.stderr) / 3.0;
        let (truth, file) = (recorded.truth(), recorded.file());
        let of = |function: &str| (file.cpu_below(function), number(&truth, function));
        let [first, second] = ["first_part", "second_part"].map(of);
        percentage(first.0, first.0 + second.0) - percentage(first.1, first.1 + second.1)
    });
    errors.sort_by(|left, right| left.abs().total_cmp(&right.abs()));
    let tolerance = 5.0 + 20.0 * missed;
    assert!(
        errors[0].abs() <= tolerance && errors[1].abs() <= 2.0 * tolerance,
        "±{tolerance:.1}: points that first_part has too many: {errors:.1?}"
    );
}

#[test]
fn short_bursts_of_sleepers_are_not_charged_to_their_sleep() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "accounts", "bursts 2500");
    let (truth, file) = (recorded.truth(), recorded.file());
    let (burst, asleep) = (file.cpu_below("burst"), file.cpu_below("between_bursts"));
    let (seen, expected) =
        (percentage(burst, burst + asleep), percentage(number(&truth, "burst"), number(&truth, "total")));
    assert!((seen - expected).abs() <= 10.0, "{seen:.1} % in bursts, {expected:.1} % in truth");
}

#[test]
fn short_threads_are_charged() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "many_threads", "5000 200");
    let (truth, info) = (recorded.truth(), recorded.info());
    let threads = info["threads"].as_array().expect("info lists threads");
    let mut names: Vec<&str> = threads.iter().filter_map(|thread| thread["name"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!((threads.len(), names.len()), (5_001, 5_001), "each of them once, by its name");
    let charged: u64 = threads.iter().map(|thread| number(thread, "cpu_ns")).sum();
    let percent = percentage(charged, number(&truth, "usage_ns"));
    assert!((90.0..=102.0).contains(&percent), "{percent:.1} % of their CPU time");
}
