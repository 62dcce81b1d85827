//! What the file says of itself.

use rustc_hash::FxHashSet;

use super::super::super::ReadError;
use super::super::super::import_report::Note;
use super::super::names::{COMMAND, COMMENT, CPU, DOCUMENTATION, DROP_FRAMES, KEEP_FRAMES, PERIOD, RECORDED_BY};
use super::super::schema::ValueType;
use super::super::wire::Field;
use super::texts::Texts;
use super::{Maker, decode, value_error};
use crate::analysis::Unit;
use crate::model::{Meta, Nanos, Quality, Time};

const UNKNOWN_DEFAULT: Note = Note {
    code: "default-sample-type-unknown",
    message: "the default sample type is none of the file's; the last one is taken, as pprof does",
};
const FRAMES_NOT_DROPPED: Note = Note {
    code: "frames-not-dropped",
    message: "the file names functions that viewers are to hide; they are shown here, while pprof hides them",
};
const ODD_DURATION: Note = Note { code: "duration-negative", message: "the duration is negative, and left out" };
const COMMENTS_LEFT_OUT: Note = Note {
    code: "comments-left-out",
    message: "comments are left out, as there are others of the same text, or too many",
};
const ODD_PERIOD: Note = Note { code: "period-out-of-range", message: "the period is left out" };

/// A few bytes can say that a long text is a comment thousands of times.
const MOST_COMMENTS: usize = 1000;

/// The outermost fields that are no tables.
#[derive(Default)]
pub(super) struct Head {
    pub sample_types: Vec<ValueType>,
    drop_frames: i64,
    keep_frames: i64,
    time_nanos: i64,
    duration_nanos: i64,
    period_type: Option<ValueType>,
    period: i64,
    comments: Vec<i64>,
    default_sample_type: i64,
    doc_url: i64,
}

impl Head {
    /// Takes a field; those that no version of the format has are passed over.
    pub(super) fn take(&mut self, field: Field<'_>) -> Result<(), ReadError> {
        match field.number {
            1 => self.sample_types.push(decode(field)?),
            7 => self.drop_frames = field.signed()?,
            8 => self.keep_frames = field.signed()?,
            9 => {
                if self.time_nanos != 0 {
                    let message = "the time stands there twice: these are several profiles in one file".to_owned();
                    return Err(value_error("time_nanos", field.offset, message));
                }
                self.time_nanos = field.signed()?;
            }
            10 => self.duration_nanos = field.signed()?,
            11 => self.period_type = Some(decode(field)?),
            12 => self.period = field.signed()?,
            13 => field.numbers(|row| self.comments.push(row.cast_signed()))?,
            14 => self.default_sample_type = field.signed()?,
            15 => self.doc_url = field.signed()?,
            _ => {}
        }
        Ok(())
    }

