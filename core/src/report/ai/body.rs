//! What stands below the header: the hottest functions, the places, and the tree in one of its two forms.

use std::fmt::Write as _;

use super::AiForm;
use super::calls::Calls;
use super::keep::{Cost, Kept};
use super::scale::Scale;
use crate::analysis::Whole;
use crate::report::number::format_percent;

/// What texts are made of.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) calls: &'a Calls<'a>,
    pub(super) whole: &'a Whole,
    pub(super) scale: &'a Scale,
    pub(super) form: AiForm,
    /// Places whose hottest line has a smaller share do not name it.
    pub(super) min_percent: f64,
}

/// Headings.
const HOTTEST: &str = "\n# Hottest functions\n";
const PLACES: &str = "\n# Places\n";
const TREE: &str = "\n# Call tree\n";

/// Places in the order of their first use, with their numbers.
pub(super) struct PlaceNumbers {
    numbers: Vec<Option<u32>>,
    order: Vec<u32>,
}

/// Counts what the body of a text takes.
pub(super) struct BodyLedger<'a> {
    body: Body<'a>,
    places: PlaceNumbers,
    /// By node how many below it are in the text.
    children: Vec<u32>,
}

impl<'a> Body<'a> {
    /// The first of the names by their own amounts: the hottest `most` that have the least share at least.
    pub(super) fn hottest(&self, most: usize) -> Vec<(u32, f64)> {
        let mut hottest = self.calls.hottest_names();
        hottest.retain(|(_, own)| *own != 0.0 && self.calls.percent(own.abs()) >= self.min_percent);
        hottest.truncate(most);
        hottest
    }

    /// The body with these hottest functions and that part of the tree.
    pub(super) fn text(&self, hottest: &[(u32, f64)], kept: &Kept) -> String {
        let mut places = PlaceNumbers::of(self.calls);
        let mut text = String::new();
        if !hottest.is_empty() {
            text.push_str(HOTTEST);
        }
        for (name, own) in hottest {
            let number = self.calls.names[*name as usize].place.map(|place| places.number(place));
            self.hot_line(&mut text, (*name, *own), number);
        }
        let tree = match self.form {
            AiForm::Blocks => self.blocks(kept, &mut places),
            AiForm::Lines => self.lines(kept, &mut places),
        };
        if !places.order.is_empty() {
            text.push_str(PLACES);
        }
        for (number, place) in places.order.iter().enumerate() {
            put(&mut text, format_args!("{number};{}\n", self.place(*place)));
        }
        text.push_str(TREE);
        text.push_str(&tree);
        text
    }

    /// A ledger that has the headings and these hottest functions, and what they take.
    pub(super) fn ledger(&self, hottest: &[(u32, f64)]) -> (BodyLedger<'a>, Cost) {
        let children = vec![0; self.calls.nodes.len()];
        let mut ledger = BodyLedger { body: *self, places: PlaceNumbers::of(self.calls), children };
        let mut cost = Cost { chars: chars(HOTTEST) + chars(PLACES) + chars(TREE), ..Cost::default() };
        for (name, own) in hottest {
            let mut line = String::new();
            self.hot_line(&mut line, (*name, *own), None);
            cost += Cost { chars: chars(&line), ..Cost::default() };
            cost += ledger.mention(self.calls.names[*name as usize].place);
        }
        (ledger, cost)
    }

    fn hot_line(&self, text: &mut String, (name, own): (u32, f64), place: Option<u32>) {
        let share = format_percent(self.whole.percent(own));
        put(text, format_args!("{};{share};", self.scale.number(own)));
        put(text, format_args!("{};{}\n", self.calls.names[name as usize].text, or_empty(place)));
    }

    /// `file:line;hottest line`
    fn place(&self, place: u32) -> String {
        let place = &self.calls.places[place as usize];
        let is_hot = |(_, own): &(u32, f64)| self.calls.percent(own.abs()) >= self.min_percent;
        format!("{};{}", place.text, or_empty(place.hottest.filter(is_hot).map(|(line, _)| line)))
    }

