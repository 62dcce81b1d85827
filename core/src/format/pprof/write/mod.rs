//! Model to file. Samples go out first, thread by thread; the tables that they refer to follow, the texts last.
//!
//! What has to be in memory for that: the code tables, two numbers for each node of a stack (three where equal stacks have
//! several nodes), and the sums of one thread.
//! The encoded file never is (see [`stream`]).

mod code;
mod columns;
mod labels;
mod left_out;
mod mappings;
mod packed;
mod stream;
mod strings;
mod sums;

use std::io::{self, Write};

use self::code::{Code, Place};
use self::columns::Columns;
use self::labels::{Group, Labels};
use self::packed::Packed;
use self::stream::Stream;
use self::strings::Strings;
use self::sums::{Changes, Sums};
use super::super::{WriteError, WriteOptions};
use super::names::{
    COMMAND, COMMENT, CPU, DOCUMENTATION, DROP_FRAMES, KEEP_FRAMES, LOST, NANOSECONDS, NO_STACK, PERIOD, RECORDED_BY,
};
use super::schema::{self, Location};
use crate::analysis::{Measure, WaitKind};
use crate::model::{LabelSetId, Nanos, Profile, StackId, Thread, Wait, Warning};
use crate::report::command_text;

/// The locations of so many samples are looked up together.
const TOGETHER: usize = 64;

/// Writes `profile`. Returns what the file has no place for.
///
/// # Errors
/// If `out` fails.
pub fn write(profile: &Profile, options: &WriteOptions, out: &mut dyn Write) -> Result<Vec<Warning>, WriteError> {
    let mut strings = Strings::new(profile);
    let columns = Columns::of(profile, options);
    let code = Code::of(profile, used_stacks(profile, &columns), &mut strings);
    let mut writer = Writer {
        profile,
        stream: Stream::new(out),
        strings,
        columns,
        measure: options.measure,
        code,
        labels: Labels::new(profile),
        changes: Changes::default(),
    };
    writer.head()?;
    for group in labels::groups(profile, &mut writer.strings) {
        writer.samples(&group)?;
    }
    writer.lost_samples()?;
    let Writer { mut stream, mut strings, columns, code, labels, changes, .. } = writer;
    let (locations, functions) = code.into_tables();
    let (mappings, places) = mappings::place(profile, &locations, &mut strings);
    stream.rows(mappings, |part| &mut part.mapping)?;
    let rows = (1..).zip(locations).zip(places).map(|((id, location), (mapping_id, address))| Location {
        id,
        mapping_id,
        address,
        line: location.lines.into(),
        is_folded: false,
    });
    stream.rows(rows, |part| &mut part.location)?;
    stream.rows(functions, |part| &mut part.function)?;
    stream.rows(strings.iter().map(|text| text.as_bytes().to_vec()), |part| &mut part.string_table)?;
    Ok(left_out::warnings(profile, &columns, &labels, changes))
}

/// The file in the making.
struct Writer<'a> {
    profile: &'a Profile,
    stream: Stream<'a>,
    strings: Strings<'a>,
    columns: Columns,
    /// What tools are to show first.
    measure: Option<Measure>,
    code: Code<'a>,
    labels: Labels<'a>,
    changes: Changes,
}