    /// That its texts are there, and sample types if there are `samples`.
    pub(super) fn check(&self, texts: &Texts<'_>, samples: u64) -> Result<(), ReadError> {
        if self.sample_types.is_empty() && samples > 0 {
            return Err(value_error("sample_type", 0, format!("there is none for {samples} samples")));
        }
        let types = self.sample_types.iter().chain(&self.period_type).flat_map(|each| [each.r#type, each.unit]);
        let others = [self.drop_frames, self.keep_frames, self.default_sample_type, self.doc_url];
        for row in types.chain(others).chain(self.comments.iter().copied()) {
            texts.check(row, 0, || "the profile".to_owned())?;
        }
        Ok(())
    }

    /// Puts it into the model. What there are no samples of is no type.
    pub(super) fn read(&self, samples: u64, maker: &mut Maker<'_>) {
        let mut meta = Meta::default();
        let tables = maker.builder.tables();
        let main = tables.libraries.first().map(|library| tables.strings.get(library.name).to_owned());
        meta.name = main.unwrap_or_default();
        meta.start_unix_ns = (self.time_nanos != 0).then_some(self.time_nanos);
        if self.duration_nanos > 0 {
            meta.recording_start = Some(Time::ZERO);
            meta.recording_end = Some(Time(self.duration_nanos));
        } else if self.duration_nanos < 0 {
            maker.report.note(ODD_DURATION, || format!("duration_nanos: {}", self.duration_nanos));
        }
        self.read_period(&mut meta, maker);
        let (mut known_rows, mut known) = (FxHashSet::default(), FxHashSet::default());
        for (index, row) in self.comments.iter().enumerate() {
            let is_other = known_rows.len() < MOST_COMMENTS && known_rows.insert(*row);
            let comment = is_other.then(|| maker.texts.noted(*row, &mut maker.report).into_owned());
            // Two rows may have the same text.
            let Some(comment) = comment.filter(|comment| known.insert(comment.clone())) else {
                maker.report.note(COMMENTS_LEFT_OUT, || format!("comment {index}"));
                continue;
            };
            if !read_own(&comment, &mut meta) {
                meta.extra.push((COMMENT.to_owned(), comment));
            }
        }
        let default = self.default_type(maker).filter(|_| samples > 0).map(|row| (Meta::DEFAULT_SAMPLE_TYPE, row));
        if self.drop_frames != 0 {
            maker.report.note(FRAMES_NOT_DROPPED, || format!("drop_frames: {}", maker.texts.get(self.drop_frames)));
        }
        let facts = [(DOCUMENTATION, self.doc_url), (DROP_FRAMES, self.drop_frames), (KEEP_FRAMES, self.keep_frames)];
        for (name, row) in facts.into_iter().filter(|(_, row)| *row != 0).chain(default) {
            meta.extra.push((name.to_owned(), maker.texts.noted(row, &mut maker.report).into_owned()));
        }
        *maker.builder.meta_mut() = meta;
    }

    fn read_period(&self, meta: &mut Meta, maker: &mut Maker<'_>) {
        let Some(period_type) = self.period_type else { return };
        let [name, unit] = [period_type.r#type, period_type.unit].map(|row| maker.texts.get(row));
        match Unit::scaled(&unit) {
            (Unit::Nanoseconds, factor) if name == CPU => {
                meta.interval = self.period.checked_mul(factor).filter(|nanos| *nanos > 0).map(Nanos);
                if meta.interval.is_none() && self.period != 0 {
                    maker.report.note(ODD_PERIOD, || format!("period: {} {unit}", self.period));
                }
            }
            _ => meta.extra.push((PERIOD.to_owned(), format!("{} {name}/{unit}", self.period))),
        }
    }

    /// The text that names the type that is shown first: by name, else the last one.
    fn default_type(&self, maker: &mut Maker<'_>) -> Option<i64> {
        let last = self.sample_types.last()?.r#type;
        if self.default_sample_type == 0 {
            return Some(last);
        }
        let named = maker.texts.get(self.default_sample_type);
        let found = self.sample_types.iter().find(|each| maker.texts.get(each.r#type) == named);
        if found.is_none() {
            maker.report.note(UNKNOWN_DEFAULT, || format!("default_sample_type: {named:?}"));
        }
        Some(found.map_or(last, |each| each.r#type))
    }
}

/// Takes a comment that our own writer made of what the model has a field for.
fn read_own(comment: &str, meta: &mut Meta) -> bool {
    if let Some(recorder) = comment.strip_prefix(RECORDED_BY).filter(|_| meta.recorder.is_none()) {
        meta.recorder = Some(recorder.to_owned());
        return true;
    }
    if let Some(words) = comment.strip_prefix(COMMAND).filter(|_| meta.command_line.is_empty()).and_then(words_of) {
        meta.command_line = words;
        return true;
    }
    // Without counts it only says what the period says.
    let is_rate = |text: &str| text.strip_suffix(" Hz").is_some_and(|rate| rate.parse::<u64>().is_ok());
    let Some(sampled) = comment.strip_prefix("sampled at ") else { return false };
    let Some((rate, counts)) = sampled.split_once(": ") else { return is_rate(sampled) && meta.interval.is_some() };
    match quality_of(counts).filter(|_| is_rate(rate) && meta.interval.is_some()) {
        Some(quality) => {
            meta.quality = Some(quality);
            true
        }
        None => false,
    }
}

/// `10 looks, 2 missed, 7 samples lost`
fn quality_of(counts: &str) -> Option<Quality> {
    let mut parts = counts.split(", ");
    let mut next = |end: &str| parts.next()?.strip_suffix(end)?.parse().ok();
    let (ticks, missed_ticks, lost_samples) = (next(" looks")?, next(" missed")?, next(" samples lost")?);
    parts.next().is_none().then_some(Quality { ticks, missed_ticks, lost_samples, ..Quality::default() })
}

/// The words of a command as a shell parts them, as far as [`command_text`](crate::report::command_text) quotes them.
fn words_of(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => word.get_or_insert_default().push(chars.next()?),
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (!quoted && !words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_back_word_by_word() {
        let words = ["./a b", "it's", "", "-x=\"y\"", "\\"].map(str::to_owned);
        assert_eq!(words_of(&crate::report::command_text(&words)).as_deref(), Some(&words[..]));
        assert_eq!(words_of("an 'open quote"), None);
        assert_eq!(words_of(""), None);
    }

    #[test]
    fn only_our_own_comments_are_taken_for_facts() {
        let mut meta = Meta { interval: Some(Nanos(1_000_000)), ..Meta::default() };
        assert!(read_own("recorded by x 1", &mut meta) && !read_own("recorded by y", &mut meta));
        assert!(read_own("sampled at 1000 Hz: 10 looks, 2 missed, 7 samples lost", &mut meta));
        let quality = meta.quality.expect("it was told");
        assert_eq!((quality.ticks, quality.missed_ticks, quality.lost_samples), (10, 2, 7));
        for other in ["sampled at 99 Hz: often", "sampled at noon", "hello", "sampled at 1 Hz: 1 looks, 2 missed"] {
            assert!(!read_own(other, &mut meta), "{other}");
        }
        assert_eq!(meta.recorder.as_deref(), Some("x 1"));
    }
}
