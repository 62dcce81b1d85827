//! A panel in a window without a screen.

use std::sync::Arc;

use egui::{Ui, Vec2};
use egui_kittest::Harness;
use traceview_core::model::{FunctionId, Profile};

use super::document;
use crate::action::{Action, State};
use crate::analyses::Analyses;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::panels::{Panel, PanelContext};
use crate::scene::Scene;
use crate::selection::Selection;
use crate::theme::Theme;

/// A panel and what it shows.
pub(crate) struct Window<P> {
    pub(crate) panel: P,
    pub(crate) document: Arc<Document>,
    /// All that was done in the panel so far.
    pub(crate) actions: Vec<Action>,
    state: State,
    analyses: Analyses,
    jobs: Jobs,
    /// When the last frame was, in seconds.
    now: f64,
    /// Whether there is a line above the panel for what it has to say there.
    has_head: bool,
}

pub(crate) type Test<P> = Harness<'static, Window<P>>;

/// A window of `size` points in which a panel shows `profile`.
pub(crate) fn open<P: Panel + Default + 'static>(profile: Profile, size: Vec2) -> Test<P> {
    harness(size, Window::new(document(profile), P::default()), Window::ui)
}

/// The same with a line above the panel for what it has to say there.
pub(crate) fn open_with_head<P: Panel + Default + 'static>(profile: Profile, size: Vec2) -> Test<P> {
    let window = Window { has_head: true, ..Window::new(document(profile), P::default()) };
    harness(size, window, Window::ui)
}

/// A window of `size` points with anything in it, in dark colours and at rest.
pub(crate) fn harness<S: 'static>(size: Vec2, state: S, ui: fn(&mut S, &mut Ui)) -> Harness<'static, S> {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_step_dt(0.02)
        .with_max_steps(30)
        .with_theme(egui::Theme::Dark)
        .build_ui_state(move |egui, state: &mut S| ui(state, egui), state);
    harness.run();
    harness
}

/// Does `action` as another panel would, and lets the window come to rest.
pub(crate) fn act<P: Panel>(test: &mut Test<P>, action: &Action) {
    test.state_mut().act(action);
    test.run();
}

impl<P: Panel> Window<P> {
    pub(crate) fn new(document: Arc<Document>, panel: P) -> Self {
        Self {
            panel,
            actions: Vec::new(),
            state: State::new(&document),
            analyses: Analyses::default(),
            jobs: Jobs::immediate(),
            now: 0.0,
            has_head: false,
            document,
        }
    }

    pub(crate) fn selection(&self) -> &Selection {
        self.state.selection()
    }

    /// The name of the selected function.
    pub(crate) fn selected(&self) -> Option<&str> {
        self.selection().function.map(|function| self.document.function_name(function))
    }

    /// The last text that was copied.
    pub(crate) fn copied(&self) -> Option<&str> {
        self.actions.iter().rev().find_map(|action| match action {
            Action::Copy(text) => Some(text.as_str()),
            _ => None,
        })
    }

    pub(crate) fn function(&self, name: &str) -> FunctionId {
        let mut functions = (0..self.document.profile.functions.len()).map(FunctionId::new);
        functions.find(|id| self.document.function_name(*id) == name).expect("there is such a function")
    }

    /// Does `action` as another panel would.
    pub(crate) fn act(&mut self, action: &Action) {
        self.state.apply(action, self.now);
    }

    /// A frame.
    pub(crate) fn ui(&mut self, ui: &mut Ui) {
        self.now = ui.input(|input| input.time);
        let (theme, before) = (Theme::of(ui.visuals()), self.actions.len());
        ui.painter().rect_filled(ui.max_rect(), 0.0, theme.canvas);
        let has_head = self.has_head;
        self.with_context(&theme, |panel, context| {
            if has_head {
                ui.horizontal(|ui| panel.head(ui, context));
            }
            panel.ui(ui, context);
        });
        if self.actions.len() > before {
            // What was drawn so far shows the old state.
            ui.request_repaint();
        }
    }

    /// What the panel draws when it is drawn alone, in dark colours.
    pub(crate) fn scene(&mut self, size: Vec2) -> Scene {
        self.with_context(&Theme::dark(), |panel, context| panel.scene(size, context)).expect("it can be drawn alone")
    }

    fn with_context<R>(&mut self, theme: &Theme, draw: impl FnOnce(&mut P, &mut PanelContext<'_>) -> R) -> R {
        self.analyses.update(&self.document, self.state.selection(), &self.jobs);
        let mut actions = Vec::new();
        let mut context = PanelContext {
            document: &self.document,
            selection: self.state.selection(),
            analyses: &self.analyses,
            found: self.analyses.found().map(AsRef::as_ref),
            pointer: None,
            pointed: &mut None,
            theme,
            jobs: &self.jobs,
            actions: &mut actions,
        };
        let drawn = draw(&mut self.panel, &mut context);
        for action in actions {
            self.act(&action);
            self.actions.push(action);
        }
        drawn
    }
}

impl Panel for Box<dyn Panel> {
    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        self.as_mut().ui(ui, context);
    }

    fn forget_stacks(&mut self) {
        self.as_mut().forget_stacks();
    }

    fn scene(&mut self, size: Vec2, context: &mut PanelContext<'_>) -> Option<Scene> {
        self.as_mut().scene(size, context)
    }
}