impl Writer<'_> {
    /// All but the tables.
    fn head(&mut self) -> io::Result<()> {
        let meta = &self.profile.meta;
        let extent = self.profile.extent();
        let start = meta.recording_start.or(extent.map(|extent| extent.start)).unwrap_or_default();
        let end = meta.recording_end.or(extent.map(|extent| extent.end)).unwrap_or(start);
        let strings = &mut self.strings;
        let (period, period_type) = match (self.columns.period, meta.extra_of(PERIOD).and_then(period_of)) {
            (Some(period), _) => (period.0, Some([CPU, NANOSECONDS])),
            (None, Some((period, period_type))) => (period, Some(period_type)),
            (None, None) => (0, None),
        };
        let period_type =
            period_type.map(|[name, unit]| schema::ValueType { r#type: strings.text(name), unit: strings.text(unit) });
        let mut fact = |name: &str| meta.extra_of(name).map_or(0, |fact| strings.text(fact));
        let (drop_frames, keep_frames, doc_url) = (fact(DROP_FRAMES), fact(KEEP_FRAMES), fact(DOCUMENTATION));
        self.stream.part(&schema::Profile {
            sample_type: self.columns.sample_types(strings),
            time_nanos: meta.start_unix_ns.map_or(0, |zero| zero.saturating_add(start.0)),
            duration_nanos: (end - start).0.max(0),
            period_type,
            period,
            comment: comments(self.profile).iter().map(|comment| strings.text(comment)).collect(),
            default_sample_type: strings.text(self.columns.default_name(self.profile, self.measure)),
            drop_frames,
            keep_frames,
            doc_url,
            ..schema::Profile::default()
        })
    }

    /// The samples, and where asked for the waits, of threads with equal labels.
    fn samples(&mut self, group: &Group) -> io::Result<()> {
        // Without times, rows are sums already, and stay as they are.
        let are_sums = group.threads.iter().all(|thread| !self.profile.threads[thread.index()].timed);
        let mut sums = Sums::new(self.columns.fractional(), !are_sums);
        for thread in &group.threads {
            let thread = &self.profile.threads[thread.index()];
            self.add_samples(thread, &mut sums);
            if let Some(column) = self.columns.wall() {
                self.add_waits(thread, column, &mut sums);
            }
        }
        self.sums(group, &sums)
    }

    /// A sample for each of `sums`.
    fn sums(&mut self, group: &Group, sums: &Sums) -> io::Result<()> {
        let Self { stream, strings, code, labels, changes, .. } = self;
        let mut rows = 0..sums.len();
        let (mut stacks, mut sets, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut ids: Vec<Packed> = std::iter::repeat_with(Packed::default).take(TOGETHER).collect();
        let mut numbers = Packed::default();
        labels.begin(group);
        while !rows.is_empty() {
            stacks.clear();
            sets.clear();
            values.clear();
            for row in rows.by_ref() {
                if let Some((stack, set)) = sums.get(row, &mut values, changes) {
                    stacks.push(stack);
                    sets.push(set);
                }
                if stacks.len() == TOGETHER {
                    break;
                }
            }
            code.encode_location_ids(&mut stacks, &mut ids);
            for ((set, values), ids) in sets.iter().zip(values.chunks_exact(sums.columns())).zip(&ids) {
                numbers.clear();
                numbers.extend(values.iter().map(|value| value.cast_unsigned()), values.len());
                let set = set.map(|set| LabelSetId::new(set as usize));
                stream.sample(ids, &numbers, labels.of(group, set, strings))?;
            }
        }
        stream.flush()
    }

    fn add_samples(&mut self, thread: &Thread, sums: &mut Sums) {
        let samples = &thread.samples;
        let worths = self.columns.worths(self.profile, thread);
        for (row, stack) in self.columns.counted(self.profile, thread) {
            let stack = match stack {
                Some(stack) => self.code.stack(stack),
                None => self.code.stack_ending_in(None, NO_STACK, Place::Nowhere, &mut self.strings),
            };
            let labels = samples.labels.get(row).copied().flatten();
            let sum = sums.row((stack, labels.map(|set| row_of(set.index()))));
            sums.add_sample(sum, &worths, row, &mut self.changes);
        }
    }

    fn add_waits(&mut self, thread: &Thread, column: usize, sums: &mut Sums) {
        for wait in counted_waits(thread) {
            let caller = wait.stack.map(|stack| self.code.stack(stack));
            let name = WaitKind::of(self.profile, &wait).label(self.profile);
            let stack = self.code.stack_ending_in(caller, &name, Place::Kernel, &mut self.strings);
            let row = sums.row((stack, None));
            sums.add(row, column, wait.duration.0, &mut self.changes);
        }
    }

    fn lost_samples(&mut self) -> io::Result<()> {
        let lost = self.profile.meta.quality.map_or(0, |quality| quality.lost_samples);
        let Some(lost) = i64::try_from(lost).ok().filter(|lost| *lost > 0) else { return Ok(()) };
        let stack = self.code.stack_ending_in(None, LOST, Place::Nowhere, &mut self.strings);
        let sample = schema::Sample {
            location_id: self.code.location_ids(stack).collect(),
            value: self.columns.of_lost(self.profile, lost, &mut self.changes),
            label: Vec::new(),
        };
        self.stream.rows([sample], |part| &mut part.sample)
    }
}

/// The stacks that something is counted at.
fn used_stacks(profile: &Profile, columns: &Columns) -> impl Iterator<Item = StackId> {
    let samples =
        profile.threads.iter().flat_map(|thread| columns.counted(profile, thread).filter_map(|(_, stack)| stack));
    let waiting = profile.threads.iter().filter(|_| columns.wall().is_some());
    samples.chain(waiting.flat_map(|thread| counted_waits(thread).filter_map(|wait| wait.stack)))
}

fn counted_waits(thread: &Thread) -> impl Iterator<Item = Wait> {
    thread.waits.iter().filter(|wait| wait.duration > Nanos::ZERO)
}

/// What a person may want to know, a line each.
fn comments(profile: &Profile) -> Vec<String> {
    let meta = &profile.meta;
    let mut comments = Vec::new();
    comments.extend(meta.recorder.as_ref().map(|recorder| format!("{RECORDED_BY}{recorder}")));
    if !meta.command_line.is_empty() {
        comments.push(format!("{COMMAND}{}", command_text(&meta.command_line)));
    }
    let rate = meta.interval.filter(|interval| interval.0 > 0).map(|interval| 1_000_000_000 / interval.0);
    match (rate, meta.quality) {
        (Some(rate), Some(quality)) => comments.push(format!(
            "sampled at {rate} Hz: {} looks, {} missed, {} samples lost",
            quality.ticks, quality.missed_ticks, quality.lost_samples
        )),
        (Some(rate), None) => comments.push(format!("sampled at {rate} Hz")),
        (None, _) => {}
    }
    let further = meta.extra.iter().filter(|(name, _)| name == COMMENT);
    comments.extend(further.map(|(_, comment)| comment.clone()));
    comments
}

/// What stands between samples that are not taken by time: `NUMBER TYPE/UNIT`.
fn period_of(fact: &str) -> Option<(i64, [&str; 2])> {
    let (period, period_type) = fact.split_once(' ')?;
    let (name, unit) = period_type.rsplit_once('/')?;
    Some((period.parse().ok()?, [name, unit]))
}

fn row_of(index: usize) -> u32 {
    u32::try_from(index).expect("a profile has fewer than u32::MAX sets of labels")
}
