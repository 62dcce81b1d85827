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
            pointer: None,
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
            pointer: None,
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

/// Writes a picture of the chart above the details, with a box picked and the pointer on another.
pub(crate) fn picture(theme: WindowTheme, scale: f32, path: &str, before: &[Action]) {
    let profile = match std::env::var("PROFILE") {
        Ok(path) => {
            let file = std::fs::read(path).expect("PROFILE names a file");
            let read = traceview_core::format::read(&file, &traceview_core::format::ReadOptions::default());
            read.expect("PROFILE is a profile").profile
        }
        Err(_) => super::test_profiles::lively(),
    };
    let document = document(profile);
    let mut state = State::new(&document);
    before.iter().for_each(|action| state.apply(action, 0.0));
    let query = SearchQuery::parse(&state.selection().search);
    let found = (!query.is_empty()).then(|| query.functions(&document.profile));
    let (chart, details) = (super::FlameChart::default(), crate::panels::details::Details::default());
    let mut panels: [Box<dyn Panel>; 2] = [Box::new(chart), Box::new(details)];
    let mut window = crate::headless::Headless::new(egui::vec2(1280.0, 800.0), scale, theme);
    let (mut analyses, jobs) = (Analyses::default(), Jobs::immediate());
    let mut frame = |ui: &mut Ui| {
        analyses.update(&document, state.selection(), &jobs);
        let theme = Theme::of(ui.visuals());
        let mut actions = Vec::new();
        let selection = state.selection().clone();
        let mut context = PanelContext {
            document: &document,
            selection: &selection,
            analyses: &analyses,
            found: found.as_ref(),
            pointer: None,
            theme: &theme,
            jobs: &jobs,
            actions: &mut actions,
        };
        let [chart, details] = &mut panels;
        egui::Panel::right("details").exact_size(320.0).show(ui, |ui| details.ui(ui, &mut context));
        egui::CentralPanel::default()
            .frame(egui::Frame::NONE.fill(theme.canvas))
            .show(ui, |ui| chart.ui(ui, &mut context));
        actions.iter().for_each(|action| state.apply(action, 0.0));
    };
    let at = egui::pos2(420.0, 122.0);
    window.settle(&mut frame).expect("it comes to rest");
    for event in [true, false].map(|pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    }) {
        window.send(Event::PointerMoved(at));
        window.send(event);
        window.settle(&mut frame).expect("it comes to rest");
    }
    window.send(Event::PointerMoved(egui::pos2(600.0, 100.0)));
    window.settle(&mut frame).expect("it comes to rest");
    let mut file = std::fs::File::create(path).expect("a picture can be written");
    window.picture().to_png(&mut file).expect("a picture can be written");
}
