//! An opened profile: where its panels stand, and what is said about all of them.

use std::borrow::Cow;
use std::sync::Arc;

use egui::{Button, CentralPanel, Context, Frame, Id, Key, Panel as EguiPanel, RichText, TextEdit, Ui};
use traceview_core::analysis::{Measure, Transform, samples_of};
use traceview_core::model::{Nanos, Time, TimeRange};
use traceview_core::report::format_duration;

use super::Settings;
use super::ai_copy;
use super::faces::{Face, Faces, Turn};
use crate::action::{self, Action, State};
use crate::command::Command;
use crate::describe;
use crate::document::Document;
use crate::flows::Way;
use crate::jobs::{Job, Jobs, Poll};
use crate::markers;
use crate::panels::amounts::grouped;
use crate::panels::{PANELS, Panel, PanelContext, PanelRow, Place, flame_chart, tabs_of, timeline};
use crate::selection::{Picked, PickedKind, Selection};
use crate::theme::Theme;
use crate::transforms;
use crate::widget::{TimeAxis, TimeView};

/// An opened profile.
pub(super) struct OpenDocument {
    faces: Faces,
    panels: Vec<Box<dyn Panel>>,
    /// Where the rows of the timeline end.
    row_bottoms: Vec<f32>,
    state: State,
    /// Where in time the pointer is.
    pointer: Option<Time>,
    copying: Copying,
}

/// The making of a text for the clipboard that takes longer than a frame.
#[derive(Default)]
enum Copying {
    #[default]
    No,
    Wanted,
    Working(Job<Result<String, String>>),
    /// What became of it, for people.
    Done(String),
}

