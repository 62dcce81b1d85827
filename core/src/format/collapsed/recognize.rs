//! Whether a text is collapsed stacks: there is no mark, only the shape of lines.

use super::super::text_lines::{Line, first_lines};
use super::line::{self, Count};

/// Whether such a file can begin with these bytes: nine in ten of the first lines end in a count. A file that is named for
/// collapsed stacks is taken for that.
pub fn begins(start: &[u8]) -> bool {
    let Some(lines) = stack_lines(start) else { return false };
    // The first stack can be longer than what is there of it.
    if let [line] = &lines[..]
        && !line.is_ended
        && line.text.contains(&b';')
    {
        return true;
    }
    let counted = lines.iter().filter(|line| line::parts(line.text).is_some()).count();
    counted > 0 && counted * 10 >= lines.len() * 9
}

/// Whether it looks like collapsed stacks, whatever it is called: the first lines end in a count, none looks like that of a
/// log, and at least half are stacks of several frames or of one that could be a function's name.
pub fn sniff(text: &[u8]) -> bool {
    let Some(lines) = stack_lines(text) else { return false };
    let (mut counted, mut deep, mut names) = (0, 0, 0);
    for parts in lines.iter().filter_map(|line| line::parts(line.text)) {
        if is_of_log(parts.stack) {
            return false;
        }
        let is_deep = is_parted(parts.stack);
        let is_name = || matches!(parts.count, Count::Whole(0..)) && is_one_word(parts.stack);
        counted += 1;
        deep += usize::from(is_deep);
        names += usize::from(is_deep || is_name());
    }
    // What another program said in between spoils no file of which the rest is beyond doubt.
    let is_spoilt = counted < lines.len() && (counted * 10 < lines.len() * 9 || deep * 10 < counted * 9);
    names > 0 && names * 2 >= counted && !is_spoilt
}

/// The first lines that are no comments; `None` where the text is none, or JSON.
fn stack_lines(text: &[u8]) -> Option<Vec<Line<'_>>> {
    let mut lines = first_lines(text)?;
    if lines.first().is_some_and(|line| line::is_json(line.text)) {
        return None;
    }
    lines.retain(|line| !line::is_comment(line.text));
    Some(lines)
}

/// Whether it has several frames. Sentences and statements have a blank behind the semicolon.
fn is_parted(stack: &[u8]) -> bool {
    stack.windows(2).any(|pair| pair[0] == b';' && !pair[1].is_ascii_whitespace())
}

/// Whether it is the name of one function: no blank is in it but within brackets.
fn is_one_word(frame: &[u8]) -> bool {
    let mut depth = 0_usize;
    for byte in frame {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b' ' | b'\t' if depth == 0 => return false,
            b';' | b',' | b'=' | b'"' if depth == 0 => return false,
            _ => {}
        }
    }
    frame.last().is_some_and(|last| *last != b':')
}

/// Whether a line begins as those of logs do, which no root of a stack does: with a time, an address of the net, a method of
/// HTTP or how grave it is; or it is a list of `key=value`.
fn is_of_log(stack: &[u8]) -> bool {
    let root = stack.split(|byte| *byte == b';').next().unwrap_or_default();
    let word = root.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let bare = word.trim_ascii().strip_prefix(b"[").unwrap_or(word);
    let bare = bare.strip_suffix(b"]").or_else(|| bare.strip_suffix(b":")).unwrap_or(bare);
    let behind = root.trim_ascii_start().get(word.len()..).unwrap_or_default().trim_ascii_start();
    let is_request = METHODS.contains(&word.strip_prefix(b"\"").unwrap_or(word))
        && (behind.starts_with(b"/") || behind.starts_with(b"http"));
    let is_grave = LEVELS.iter().any(|level| bare.eq_ignore_ascii_case(level)) && (bare != word || !behind.is_empty());
    // 2026-01-31, 12:00:00, 31/Jan/2026, 10.0.0.1
    let parts = bare.split(|byte| b"-:./".contains(byte)).filter(|part| part.iter().all(u8::is_ascii_digit));
    let is_time = bare.first().is_some_and(u8::is_ascii_digit) && bare.len() > 5 && parts.count() >= 2;
    is_request || is_grave || is_time || is_list_of_pairs(stack)
}

