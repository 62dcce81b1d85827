//! Colours of events: those that they ask for (`cname`), else one of a few by their category, always the same.

use crate::model::Color;

/// The colour of events that ask for none, by the first of their categories. FNV-1a: the same in every run and on every machine.
pub(super) fn color_of_name(list: &str) -> Color {
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
pub(super) fn color_of_cname(name: &[u8]) -> Option<Color> {
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

/// A name that trace viewers know, and that is read as this colour.
pub(super) fn cname_of_color(color: Color) -> &'static str {
    match color {
        Color::Transparent => "white",
        Color::Purple => "thread_state_uninterruptible",
        Color::Green => "good",
        Color::Orange => "bad",
        Color::Yellow => "yellow",
        Color::LightBlue => "thread_state_runnable",
        Color::Blue => "rail_response",
        Color::Brown => "olive",
        Color::Magenta => "detailed_memory_dump",
        Color::Red => "terrible",
        Color::LightRed => "cq_build_failed",
        Color::DarkGrey => "black",
        Color::Grey => "grey",
    }
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

    #[test]
    fn every_color_has_a_name_that_is_read_as_it() {
        for color in Color::ALL {
            assert_eq!(color_of_cname(cname_of_color(color).as_bytes()), Some(color));
        }
    }
}
