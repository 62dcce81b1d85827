//! Whether a text is what `perf script` prints.

use super::super::text_lines::{Line, first_lines};
use super::{event_line, frame_line, task};

/// Whether such a file can begin with these bytes.
pub fn begins(start: &[u8]) -> bool {
    sniff(start)
}

/// Whether it looks like such output: it begins with a sample or `perf`'s own comments, and nine in ten of its first lines
/// are what stands there.
pub fn sniff(text: &[u8]) -> bool {
    let Some(lines) = first_lines(text) else { return false };
    let is_header = lines.first().is_some_and(|line| line.text.starts_with(b"# ========"));
    let is_of_perf =
        |line: &&Line<'_>| line.text.starts_with(b"# cmdline : ") || line.text.starts_with(b"# captured on");
    let has_header = is_header && lines.iter().any(|line| is_of_perf(&line));
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.text).filter(|line| !is_comment(line)).collect();
    let Some(first) = lines.first() else { return has_header };
    let known = (0..lines.len()).filter(|row| is_known(&lines, *row)).count();
    (is_known(&lines, 0) && !first.starts_with(b"  ") || is_sample(first)) && known * 10 >= lines.len() * 9
}

/// Whether a line is a comment of `perf`, no thread whose name begins so.
pub(super) fn is_comment(line: &[u8]) -> bool {
    line == b"#" || line.starts_with(b"# ")
}

/// Whether a line has all that `perf` prints of a sample by default.
fn is_sample(line: &[u8]) -> bool {
    event_line::parse(line).is_some_and(|line| line.tid.is_some() && line.time.is_some() && line.event.is_some())
}

fn is_known(lines: &[&[u8]], row: usize) -> bool {
    let line = lines[row];
    // Otherwise it is a name that tells: a frame must follow.
    let is_event = || {
        let next = lines.get(row + 1).is_some_and(|next| is_frame(next));
        event_line::parse(line).is_some_and(|line| next || line.event.is_some_and(task::is_record))
    };
    is_frame(line) || is_sample(line) || (row > 0 && frame_line::parse_source(line).is_some()) || is_event()
}

/// Whether a line is a frame as `perf` aligns it: a tab, an address in sixteen columns, a space. Simpleperf's addresses
/// are narrower.
fn is_frame(line: &[u8]) -> bool {
    let Some(text) = line.strip_prefix(b"\t") else { return false };
    let word = text.trim_ascii_start();
    let len = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
    let is_aligned = text.len() - word.len() + len == 16;
    let has_file = || frame_line::parse(line).is_some_and(|frame| frame.file.is_some() || frame.is_inlined);
    word[..len].iter().all(u8::is_ascii_hexdigit) && len > 0 && (is_aligned || (len >= 4 && has_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_with_any_fields_is_recognized() {
        for text in [
            "java 25607 4794564.109216: cycles:\n\t 11a8 main (/x)\n\n",
            "# ========\n# captured on    : x\n# ========\n#\n",
            "\n\t            11a8 mix (inlined)\n\t            11a8 leaf\n\n",
            "   workload 22028 46502.190453:    2000000 cpu-clock:ppp:      555e674741a8 leaf+0x1f (/w)\n",
            "   perf 30078 [000] 46773.797796: sched:sched_wakeup: comm=migration/0 pid=18\n",
            "a    1003009 task-clock: \n\t            11a8 mix (inlined)\n  w.c:9\n\n",
            "perf-exec     0     0.000000: PERF_RECORD_COMM: perf-exec:21976/21976\n",
        ] {
            assert!(sniff(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "",
            "hello\n",
            "# Title\n\nText: more\n",
            "      5 foo\n      7 bar\n",
            "Nov 30 12:00:01 host prog[123]: text\n",
            "[   12.345678] usb 1-1: new device\n",
            "  bash-123 [000] d... 12345.678901: sched_switch: prev_comm=x\n",
            "0000000000001139 T main\n",
            "all: main.o\n\tcc -o main main.o\n",
            "1,2\n3,4\n",
            "{\n\t\"a\": 1\n}\n",
            "a 1 2.500000: c:\nno\nno\nno\n",
        ] {
            assert!(!sniff(text.as_bytes()), "{text}");
        }
    }
}
