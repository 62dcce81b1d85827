//! What has gone wrong in tools that trace, by public report, and what keeps it from going wrong here. Tests named without a
//! file are in this one; "self-checks" is [`workloads_end_as_without_the_profiler`], at 1 and 5 kHz.
//!
//! After *every* command of every test nothing that it started may be stopped, traced or dead and not waited for
//! (`leftovers`, called by `process`).
//!
//! | Report | Kind of fault | Test |
//! |---|---|---|
//! | py-spy #390 | left stopped after a timed recording | no_disturbance: `when_recording_ends_first_the_program_runs_on`, leftovers |
//! | py-spy #416 | left stopped by the tool's own signal | `ended_at_any_moment_it_saves_and_leaves_nobody_stopped` |
//! | py-spy #565 | somebody else stops and continues the program | `others_may_stop_the_program_and_let_it_go_on` |
//! | remoteprocess PR #7 | signals lost at stops | no_disturbance: `every_signal_arrives_exactly_once_and_in_order`; `queued_signals_are_not_lost_on_a_busy_machine` |
//! | remoteprocess PR #83 | first thread gone, another traced | families: `work_goes_on_being_recorded_after_the_leader_ended` |
//! | remoteprocess PR #94 | stopped program | no_disturbance: `job_control_works`; terminals: `a_terminal_stops_and_continues_the_program_as_ever` |
//! | cctools PR #478 | group-stop not kept | no_disturbance: `job_control_works` |
//! | tracexec PR #66 | phantom group-stop of grandchildren | `a_program_that_was_stopped_at_its_start_can_fork` |
//! | rr #3680 | event stop taken for SIGTRAP | no_disturbance: `signals_of_the_programs_own_instructions_reach_its_handlers` |
//! | rr #1767 | stops in any order | self-checks (`jobs`), `others_may_stop_the_program_and_let_it_go_on` |
//! | elephc PR #794 | interrupt while a signal stop is pending | self-checks (`signals usr1`) at 5 kHz |
//! | elephc PR #798 | the tool's own waits interrupted | `signals_to_the_tool_cost_the_program_nothing` |
//! | witness PR #56 | SIGCHLD swallowed | no_disturbance: `every_signal_arrives_exactly_once_and_in_order` |
//! | reredirect PR #25 | SIGSTOP and SIGCONT merged | cannot happen: no signal is ever sent for sampling; `others_may_stop_…` |
//! | tarpaulin #44 | a tracer is traced | privileges: `a_program_that_traces_others_is_told_of` |
//! | strace #178 | tracers of each other | `a_program_that_traces_the_tool_survives_its_end` |
//! | headcrab #48 | the tool is killed | `killed_at_any_moment_it_leaves_the_program_running` |
//! | rr #3385 | killed in the exit stop | exit_status: `it_is_the_programs_own_and_the_recording_is_kept` (`signal 9`); no thread stays in its exit stop |
//! | pete #119 | a shell's `wait` never ends | `shells_hear_of_their_jobs` |
//! | bpftrace #712, futures-rs PR #2, PureSpice PR #11 | EINTR from epoll_wait | no_disturbance: `no_waiting_call_is_interrupted` and others; self-checks (`corners wanted`) for the EINTR that is wanted |
//! | rr #341 | rest of an interrupted sleep | self-checks (`corners sleeps`) |
//! | criu PR #2512 | sleeps end early | no_disturbance: `no_waiting_call_is_interrupted` (early), self-checks (`corners sleeps`) |
//! | criu #719 | timeouts start anew for ever | self-checks (`corners storm`) |
//! | tracexec PR #296 | parity of system call stops | cannot happen: system calls are not traced (no PTRACE_SYSCALL) |
//! | yara #860 | the tool's own EINTR | `signals_to_the_tool_cost_the_program_nothing` |
//! | rbspy #35 | relative timer | sampler_truth: `the_rate_is_the_one_asked_for`; clock's unit tests |
//! | py-spy #94, async-profiler PR #765, phpspy #19, sentry-cocoa PR #2055 | lockstep | known_truth: `work_in_step_with_the_clock_is_shared_out_fairly` |
//! | HPCToolkit #356 | sleep charged as CPU | sampler_truth: `two_busy_threads_are_told_apart_and_a_sleeping_one_has_no_cpu` |
//! | dd-trace-dotnet PR #2765 | a sleeper's stack charged | known_truth: `short_bursts_of_sleepers_are_not_charged_to_their_sleep` |
//! | samply #87 | blocking invisible | known_truth: `time_off_cpu_is_told_by_what_was_waited_for` |
//! | pete #107, reverie #15 | exec from another thread | families: `a_thread_that_is_not_the_leader_can_exec`; self-checks (`kinds_of_life exec_race`) |
//! | reprozip #121, rr #1594 | vfork, posix_spawn | families: `a_parent_in_vfork_does_not_stop_the_recorder`, `spawned_children_end_as_they_should` |
//! | proot-rs #44 | a child's stop before its parent's | self-checks (`kinds_of_life vforks`), `a_thousand_vforks_end_well` |
//! | ds2 PR #236 | children let go before their first stop | families: `without_children_only_the_program_itself_is_recorded`, `without_children_they_are_not_traced` |
//! | cctools PR #1218 | some threads untraced | known_truth: `short_threads_are_charged` (5,000) |
//! | samply #60, hotspot #783, perfparser PR #10 | forked children without names | families: `a_forked_child_without_exec_is_recorded_with_names` |
//! | lo2s #143 | name and maps of before the exec | families: `a_thread_that_is_not_the_leader_can_exec` (`work_after_exec`) |
//! | flamegraph-rs #225, #250, #18, phpspy PR #158 | exit status | exit_status |
//! | samply #32 | starts although it can't record | exit_status: `wrong_usage_is_2_and_starts_nothing`, limits: `where_no_thread_may_be_started_it_is_said` |
//! | flamegraph-rs #336 | waits for daemons | no_disturbance: `a_descendant_left_behind_is_let_go_unharmed` |
//! | flamegraph-rs #108 | libraries of build scripts not found | cargo_build: the environment is that of `cargo run` |
//! | easy_profiler #161, InstantTraceViewer #2 | threads merged by reused ids | known_truth: `short_threads_are_charged` (each by its name) |
//! | gopsutil PR #1056, procps #214, sysstat #28 | names that look like fields | `a_threads_name_may_look_like_anything`; proc_fs's unit tests |
//!
//! Found here, by nobody's report: `corners storm`, `filtered`, `pidfd` and `orphan`;
//! `the_program_inherits_what_rusts_runtime_would_change`; terminals.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use traceview_tests::process::{Finished, finish, start, until};
use traceview_tests::profiler::Profiler;
use traceview_tests::recording::{number, percentage, truth};
use traceview_tests::workload::workload;

