//! What the colours of a chart mean: whose code boxes are of, and why a thread did not run.

use egui::{Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use rustc_hash::FxHashSet;
use traceview_core::model::{CategoryId, Color, FunctionId, WaitReason};

use crate::document::Document;
use crate::scene::{Align, Elide, Label, Scene, room_for};
use crate::theme::Theme;

/// The colours that occur in a profile, with their names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Legend {
    entries: Vec<(Shade, String)>,
}

/// What a colour is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shade {
    /// Code.
    Category(Color),
    /// A wait.
    Wait(WaitReason),
}

const LINE: f32 = 15.0;
const SWATCH: f32 = 8.0;
const TEXT_SIZE: f32 = 10.5;

impl Legend {
    /// The colours of `document`: its categories in their order, then waits.
    pub(super) fn of(document: &Document) -> Self {
        let profile = &document.profile;
        // Colours of packages are more than can be named.
        let named = if document.package_colors.is_some() { 0 } else { profile.functions.len() };
        let functions = (0..named).map(FunctionId::new);
        let mut used: FxHashSet<CategoryId> = functions.filter_map(|it| document.facts.category(it)).collect();
        used.extend(profile.threads.iter().flat_map(|thread| thread.slices.category.iter().copied()));
        let of_code = (0..).map(CategoryId::new).zip(&profile.categories).filter(|(id, _)| used.contains(id));
        let of_code = of_code.map(|(_, it)| (Shade::Category(it.color), profile.string(it.name).to_owned()));
        let occurs = |reason: &WaitReason| profile.threads.iter().any(|thread| thread.waits.reason.contains(reason));
        let waits =
            [(WaitReason::Blocked, "waiting"), (WaitReason::Runnable, "no CPU free"), (WaitReason::Stopped, "stopped")];
        let of_waits = waits.into_iter().filter(|(reason, _)| occurs(reason));
        let of_waits = of_waits.map(|(reason, name)| (Shade::Wait(reason), name.to_owned()));
        Self { entries: of_code.chain(of_waits).collect() }
    }

    /// Whether no colour has a name.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Draws it from the top of `area`, as much of it as fits: the rest is counted, and in the tooltip.
    pub(super) fn paint(&self, scene: &mut Scene, area: Rect, theme: &Theme) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a screen has few lines")]
        let lines = (area.height() / LINE).max(0.0) as usize;
        let all = self.entries.len();
        let named = if all <= lines { all } else { lines.saturating_sub(1) };
        if named == 0 {
            return;
        }
        let mut top = area.top();
        for entry in &self.entries[..named] {
            let rect = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), top + LINE));
            Self::paint_entry(scene, entry, rect, theme);
            top += LINE;
        }
        if named < all {
            let rect = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), top + LINE));
            scene.labels.push(text(rect, format!("and {} more", all - named), theme));
        }
    }

    /// Draws it in one line of `area` if all of it fits.
    pub(super) fn paint_line(&self, scene: &mut Scene, area: Rect, theme: &Theme) {
        let room = |name: &str| SWATCH + 12.0 + room_for(name, TEXT_SIZE);
        let width: f32 = self.entries.iter().map(|(_, name)| room(name)).sum();
        if width > area.width() || area.height() < LINE {
            return;
        }
        let mut left = area.left();
        for entry in &self.entries {
            let right = left + room(&entry.1);
            Self::paint_entry(
                scene,
                entry,
                Rect { min: pos2(left, area.top()), max: pos2(right, area.bottom()) },
                theme,
            );
            left = right;
        }
    }

    fn paint_entry(scene: &mut Scene, (shade, name): &(Shade, String), rect: Rect, theme: &Theme) {
        let middle = pos2(rect.left() + 3.0 + SWATCH / 2.0, rect.center().y);
        let swatch = Rect::from_center_size(middle, vec2(SWATCH, SWATCH));
        scene.quad(swatch, shade.color(theme));
        scene.labels.push(text(rect.with_min_x(swatch.right() + 2.0), name.clone(), theme));
    }

    /// Tells all of it, below what `heading` says, where the pointer is in `area`.
    pub(super) fn show_tooltip(&self, ui: &Ui, area: Rect, theme: &Theme, heading: impl FnOnce(&mut Ui)) {
        let response = ui.interact(area, ui.scope_id().with("legend"), Sense::hover());
        let names: Vec<&str> = self.entries.iter().map(|(_, name)| name.as_str()).collect();
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Colours: {}", names.join(", "))));
        response.on_hover_ui(|ui| {
            heading(ui);
            for (shade, name) in &self.entries {
                ui.horizontal(|ui| {
                    let (swatch, _) = ui.allocate_exact_size(vec2(SWATCH, SWATCH), Sense::hover());
                    ui.painter().rect_filled(swatch, 1.0, shade.color(theme));
                    ui.label(name);
                });
            }
        });
    }
}

fn text(rect: Rect, text: String, theme: &Theme) -> Label {
    Label { rect, text, color: theme.weak_text, size: TEXT_SIZE, align: Align::Left, elide: Elide::End }
}

impl Shade {
    fn color(self, theme: &Theme) -> egui::Color32 {
        match self {
            Self::Category(color) => theme.category(color),
            Self::Wait(reason) => theme.wait(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;
    use crate::testing::profiles::simple;

    #[test]
    fn only_colours_that_occur_are_named() {
        let legend = Legend::of(&document(simple()));
        let names: Vec<&str> = legend.entries.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["Other", "Workspace", "Dependency", "waiting"]);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let legend = Legend::of(&document(simple()));
        let draw = |height: f32| {
            let mut scene = Scene::default();
            legend.paint(&mut scene, Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, height)), &Theme::dark());
            (scene.quads.len(), scene.labels.len())
        };
        assert_eq!([draw(4.0 * LINE), draw(4.0 * LINE - 1.0), draw(2.0 * LINE)], [(4, 4), (2, 3), (1, 2)]);
        assert_eq!([draw(LINE), draw(0.0), draw(-5.0)], [(0, 0); 3], "it would say nothing");
    }
}
