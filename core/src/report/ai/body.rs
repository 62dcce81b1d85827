//! What stands below the header: the hottest functions, the places, and the tree in one of its two forms.

use std::fmt::Write as _;

use super::AiForm;
use super::calls::{Calls, Children, Hot};
use super::keep::{Cost, Kept, digits};
use super::scale::{Scale, push_percent};
use crate::analysis::Whole;
use crate::report::number::format_percent;

/// What texts are made of.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) calls: &'a Calls<'a>,
    pub(super) whole: &'a Whole,
    pub(super) scale: &'a Scale,
    pub(super) form: AiForm,
    /// What has a smaller share is not among the hottest.
    pub(super) min_percent: f64,
}

/// Headings.
const HOTTEST: &str = "\n# Hottest functions\n";
const FILES: &str = "\n# Files\n";
const TREE: &str = "\n# Call tree\n";

/// Files in the order of their first use, with their numbers.
pub(super) struct FileNumbers {
    numbers: Vec<Option<u32>>,
    order: Vec<u32>,
}

/// Counts what the body of a text takes.
pub(super) struct BodyLedger<'a> {
    body: Body<'a>,
    files: FileNumbers,
    /// By node how many below it are in the text.
    children: Vec<u32>,
}

impl<'a> Body<'a> {
    /// The names with the most of their own: at most so many, each with the least share.
    pub(super) fn hottest(&self, most: usize) -> &'a [Hot] {
        let is_hot = |hot: &&Hot| hot.own != 0.0 && self.calls.percent(hot.own.abs()) >= self.min_percent;
        let count = self.calls.hottest.iter().take(most).take_while(is_hot).count();
        &self.calls.hottest[..count]
    }

    /// The body with these hottest functions and that part of the tree.
    pub(super) fn text(&self, hottest: &[Hot], kept: &Kept) -> String {
        let mut files = FileNumbers::of(self.calls);
        let mut text = String::new();
        if !hottest.is_empty() {
            text.push_str(HOTTEST);
        }
        for hot in hottest {
            let number = self.calls.names[hot.name as usize].file.map(|file| files.number(file));
            self.hot_line(&mut text, hot, number);
        }
        let tree = match self.form {
            AiForm::Blocks => self.blocks(kept, &mut files),
            AiForm::Lines => self.lines(kept, &mut files),
        };
        if !files.order.is_empty() {
            text.push_str(FILES);
        }
        for (number, file) in files.order.iter().enumerate() {
            put(&mut text, format_args!("{number};{}\n", self.calls.files[*file as usize]));
        }
        text.push_str(TREE);
        text.push_str(&tree);
        text
    }

    /// A ledger that has the headings and these hottest functions, and what they take.
    pub(super) fn ledger(&self, hottest: &[Hot]) -> (BodyLedger<'a>, Cost) {
        let children = vec![0; self.calls.nodes.len()];
        let mut ledger = BodyLedger { body: *self, files: FileNumbers::of(self.calls), children };
        let mut cost = Cost { chars: chars(HOTTEST) + chars(FILES) + chars(TREE), ..Cost::default() };
        for hot in hottest {
            let mut line = String::new();
            self.hot_line(&mut line, hot, None);
            cost += Cost { chars: chars(&line), ..Cost::default() };
            cost += ledger.mention(self.calls.names[hot.name as usize].file, hot.line);
        }
        (ledger, cost)
    }

    fn hot_line(&self, text: &mut String, hot: &Hot, file: Option<u32>) {
        let share = format_percent(self.whole.percent(hot.own));
        put(text, format_args!("{};{share};", self.scale.number(hot.own)));
        put(text, format_args!("{};", self.calls.names[hot.name as usize].text));
        push_place(text, file, hot.line);
        text.push('\n');
    }

    /// A line for each node, level by level, so that those below one node have numbers in a row.
    fn lines(&self, kept: &Kept, files: &mut FileNumbers) -> String {
        let mut text = String::new();
        let children = Children::of(self.calls, &kept.is_kept);
        let mut queue: Vec<u32> = children.below(None).to_vec();
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            let first = queue.len() + 1;
            queue.extend(children.below(Some(node)));
            let file = self.calls.name(node).file.map(|file| files.number(file));
            put(&mut text, format_args!("{at};"));
            self.line_middle(&mut text, node, file);
            match queue.len() {
                last if last < first => text.push('\n'),
                last if last == first => put(&mut text, format_args!("{first}\n")),
                last => put(&mut text, format_args!("{first}-{last}\n")),
            }
        }
        text
    }

    fn line_middle(&self, text: &mut String, node: u32, file: Option<u32>) {
        let call = &self.calls.nodes[node as usize];
        text.push_str(&self.calls.name(node).text);
        for amount in [call.total, call.own] {
            text.push(';');
            self.scale.push_number(text, amount);
        }
        text.push(';');
        push_place(text, file, call.line);
        text.push(';');
    }

    /// Some lines for each node, depth first. Nodes get their numbers where they are first named.
    fn blocks(&self, kept: &Kept, files: &mut FileNumbers) -> String {
        let mut text = String::new();
        let mut numbers = vec![0_u32; self.calls.nodes.len()];
        let mut next = 1;
        let mut number = |node: u32| {
            let number = &mut numbers[node as usize];
            if *number == 0 {
                *number = next;
                next += 1;
            }
            *number
        };
        let children = Children::of(self.calls, &kept.is_kept);
        let mut todo: Vec<u32> = children.below(None).iter().rev().copied().collect();
        while let Some(node) = todo.pop() {
            let file = self.calls.name(node).file.map(|file| files.number(file));
            put(&mut text, format_args!("\nNode: {}", number(node)));
            self.block_middle(&mut text, node, file);
            let start = todo.len();
            todo.extend(children.below(Some(node)));
            if todo.len() > start {
                text.push_str(CHILDREN);
            }
            for child in &todo[start..] {
                put(&mut text, format_args!("  * {} – {}\n", number(*child), self.calls.name(*child).text));
            }
            todo[start..].reverse();
        }
        text
    }

    fn block_middle(&self, text: &mut String, node: u32, file: Option<u32>) {
        let call = &self.calls.nodes[node as usize];
        put(text, format_args!(" – {}\n", self.calls.name(node).text));
        for (key, amount) in [("total", call.total), ("self", call.own)] {
            // What has nothing of its own is in no need of a line that says so.
            if key == "total" || amount != 0.0 {
                put(text, format_args!("{key}: "));
                self.scale.push_amount(text, amount);
                text.push_str(" (");
                push_percent(text, self.whole.percent(amount));
                text.push_str(")\n");
            }
        }
        if file.is_some() {
            text.push_str("place: ");
            push_place(text, file, call.line);
            text.push('\n');
        }
    }
}

