//! Known truth: what a process inherits. Each line is one JSON object, sorted, so that two runs can be compared line by
//! line: arguments, environment variables, working directory, open files, signal mask and dispositions, limits,
//! credentials, scheduling, terminal, process group. What differs in any two runs (`varying`: ids, the tracer) has lines
//! of its own.
#![expect(clippy::print_stdout, reason = "the truth is printed for the tests")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use traceview_workloads::truth::Truth;

/// Lines of /proc/self/status that the parent decides; the others count what happened.
const STATUS: [&str; 21] = [
    "Umask",
    "Uid",
    "Gid",
    "Groups",
    "SigPnd",
    "ShdPnd",
    "SigBlk",
    "SigIgn",
    "SigCgt",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
    "Cpus_allowed",
    "Mems_allowed",
    "Threads",
    "CoreDumping",
];
/// Files of /proc/self that hold one value.
const VALUES: [&str; 5] = ["personality", "oom_score_adj", "timerslack_ns", "coredump_filter", "cgroup"];

fn main() -> io::Result<()> {
    let mut lines = BTreeSet::new();
    let mut add = |name: &str, value: &str| {
        lines.insert(Truth::new().text(name, value).to_json());
    };
    for (index, arg) in env::args().enumerate() {
        add(&format!("arg {index}"), &arg);
    }
    for (name, value) in env::vars_os() {
        add(&format!("env {}", name.to_string_lossy()), &value.to_string_lossy());
    }
    add("cwd", &env::current_dir()?.to_string_lossy());
    let names: Vec<_> =
        fs::read_dir("/proc/self/fd")?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    for name in names {
        // The directory's own descriptor is closed by now.
        if let Ok(target) = fs::read_link(Path::new("/proc/self/fd").join(&name)) {
            let target = target.to_string_lossy().into_owned();
            let anonymous = target.starts_with("pipe:") || target.starts_with("socket:");
            let kind = if anonymous { target.split(':').next().unwrap_or("").to_owned() } else { target };
            add(&format!("fd {}", name.to_string_lossy()), &kind);
        }
    }
    for line in fs::read_to_string("/proc/self/status")?.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if STATUS.contains(&name) {
            add(&format!("status {name}"), value.trim());
        } else if matches!(name, "Pid" | "PPid" | "TracerPid") {
            add(&format!("varying {name}"), value.trim());
        }
    }
    for line in fs::read_to_string("/proc/self/limits")?.lines().skip(1) {
        let (name, value) = line.split_at_checked(26).unwrap_or((line, ""));
        add(&format!("limit {}", name.trim()), &value.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    for name in VALUES {
        // Some are only there with certain kernels.
        if let Ok(value) = fs::read_to_string(format!("/proc/self/{name}")) {
            add(name, value.trim());
        }
    }
    // Behind the name in parentheses: state, parent, group, session, terminal, …; nice is the 17th from there.
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    for (name, index) in [("group", 2), ("session", 3), ("terminal", 4), ("priority", 15), ("nice", 16), ("policy", 38)]
    {
        add(name, fields.get(index).copied().unwrap_or("missing"));
    }
    add("own group", &(fields.get(2) == Some(&std::process::id().to_string().as_str())).to_string());
    let terminals = [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
    add("terminals", &format!("{terminals:?}"));
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}
