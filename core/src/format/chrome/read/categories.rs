//! Categories of events, and their colours: one of a few by the first name in the list, always the same; or the one that an
//! event asks for (`cname`), which makes a category of its own.

use rustc_hash::FxHashMap;

use super::Reader;
use crate::format::chrome::colors::{color_of_cname, color_of_name};
use crate::format::chrome::events::{EventFlags, TextId};
use crate::model::{Category, CategoryId, Color, StandardCategory};

/// The categories that were met.
#[derive(Default)]
pub(super) struct Categories {
    by_key: FxHashMap<(Option<TextId>, Option<Color>), CategoryId>,
    last: Option<(TextId, CategoryId)>,
}

impl Reader<'_, '_> {
    /// The category of event `row`.
    pub(super) fn category(&mut self, row: usize) -> CategoryId {
        let name = self.table.category[row];
        let color = if self.table.flags(row).has(EventFlags::COLOR) { self.color(row) } else { None };
        if color.is_none() {
            match (name, self.categories.last) {
                (None, _) => return StandardCategory::Other.id(),
                (Some(name), Some((last, category))) if name == last => return category,
                _ => {}
            }
        }
        let category = match self.categories.by_key.get(&(name, color)) {
            Some(category) => *category,
            None => self.add_category(name, color),
        };
        if let (Some(name), None) = (name, color) {
            self.categories.last = Some((name, category));
        }
        category
    }

    fn add_category(&mut self, name: Option<TextId>, color: Option<Color>) -> CategoryId {
        let text = name.map_or(StandardCategory::Other.name(), |name| self.table.text(name));
        let color_of_it = color.unwrap_or_else(|| color_of_name(text));
        let (name_id, other) = (self.builder.string(text), self.builder.string("Other"));
        let row = Category { name: name_id, color: color_of_it, subcategories: vec![other] };
        let category = self.builder.add_category(row);
        self.categories.by_key.insert((name, color), category);
        category
    }

    fn color(&self, row: usize) -> Option<Color> {
        color_of_cname(self.table.field(row, "cname")?)
    }
}
