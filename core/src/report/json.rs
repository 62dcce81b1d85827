//! Lists and trees as JSON.
//!
//! Both have the shape `{unit, total, without_stack, found, complete, rows: […]}`: `total` is what shares are of,
//! `without_stack` the part of it that no row has, `found` the part that a search left, `complete` says whether rows were left
//! out. A row is `{name, module, file, line, crate, version, category, full_name, self, total, self_percent, total_percent,
//! samples, self_interval, total_interval}`; what is not known, or differs within a group, is `null`. Amounts are integers
//! in `unit` (fractions only where it is no time and a file's weights have some), percentages have two decimals. Rows of a
//! tree also have `depth` and `parent`, the index of the row that they belong below, and come in the order of the text:
//! flat, because call trees can be deeper than JSON readers like.

use serde::{Serialize, Serializer};

use super::found::Found;
use super::label::Labels;
use super::outline::{Outline, TreeLimits};
use crate::analysis::{Amount, Callee, FunctionList, GrowingTree, Unit, Whole};
use crate::model::Profile;

/// The first `most` functions of `list` as JSON.
pub fn top_json(profile: &Profile, list: &FunctionList, found: Option<Found<'_>>, most: usize) -> String {
    let labels = Labels::of(profile);
    let rows = list.rows.iter().take(most).map(|row| {
        let line = row.hottest.map(|hot| hot.line);
        let own = Row::of(&labels, &list.whole, Callee::Function(row.function), line, row.own, row.total);
        match row.hottest {
            Some(hot) => Row { file: labels.file(Callee::Function(hot.function)), ..own },
            None => own,
        }
    });
    document(&list.whole, found, list.rows.len() <= most, rows.collect())
}

/// What `limits` leave of `tree` as JSON.
pub fn tree_json(
    profile: &Profile,
    tree: &mut dyn GrowingTree,
    found: Option<Found<'_>>,
    limits: TreeLimits,
) -> String {
    let outline = Outline::of(tree, limits);
    let tree = tree.tree();
    let labels = Labels::of(profile);
    let rows = outline.rows.iter().map(|row| {
        let node = tree.node(row.id);
        Row {
            place: Some(Place { depth: node.depth, parent: row.parent }),
            ..Row::of(&labels, &tree.whole, node.callee, None, node.own, node.total)
        }
    });
    document(&tree.whole, found, !outline.cut && outline.small == 0, rows.collect())
}

#[derive(Serialize)]
struct Document<'a> {
    unit: &'a str,
    total: Number,
    without_stack: Number,
    found: Option<Number>,
    complete: bool,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
pub(super) struct Row<'a> {
    name: std::borrow::Cow<'a, str>,
    pub(super) module: Option<&'a str>,
    pub(super) file: Option<&'a str>,
    pub(super) line: Option<u32>,
    #[serde(rename = "crate")]
    pub(super) origin: Option<&'a str>,
    pub(super) version: Option<&'a str>,
    pub(super) category: Option<&'a str>,
    full_name: Option<&'a str>,
    #[serde(rename = "self")]
    own: Number,
    total: Number,
    self_percent: f64,
    total_percent: f64,
    samples: u64,
    /// 95 % interval of `self_percent`.
    self_interval: Option<[f64; 2]>,
    /// 95 % interval of `total_percent`.
    total_interval: Option<[f64; 2]>,
    #[serde(flatten)]
    place: Option<Place>,
}

#[derive(Serialize)]
struct Place {
    depth: u32,
    parent: Option<usize>,
}

impl<'a> Row<'a> {
    /// `line`: the hottest; without one the line where the function starts is given.
    fn of(labels: &Labels<'a>, whole: &Whole, callee: Callee, line: Option<u32>, own: Amount, total: Amount) -> Self {
        Self {
            module: labels.module(callee),
            file: labels.file(callee),
            line: line.or_else(|| labels.first_line(callee)),
            origin: labels.origin(callee),
            version: labels.version(callee),
            category: labels.category(callee),
            full_name: labels.full_name(callee),
            ..Self::bare(labels.name(callee), whole, own, total)
        }
    }

    /// A row of which only the name is known, and its amounts.
    pub(super) fn bare(name: std::borrow::Cow<'a, str>, whole: &Whole, own: Amount, total: Amount) -> Self {
        let interval = |value| {
            let interval = whole.interval(value)?;
            Some([interval.low, interval.high].map(|end| two_decimals(end * 100.0)))
        };
        Self {
            name,
            module: None,
            file: None,
            line: None,
            origin: None,
            version: None,
            category: None,
            full_name: None,
            own: Number::of(whole, own.value),
            total: Number::of(whole, total.value),
            self_percent: two_decimals(whole.percent(own.value)),
            total_percent: two_decimals(whole.percent(total.value)),
            samples: total.samples,
            self_interval: interval(own.value),
            total_interval: interval(total.value),
            place: None,
        }
    }
}

pub(super) fn document(whole: &Whole, found: Option<Found<'_>>, complete: bool, rows: Vec<Row<'_>>) -> String {
    to_json(&Document {
        unit: whole.unit.name(),
        total: Number::of(whole, whole.total.value),
        without_stack: Number::of(whole, if found.is_some() { 0.0 } else { whole.stackless.value }),
        found: found.map(|found| Number::of(whole, found.amount.value)),
        complete,
        rows,
    })
}

/// `value` as one line of JSON.
pub(super) fn to_json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("these types have string keys and finite numbers");
    text.push('\n');
    text
}

/// Rounded as percentages are written.
pub(super) fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// An amount: an integer where it is one.
pub(super) struct Number(pub(super) f64);

impl Number {
    /// An amount of `whole`. Times are whole nanoseconds, which weights in milliseconds are not quite.
    fn of(whole: &Whole, value: f64) -> Self {
        Self(if whole.unit == Unit::Nanoseconds { value.round() } else { value })
    }
}

impl Serialize for Number {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number in range")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 9e18 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
