//! What lines about tasks tell, which `--show-task-events` adds.

/// Which process a thread is of, told when it got a name or is first heard of. The name also stands before each of its samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Task {
    pub pid: i64,
    pub tid: i64,
}

/// Whether an event is a line of `perf` about itself.
pub(super) fn is_record(event: &[u8]) -> bool {
    event.starts_with(b"PERF_RECORD_")
}

/// `PERF_RECORD_COMM: name:pid/tid`, with ` exec` before the first colon at the start of a program.
pub(super) fn comm(text: &[u8]) -> Option<Task> {
    let text = text.strip_prefix(b"exec:").unwrap_or(text).trim_ascii();
    let colon = memchr::memrchr(b':', text)?;
    let (pid, tid) = std::str::from_utf8(&text[colon + 1..]).ok()?.split_once('/')?;
    Some(Task { pid: pid.parse().ok()?, tid: tid.parse().ok()? })
}

/// `PERF_RECORD_FORK(pid:tid):(parent's pid:tid)`, of which the first pair is taken.
pub(super) fn fork(event: &[u8]) -> Option<Task> {
    let pair = event.strip_prefix(b"PERF_RECORD_FORK(")?;
    let pair = std::str::from_utf8(&pair[..memchr::memchr(b')', pair)?]).ok()?;
    let (pid, tid) = pair.split_once(':')?;
    Some(Task { pid: pid.parse().ok()?, tid: tid.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_processes_of_threads_are_told() {
        assert_eq!(comm(b" a:b (c):21976/21978"), Some(Task { pid: 21976, tid: 21978 }));
        assert_eq!(fork(b"PERF_RECORD_FORK(5:7):(5:5)"), Some(Task { pid: 5, tid: 7 }));
        assert_eq!(comm(b"a:5"), None);
        assert_eq!(fork(b"PERF_RECORD_FORK(5"), None);
    }
}
