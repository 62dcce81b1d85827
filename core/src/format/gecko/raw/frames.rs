//! A thread's frames and stacks, made part of the shared tables.
//!
//! Raw files give return addresses: in all frames that called something, and in all of a backtrace that a thread took of
//! itself. A call ends one byte or more before; addresses are moved back by one, so that they lie in the call. Only the
//! innermost frame of a sample is where the thread was. A frame or stack that is used in both ways is there twice.

use std::cell::Cell;

use super::super::schema::{Address, Row, Str};
use super::collect::{Collector, Frame, Function};
use super::libs::{Libs, processed};
use super::location::{Location, Script};
use super::notes::FRAME_WITHOUT_LOCATION;
use super::schema::{self, Source};
use super::strings::Strings;
use super::table::Table;
use super::upgrade;
use crate::format::import_report::ImportReport;

/// What the frames of a thread are about.
pub(super) struct Code<'l, 'a> {
    pub version: u64,
    pub libs: &'l Libs<'a>,
    pub abi: Option<&'l Str<'a>>,
    pub sources: &'l Sources<'a>,
}

/// The sources of scripts that a process lists.
pub(super) struct Sources<'a> {
    list: Vec<Source<'a>>,
    /// In the shared table; none as long as no frame is in them.
    rows: Vec<Cell<Row>>,
}

/// Which uses each stack of a thread has.
pub(super) struct Uses {
    sampled: Vec<bool>,
    /// Of a backtrace, or as caller.
    returned_to: Vec<bool>,
}

/// What the stacks of a thread became.
pub(super) struct Stacks {
    sampled: Vec<Row>,
    backtraces: Vec<Row>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(list: Vec<Source<'a>>) -> Self {
        let rows = vec![Cell::new(Row::NONE); list.len()];
        Self { list, rows }
    }

    fn shared(&self, collector: &mut Collector<'a>, index: usize) -> Option<Row> {
        let source = self.list.get(index)?;
        if self.rows[index].get() == Row::NONE {
            self.rows[index].set(collector.source(source));
        }
        Some(self.rows[index].get())
    }
}

impl Uses {
    pub(super) fn of(stacks: &Table<schema::Stack>) -> Self {
        let count = stacks.rows.len();
        let mut returned_to = vec![false; count];
        for stack in &stacks.rows {
            mark(&mut returned_to, stack.prefix);
        }
        Self { sampled: vec![false; count], returned_to }
    }

    pub(super) fn sample(&mut self, stack: Row) {
        mark(&mut self.sampled, stack);
    }

    pub(super) fn backtrace(&mut self, stack: Row) {
        mark(&mut self.returned_to, stack);
    }
}

fn mark(rows: &mut [bool], row: Row) {
    if let Some(is_used) = row.get().and_then(|row| rows.get_mut(row as usize)) {
        *is_used = true;
    }
}

/// The entry for `row`; none stays none, and what is no row does as well.
fn mapped(rows: &[Row], row: Row) -> Row {
    match row.get() {
        Some(index) => rows.get(index as usize).copied().unwrap_or(Row::BAD),
        None => row,
    }
}

impl Stacks {
    /// Stack `row` of a sample.
    pub(super) fn sampled(&self, row: Row) -> Row {
        mapped(&self.sampled, row)
    }

    /// Stack `row` of a backtrace.
    pub(super) fn backtrace(&self, row: Row) -> Row {
        mapped(&self.backtraces, row)
    }

    pub(super) fn collect(
        collector: &mut Collector<'_>,
        stacks: &Table<schema::Stack>,
        frames: &[Frame],
        uses: &Uses,
    ) -> Self {
        let (as_sampled, as_return) = frame_rows(collector, stacks, frames, uses);
        let count = stacks.rows.len();
        let mut rows = Self { sampled: vec![Row::BAD; count], backtraces: vec![Row::BAD; count] };
        for (index, stack) in stacks.rows.iter().enumerate() {
            // Callers stand before; those that don't are no rows yet.
            let prefix = mapped(&rows.backtraces[..index], stack.prefix);
            let (inner, caller) = (mapped(&as_sampled, stack.frame), mapped(&as_return, stack.frame));
            if uses.returned_to[index] {
                rows.backtraces[index] = collector.stack(prefix, caller);
            }
            if uses.sampled[index] {
                let is_same = uses.returned_to[index] && inner == caller;
                rows.sampled[index] = if is_same { rows.backtraces[index] } else { collector.stack(prefix, inner) };
            }
        }
        rows
    }
}

