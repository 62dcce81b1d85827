//! What `report --ai` and `--ai-compact` are asked for.

use clap::Args;
use thiserror::Error;
use traceview_core::format::chrome::calltree::{CallTreeQuery, EventChoice, ThreadChoice};
use traceview_core::report::{AiForm, AiOptions};

/// What the text for an AI assistant conflicts with: other reports.
const OTHER_REPORTS: [&str; 6] = ["top", "tree", "inverted", "flows", "by", "json"];

/// What DevTools' text does not know.
const NOT_EXACT: [&str; 8] =
    ["fold_async", "slices", "processes", "range", "labels", "sample_type", "min_percent", "budget"];

/// The flags of the text for an AI assistant.
#[derive(Clone, Debug, Args)]
pub struct AiArgs {
    /// The call tree as text for an AI assistant: functions with what they called, files and lines, and what to know about it
    #[arg(long, group = "ai_text", conflicts_with_all = OTHER_REPORTS)]
    pub ai: bool,
    /// The same in less than half the characters: a line for each function
    #[arg(long, group = "ai_text", conflicts_with_all = OTHER_REPORTS)]
    pub ai_compact: bool,
    /// Of the text for an AI assistant: leave out what has a smaller share than P percent (default: 0.5)
    #[arg(long, value_name = "P", value_parser = parse_percent, requires = "ai_text")]
    pub min_percent: Option<f64>,
    /// Of the text for an AI assistant: at most so many characters, in which the heaviest functions have room
    #[arg(long, value_name = "CHARS", value_parser = clap::value_parser!(u64).range(1..), requires = "ai_text")]
    pub budget: Option<u64>,
    /// Of a Chrome trace or a `.cpuprofile`: to the character what Chrome DevTools gives its assistant
    #[arg(long, requires_all = ["ai_text", "exact_part"], conflicts_with_all = NOT_EXACT)]
    pub exact: bool,
    /// Of an event and what is around and in it: `ts` in µs as in the file; calls from samples are called `ProfileCall`;
    /// `nth=K` before the name chooses among events of the same name and time
    #[arg(
        long,
        group = "exact_part",
        value_name = "ts=T,pid=P,tid=Q,name=N",
        value_parser = parse_event,
        requires = "exact",
        conflicts_with = "threads"
    )]
    pub event: Option<EventChoice>,
    /// Of a time in µs as in the file, of the thread `--thread PID/TID`
    #[arg(
        long,
        group = "exact_part",
        value_name = "A..B",
        value_parser = parse_micros,
        requires_all = ["exact", "threads"]
    )]
    pub range_us: Option<MicrosRange>,
}

/// A time in the µs of a file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MicrosRange {
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
}

/// What is wrong with such an argument.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AiArgsError {
    /// Not of the form `key=value,…`.
    #[error("`{0}` is no event: write for example ts=1020034979558,pid=73704,tid=775,name=RunTask")]
    NotEvent(String),
    /// Something that has to be there.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
    /// A key that means nothing.
    #[error("an event has no `{0}`; it has ts, pid, tid, nth, and name, which comes last")]
    UnknownKey(String),
    /// A value that is no number.
    #[error("`{0}` is no number")]
    NotNumber(String),
    /// Not of the form `A..B`.
    #[error("`{0}` is no range: write for example 1020034944640..1020034969035")]
    NotRange(String),
    /// The end is before the start.
    #[error("the range `{0}` ends before it begins")]
    BackwardRange(String),
    /// Not between 0 and 100.
    #[error("`{0}` is no share in percent: write a number from 0 to 100")]
    NotPercent(String),
    /// A thread has to be chosen by both ids.
    #[error("--range-us needs one --thread PID/TID, with the ids of the file")]
    NotOneThread,
}

impl AiArgs {
    /// How the general text is to be written, if one is asked for.
    #[must_use]
    pub fn options(&self) -> Option<AiOptions> {
        let form = match (self.ai, self.ai_compact) {
            (true, _) => AiForm::Blocks,
            (false, true) => AiForm::Lines,
            (false, false) => return None,
        };
        let min_percent = self.min_percent.unwrap_or(AiOptions::MIN_PERCENT);
        // No text has as many characters as can't be told.
        let budget = self.budget.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        Some(AiOptions { form, min_percent, budget })
    }

    /// What is asked for, if it is the exact text.
    ///
    /// # Errors
    /// When a range has not one thread.
    pub fn query(&self, threads: &[String]) -> Result<Option<CallTreeQuery>, AiArgsError> {
        if let Some(event) = &self.event {
            return Ok(Some(CallTreeQuery::Event(event.clone())));
        }
        let Some(MicrosRange { start, end }) = self.range_us else { return Ok(None) };
        let [thread] = threads else { return Err(AiArgsError::NotOneThread) };
        let (pid, tid) = thread.split_once('/').ok_or(AiArgsError::NotOneThread)?;
        let thread = ThreadChoice { pid: pid.to_owned(), tid: tid.to_owned() };
        Ok(Some(CallTreeQuery::Range { thread, start, end }))
    }
}