/// Draws a part of a panel.
type Draw = fn(&mut dyn Panel, &mut Ui, &mut PanelContext<'_>);

/// How far one key press zooms and pans.
const ZOOM_STEP: f64 = 1.5;
const PAN_STEP: f32 = 0.15;
/// More of a command line does not tell programs apart.
const LONGEST_COMMAND: usize = 60;
/// The font size of the status bar.
const STATUS_SIZE: f32 = 11.5;

impl OpenDocument {
    pub(super) fn new(document: Arc<Document>) -> Self {
        Self {
            state: State::new(&document),
            panels: PANELS.iter().map(|panel| (panel.create)()).collect(),
            row_bottoms: timeline::row_bottoms(&document),
            faces: Faces::new(document),
            pointer: None,
            copying: Copying::No,
        }
    }

    pub(super) fn document(&self) -> &Arc<Document> {
        &self.faces.shown().document
    }

    /// The selection as far as what is shown has it: while other stacks are made, those that are shown have other ids.
    fn shown_selection(&self) -> Cow<'_, Selection> {
        let selection = self.state.selection();
        if self.faces.shows(&selection.transforms) {
            Cow::Borrowed(selection)
        } else {
            Cow::Owned(selection.without_stacks())
        }
    }

    #[cfg(test)]
    pub(super) fn selection(&self) -> &Selection {
        self.state.selection()
    }

    #[cfg(test)]
    pub(super) fn act(&mut self, action: &Action) {
        self.state.apply(action, 0.0);
    }

    /// The profile in a few words.
    pub(super) fn headline(&self) -> String {
        let profile = &self.faces.shown().document.profile;
        let threads = profile.threads.len();
        let samples: u64 = profile.threads.iter().map(|thread| samples_of(profile, thread)).sum();
        let length = if self.faces.shown().document.timed {
            let TimeRange { start, end } = self.faces.shown().document.extent;
            format!("{}, ", format_duration(end - start))
        } else {
            String::new()
        };
        let what = match profile.meta.command_line.split_first() {
            // Where the program lies says less than its arguments.
            Some((program, args)) => {
                let program = program.rsplit('/').next().unwrap_or(program);
                [&[program], &args.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat().join(" ")
            }
            None => self.faces.shown().document.name.clone(),
        };
        let what = beginning(&what, LONGEST_COMMAND);
        let samples = usize::try_from(samples).unwrap_or(usize::MAX);
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        format!("{what}: {length}{threads} thread{}, {samples} sample{}", plural(threads), plural(samples))
    }

    /// Draws it and takes its input. Gives the commands that are to be run besides.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        jobs: &Jobs,
        settings: &mut Settings,
        focus_search: bool,
    ) -> Vec<Command> {
        let mut actions = Vec::new();
        self.turn(jobs);
        self.copy(ui, jobs);
        let selection = self.shown_selection().into_owned();
        let face = self.faces.shown_mut();
        face.analyses.update(&face.document, &selection, jobs);
        self.tool_bar(ui, focus_search, &mut actions);
        self.status_bar(ui, jobs, &mut actions);
        self.panels(ui, theme, jobs, settings, (&selection, &mut actions));
        if !self.faces.shows(&self.state.selection().transforms) {
            actions.retain(|action| !action.is_of_stacks());
        }
        let now = ui.input(|input| input.time);
        if !actions.is_empty() {
            // What was drawn so far shows the old state.
            ui.request_repaint();
        }
        let mut commands = Vec::new();
        for action in actions {
            match &action {
                Action::Copy(text) => ui.copy_text(text.clone()),
                Action::ShowTable(name) => (*name).clone_into(&mut settings.table),
                Action::Run(command) => commands.push(*command),
                _ => {}
            }
            self.state.apply(&action, now);
        }
        commands
    }

    /// Carries out a command that is about this profile.
    pub(super) fn run(&mut self, command: Command, context: &Context) {
        let now = context.input(|input| input.time);
        if matches!(self.copying, Copying::Done(_)) {
            self.copying = Copying::No;
        }
        match command {
            Command::CopyForAssistant => self.copying = Copying::Wanted,
            Command::Undo => self.state.undo(),
            Command::Redo => self.state.redo(),
            Command::NextInRow if !self.is_marker_picked() => {
                flame_chart::request_step(context, flame_chart::Step::Next);
            }
            Command::PreviousInRow if !self.is_marker_picked() => {
                flame_chart::request_step(context, flame_chart::Step::Previous);
            }
            Command::FindNext => flame_chart::request_step(context, flame_chart::Step::NextMatch),
            Command::FindPrevious => flame_chart::request_step(context, flame_chart::Step::PreviousMatch),
            other => {
                if let Some(action) = self.action_of(other) {
                    self.state.apply(&action, now);
                }
            }
        }
    }

    /// Puts the text for an AI assistant on the clipboard, as soon as there is what it is to be of.
    fn copy(&mut self, context: &Context, jobs: &Jobs) {
        let selection = self.state.selection();
        let Face { document, analyses } = self.faces.shown();
        if matches!(self.copying, Copying::Wanted) && self.faces.shows(&selection.transforms) && !analyses.is_working()
        {
            let tables = analyses.tables().and_then(Result::ok);
            self.copying = Copying::Working(ai_copy::start(document, selection, tables, jobs));
        }
        if let Copying::Working(job) = &self.copying {
            self.copying = match job.poll() {
                Poll::Pending => return,
                Poll::Ready(Ok(text)) => {
                    let characters = grouped(text.chars().count() as u64);
                    context.copy_text(text);
                    Copying::Done(format!("Copied {characters} characters for an AI assistant"))
                }
                Poll::Ready(Err(why)) => Copying::Done(format!("Nothing was copied: {why}")),
                Poll::Lost => Copying::Done("Nothing was copied; this is a fault of traceview".to_owned()),
            };
        }
    }

    /// Shows the stacks that are wished for, as soon as there are those.
    fn turn(&mut self, jobs: &Jobs) {
        match self.faces.turn_to(&self.state.selection().transforms, jobs) {
            Turn::None | Turn::Working => {}
            Turn::Turned => {
                for panel in &mut self.panels {
                    panel.forget_stacks();
                }
            }
            // Without it, what was shown is right.
            Turn::Failed => self.state.undo(),
        }
    }

    fn action_of(&self, command: Command) -> Option<Action> {
        let selection = &*self.shown_selection();
        let view = TimeView { range: selection.visible, left: 0.0, width: 1.0 };
        let center = self.pointer.unwrap_or_else(|| view.time(0.5));
        Some(match command {
            Command::ZoomIn => Action::Show(view.zoomed(ZOOM_STEP, center)),
            Command::ZoomOut => Action::Show(view.zoomed(1.0 / ZOOM_STEP, center)),
            Command::PanLeft => Action::Show(view.panned(-PAN_STEP)),
            Command::PanRight => Action::Show(view.panned(PAN_STEP)),
            Command::ShowAll => Action::Show(self.faces.shown().document.extent),
            Command::ShowSelected => Action::Show(self.selected_range()?),
            Command::Cancel => self.cancel()?,
            Command::NextInRow | Command::NextMarker => Action::JumpTo(self.marker_step(true)?),
            Command::PreviousInRow | Command::PreviousMarker => Action::JumpTo(self.marker_step(false)?),
            Command::FollowForward => Action::JumpTo(self.follow(Way::Forward)?),
            Command::FollowBack => Action::JumpTo(self.follow(Way::Back)?),
            Command::WholeChain => Action::ShowChain(!selection.chain),
            Command::GraphZoomOut => Action::ZoomGraph(None),
            Command::GraphUpwards => Action::GraphUpwards(!selection.graph_upwards),
            Command::AllThreads => Action::SelectAllThreads,
            Command::CountCpu => Action::Measure(Measure::Cpu),
            Command::CountWall => Action::Measure(Measure::Wall),
            Command::CountOffCpu => Action::Measure(Measure::OffCpu),
            Command::CountSamples => Action::Measure(Measure::Samples),
            Command::ResetStacks => Action::KeepTransforms(0),
            Command::FoldAsync if selection.transforms.contains(&Transform::FoldAsync) => {
                let before = selection.transforms.iter().take_while(|it| **it != Transform::FoldAsync);
                Action::KeepTransforms(before.count())
            }
            _ => Action::Transform(transforms::of_command(command, self.document(), selection)?),
        })
    }

    fn is_marker_picked(&self) -> bool {
        self.state.selection().picked.is_some_and(|picked| matches!(picked.what, PickedKind::Marker(_)))
    }

    fn marker_step(&self, forward: bool) -> Option<Picked> {
        let selection = self.state.selection();
        let thread = selection.picked.map(|picked| picked.thread).or(selection.charted)?;
        markers::step(&self.faces.shown().document, thread, selection.picked.as_ref(), selection.visible, forward)
    }

    fn follow(&self, way: Way) -> Option<Picked> {
        self.faces.shown().document.flows.follow(&self.faces.shown().document, &self.state.selection().picked?, way)
    }

    /// The selected box or range; a second time, exactly that without a margin.
    fn selected_range(&self) -> Option<TimeRange> {
        let selection = self.state.selection();
        let range = selection.picked.map(|picked| self.range_of(&picked)).or(selection.range)?;
        let margin = Nanos((range.end - range.start).0 / 10);
        let with_margin = TimeRange { start: range.start + Nanos(-margin.0), end: range.end + margin };
        let nearly = selection.visible == action::fit(with_margin, self.faces.shown().document.extent);
        Some(if nearly { range } else { with_margin })
    }

    /// The time of what was picked; of a moment the way of its arrows, or else a part of what is in view around it.
    fn range_of(&self, picked: &Picked) -> TimeRange {
        const NEARER: i64 = 20;
        if picked.duration > Nanos::ZERO {
            return picked.range();
        }
        let range =
            self.faces.shown().document.flows.range_with_neighbours(&self.faces.shown().document.profile.flows, picked);
        if range.start < range.end {
            return range;
        }
        let visible = self.state.selection().visible;
        let around = Nanos((visible.end - visible.start).0 / (2 * NEARER));
        TimeRange { start: picked.start + Nanos(-around.0), end: picked.start + around }
    }

    /// What Escape takes away next.
    fn cancel(&self) -> Option<Action> {
        let selection = self.state.selection();
        if !selection.search.is_empty() {
            Some(Action::Search(String::new()))
        } else if selection.picked.is_some() {
            Some(Action::Pick(None))
        } else if selection.function.is_some() {
            Some(Action::SelectFunction(None))
        } else if selection.range.is_some() {
            Some(Action::SelectRange(None))
        } else if selection.threads.is_some() {
            Some(Action::SelectAllThreads)
        } else if selection.graph_zoom.is_some() {
            Some(Action::ZoomGraph(None))
        } else {
            (selection.visible != self.faces.shown().document.extent)
                .then_some(Action::Show(self.faces.shown().document.extent))
        }
    }

    /// Zoom buttons, the search field, and what restricts the tables, each with a way to take it away.
    fn tool_bar(&mut self, ui: &mut Ui, focus_search: bool, actions: &mut Vec<Action>) {
        EguiPanel::top("tools").show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                let button = |ui: &mut Ui, label: &str, command: Command, enabled: bool| {
                    let help = match command.keys().first() {
                        Some(key) => format!("{} ({})", command.help(), key.label()),
                        None => command.help().to_owned(),
                    };
                    ui.add_enabled(enabled, Button::new(label)).on_hover_text(help).clicked().then_some(command)
                };
                let zoomed = self.state.selection().visible != self.faces.shown().document.extent;
                let pressed = [
                    button(ui, "Back", Command::Undo, self.state.can_undo()),
                    button(ui, "Forward", Command::Redo, self.state.can_redo()),
                    button(ui, "Zoom out", Command::ShowAll, zoomed),
                ];
                for command in pressed.into_iter().flatten() {
                    self.run(command, ui);
                }
                ui.separator();
                self.search_field(ui, focus_search, actions);
                self.chips(ui, actions);
            });
        });
    }

    fn search_field(&self, ui: &mut Ui, focus: bool, actions: &mut Vec<Action>) {
        let mut text = self.state.selection().search.clone();
        let field = TextEdit::singleline(&mut text).hint_text("Search functions (Ctrl+F)").desired_width(220.0);
        let response = ui.add(field.id(Id::unique("search")));
        if focus {
            response.request_focus();
        }
        if response.changed() {
            actions.push(Action::Search(text));
        }
        if response.has_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
            response.surrender_focus();
        }
        if let Some(found) = self.faces.shown().analyses.found() {
            let functions = self.faces.shown().document.profile.functions.len();
            ui.label(RichText::new(format!("{} of {functions} functions", found.len())).weak());
        }
    }

    /// What restricts what the tables count.
    fn chips(&self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let selection = self.state.selection();
        if let Some(range) = selection.range {
            let moment = |time: Time| format_duration(time - Time(0));
            let label = format!("{} – {}", moment(range.start), moment(range.end));
            if chip(ui, &label, "Count all of the time again") {
                actions.push(Action::SelectRange(None));
            }
        }
        if let Some(threads) = &selection.threads {
            let label = match threads.as_slice() {
                [one] => {
                    format!(
                        "thread {}",
                        traceview_core::report::shorten(self.faces.shown().document.thread_name(*one), 24)
                    )
                }
                several => format!("{} threads", several.len()),
            };
            if chip(ui, &label, "Count all threads again") {
                actions.push(Action::SelectAllThreads);
            }
        }
        // Of what is not made yet nothing is known.
        let profile = &self.faces.shown().document.profile;
        let made = selection.transforms.iter().filter(|_| self.faces.shows(&selection.transforms));
        for (index, transform) in made.enumerate() {
            let (what, name) = transform.title(profile);
            let label = format!("{what} {}", traceview_core::report::shorten(name, 32));
            if chip(ui, label.trim_end(), "Take back this change of stacks and those after it") {
                actions.push(Action::KeepTransforms(index));
            }
        }
        if !selection.transforms.contains(&Transform::FoldAsync) && self.faces.shown().document.is_async {
            let help = format!("{} ({})", Command::FoldAsync.help(), Command::FoldAsync.keys()[0].label());
            if ui.add(Button::new("Fold async").small()).on_hover_text(help).clicked() {
                actions.push(Action::Run(Command::FoldAsync));
            }
        }
    }

    fn status_bar(&self, ui: &mut Ui, jobs: &Jobs, actions: &mut Vec<Action>) {
        EguiPanel::bottom("status").show(ui, |ui| {
            ui.horizontal(|ui| {
                let weak = |text: String| RichText::new(text).weak().size(STATUS_SIZE);
                if self.faces.shown().document.timed {
                    ui.label(weak(self.shown_time()));
                    if let Some(pointer) = self.pointer {
                        ui.separator();
                        ui.label(weak(format!("Pointer: {}", describe::moment(pointer))));
                    }
                }
                let warnings = &self.faces.shown().document.profile.meta.warnings;
                if !warnings.is_empty() {
                    ui.separator();
                    let label = format!("{} warning{}", warnings.len(), if warnings.len() == 1 { "" } else { "s" });
                    let button = Button::new(RichText::new(label).size(STATUS_SIZE)).frame_when_inactive(false).small();
                    let response = ui.add(button).on_hover_text(Command::Warnings.help());
                    if response.clicked() {
                        actions.push(Action::Run(Command::Warnings));
                    }
                }
                if let Copying::Done(result) = &self.copying {
                    ui.separator();
                    ui.label(weak(result.clone()));
                }
                if jobs.running() > 0 {
                    ui.separator();
                    ui.label(weak("Working…".to_owned()));
                }
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    ui.label(weak("? shows all keys".to_owned()));
                });
            });
        });
    }

    /// Which part of time is in view, to about a thousandth of it.
    fn shown_time(&self) -> String {
        let visible = self.state.selection().visible;
        let length = format_duration(visible.end - visible.start);
        if visible == self.faces.shown().document.extent {
            return format!("whole recording · {length}");
        }
        let view = TimeView { range: visible, left: 0.0, width: 1000.0 };
        format!("{length} from {}", TimeAxis::new(view).name(visible.start, view.duration(1.0)))
    }

    fn panels(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        jobs: &Jobs,
        settings: &mut Settings,
        (selection, actions): (&Selection, &mut Vec<Action>),
    ) {
        let mut pointed = None;
        let Self { faces, panels, row_bottoms, .. } = self;
        let Face { document, analyses } = faces.shown();
        let (tabs, document) = (tabs_of(document), document);
        let mut context = PanelContext {
            document,
            selection,
            analyses,
            found: analyses.found().map(AsRef::as_ref),
            pointer: self.pointer,
            pointed: &mut pointed,
            theme,
            jobs,
            actions,
        };
        let mut draw = |ui: &mut Ui, wanted: &dyn Fn(&PanelRow) -> bool, draw: Draw| {
            for (row, panel) in PANELS.iter().zip(panels.iter_mut()).filter(|(row, _)| wanted(row)) {
                ui.push_id(row.name, |ui| draw(panel.as_mut(), ui, &mut context));
            }
        };
        let [whole, head]: [Draw; 2] =
            [|panel, ui, context| panel.ui(ui, context), |panel, ui, context| panel.head(ui, context)];
        let at = |place: Place| move |row: &PanelRow| row.place_in(document) == place && (row.has)(document);
        let height = ui.available_height();
        let canvas = Frame::NONE.fill(theme.canvas);
        // Sizes are kept by name: what fits one number of threads does not fit another.
        let (rows, separator) = (&*row_bottoms, ui.visuals().widgets.noninteractive.bg_stroke.width.round());
        let lowest = rows.last().copied().unwrap_or_default();
        if PANELS.iter().any(|row| at(Place::Top)(row)) {
            let top = EguiPanel::top(Id::unique(("timeline", lowest.to_bits()))).resizable(true).min_size(80.0);
            let top = top.default_size(timeline::default_height(rows, height) + separator);
            top.frame(canvas).show(ui, |ui| draw(ui, &at(Place::Top), whole));
        }
        let bottom = EguiPanel::bottom("tables").resizable(true).default_size(height * 0.38).min_size(80.0);
        bottom.show(ui, |ui| {
            let side = EguiPanel::right("details").resizable(true).default_size(270.0).min_size(160.0);
            side.show(ui, |ui| draw(ui, &at(Place::Side), whole));
            ui.horizontal(|ui| {
                for row in &tabs {
                    if tab(ui, theme, row.name == settings.shown(&tabs), row.title) {
                        row.name.clone_into(&mut settings.table);
                    }
                }
                ui.separator();
                let shown = settings.shown(&tabs);
                draw(ui, &|row| row.name == shown, head);
            });
            let shown = settings.shown(&tabs);
            draw(ui, &|row| row.name == shown, whole);
        });
        CentralPanel::default().frame(canvas).show(ui, |ui| {
            // What is a tab otherwise has its line here.
            if !document.timed {
                ui.horizontal(|ui| {
                    ui.add_space(ui.spacing().item_spacing.x);
                    draw(ui, &at(Place::Middle), head);
                });
            }
            draw(ui, &at(Place::Middle), whole);
        });
        self.pointer = pointed;
    }
}

/// `text` if it has no more than `most` characters, else so much of its beginning.
fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Forgets the sizes that parts of the window were given.
pub(super) fn reset_layout(context: &Context) {
    context.memory_mut(egui::Memory::reset_areas);
    context.data_mut(egui::util::IdTypeMap::clear);
}

/// A tab, underlined while it is `shown`. Gives whether it was clicked.
fn tab(ui: &mut Ui, theme: &Theme, shown: bool, title: &str) -> bool {
    let color = if shown { theme.text } else { theme.weak_text };
    let response = ui.add(Button::new(RichText::new(title).color(color)).frame(false));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Tab, true, title));
    ui.accesskit_node_builder(response.id, |node| node.set_selected(shown));
    if shown || response.hovered() || response.has_focus() {
        let color = if shown { theme.accent } else { theme.grid };
        ui.painter().hline(response.rect.x_range(), response.rect.bottom() + 1.0, (2.0, color));
    }
    response.clicked()
}

/// Something that can be taken away by a click.
fn chip(ui: &mut Ui, label: &str, help: &str) -> bool {
    ui.add(Button::new(format!("{label}  x")).corner_radius(8.0).small()).on_hover_text(help).clicked()
}
