//! What a recorder can leave behind: stopped, traced or dead processes. Looked for among the descendants of one command only,
//! which are told by a variable in their environment.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The variable.
pub const MARK: &str = "TRACEVIEW_TEST_STARTED_BY";

/// Whoever is let go, or ends, needs a moment for that.
const PATIENCE: Duration = Duration::from_secs(5);

/// Marks what a command will start; the mark.
#[must_use]
pub fn mark(command: &mut Command) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    command.env(MARK, &mark);
    mark
}

/// That no descendant of the command with this mark, and no member of its process group, is stopped, traced, or dead and not
/// waited for, now that the command has ended.
///
/// # Panics
/// When one is, and stays so.
pub fn assert_none(mark: &str, group: u32) {
    let end = Instant::now() + PATIENCE;
    loop {
        let found = find(mark, group);
        if found.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "left behind: {found:#?}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn find(mark: &str, group: u32) -> Vec<String> {
    let variable = format!("{MARK}={mark}");
    let is_marked = |process: &Path| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
    };
    let processes = entries(Path::new("/proc"));
    let ours = processes.filter(|process| group_of(process) == Some(group) || is_marked(process));
    ours.flat_map(|process| entries(&process.join("task")).filter_map(|thread| trouble(&thread)).collect::<Vec<_>>())
        .collect()
}

/// The directories whose names are numbers.
fn entries(directory: &Path) -> impl Iterator<Item = std::path::PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn group_of(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // Behind the name, which can hold anything: state, parent, group.
    stat.rsplit(')').next()?.split_whitespace().nth(2)?.parse().ok()
}

fn trouble(thread: &Path) -> Option<String> {
    let status = fs::read_to_string(thread.join("status")).ok()?;
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.strip_prefix(':').map(str::trim)
    };
    let state = value("State")?;
    let tracer = value("TracerPid")?;
    // Who has no parent but init waits for that; we need not.
    let is_zombie = state.starts_with('Z') && value("PPid") != Some("1");
    let is_held = state.starts_with(['T', 't']) || tracer != "0" || is_zombie;
    is_held.then(|| format!("{} ({}): {state}, tracer {tracer}", thread.display(), value("Name").unwrap_or("")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    #[test]
    fn a_stopped_process_is_found_by_its_mark_and_by_its_group() {
        let mut command = Command::new("sleep");
        command.arg("60").process_group(0);
        let mark = mark(&mut command);
        let mut child = command.spawn().unwrap();
        let kill = |signal: &str| {
            let status = Command::new("sh").args(["-c", "kill -s $0 $1", signal, &child.id().to_string()]).status();
            assert!(status.unwrap().success());
        };
        let is_found = |mark: &str, group: u32| {
            let end = Instant::now() + PATIENCE;
            while Instant::now() < end {
                if find(mark, group).len() == 1 {
                    return true;
                }
                thread::sleep(Duration::from_millis(5));
            }
            false
        };
        assert!(find(&mark, child.id()).is_empty(), "it runs");
        kill("STOP");
        assert!(is_found(&mark, 0) && is_found("none", child.id()));
        assert!(find("none", 0).is_empty());
        kill("KILL");
        // A zombie until it is waited for.
        assert!(is_found("none", child.id()));
        child.wait().unwrap();
        assert_none(&mark, child.id());
    }
}
