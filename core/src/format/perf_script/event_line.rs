//! The line that a sample begins with.

use super::task;

/// Its parts. Texts are as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EventLine<'a> {
    /// The thread's name; empty where it is not printed.
    pub comm: &'a [u8],
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    /// In ns, on the clock of `perf`.
    pub time: Option<i64>,
    pub period: Option<i64>,
    /// Without the colon behind it.
    pub event: Option<&'a [u8]>,
    /// What follows.
    pub text: &'a [u8],
}

/// Names of threads are short, and so is what stands before the time.
const MAX_BEFORE_TIME: usize = 256;

/// Takes the line apart if it has the shape of one.
pub(super) fn parse(line: &[u8]) -> Option<EventLine<'_>> {
    let head = &line[..line.len().min(MAX_BEFORE_TIME)];
    let mut without_thread = None;
    for token in words(head) {
        let Some(time) = time(&head[token.clone()]) else { continue };
        let thread = thread(&head[..token.start]);
        let (period, event, text) = event(&line[token.end..]);
        let parts = EventLine { time: Some(time), period, event, text, ..thread };
        if thread.tid.is_some() {
            return Some(parts);
        }
        without_thread.get_or_insert(parts);
    }
    without_thread.or_else(|| without_time(line, head))
}

/// A line without a time: at least an event must be there.
fn without_time<'a>(line: &'a [u8], head: &'a [u8]) -> Option<EventLine<'a>> {
    let mut colons = words(head).filter(|word| head[word.clone()].ends_with(b":"));
    let token =
        colons.next().filter(|word| word.start > 0 && head[word.clone()].iter().any(u8::is_ascii_alphabetic))?;
    let before = head[..token.start].trim_ascii();
    let count = words(before).rev().map_while(|word| number(&before[word])).take(2).count();
    // A lone number can be a thread or a period.
    let mut parts = EventLine { text: line[token.end..].trim_ascii(), ..NOTHING };
    parts.event = Some(&head[token.start..token.end - 1]);
    let last = words(before).next_back();
    parts.period = last.clone().filter(|_| count == 2).and_then(|word| number(&before[word]));
    let before = match last {
        Some(last) if count > 0 => &before[..last.start],
        _ => before,
    };
    let thread = if count == 1 { EventLine { comm: before.trim_ascii(), ..NOTHING } } else { thread(before) };
    Some(EventLine { comm: thread.comm, pid: thread.pid, tid: thread.tid, ..parts })
}

const NOTHING: EventLine<'static> =
    EventLine { comm: b"", pid: None, tid: None, time: None, period: None, event: None, text: b"" };

/// `name pid/tid [cpu] flags`, of which all can be missing.
fn thread(before: &[u8]) -> EventLine<'_> {
    let mut before = before.trim_ascii();
    let is_cpu = |word: &[u8]| word.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).is_some_and(is_digits);
    let is_flags = |word: &[u8]| word.len() <= 8 && word.iter().all(u8::is_ascii_uppercase);
    let all = before;
    for _ in 0..2 {
        let Some(last) = words(before).next_back() else { break };
        if !is_cpu(&before[last.clone()]) && !is_flags(&before[last.clone()]) {
            break;
        }
        before = before[..last.start].trim_ascii_end();
    }
    let ids = words(before).next_back().and_then(|last| Some((last.start, ids(&before[last])?)));
    match ids {
        Some((start, (pid, tid))) => {
            EventLine { comm: before[..start].trim_ascii_end(), pid, tid: Some(tid), ..NOTHING }
        }
        None => EventLine { comm: all, ..NOTHING },
    }
}

/// `pid/tid` or `tid`.
fn ids(word: &[u8]) -> Option<(Option<i64>, i64)> {
    match memchr::memchr(b'/', word) {
        Some(slash) => Some((Some(signed(&word[..slash])?), signed(&word[slash + 1..])?)),
        None => Some((None, signed(word)?)),
    }
}

/// What follows the time: `period event: text`.
fn event(behind: &[u8]) -> (Option<i64>, Option<&[u8]>, &[u8]) {
    let behind = behind.trim_ascii();
    let mut tokens = words(behind);
    let Some(mut token) = tokens.next() else { return (None, None, behind) };
    if task::is_record(behind) {
        let record = &behind[token.clone()];
        return (None, Some(record.strip_suffix(b":").unwrap_or(record)), behind[token.end..].trim_ascii_start());
    }
    let period = number(&behind[token.clone()]);
    if period.is_some() {
        match tokens.next() {
            Some(next) => token = next,
            None => return (period, None, b""),
        }
    }
    match behind[token.clone()].strip_suffix(b":").filter(|event| !event.is_empty()) {
        Some(event) => (period, Some(event), behind[token.end..].trim_ascii_start()),
        None => (None, None, behind),
    }
}