/// The rows of frames that are innermost in a sample and of those that called.
fn frame_rows(
    collector: &mut Collector<'_>,
    stacks: &Table<schema::Stack>,
    frames: &[Frame],
    uses: &Uses,
) -> (Vec<Row>, Vec<Row>) {
    let mut is_sampled = vec![false; frames.len()];
    let mut is_caller = vec![false; frames.len()];
    for (index, stack) in stacks.rows.iter().enumerate() {
        if uses.sampled[index] {
            mark(&mut is_sampled, stack.frame);
        }
        if uses.returned_to[index] {
            mark(&mut is_caller, stack.frame);
        }
    }
    let mut as_sampled = Vec::with_capacity(frames.len());
    let mut as_return = Vec::with_capacity(frames.len());
    for (index, frame) in frames.iter().enumerate() {
        let is_moved = is_caller[index] && frame.address != Address::NONE;
        let address = if is_moved { Address(frame.address.0 - 1) } else { frame.address };
        let row = collector.frame(Frame { address, ..*frame });
        as_return.push(row);
        as_sampled.push(if is_moved && is_sampled[index] { collector.frame(*frame) } else { row });
    }
    (as_sampled, as_return)
}

/// The frames of a thread, not yet in a table, with the functions that their locations tell of.
pub(super) fn read<'a>(
    collector: &mut Collector<'a>,
    code: &Code<'_, 'a>,
    table: &Table<schema::Frame>,
    strings: &Strings<'a>,
    at: &str,
    report: &mut ImportReport,
) -> Vec<Frame> {
    // By string and whether it is relevant for scripts.
    let mut known: Vec<[Option<(Row, Address)>; 2]> = vec![[None; 2]; strings.len()];
    let has_relevance = table.has("relevantForJS");
    let mut frames = Vec::with_capacity(table.rows.len());
    for (index, frame) in table.rows.iter().enumerate() {
        let (function, address) = match strings.get(frame.location) {
            Some(text) => {
                let row = frame.location.0 as usize;
                let relevance = has_relevance.then_some(frame.relevant_for_js == Some(true));
                *known[row][usize::from(relevance == Some(true))].get_or_insert_with(|| {
                    let (label, is_relevant) = upgrade::label(text, relevance);
                    function_at(collector, code, &label, is_relevant)
                })
            }
            None => {
                report.note(FRAME_WITHOUT_LOCATION, || format!("{at}.frameTable.data[{index}]"));
                (label(collector, &Str("(unknown)".into()), false), Address::NONE)
            }
        };
        frames.push(Frame {
            function,
            address,
            category: upgrade::frame_category(code.version, frame.category),
            subcategory: frame.subcategory,
            inner_window_id: frame.inner_window_id,
            line: frame.line,
            column: frame.column,
        });
    }
    frames
}

fn function_at<'a>(
    collector: &mut Collector<'a>,
    code: &Code<'_, 'a>,
    text: &Str<'a>,
    relevant: bool,
) -> (Row, Address) {
    let plain = |name: Row, resource: Row| Function {
        name: name.0,
        is_js: false,
        relevant_for_js: false,
        resource: resource.0,
        source: Row::NONE.0,
        line: Row::NONE.0,
        column: Row::NONE.0,
    };
    match Location::of(&text.0) {
        Location::Address(number) => {
            let place = number.and_then(|number| code.libs.find(number));
            // What is too far for an address of the format is as good as in no library.
            let place = place.and_then(|place| Some((i64::try_from(place.address).ok()?, place)));
            let (resource, address) = match place {
                Some((address, place)) => {
                    if place.resource.get() == Row::NONE {
                        place.resource.set(collector.lib_resource(processed(place.lib, code.version, code.abi)));
                    }
                    (place.resource.get(), Address(address))
                }
                None => (Row::NONE, Address::NONE),
            };
            let name = collector.string(text);
            (collector.function(plain(name, resource)), address)
        }
        Location::Native { function, library } => {
            let (name, resource) = (collector.text(function), collector.lib_name_resource(library));
            (collector.function(plain(name, resource)), Address::NONE)
        }
        Location::Script(script) => (script_at(collector, code, &script), Address::NONE),
        Location::Label => (label(collector, text, relevant), Address::NONE),
    }
}

fn label<'a>(collector: &mut Collector<'a>, text: &Str<'a>, relevant_for_js: bool) -> Row {
    let none = Row::NONE.0;
    let name = collector.string(text).0;
    let function =
        Function { name, is_js: false, relevant_for_js, resource: none, source: none, line: none, column: none };
    collector.function(function)
}

fn script_at<'a>(collector: &mut Collector<'a>, code: &Code<'_, 'a>, script: &Script<'_>) -> Row {
    let url = Str(script.url.to_owned().into());
    let resource = collector.url_resource(&url);
    let known = script.source.and_then(|index| code.sources.shared(collector, index));
    let source = known.unwrap_or_else(|| collector.file_source(&url));
    let name = match script.function {
        // What runs when the file is loaded.
        "" => collector.text(&format!("(root scope) {}", script.url)),
        function => collector.text(function),
    };
    collector.function(Function {
        name: name.0,
        is_js: true,
        relevant_for_js: false,
        resource: resource.0,
        source: source.0,
        line: script.line.unwrap_or(Row::NONE.0),
        column: script.column.unwrap_or(Row::NONE.0),
    })
}
