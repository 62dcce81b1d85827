//! Recordings of workloads that measured themselves: shares and sums of CPU time.

use traceview_tests::recording::{Recorded, number, percentage, total_percent};

use crate::{alone, traceview};

/// That the shares of the three functions of `shares` are as it measured them, in the file and in the report.
fn assert_shares(recorded: &Recorded<'_>, points: f64) {
    let (file, report) = (recorded.file(), recorded.report(&[]));
    for (function, sampled, truth) in recorded.shares() {
        assert!((sampled - truth).abs() < points, "{function}: {sampled:.2} % sampled, {truth:.2} % in truth");
        let (in_file, reported) = (percentage(file.cpu_below(function), file.cpu()), total_percent(&report, function));
        assert!((reported - in_file).abs() < 0.02, "{function}: {reported:.2} % reported, {in_file:.2} % in the file");
    }
}

#[test]
fn shares_are_those_that_the_program_measured() {
    let (_alone, traceview) = (alone(), traceview());
    // With rounds of 5 ms the standard error is about 0.4 points for 3,000 samples; twice as long, as other tests beside
    // this one can take half of them away.
    let recorded = traceview.record("", "shares", "6 5000");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    assert_shares(&recorded, 1.5);
}

#[test]
fn work_in_quick_turns_is_shared_out_fairly() {
    let (_alone, traceview) = (alone(), traceview());
    // With rounds of 400 µs the standard error is that of independent draws, 0.84 points for 3,000 samples.
    assert_shares(&traceview.record("", "shares", "6"), 3.4);
}

#[test]
fn the_sum_of_sampled_cpu_time_is_the_kernels() {
    let (_alone, traceview) = (alone(), traceview());
    for flags in ["", "--rate 100"] {
        let recorded = traceview.record(flags, "shares", "2");
        let expected = number(&recorded.truth(), "total");
        for (source, sampled) in [("file", recorded.file().cpu()), ("info", recorded.cpu_of_thread("shares"))] {
            let percent = percentage(sampled, expected);
            assert!((98.0..=102.0).contains(&percent), "{source} with `{flags}`: {percent:.2} % of {expected} ns");
        }
    }
}

#[test]
fn the_rate_is_the_one_asked_for() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("--rate 200", "shares", "2");
    let file = recorded.file();
    let with_cpu = file.threads_named("shares").flat_map(|thread| &thread.samples).filter(|sample| sample.cpu_ns > 0);
    let count = with_cpu.count() as u64;
    // A tick every 5 ms while it runs or waits for a CPU; the few samples more are those of its start and end. On a busy
    // machine many looks find it without a CPU, and are no samples.
    let ticks = number(&recorded.info(), "duration_ns") / 5_000_000;
    assert!((100..=ticks + 20).contains(&count), "{count} samples at 200 Hz in 2 s of CPU time, {ticks} ticks");
}

#[test]
fn two_busy_threads_are_told_apart_and_a_sleeping_one_has_no_cpu() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "threads", "1.5");
    let (truth, file) = (recorded.truth(), recorded.file());
    for (thread, own, other) in [("tv-alpha", "alpha_work", "beta_work"), ("tv-beta", "beta_work", "alpha_work")] {
        let percent = percentage(recorded.cpu_of_thread(thread), number(&truth, thread));
        assert!((97.0..=103.0).contains(&percent), "{thread}: {percent:.2} % of its CPU time");
        let samples =
            || file.threads_named(thread).flat_map(|thread| &thread.samples).filter(|sample| sample.cpu_ns > 0);
        let with = |function: &str| {
            samples().filter(|sample| file.frames(sample.stack).any(|f| f.function.ends_with(function))).count()
        };
        assert_eq!(with(other), 0, "{thread} has samples of the other thread");
        let (with_own, all) = (with(own), samples().count());
        assert!(with_own * 100 >= all * 98, "{thread}: {with_own} of {all} samples in {own}");
        assert!(all >= 300, "{thread}: only {all} samples");
    }
    let asleep = recorded.cpu_of_thread("tv-sleeper");
    assert!(asleep < 3_000_000, "the sleeping thread has {asleep} ns, it used {}", truth["tv-sleeper"]);
}

#[test]
fn threads_too_short_for_a_sample_are_accounted_for() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "many_threads", "2000");
    let (truth, info) = (recorded.truth(), recorded.info());
    let threads = info["threads"].as_array().expect("info lists threads");
    let named =
        threads.iter().filter(|thread| thread["name"].as_str().is_some_and(|name| name.starts_with("tv-short-")));
    assert_eq!(named.count(), 2000);
    let cpu_ns: u64 = threads.iter().map(|thread| number(thread, "cpu_ns")).sum();
    let percent = percentage(cpu_ns, number(&truth, "usage_ns"));
    // What the kernel does for a thread after it reported its end is nobody's.
    assert!((90.0..=105.0).contains(&percent), "{percent:.2} % of the CPU time of all threads");
}
