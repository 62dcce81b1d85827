//! Every colour that is drawn.
//!
//! Categories differ in lightness as well as in hue, so that they can be told apart without colour vision. Labels on
//! them have a contrast of 4.5 : 1 or more, which a test computes.

use egui::Color32;
use egui::style::Visuals;
use traceview_core::model::{Color, WaitReason};

/// The colours of a light or a dark window.
#[derive(Clone, PartialEq, Debug)]
pub struct Theme {
    /// Whether it is the dark one.
    pub dark: bool,
    /// Behind charts.
    pub canvas: Color32,
    /// Behind every other track.
    pub stripe: Color32,
    /// Lines of the time grid.
    pub grid: Color32,
    /// Text.
    pub text: Color32,
    /// Text that says less.
    pub weak_text: Color32,
    /// Text on boxes.
    pub box_text: Color32,
    /// The selected range, drawn over charts.
    pub range: Color32,
    /// Its edges, selected rows, and what has the focus.
    pub accent: Color32,
    /// What a search finds.
    pub found: Color32,
    /// What is wrong.
    pub error: Color32,
    /// Around the box under the pointer and the selected one.
    pub outline: Color32,
    /// Arrows of flows: in a hue that no code of a recording has and no wait.
    pub arrow: Color32,
}

impl Theme {
    /// The colours that go with egui's `visuals`.
    pub fn of(visuals: &Visuals) -> Self {
        if visuals.dark_mode { Self::dark() } else { Self::light() }
    }

    /// The dark theme.
    pub fn dark() -> Self {
        Self {
            dark: true,
            canvas: Color32::from_rgb(24, 25, 28),
            stripe: Color32::from_rgb(30, 31, 35),
            grid: Color32::from_rgb(48, 50, 56),
            text: Color32::from_rgb(225, 227, 231),
            weak_text: Color32::from_rgb(160, 164, 172),
            box_text: Color32::from_rgb(16, 17, 20),
            range: Color32::from_rgba_unmultiplied(90, 160, 255, 40),
            accent: Color32::from_rgb(90, 160, 255),
            found: Color32::from_rgb(255, 214, 64),
            error: Color32::from_rgb(255, 120, 110),
            outline: Color32::WHITE,
            arrow: Color32::from_rgb(255, 120, 220),
        }
    }

    /// The light theme.
    pub fn light() -> Self {
        Self {
            dark: false,
            canvas: Color32::from_rgb(252, 252, 253),
            stripe: Color32::from_rgb(245, 246, 248),
            grid: Color32::from_rgb(222, 224, 229),
            text: Color32::from_rgb(28, 30, 34),
            weak_text: Color32::from_rgb(95, 99, 107),
            box_text: Color32::from_rgb(16, 17, 20),
            range: Color32::from_rgba_unmultiplied(20, 100, 220, 32),
            accent: Color32::from_rgb(20, 100, 220),
            found: Color32::from_rgb(200, 120, 0),
            error: Color32::from_rgb(190, 30, 20),
            outline: Color32::BLACK,
            arrow: Color32::from_rgb(176, 0, 130),
        }
    }

    /// Makes egui's less important text, whose usual colour is too near to what is behind it, as readable as that here.
    pub fn apply(&self, visuals: &mut Visuals) {
        visuals.weak_text_color = Some(self.weak_text);
    }

    /// How a category's colour is drawn, as a fill that [`box_text`](Self::box_text) can be read on.
    pub fn category(&self, color: Color) -> Color32 {
        let (dark, light) = match color {
            Color::Transparent => ([205, 208, 214], [186, 190, 198]),
            Color::Purple => ([190, 160, 235], [158, 122, 216]),
            Color::Green => ([110, 190, 130], [66, 160, 92]),
            Color::Orange => ([240, 160, 80], [226, 118, 32]),
            Color::Yellow => ([240, 215, 110], [206, 164, 16]),
            Color::LightBlue => ([160, 215, 245], [98, 178, 220]),
            Color::Blue => ([105, 165, 240], [64, 134, 226]),
            Color::Brown => ([195, 155, 120], [168, 122, 84]),
            Color::Magenta => ([235, 140, 205], [208, 96, 176]),
            Color::Red => ([230, 115, 105], [214, 84, 74]),
            Color::LightRed => ([250, 170, 160], [232, 132, 122]),
            Color::DarkGrey => ([135, 140, 148], [122, 127, 136]),
            Color::Grey => ([175, 179, 186], [150, 155, 164]),
        };
        let [r, g, b] = if self.dark { dark } else { light };
        Color32::from_rgb(r, g, b)
    }

    /// How a wait is shaded: in hues that no code of a recording has, dimmed or not.
    pub fn wait(&self, reason: WaitReason) -> Color32 {
        let [r, g, b] = match (reason, self.dark) {
            (WaitReason::Blocked, true) => [68, 72, 81],
            (WaitReason::Blocked, false) => [192, 196, 205],
            (WaitReason::Runnable, true) => [88, 80, 160],
            (WaitReason::Runnable, false) => [140, 130, 215],
            (WaitReason::Stopped, true) => [22, 94, 100],
            (WaitReason::Stopped, false) => [104, 196, 202],
        };
        Color32::from_rgb(r, g, b)
    }

