//! Categories of events, and their colours: one of a few by the first name in the list, always the same; or the one that an
//! event asks for (`cname`), which makes a category of its own.

use rustc_hash::FxHashMap;

use super::Reader;
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

/// FNV-1a: the same in every run and on every machine.
fn color_of_name(list: &str) -> Color {
    const COLORS: [Color; 8] = [
        Color::Blue,
        Color::Green,
        Color::Orange,
        Color::Purple,
        Color::LightBlue,
        Color::Yellow,
        Color::Brown,
        Color::Magenta,
    ];
    let first = list.split(',').next().unwrap_or_default();
    let name = first.trim().trim_start_matches("disabled-by-default-");
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // The upper bits are the mixed ones.
    COLORS[(hash >> 16) as usize % COLORS.len()]
}

/// The nearest colour to one of the names that trace viewers know.
fn color_of_cname(name: &[u8]) -> Option<Color> {
    Some(match name {
        b"good" | b"thread_state_running" | b"rail_load" | b"cq_build_passed" | b"cq_build_attempt_passed" => {
            Color::Green
        }
        b"bad" | b"thread_state_iowait" | b"rail_idle" => Color::Orange,
        b"terrible" | b"rail_animation" => Color::Red,
        b"cq_build_failed" | b"cq_build_attempt_failed" => Color::LightRed,
        b"yellow" | b"startup" | b"cq_build_running" | b"cq_build_attempt_runnig" => Color::Yellow,
        b"olive" | b"thread_state_unknown" | b"heap_dump_child_node_arrow" => Color::Brown,
        b"rail_response" | b"vsync_highlight_color" | b"light_memory_dump" | b"heap_dump_object_type" => Color::Blue,
        b"thread_state_runnable" | b"background_memory_dump" => Color::LightBlue,
        b"thread_state_uninterruptible" => Color::Purple,
        b"detailed_memory_dump" => Color::Magenta,
        b"black" => Color::DarkGrey,
        b"white" => Color::Transparent,
        b"grey" | b"generic_work" | b"thread_state_sleeping" | b"heap_dump_stack_frame" | b"cq_build_abandoned" => {
            Color::Grey
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_of_the_first_name_and_spread() {
        assert_eq!(color_of_name("v8"), color_of_name("disabled-by-default-v8,devtools"));
        let names =
            ["toplevel", "v8", "blink", "cc", "gpu", "ipc", "loading", "base", "node", "cuda_runtime", "kernel"];
        let mut colors: Vec<String> = names.iter().map(|name| format!("{:?}", color_of_name(name))).collect();
        colors.sort_unstable();
        colors.dedup();
        assert!(colors.len() >= 5, "{colors:?}");
    }
}