    /// A line for each node, level by level, so that those below one node have numbers in a row.
    fn lines(&self, kept: &Kept, places: &mut PlaceNumbers) -> String {
        let mut text = String::new();
        let mut queue: Vec<u32> = self.kept_children(None, kept).collect();
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            let first = queue.len() + 1;
            queue.extend(self.kept_children(Some(node), kept));
            let place = self.calls.name(node).place.map(|place| places.number(place));
            put(&mut text, format_args!("{at};"));
            self.line_middle(&mut text, node, place);
            match queue.len() {
                last if last < first => text.push('\n'),
                last if last == first => put(&mut text, format_args!("{first}\n")),
                last => put(&mut text, format_args!("{first}-{last}\n")),
            }
        }
        text
    }

    fn line_middle(&self, text: &mut String, node: u32, place: Option<u32>) {
        let call = &self.calls.nodes[node as usize];
        let [total, own] = [call.total, call.own].map(|amount| self.scale.number(amount));
        put(text, format_args!("{};{total};{own};{};", self.calls.name(node).text, or_empty(place)));
    }

    /// Some lines for each node, depth first. Nodes get their numbers where they are first named.
    fn blocks(&self, kept: &Kept, places: &mut PlaceNumbers) -> String {
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
        let mut todo: Vec<u32> = self.kept_children(None, kept).collect();
        todo.reverse();
        while let Some(node) = todo.pop() {
            let place = self.calls.name(node).place.map(|place| places.number(place));
            put(&mut text, format_args!("\nNode: {}", number(node)));
            self.block_middle(&mut text, node, place);
            let start = todo.len();
            todo.extend(self.kept_children(Some(node), kept));
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

    fn block_middle(&self, text: &mut String, node: u32, place: Option<u32>) {
        let call = &self.calls.nodes[node as usize];
        put(text, format_args!(" – {}\n", self.calls.name(node).text));
        for (key, amount) in [("total", call.total), ("self", call.own)] {
            // What has nothing of its own is in no need of a line that says so.
            if key == "total" || amount != 0.0 {
                let share = format_percent(self.whole.percent(amount));
                put(text, format_args!("{key}: {} ({share})\n", self.scale.amount(amount)));
            }
        }
        if let Some(place) = place {
            put(text, format_args!("place: {place}\n"));
        }
    }

    fn kept_children(&self, parent: Option<u32>, kept: &Kept) -> impl Iterator<Item = u32> {
        let children = self.calls.children(parent).iter().copied();
        children.filter(|child| kept.is_kept[*child as usize])
    }
}

/// Above the list of children of a block.
const CHILDREN: &str = "Children:\n";

impl BodyLedger<'_> {
    /// What `node` adds to the text, which has the one around it already.
    pub(super) fn enter(&mut self, node: u32) -> Cost {
        let body = self.body;
        let place = body.calls.name(node).place;
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
                text.push_str(if place.is_some() { "place: \n" } else { "" });
                if let Some(before) = siblings {
                    nodes += 1;
                    text.push_str(if before == 0 { CHILDREN } else { "" });
                    put(&mut text, format_args!("  *  – {}\n", body.calls.name(node).text));
                }
            }
        }
        let mut cost = Cost { chars: chars(&text), nodes, places: 0 };
        cost += self.mention(place);
        cost
    }

    /// How many places the text mentions.
    pub(super) fn places(&self) -> usize {
        self.places.order.len()
    }

    /// What it takes to mention a place.
    fn mention(&mut self, place: Option<u32>) -> Cost {
        let Some(place) = place else { return Cost::default() };
        let known = self.places.order.len();
        self.places.number(place);
        let entry = if self.places.order.len() > known { chars(&self.body.place(place)) + chars(";\n") } else { 0 };
        Cost { chars: entry, places: if entry > 0 { 2 } else { 1 }, ..Cost::default() }
    }
}

impl PlaceNumbers {
    fn of(calls: &Calls<'_>) -> Self {
        Self { numbers: vec![None; calls.places.len()], order: Vec::new() }
    }

    fn number(&mut self, place: u32) -> u32 {
        let order = &mut self.order;
        *self.numbers[place as usize].get_or_insert_with(|| {
            order.push(place);
            u32::try_from(order.len() - 1).expect("there are fewer places than functions")
        })
    }
}

/// What a budget counts.
pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}

fn or_empty(number: Option<u32>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

pub(super) fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes any text");
}