use crate::traceview;

/// A workload, its arguments, and whether what it printed is good.
type SelfCheck = (&'static str, &'static str, fn(&Value) -> bool);

/// Workloads that check themselves, and what they say when all is well.
const SELF_CHECKS: [SelfCheck; 19] = [
    ("corners", "storm 28 6", no_faults),
    ("corners", "storm 17 6", no_faults),
    ("corners", "storm 18 6", no_faults),
    ("corners", "filtered 60", no_faults),
    ("corners", "wanted 150", no_faults),
    ("corners", "pidfd 40", no_faults),
    ("corners", "sleeps 40", no_faults),
    ("kinds_of_life", "vforks 300", no_faults),
    ("kinds_of_life", "exec_race 20", no_faults),
    ("kinds_of_life", "reaped 50", no_faults),
    ("kinds_of_life", "groups 20", no_faults),
    ("signals", "usr1 500", all_seen),
    ("signals", "queued 500", all_seen),
    ("signals", "children 100", all_seen),
    ("faults", "200", all_seen),
    ("idle_mix", "all 4", no_wait_disturbed),
    ("ignored_signals", "10", |truth| truth["eintr"] == 0),
    ("jobs", "2", |truth| truth["moved_on"] == truth["rounds"] && truth["stood_still"] == truth["rounds"]),
    ("families", "spawn", |truth| truth["as_expected"] == truth["children"]),
];

