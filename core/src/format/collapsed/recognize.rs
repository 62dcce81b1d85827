//! Whether a text is collapsed stacks: there is no mark, only the shape of lines.

use super::super::text_lines::first_lines;
use super::line;

/// Whether such a file can begin with these bytes.
pub fn begins(start: &[u8]) -> bool {
    let Some(lines) = first_lines(start) else { return false };
    // The first stack can be longer than what is there of it.
    let is_cut = lines.len() == 1 && !lines[0].is_ended;
    (is_cut && lines[0].text.contains(&b';') && !line::is_json(lines[0].text)) || sniff(start)
}

/// Whether it looks like collapsed stacks: of the first lines nine in ten end in a count, and at least half of those are
/// stacks of several frames.
pub fn sniff(text: &[u8]) -> bool {
    let Some(mut lines) = first_lines(text) else { return false };
    if lines.first().is_some_and(|line| line::is_json(line.text)) {
        return false;
    }
    lines.retain(|line| !line::is_comment(line.text));
    let counted = || lines.iter().filter_map(|line| line::parts(line.text));
    // Sentences and statements have a blank behind it.
    let is_parted = |stack: &[u8]| stack.windows(2).any(|pair| pair[0] == b';' && pair[1] != b' ');
    let deep = counted().filter(|parts| is_parted(parts.stack)).count();
    deep > 0 && counted().count() * 10 >= lines.len() * 9 && deep * 2 >= counted().count()
}

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
            "main 5\nwork 7\n",
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
        ] {
            assert!(!sniff(text.as_bytes()), "{text}");
        }
        assert!(!begins(&[0; 4096]) && !begins(b"{\"meta\": \"a; 5"));
    }
}
