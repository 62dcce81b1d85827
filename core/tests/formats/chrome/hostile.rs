//! Traces that are cut, that are none, or whose shape is meant to cost.

use traceview_core::format::{ReadOptions, read as read_bytes};
use traceview_core::model::Profile;

use super::{of_text, slices, text, warning, warnings};

#[test]
fn any_cut_of_a_file_is_read_or_refused() {
    for path in ["generated/tracing_chrome_async.json", "catapult/simple_trace.json", "perfetto/json_thread_state.json"]
    {
        let whole = text(path);
        let step = whole.len() / 500 + 1;
        let mut last = 0;
        for end in (0..whole.len()).step_by(step) {
            if let Ok(contents) = read_bytes(&whole[..end], &ReadOptions::default()) {
                let now = contents
                    .profile
                    .threads
                    .iter()
                    .map(|thread| thread.slices.len() + thread.markers.len())
                    .sum::<usize>();
                assert!(now >= last, "{path} cut at {end}: more text has fewer events");
                last = now;
            }
        }
        assert!(last > 0, "{path}");
    }
}

/// Reads a text of many small parts, in linear time: the whole test takes seconds.
#[test]
fn no_shape_of_a_trace_takes_square_time() {
    const MANY: usize = 100_000;
    let many = |part: &dyn Fn(usize) -> String| -> String { (0..MANY).map(part).collect() };
    let all = |parts: &str| of_text(&format!("[{}]", parts.trim_end_matches(',')));
    let count = |profile: &Profile| profile.threads.iter().map(|thread| thread.slices.len()).sum::<usize>();

    let ids = all(&many(&|i| format!(r#"{{"ph":"b","ts":{i},"cat":"c","name":"n","id":{i}}},"#)));
    assert_eq!((count(&ids), warning(&ids, "never-ended")), (MANY, MANY as u64));
    let names = all(&many(&|i| format!(r#"{{"ph":"b","ts":{i},"cat":"c","name":"n{i}","id":1}},"#)));
    assert_eq!(names.threads.iter().map(|thread| thread.slices.len()).max(), Some(MANY), "one chain, one track");
    let threads = all(&many(&|i| format!(r#"{{"ph":"X","ts":1,"dur":1,"name":"n","tid":{i}}},"#)));
    let left_out = warning(&threads, "too-many-threads");
    assert!(threads.threads.len() > 10_000, "{left_out}");
    assert_eq!(count(&threads) as u64 + left_out, MANY as u64, "each event is there or counted, and no thread is");
    let sampled = all(&many(&|i| format!(r#"{{"ph":"P","ts":1,"name":"n","stack":["f"],"tid":{i}}},"#)));
    let left_out = warning(&sampled, "too-many-threads");
    assert!(left_out > 0);
    assert_eq!(sampled.threads.len() as u64 + left_out, MANY as u64);
    let tracks = all(&many(&|i| format!(r#"{{"ph":"b","ts":1,"cat":"c{i}","name":"n","id":{i}}},"#)));
    assert_eq!(count(&tracks) as u64 + warning(&tracks, "too-many-threads"), MANY as u64);
    let equal = all(&many(&|_| r#"{"ph":"X","ts":1,"dur":0,"name":"n"},"#.to_owned()));
    assert_eq!((count(&equal), equal.threads[0].slices.depth.iter().max()), (MANY, Some(&0)));
    let deep = all(&many(&|i| format!(r#"{{"ph":"B","ts":{i},"name":"n"}},"#)));
    // The last one begins where all of them are taken to end.
    assert_eq!(deep.threads[0].slices.depth.iter().max(), Some(&(MANY as u32 - 2)));
    let staggered = all(&many(&|i| format!(r#"{{"ph":"X","ts":{i},"dur":{MANY},"name":"n"}},"#)));
    assert_eq!(staggered.threads[0].slices.lane.iter().max(), Some(&(MANY as u32 - 1)));
    let mut crossing = many(&|i| format!(r#"{{"ph":"B","ts":{i},"name":"n{i}"}},"#));
    crossing += &many(&|i| format!(r#"{{"ph":"E","ts":{},"name":"n{i}"}},"#, MANY + i));
    assert_eq!(count(&all(&crossing)), MANY);
    let mut other_names = many(&|i| format!(r#"{{"ph":"B","ts":{i},"name":"n"}},"#));
    other_names += &many(&|i| format!(r#"{{"ph":"E","ts":{},"name":"m"}},"#, MANY + i));
    assert_eq!(warning(&all(&other_names), "end-of-other-name"), MANY as u64);
    let counters = all(&many(&|i| format!(r#"{{"ph":"C","ts":{i},"name":"n{i}","args":{{"v":1}}}},"#)));
    assert_eq!(counters.counters.len() as u64 + warning(&counters, "too-many-counters"), MANY as u64);
    let keys =
        format!(r#"[{{"ph":"X","ts":1,"dur":1,"name":"n","args":{{{}}}}}]"#, many(&|i| format!(r#""k{i}":{i},"#)));
    assert_eq!(of_text(&keys).payloads.iter().next().map(<[_]>::len), Some(MANY));
    let frames = many(&|i| format!(r#""{}":{{"name":"f{i}","parent":"{i}"}},"#, i + 1));
    let stack = of_text(&format!(
        r#"{{"traceEvents":[{{"ph":"i","ts":1,"name":"n","sf":{MANY}}}],"stackFrames":{{{frames}}}}}"#
    ));
    assert_eq!(stack.stacks.len(), MANY);
    let samples = many(&|i| format!(r#"{{"tid":{i},"ts":{i},"name":"s"}},"#));
    let samples = of_text(&format!(
        r#"{{"traceEvents":[{}],"samples":[{}]}}"#,
        many(&|i| format!(r#"{{"ph":"M","name":"thread_name","tid":{i},"args":{{}}}},"#)).trim_end_matches(','),
        samples.trim_end_matches(',')
    ));
    let left_out = warning(&samples, "too-many-threads");
    assert!(left_out > 0 && samples.threads.len() > 10_000, "{left_out}");
    assert_eq!(samples.threads.len() as u64 + left_out, MANY as u64);
    let profiles = many(&|i| {
        let piece =
            r#"{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1]},"timeDeltas":[1]}"#;
        format!(r#"{{"ph":"P","ts":{i},"name":"ProfileChunk","id":{i},"args":{{"data":{piece}}}}},"#)
    });
    assert_eq!(all(&profiles).threads[0].samples.len(), MANY);
    let deep_args = format!(
        r#"[{{"ph":"X","ts":1,"dur":1,"name":"n","args":{{"a":{}1{}}}}}]"#,
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    assert_eq!(count(&of_text(&deep_args)), 1);
}

#[test]
fn what_is_no_trace_is_not_taken_for_one() {
    for text in [
        r#"{"events":[{"ph":"X"}]}"#,
        r#"[{"name":"a","value":1}]"#,
        r#"[1,2,3]"#,
        r#"{"traceEvents":{"a":1}}"#,
        r#"{"data":{"traceEvents":[]}}"#,
        r#"[{"ph":7.4,"station":"lake"}]"#,
        r#"[{"ph":"acid"}]"#,
    ] {
        let error = read_bytes(text.as_bytes(), &ReadOptions::default()).expect_err(text).to_string();
        assert!(error.contains("not a profile in a known format"), "{text}: {error}");
    }
    let empty = of_text(r#"{"otherData":{},"traceEvents":[]}"#);
    assert_eq!(empty.threads.len(), 0);
}

#[test]
fn times_that_do_not_fit_are_counted_not_invented() {
    let profile = of_text(
        r#"[{"ph":"X","ts":1,"dur":-5,"name":"a"},{"ph":"X","ts":2,"name":"b"},{"ph":"X","name":"c"},{"ph":"X","ts":"3x","dur":1,"name":"d"},
        {"ph":"X","ts":null,"dur":1,"name":"e"},{"ph":"X","ts":4,"dur":"long","name":"f"},{"ph":"X","ts":-5,"dur":1,"name":"g"},
        {"ph":"X","ts":9000000000000000,"dur":9000000000000000,"name":"h"}]"#,
    );
    let found: Vec<_> = slices(&profile).iter().map(|slice| (slice.0, slice.1, slice.2, slice.5)).collect();
    let far = 9_000_000_000_000_000_000;
    assert_eq!(
        found,
        [
            ("g", -5_000, 1_000, false),
            ("a", 1_000, 0, false),
            ("b", 2_000, 0, true),
            ("f", 4_000, 0, true),
            ("h", far, i64::MAX - far - 5_000, false),
        ]
    );
    assert_eq!(
        warnings(&profile),
        [
            ("no-time", 2),
            ("bad-time", 1),
            ("bad-duration", 1),
            ("negative-duration", 1),
            ("no-duration", 2),
            ("value-out-of-range", 1)
        ]
    );
}