/// Reads `ts=T,pid=P,tid=Q[,nth=K],name=N`; the name goes on to the end. A number behind the name counts too, unless there was one
/// before it.
fn parse_event(text: &str) -> Result<EventChoice, AiArgsError> {
    let not_event = || AiArgsError::NotEvent(text.to_owned());
    let (mut time, mut pid, mut tid, mut nth) = (None, None, None, None);
    let mut rest = text;
    let name = loop {
        let (key, behind) = rest.split_once('=').ok_or_else(not_event)?;
        if key == "name" {
            break behind;
        }
        let (value, next) = behind.split_once(',').ok_or(AiArgsError::Missing("name"))?;
        match key {
            "ts" => time = Some(number(value)?),
            "pid" => pid = Some(value.to_owned()),
            "tid" => tid = Some(value.to_owned()),
            "nth" => nth = Some(value.parse().map_err(|_| AiArgsError::NotNumber(value.to_owned()))?),
            _ => return Err(AiArgsError::UnknownKey(key.to_owned())),
        }
        rest = next;
    };
    let behind = name.rsplit_once(",nth=").filter(|_| nth.is_none());
    let (name, nth) = match behind.map(|(name, nth)| (name, nth.parse())) {
        Some((name, Ok(nth))) => (name, nth),
        _ => (name, nth.unwrap_or(0)),
    };
    let missing = AiArgsError::Missing;
    let thread = ThreadChoice { pid: pid.ok_or(missing("pid"))?, tid: tid.ok_or(missing("tid"))? };
    Ok(EventChoice { thread, time: time.ok_or(missing("ts"))?, name: name.to_owned(), nth })
}

fn parse_micros(text: &str) -> Result<MicrosRange, AiArgsError> {
    let (start, end) = text.split_once("..").ok_or_else(|| AiArgsError::NotRange(text.to_owned()))?;
    let range = MicrosRange { start: number(start)?, end: number(end)? };
    if range.end < range.start { Err(AiArgsError::BackwardRange(text.to_owned())) } else { Ok(range) }
}

fn parse_percent(text: &str) -> Result<f64, AiArgsError> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim_end().parse::<f64>();
    let is_share = |percent: &f64| (0.0..=100.0).contains(percent);
    percent.ok().filter(is_share).ok_or_else(|| AiArgsError::NotPercent(text.to_owned()))
}

fn number(text: &str) -> Result<f64, AiArgsError> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    // Adding 0 makes 0 of -0.
    number.map(|number| number + 0.0).ok_or_else(|| AiArgsError::NotNumber(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_event_goes_on_to_the_end() {
        let event = parse_event("ts=1.5,pid=7,tid=a b,nth=2,name=x,y=z,nth=3").unwrap();
        let thread = ThreadChoice { pid: "7".into(), tid: "a b".into() };
        assert_eq!(event, EventChoice { thread, time: 1.5, name: "x,y=z,nth=3".into(), nth: 2 });
        let behind = parse_event("tid=1,ts=3,pid=7,name=f,nth=3").unwrap();
        assert_eq!((&*behind.name, behind.nth), ("f", 3));
        let odd = parse_event("tid=1,ts=3,pid=7,name=f,nth=x").unwrap();
        assert_eq!((&*odd.name, odd.nth), ("f,nth=x", 0));
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(["0.5", "5%", "0 %", "100"].map(|text| parse_percent(text).unwrap()), [0.5, 5.0, 0.0, 100.0]);
        for odd in ["", "-1", "101", "NaN", "inf", "a"] {
            assert_eq!(parse_percent(odd), Err(AiArgsError::NotPercent(odd.to_owned())));
        }
    }

    #[test]
    fn what_is_no_event_or_range_is_refused_with_the_reason() {
        let error = |text| parse_event(text).unwrap_err().to_string();
        assert!(error("RunTask").starts_with("`RunTask` is no event: write"));
        assert_eq!(error("ts=1,pid=2,name=x"), "the event has no `tid`");
        assert_eq!(error("ts=1,pid=2,tid=3"), "the event has no `name`");
        assert_eq!(error("ts=1s,pid=2,tid=3,name=x"), "`1s` is no number");
        assert_eq!(
            error("time=1,name=x"),
            "an event has no `time`; it has ts, pid, tid, nth, and name, which comes last"
        );
        assert_eq!(parse_micros("1..2.5"), Ok(MicrosRange { start: 1.0, end: 2.5 }));
        assert_eq!(parse_micros("2..1").unwrap_err().to_string(), "the range `2..1` ends before it begins");
        assert_eq!(parse_micros("1..").unwrap_err().to_string(), "`` is no number");
        assert!(parse_micros("1").unwrap_err().to_string().starts_with("`1` is no range"));
    }
}