/// Above the list of children of a block.
const CHILDREN: &str = "Children:\n";

impl BodyLedger<'_> {
    /// What `node` adds to the text, which has the one around it already.
    pub(super) fn enter(&mut self, node: u32) -> Cost {
        let body = self.body;
        let file = body.calls.name(node).file;
        let siblings = body.calls.nodes[node as usize].parent.map(|parent| {
            let count = &mut self.children[parent as usize];
            *count += 1;
            *count - 1
        });
        let mut text = String::new();
        let mut nodes = 1;
        match body.form {
            AiForm::Lines => {
                body.line_middle(&mut text, node, None);
                text.push_str(";\n");
                // Above it the first and the last child are named, `-` between them.
                nodes += usize::from(siblings.is_some_and(|before| before < 2));
                text.push_str(if siblings == Some(1) { "-" } else { "" });
            }
            AiForm::Blocks => {
                text.push_str("\nNode: ");
                body.block_middle(&mut text, node, None);
                text.push_str(if file.is_some() { "place: \n" } else { "" });
                if let Some(before) = siblings {
                    nodes += 1;
                    text.push_str(if before == 0 { CHILDREN } else { "" });
                    put(&mut text, format_args!("  *  – {}\n", body.calls.name(node).text));
                }
            }
        }
        let mut cost = Cost { chars: chars(&text), nodes, files: 0 };
        cost += self.mention(file, body.calls.nodes[node as usize].line);
        cost
    }

    /// How many files the text mentions.
    pub(super) fn files(&self) -> usize {
        self.files.order.len()
    }

    /// What it takes to say a place.
    fn mention(&mut self, file: Option<u32>, line: Option<u32>) -> Cost {
        let Some(file) = file else { return Cost::default() };
        let known = self.files.order.len();
        self.files.number(file);
        let is_new = self.files.order.len() > known;
        let entry = if is_new { chars(&self.body.calls.files[file as usize]) + chars(";\n") } else { 0 };
        let line = line.map_or(0, |line| chars(":") + digits(line as usize));
        Cost { chars: entry + line, files: 1 + usize::from(is_new), ..Cost::default() }
    }
}

impl FileNumbers {
    fn of(calls: &Calls<'_>) -> Self {
        Self { numbers: vec![None; calls.files.len()], order: Vec::new() }
    }

    fn number(&mut self, file: u32) -> u32 {
        let order = &mut self.order;
        *self.numbers[file as usize].get_or_insert_with(|| {
            order.push(file);
            u32::try_from(order.len() - 1).expect("there are fewer files than functions")
        })
    }
}

/// What a budget counts.
pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// The number of a file and a line in it.
fn push_place(out: &mut String, file: Option<u32>, line: Option<u32>) {
    if let Some(file) = file {
        put(out, format_args!("{file}"));
        if let Some(line) = line {
            put(out, format_args!(":{line}"));
        }
    }
}

pub(super) fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes any text");
}