    /// An arrow that is not of the selected marker or slice itself.
    pub fn faint_arrow(&self) -> Color32 {
        self.arrow.lerp_to_gamma(self.canvas, 0.3)
    }

    /// A box that the search does not match, or that is not in the selection.
    pub fn dimmed(&self, color: Color32) -> Color32 {
        color.lerp_to_gamma(self.canvas, 0.72)
    }

    /// `color` where only `coverage` of a cell is filled: thin places stay visible.
    pub fn covered(&self, color: Color32, coverage: f32) -> Color32 {
        self.canvas.lerp_to_gamma(color, 0.25 + 0.75 * coverage.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2's relative luminance.
    fn luminance(color: Color32) -> f32 {
        let linear = |byte: u8| {
            let value = f32::from(byte) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn labels_can_be_read() {
        for theme in [Theme::dark(), Theme::light()] {
            for color in Color::ALL {
                let found = contrast(theme.category(color), theme.box_text);
                assert!(found >= 4.5, "{color:?}: {found}");
            }
            for (text, behind) in [
                (theme.text, theme.canvas),
                (theme.text, theme.stripe),
                (theme.weak_text, theme.canvas),
                (theme.weak_text, theme.stripe),
                (theme.error, theme.canvas),
                (theme.arrow, theme.canvas),
                (theme.arrow, theme.stripe),
                (theme.text, theme.wait(WaitReason::Blocked)),
                (theme.text, theme.wait(WaitReason::Runnable)),
                (theme.text, theme.wait(WaitReason::Stopped)),
            ] {
                assert!(contrast(text, behind) >= 4.5, "{text:?} on {behind:?}, dark: {}", theme.dark);
            }
        }
    }

    #[test]
    fn weak_text_of_widgets_can_be_read() {
        for (mut visuals, theme) in [(Visuals::dark(), Theme::dark()), (Visuals::light(), Theme::light())] {
            theme.apply(&mut visuals);
            for behind in [visuals.panel_fill, visuals.window_fill, visuals.text_edit_bg_color()] {
                let found = contrast(visuals.weak_text_color(), behind);
                assert!(found >= 4.5, "{behind:?}, dark: {}: {found}", theme.dark);
            }
        }
    }

    /// How far apart two colours are, channel by channel.
    fn distance(a: Color32, b: Color32) -> u32 {
        (0..3).map(|channel| u32::from(a[channel].abs_diff(b[channel]))).sum()
    }

    const OF_RECORDINGS: [Color; 6] =
        [Color::Blue, Color::Green, Color::Orange, Color::Yellow, Color::Red, Color::Grey];

    #[test]
    fn colours_of_recordings_differ_in_more_than_hue() {
        for theme in [Theme::dark(), Theme::light()] {
            for (index, a) in OF_RECORDINGS.iter().enumerate() {
                for b in &OF_RECORDINGS[index + 1..] {
                    assert!(distance(theme.category(*a), theme.category(*b)) > 60, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn waits_are_seen_and_are_not_taken_for_code() {
        // Grey code is of unknown origin; all others have a hue.
        let hues = OF_RECORDINGS.into_iter().filter(|color| *color != Color::Grey);
        for theme in [Theme::dark(), Theme::light()] {
            for reason in [WaitReason::Blocked, WaitReason::Runnable, WaitReason::Stopped] {
                let wait = theme.wait(reason);
                let found = contrast(wait, theme.canvas);
                assert!(found >= 1.6, "{reason:?}, dark: {}: {found}", theme.dark);
                for color in hues.clone() {
                    let full = theme.category(color);
                    let covered = (0..=8u8).map(|eighths| theme.covered(full, f32::from(eighths) / 8.0));
                    for shade in covered.chain([theme.dimmed(full)]) {
                        let found = distance(wait, shade);
                        assert!(found >= 30, "{reason:?} and {color:?} as {shade:?}, dark: {}: {found}", theme.dark);
                    }
                }
            }
        }
    }

    #[test]
    fn arrows_are_seen_on_what_they_cross_and_are_not_taken_for_it() {
        for theme in [Theme::dark(), Theme::light()] {
            let faint = theme.faint_arrow();
            assert!(contrast(faint, theme.canvas) >= 2.2, "dark: {}: {}", theme.dark, contrast(faint, theme.canvas));
            let of_code = OF_RECORDINGS.map(|color| theme.category(color)).into_iter();
            let reasons = [WaitReason::Blocked, WaitReason::Runnable, WaitReason::Stopped];
            for behind in of_code.chain(reasons.map(|reason| theme.wait(reason))) {
                assert!(distance(theme.arrow, behind) > 100, "{behind:?}, dark: {}", theme.dark);
            }
        }
    }

    #[test]
    fn code_stands_out_from_a_light_canvas() {
        let theme = Theme::light();
        for color in OF_RECORDINGS {
            let found = contrast(theme.category(color), theme.canvas);
            assert!(found >= 2.2, "{color:?}: {found}");
        }
    }
}