/// Whether every frame is `key=value`; functions have operators in their names, but not all of them.
fn is_list_of_pairs(stack: &[u8]) -> bool {
    let is_pair = |frame: &[u8]| {
        let key = frame.iter().position(|byte| *byte == b'=');
        key.is_some_and(|key| key > 0 && frame[..key].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'))
            && !frame.starts_with(b"operator")
    };
    stack.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).all(is_pair)
}

const METHODS: [&[u8]; 7] = [b"GET", b"POST", b"PUT", b"HEAD", b"DELETE", b"PATCH", b"OPTIONS"];
const LEVELS: [&[u8]; 8] = [b"trace", b"debug", b"info", b"notice", b"warn", b"warning", b"error", b"fatal"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_with_counts_are_recognized() {
        for text in [
            "main;work 5\n",
            "main;work 5",
            "# comment\n\nmain 1\nmain;work 5\r\n",
            "\u{feff}a;b 1.5\na;c 2\n",
            "[unknown];main 3\n{{closure}};x 2\n",
            "swapper;cpu_idle_[k] 10 12\n",
            // Of one frame each.
            "main 5\nwork 7\n",
            "std::rt::lang_start::{{closure}} 5\n<alloc::vec::Vec<T> as core::ops::Drop>::drop 1\n[unknown] 2\n",
            "foo(int, char const*) 3\n",
            // bcc, DTrace, async-profiler, py-spy, node.
            "swapper/0;start_kernel;rest_init;cpu_startup_entry 112\ntar;_[k];vfs_read 3\n",
            "libc.so.1`__write;unix`sys_syscall 2\n",
            "java/lang/Thread.run;C2 CompilerThread0 19\nGC Thread#1;G1 Service 2\n",
            "MainThread (123);<module> (app.py:12);handler (app.py:80) 31\n",
            "node::Start(int, char**);(anonymous) /srv/app.js:3:11 7\n",
            "bool operator==<int>(A, B);operator new(unsigned long) 4\n",
            "error;trace_event 2\ninfo;x 4\n",
            "all;2to3.main;1password 4\n",
        ] {
            assert!(sniff(text.as_bytes()) && begins(text.as_bytes()), "{text}");
        }
        let cut = "frame;".repeat(1000);
        assert!(begins(cut.as_bytes()) && !sniff(cut.as_bytes()));
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "",
            "hello\n",
            "# Title\n\nSome text; with 5 words, item 5\nmore text\n",
            "name;count\nfoo;5\nbar;7\n",
            "a,b\n1,2\n",
            "2026-01-01 12:00:00 INFO started; took 5 ms\n2026-01-01 12:00:01 INFO waited 5\n",
            "{\"a;b\": 5\n",
            "{\n  \"a;b\": 5\n}\n",
            "[\n1;2 3\n",
            "[{\"a;b 3\n",
            "int main() {\n  int x; y 5\n}\n",
            "int a; int b = 2\n",
            "started; took 12\nstopped; took 3\n",
            "a;b 5\n\0\n",
            // Logs.
            "GET /x;y=1 200\n",
            "GET /x;y=1 200\nPOST /a;b 404\n",
            "10.0.0.1 - - [31/Jan/2026:12:00:00 +0000] \"GET /a;b HTTP/1.1\" 200 512\n",
            "2026-01-01T12:00:00Z started;done 5\n",
            "12:00:00.123 a;b 5\n",
            "[2026-01-01 12:00:00] a;b 5\n",
            "INFO started;done 5\n[warn] a;b 5\nERROR: a;b 7\n",
            "\"GET /a;b\" 5\n",
            "user=1;session=2 5\nuser=2;session=7 9\n",
            // One line in between that is none.
            "main;work 5\nand so on\nmain;work 5\n",
            // /proc/meminfo, /proc/stat, a list of words.
            "MemTotal: 263 5\nMemFree: 12 7\n",
            "cpu  1 2 3 4\ncpu0 1 2 3 4\n",
            "chapter one 5\nchapter two 17\n",
            "a=1 5\nb=2 6\n",
            "balance -5\n",
        ] {
            assert!(!sniff(text.as_bytes()), "{text}");
        }
        assert!(!begins(&[0; 4096]) && !begins(b"{\"meta\": \"a; 5"));
    }
}
