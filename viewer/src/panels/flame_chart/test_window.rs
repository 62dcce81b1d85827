//! A panel in a window without a screen, for tests.

use std::sync::Arc;

use egui::{Event, Modifiers, PointerButton, Pos2, Theme as WindowTheme, Ui};
use egui_kittest::Harness;
use traceview_core::model::Profile;

use super::test_profiles::document;
use crate::action::{Action, State};
use crate::analyses::Analyses;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::panels::{Panel, PanelContext};
use crate::search::SearchQuery;
use crate::theme::Theme;

/// What the window of a test holds.
pub(crate) struct Window<P> {
    pub(crate) panel: P,
    pub(crate) document: Arc<Document>,
    pub(crate) state: State,
    analyses: Analyses,
    jobs: Jobs,
    /// All actions so far.
    pub(crate) actions: Vec<Action>,
}

pub(crate) type Test<P> = Harness<'static, Window<P>>;

/// A panel that shows `profile`, 1000 points wide and 400 high.
pub(crate) fn open<P: Panel + Default + 'static>(profile: Profile) -> Test<P> {
    let document = document(profile);
    let window = Window {
        panel: P::default(),
        state: State::new(&document),
        document,
        analyses: Analyses::default(),
        jobs: Jobs::immediate(),
        actions: Vec::new(),
    };
    Harness::builder()
        .with_size([1000.0, 400.0])
        .with_step_dt(0.02)
        .with_max_steps(20)
        .with_theme(WindowTheme::Dark)
        .build_ui_state(|ui, window: &mut Window<P>| window.ui(ui), window)
}

impl<P: Panel> Window<P> {
    fn ui(&mut self, ui: &mut Ui) {
        let now = ui.input(|input| input.time);
        self.analyses.update(&self.document, self.state.selection(), &self.jobs);
        let mut actions = Vec::new();
        let selection = self.state.selection().clone();
        let query = SearchQuery::parse(&selection.search);
        let found = (!query.is_empty()).then(|| query.functions(&self.document.profile));
        let mut context = PanelContext {
            document: &self.document,
            selection: &selection,
            analyses: &self.analyses,
            found: found.as_ref(),
            theme: &Theme::of(ui.visuals()),
            jobs: &self.jobs,
            actions: &mut actions,
        };
        self.panel.ui(ui, &mut context);
        for action in actions {
            self.state.apply(&action, now);
            self.actions.push(action);
            ui.ctx().request_repaint();
        }
    }

    /// What the panel draws as a picture.
    pub(crate) fn picture(&mut self, size: egui::Vec2) -> crate::scene::Scene {
        let selection = self.state.selection().clone();
        let query = SearchQuery::parse(&selection.search);
        let found = (!query.is_empty()).then(|| query.functions(&self.document.profile));
        let mut context = PanelContext {
            document: &self.document,
            selection: &selection,
            analyses: &self.analyses,
            found: found.as_ref(),
            theme: &Theme::dark(),
            jobs: &self.jobs,
            actions: &mut Vec::new(),
        };
        self.panel.scene(size, &mut context).expect("the panel is a picture")
    }

    /// Does `action` as another panel would.
    pub(crate) fn act(&mut self, action: &Action) {
        self.state.apply(action, 0.0);
    }
}

/// Clicks at `at`, so often.
pub(crate) fn click<P>(test: &mut Test<P>, at: Pos2, times: usize) {
    test.event(Event::PointerMoved(at));
    for pressed in [true, false].repeat(times) {
        let button = PointerButton::Primary;
        test.event(Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE });
    }
    test.run();
}
