//! File to model: one pass over the lines.

use rustc_hash::FxHashMap;

use super::super::ReadError;
use super::super::import_report::{ImportReport, Note};
use super::super::room::Room;
use super::super::text_lines::{Line, lines};
use super::line::{self, Count};
use crate::model::{
    Frame, FrameId, Function, FunctionKind, OsId, Process, Profile, ProfileBuilder, StackId, StandardCategory, Thread,
    ValueColumn, ValueType, Values,
};

/// What the one thread and process of such a profile are called.
const NAME: &str = "all stacks";
/// What a frame without a name is called.
pub(super) const UNKNOWN: &str = "[unknown]";

const NO_COUNT: Note =
    Note { code: "line-without-count", message: "lines that are no stack with a count are left out" };
const NO_NAME: Note = Note { code: "frame-without-name", message: "frames without a name are called [unknown]" };
const NOT_UTF8: Note =
    Note { code: "name-not-utf8", message: "names that are no UTF-8 are shown with replacement characters" };
const LARGE: Note = Note {
    code: "count-too-large",
    message: "counts beyond 64 bits are rounded, and all others in their column with them",
};
const DIFFERENCE: Note = Note {
    code: "difference-of-two",
    message: "every line has two counts: the second is the weight, the first is kept as the value `before`",
};

/// Reads a file.
///
/// # Errors
/// If no line of it is a stack with a count, or it has more frames than a file of its size can.
pub fn read(text: &[u8]) -> Result<Profile, ReadError> {
    let mut reader = Reader::new(is_difference(text), Room::of(text.len()));
    lines(text).try_for_each(|line| reader.line(line))?;
    reader.finish()
}

struct Reader<'a> {
    builder: ProfileBuilder,
    room: Room,
    frames: FxHashMap<&'a [u8], FrameId>,
    /// The stack of the line before, with the end and the node of each of its frames: what neighbours share is looked up
    /// once.
    last: &'a [u8],
    path: Vec<(usize, StackId)>,
    stacks: Vec<Option<StackId>>,
    weights: Column,
    /// The first of two counts, in a file of differences.
    before: Option<Column>,
    report: ImportReport,
}

/// Numbers that are whole until one is not.
#[derive(Default)]
struct Column {
    whole: Vec<i64>,
    fractional: Option<Vec<f64>>,
}

impl<'a> Reader<'a> {
    fn new(is_difference: bool, room: Room) -> Self {
        let mut report = ImportReport::default();
        if is_difference {
            report.note(DIFFERENCE, || "line 1".to_owned());
        }
        Self {
            builder: ProfileBuilder::with_standard_categories(),
            room,
            frames: FxHashMap::default(),
            last: &[],
            path: Vec::new(),
            stacks: Vec::new(),
            weights: Column::default(),
            before: is_difference.then(Column::default),
            report,
        }
    }

    fn line(&mut self, line: Line<'a>) -> Result<(), ReadError> {
        let text = line.text.trim_ascii();
        if text.is_empty() || line::is_comment(text) {
            return Ok(());
        }
        let at = || format!("byte {}", line.offset);
        let mut counts = [line::parts(text), None];
        if let (Some(parts), Some(_)) = (counts[0], &self.before) {
            counts[1] = line::parts(parts.stack);
        }
        let (Some(innermost), Some(weight)) = (counts[1].or(counts[0]), counts[0].map(|parts| parts.count)) else {
            self.report.note(NO_COUNT, at);
            return Ok(());
        };
        for parts in counts.into_iter().flatten() {
            if matches!(parts.count, Count::Large(_)) {
                self.report.note(LARGE, at);
            }
        }
        let start = line.offset + line.text.len() - line.text.trim_ascii_start().len();
        let stack = self.stack(innermost.stack, start)?;
        self.stacks.push(Some(stack));
        self.weights.push(weight);
        if let Some(before) = &mut self.before {
            before.push(counts[1].map_or(Count::Whole(0), |parts| parts.count));
        }
        Ok(())
    }