/// `seconds.fraction:` in ns; the fraction has microseconds or nanoseconds.
fn time(word: &[u8]) -> Option<i64> {
    let word = word.strip_suffix(b":")?;
    let dot = memchr::memchr(b'.', word)?;
    let (seconds, fraction) = (&word[..dot], &word[dot + 1..]);
    if !matches!(fraction.len(), 3..=9) || !is_digits(fraction) {
        return None;
    }
    let scale = 10_i64.pow(9 - u32::try_from(fraction.len()).ok()?);
    let nanos = number(fraction)?.checked_mul(scale)?;
    parse_exact(seconds)?.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// A whole number; what is too large becomes the largest.
fn number(word: &[u8]) -> Option<i64> {
    is_digits(word).then(|| parse_exact(word).unwrap_or(i64::MAX))
}

fn parse_exact(word: &[u8]) -> Option<i64> {
    if !is_digits(word) {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn signed(word: &[u8]) -> Option<i64> {
    match word.strip_prefix(b"-") {
        Some(word) => parse_exact(word).map(|number| -number),
        None => parse_exact(word),
    }
}

fn is_digits(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_digit)
}

/// Where the words of `text` are.
fn words(text: &[u8]) -> impl DoubleEndedIterator<Item = std::ops::Range<usize>> {
    Words { text, range: 0..text.len() }
}

struct Words<'a> {
    text: &'a [u8],
    range: std::ops::Range<usize>,
}

impl Iterator for Words<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.range.clone()];
        let start = self.range.start + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let word = self.text[start..self.range.end].iter().position(u8::is_ascii_whitespace);
        let end = word.map_or(self.range.end, |len| start + len);
        self.range.start = end;
        Some(start..end)
    }
}

impl DoubleEndedIterator for Words<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.range.clone()];
        let end = self.range.start + rest.iter().rposition(|byte| !byte.is_ascii_whitespace())? + 1;
        let before = self.text[self.range.start..end].iter().rposition(u8::is_ascii_whitespace);
        let start = before.map_or(self.range.start, |at| self.range.start + at + 1);
        self.range.end = start;
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts as one text: `comm|pid|tid|time|period|event|text`.
    fn shown(line: &str) -> String {
        let Some(line) = parse(line.as_bytes()) else { return "no".to_owned() };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let event = line.event.map_or_else(|| "-".to_owned(), text);
        let numbers = [line.pid, line.tid, line.time, line.period].map(number).join("|");
        format!("{}|{numbers}|{event}|{}", text(line.comm), text(line.text))
    }

    #[test]
    fn every_choice_of_fields_is_understood() {
        for (line, expected) in [
            ("java 25607 4794564.109216: cycles:", "java|-|25607|4794564109216000|-|cycles|"),
            (
                "V8 WorkerThread 24636/25607 [000] 94564.109216: cycles: ",
                "V8 WorkerThread|24636|25607|94564109216000|-|cycles|",
            ),
            (
                "a (b) [c] 1/-1 [001] U     46.309420:    2004008   cpu-clock:uH: ",
                "a (b) [c]|1|-1|46309420000|2004008|cpu-clock:uH|",
            ),
            (
                "Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:",
                "Gecko|-|25122|115539936601000|1000000|task-clock:u|",
            ),
            (
                "        workload 21976 46497.317251363:          1 page-faults:  ffff elf_load+0x28a ([k])",
                "workload|-|21976|46497317251363|1|page-faults|ffff elf_load+0x28a ([k])",
            ),
            (
                "tokio-rt 7/3 22031 46502.200455:    2000000 cpu-clock:ppp:",
                "tokio-rt 7/3|-|22031|46502200455000|2000000|cpu-clock:ppp|",
            ),
            (
                "x 1 2.500000: sched:sched_switch: prev_comm=y 3.000000: z",
                "x|-|1|2500000000|-|sched:sched_switch|prev_comm=y 3.000000: z",
            ),
            (
                "renamed 7 1.000001: PERF_RECORD_COMM: renamed:5/7",
                "renamed|-|7|1000001000|-|PERF_RECORD_COMM|renamed:5/7",
            ),
            ("x 7 1.000001: PERF_RECORD_COMM exec: x:5/7", "x|-|7|1000001000|-|PERF_RECORD_COMM|exec: x:5/7"),
            ("a 22022/22024 46501.000981: ", "a|22022|22024|46501000981000|-|-|"),
            (" 22024 46501.000981: 11a8 leaf", "|-|22024|46501000981000|-|-|11a8 leaf"),
            ("46501.000981: 4198400 main", "|-|-|46501000981000|-|-|4198400 main"),
            ("workload 46501.000981: 12 cycles:", "workload|-|-|46501000981000|12|cycles|"),
            ("my program 22024    1003009 task-clock: ", "my program|-|22024|-|1003009|task-clock|"),
            ("my program    1003009 task-clock: ", "my program|-|-|-|-|task-clock|"),
            ("cpu 1/2 99999999999999999999.000001: cycles:", "no"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn other_lines_are_none() {
        for line in ["", "   ", "hello", "\t            11a8 leaf (/x)", "  w.c:10", "Nov 30 12:00 x", "a 1 2.5 cycles"]
        {
            assert_eq!(shown(line), "no", "{line}");
        }
    }

    #[test]
    fn a_huge_period_is_the_largest_number() {
        assert!(shown("a 1 2.500000: 99999999999999999999 c:").contains(&format!("|{}|c|", i64::MAX)));
    }
}