fn no_faults(truth: &Value) -> bool {
    truth["faults"] == 0 && number(truth, "rounds") > 0
}

fn all_seen(truth: &Value) -> bool {
    truth.as_object().is_some_and(|kinds| kinds.values().all(|counts| counts["seen"] == counts["sent"]))
}

fn no_wait_disturbed(truth: &Value) -> bool {
    let is_good = |counts: &Value| ["eintr", "early", "other"].iter().all(|fault| counts[fault] == 0);
    truth.as_object().is_some_and(|kinds| kinds.values().all(is_good))
}

/// The benchmark `disturbance` does the same a hundred times.
#[test]
fn workloads_end_as_without_the_profiler() {
    let wrong_at = |rate: &str| {
        let traceview = traceview();
        let mut wrong = Vec::new();
        for (name, args, is_good) in SELF_CHECKS {
            for _ in 0..3 {
                let recorded = traceview.record(&format!("--rate {rate}"), name, args);
                if recorded.finished.code != 0 || !is_good(&recorded.truth()) {
                    wrong.push(format!("{name} {args} at {rate} Hz: {}", recorded.finished.text()));
                }
            }
        }
        wrong
    };
    let wrong = thread::scope(|scope| {
        let fast = scope.spawn(|| wrong_at("5000"));
        [wrong_at("1000"), fast.join().expect("it doesn't panic")].concat()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_program_that_outlives_its_recording_is_no_orphan() {
    let traceview = traceview();
    let recorded = traceview.record("--duration 200ms", "corners", "orphan");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    assert_eq!(recorded.truth()["faults"], 0);
}

#[test]
fn killed_at_any_moment_it_leaves_the_program_running() {
    let traceview = traceview();
    let mut ran_on = 0;
    for delay in 0..20 {
        let output = traceview.path("killed.json.gz");
        let running = traceview.start("--rate 5000", &output, "many_threads", "300");
        thread::sleep(Duration::from_millis(20 + 7 * delay));
        running.signal("KILL");
        // All that the program prints, also after that.
        let finished = running.finish();
        // Killed early, it has not started the program.
        if !finished.stdout.is_empty() {
            assert_eq!(truth(&finished)["threads"], 300);
            ran_on += 1;
        }
    }
    assert!(ran_on >= 5, "the program was never running: {ran_on}");
}

#[test]
fn ended_at_any_moment_it_saves_and_leaves_nobody_stopped() {
    let traceview = traceview();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for delay in 0..8 {
            let output = traceview.path("ended.json.gz");
            let running = traceview.start("--rate 5000", &output, "many_threads", "100000");
            until("the program runs", || has_child(running.id()));
            thread::sleep(Duration::from_millis(11 * delay));
            // A terminal sends SIGINT to all, somebody else SIGTERM to us.
            if signal == "INT" {
                running.signal_group(signal);
            } else {
                running.signal(signal);
            }
            let finished = running.finish();
            // Too early for the program, it ends the program's beginnings.
            assert!([code, 125].contains(&finished.code), "{signal}: {} {}", finished.code, finished.stderr);
            if finished.code == code {
                assert_eq!(traceview.run(["info", "ended.json.gz"]).code, 0, "{}", finished.stderr);
                fs::remove_file(output).expect("it was saved");
            }
        }
    }
}

/// Whether the process has a child that is another program.
fn has_child(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    children
        .flat_map(|pids| pids.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .any(|child| fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|name| name.trim() == "many_threads"))
}

#[test]
fn signals_to_the_tool_cost_the_program_nothing() {
    let traceview = traceview();
    let running = traceview.start("", &traceview.path("storm.json.gz"), "signals", "");
    // Until the tool is gone.
    let storm = "while kill -s CHLD $0 && kill -s WINCH $0 && kill -s CONT $0 && kill -s URG $0; do :; done";
    let mut storm = Command::new("sh")
        .args(["-c", storm, &running.id().to_string()])
        .stderr(Stdio::null())
        .spawn()
        .expect("there is a shell");
    let finished = running.finish();
    storm.wait().expect("it is our child");
    assert!(all_seen(&truth(&finished)), "{}", finished.text());
}

/// Any signal that ends processes by default can be meant for all of the group.
#[test]
fn signals_to_the_group_do_not_end_the_tool() {
    let traceview = traceview();
    let script = "trap '' IO PWR 16 34 50 64; for s in IO PWR 16 34 50 64; do kill -s $s 0; done; exit 9";
    let finished = record_script(&traceview, script);
    assert_eq!(finished.code, 9, "{}", finished.stderr);
    assert!(finished.stderr.contains("Recorded "), "{}", finished.stderr);
}

fn record_script(traceview: &Profiler, script: &str) -> Finished {
    traceview.run(["record", "--no-open", "--rate", "5000", "-o", "script.json.gz", "--", "sh", "-c", script])
}

#[test]
fn others_may_stop_the_program_and_let_it_go_on() {
    let traceview = traceview();
    let script = format!(
        "{} 1500 & p=$!; for i in 1 2 3 4 5 6 7 8 9 10; do
            kill -STOP $p; kill -CONT $p; kill -STOP $p; sleep 0.01; kill -CONT $p; sleep 0.01
        done; wait $p",
        workload("many_threads").display()
    );
    let finished = record_script(&traceview, &script);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(truth(&finished)["threads"], 1500);
}

#[test]
fn a_program_that_was_stopped_at_its_start_can_fork() {
    let traceview = traceview();
    let script = "sh -c 'kill -STOP $$; i=0; while [ $i -lt 100 ]; do sh -c : & wait $!; i=$((i + 1)); done; exit 7' &
        sleep 0.1; kill -CONT $!; wait $!";
    let finished = record_script(&traceview, script);
    assert_eq!(finished.code, 7, "{}", finished.stderr);
}

#[test]
fn shells_hear_of_their_jobs() {
    let traceview = traceview();
    let scripts = [
        "sleep 0.2 & wait; echo $?",
        "sleep 0.1 & (exit 3) & wait $!; echo $?; wait; jobs; echo end",
        "trap 'echo child' CHLD; (exit 4); sleep 0.05; echo $?",
        "echo a | cat | (read x; echo $x; exit 5); echo $?",
        "set -m; sleep 0.1 & jobs; kill -STOP %1; sleep 0.05; jobs; kill -CONT %1; wait; echo end",
        "(kill -9 $(exec sh -c 'echo $PPID')); echo $?",
    ];
    for script in scripts {
        let plain = finish(traceview.without("sh".as_ref()).args(["-c", script]), b"");
        let recorded = record_script(&traceview, script);
        assert_eq!(recorded.code, plain.code, "{script}: {}", recorded.stderr);
        assert_eq!(recorded.text(), plain.text(), "{script}");
    }
}

#[test]
fn the_program_inherits_what_rusts_runtime_would_change() {
    let traceview = traceview();
    // The shell says what it is started with: std's runtime changes these, so no workload can.
    let look = "grep SigIgn /proc/$$/status | sed 's/.*\\(....\\)$/\\1/' >$OUT; for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && echo $n >>$OUT; done; :";
    for set_up in ["", "trap '' PIPE", "exec <&-", "exec >&-", "exec <&- >&- 2>&-"] {
        let out = traceview.path("inherited");
        let inherited = |command: &mut Command| {
            command.args(["sh", "-c", look]).env("OUT", &out);
            assert_eq!(finish(command, b"").code, 0, "`{set_up}`");
            fs::read_to_string(&out).expect("it was written")
        };
        let words = ["sh".to_owned(), "-c".to_owned(), format!("{set_up}\nexec \"$@\""), "sh".to_owned()];
        let plain = inherited(traceview.without("sh".as_ref()).args(&words[1..]));
        let behind = crate::traceview().behind(&words);
        let recorded = inherited(&mut behind.command(["record", "--no-open", "-o", "inherited.json.gz", "--"]));
        assert_eq!(recorded, plain, "`{set_up}`");
    }
}

#[test]
fn without_children_they_are_not_traced() {
    let traceview = traceview();
    let script = "i=0; while [ $i -lt 50 ]; do sh -c 'grep -q \"^TracerPid:.0$\" /proc/self/status' || exit 1; i=$((i + 1)); done";
    let args = ["record", "--no-open", "--no-children", "-o", "alone.json.gz", "--", "sh", "-c", script];
    let finished = traceview.run(args);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
}

/// Two that trace each other can stop each other for ever; to kill one of them helps.
#[test]
fn a_program_that_traces_the_tool_survives_its_end() {
    let traceview = traceview();
    let running = traceview.start("", &traceview.path("mutual.json.gz"), "kinds_of_life", "trace_tracer");
    thread::sleep(Duration::from_millis(500));
    running.signal("KILL");
    let finished = running.finish();
    // Where it may not trace the tool it has ended at once.
    assert!(finished.code == 3 || truth(&finished)["traced"] == 1, "{} {}", finished.code, finished.text());
}

#[test]
fn a_thousand_vforks_end_well() {
    let traceview = traceview();
    let recorded = traceview.record("", "kinds_of_life", "vforks 1000");
    assert!(no_faults(&recorded.truth()), "{}", recorded.truth());
    assert_eq!(number(&recorded.info(), "processes"), 1001);
}

#[test]
fn a_threads_name_may_look_like_anything() {
    let traceview = traceview();
    let recorded = traceview.record("", "kinds_of_life", "named 200");
    let percent = percentage(recorded.cpu_of_thread("x) S 1 2 3 (y"), number(&recorded.truth(), "cpu_ns"));
    assert!((95.0..=105.0).contains(&percent), "{percent:.1} % of its CPU time");
}

#[test]
fn queued_signals_are_not_lost_on_a_busy_machine() {
    let traceview = traceview();
    // They end by themselves, too, should this test fail.
    let busy = "i=0; while [ $i -lt 20000000 ]; do i=$((i + 1)); done";
    let mut others: Vec<_> = (0..4)
        .map(|_| Command::new("sh").args(["-c", busy]).stdout(Stdio::null()).spawn().expect("there is a shell"))
        .collect();
    let truths = ["1000", "5000"].map(|rate| traceview.record(&format!("--rate {rate}"), "signals", "queued").truth());
    for other in &mut others {
        other.kill().expect("it is our child");
        other.wait().expect("it is our child");
    }
    for truth in truths {
        assert!(all_seen(&truth), "{truth}");
    }
}

/// Whether a core is dumped is the machine's matter, not the profiler's.
#[test]
fn core_dumps_are_as_without_the_profiler() {
    let traceview = traceview().behind(["sh", "-c", "ulimit -c unlimited 2>/dev/null; exec \"$@\"", "sh"]);
    let dump = workload("kinds_of_life");
    let mut plain = traceview.without("sh".as_ref());
    plain.args(["-c", "ulimit -c unlimited 2>/dev/null; exec \"$@\"", "sh"]).arg(&dump).arg("dump");
    let plain = truth(&finish(&mut plain, b""));
    let recorded = traceview.record("", "kinds_of_life", "dump");
    assert_eq!(recorded.truth(), plain);
    assert_eq!(plain["faults"], 0);
}

/// Not without exception: a profiling timer loses ticks by stops. How many is told; most arrive.
#[test]
fn most_ticks_of_a_profiling_timer_arrive() {
    let traceview = traceview();
    let truth = traceview.record("", "kinds_of_life", "prof 600").truth();
    let percent = percentage(number(&truth, "signals"), number(&truth, "expected"));
    assert!((40.0..=125.0).contains(&percent), "{percent:.0} %: {truth}");
}

#[test]
fn a_stopped_program_can_be_let_go_and_stays_stopped() {
    let traceview = traceview();
    // It stops itself, recording ends meanwhile, and later somebody lets it go on.
    let script = "(sleep 0.5; kill -CONT $$) & kill -STOP $$; exit 6";
    let mut command = traceview.command(["record", "--no-open", "--duration", "200ms", "-o", "let-go.json.gz", "--"]);
    let running = start(command.args(["sh", "-c", script]), b"");
    assert_eq!(running.finish().code, 6);
}