    /// The node of a stack, whose text begins at `start` of the file.
    fn stack(&mut self, text: &'a [u8], start: usize) -> Result<StackId, ReadError> {
        let common = text.iter().zip(self.last).take_while(|(here, there)| here == there).count();
        // A frame is the same if the separator behind it is, too.
        let shared = self.path.partition_point(|(end, _)| *end < common);
        self.path.truncate(shared);
        let mut from = self.path.last().map_or(0, |(end, _)| end + 1);
        loop {
            let end = memchr::memchr(b';', &text[from..]).map_or(text.len(), |at| from + at);
            let frame = self.frame(&text[from..end], start + from);
            let node = self.builder.stack(self.path.last().map(|(_, node)| *node), frame);
            self.room.check(&self.builder, || format!("byte {}", start + from))?;
            self.path.push((end, node));
            if end == text.len() {
                self.last = text;
                return Ok(node);
            }
            from = end + 1;
        }
    }

    fn frame(&mut self, name: &'a [u8], offset: usize) -> FrameId {
        if name.is_empty() {
            self.report.note(NO_NAME, || format!("byte {offset}"));
        }
        if let Some(frame) = self.frames.get(name) {
            return *frame;
        }
        let text = String::from_utf8_lossy(name);
        if std::str::from_utf8(name).is_err() {
            self.report.note(NOT_UTF8, || format!("byte {offset}"));
        }
        let text = if name.is_empty() { UNKNOWN } else { &*text };
        let kind = if text == UNKNOWN { FunctionKind::Unsymbolized } else { FunctionKind::Native };
        let category = match () {
            () if text.ends_with("_[k]") => StandardCategory::Kernel,
            () if text.ends_with("_[j]") => StandardCategory::Jit,
            () => StandardCategory::Other,
        };
        let id = self.builder.string(text);
        let function = self.builder.function(Function { kind, ..Function::named(id) });
        let frame = self.builder.frame(Frame { category: Some(category.id()), ..Frame::of(function) });
        self.frames.insert(name, frame);
        frame
    }

    fn finish(self) -> Result<Profile, ReadError> {
        let Self { mut builder, stacks, weights, before, report, .. } = self;
        if stacks.is_empty() {
            return Err(ReadError::Syntax { offset: 0, message: "no line is a stack with its count".to_owned() });
        }
        let name = builder.string(NAME);
        let process = builder.add_process(Process::new(OsId::Number(0), name));
        let mut thread = Thread::new(process, OsId::Number(0), name);
        thread.timed = false;
        thread.samples.stack = stacks;
        thread.samples.weight = weights.into_values();
        if let Some(before) = before {
            let (name, unit) = (builder.string("before"), builder.string("samples"));
            let value_type = builder.value_type(ValueType { name, unit });
            thread.samples.values.push(ValueColumn { value_type, values: before.into_values() });
        }
        builder.add_thread(thread);
        builder.meta_mut().name = "collapsed stacks".to_owned();
        builder.meta_mut().warnings = report.into_warnings();
        Ok(builder.finish()?)
    }
}

impl Column {
    fn push(&mut self, count: Count) {
        match (&mut self.fractional, count) {
            (Some(fractional), count) => fractional.push(count.as_float()),
            (None, Count::Whole(whole)) => self.whole.push(whole),
            (None, count) => {
                let whole = std::mem::take(&mut self.whole).into_iter();
                let mut fractional: Vec<f64> = whole.map(|whole| Count::Whole(whole).as_float()).collect();
                fractional.push(count.as_float());
                self.fractional = Some(fractional);
            }
        }
    }

    fn into_values(self) -> Values {
        match self.fractional {
            Some(fractional) => Values::Float(fractional),
            None if self.whole.iter().all(|count| *count == 1) => Values::Ones,
            None => Values::Integer(self.whole),
        }
    }
}

/// Whether every stack has two counts. In all other files a number before the count is part of a name (`GC thread 3`).
fn is_difference(text: &[u8]) -> bool {
    let mut stacks = lines(text).filter(|line| !line::is_comment(line.text)).filter_map(|line| line::parts(line.text));
    let mut is_any = false;
    stacks.all(|parts| {
        is_any = true;
        line::parts(parts.stack).is_some()
    }) && is_any
}
