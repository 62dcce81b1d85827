//! All that is inside the window. It needs no window itself: tests and pictures draw it too.

mod ai_copy;
mod bars;
mod dialogs;
mod faces;
mod open_document;
mod pages;
#[cfg(test)]
mod pictures;
mod settings;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod transform_tests;
mod warnings;

pub use settings::{Settings, ThemeChoice};

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Context, Ui, ViewportCommand};
use traceview_core::format::ReadOptions;
use traceview_core::model::Profile;

use crate::command::Command;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::loading::{self, Loading};
use crate::panels::{PANELS, Place, tabs_of};
use crate::theme::Theme;
use dialogs::Dialog;
use open_document::OpenDocument;
use warnings::WarningList;

/// Something to open.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// A profile that is in memory already, and the file that it was saved in.
    Profile {
        /// Where it was saved.
        path: Option<PathBuf>,
        /// The profile.
        profile: Arc<Profile>,
    },
}

/// What only the one who made the window can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Let the person choose a file in the desktop's dialog.
    ChooseFile,
    /// Write the settings down.
    SaveSettings,
}

/// The contents of a window.
pub struct Viewer {
    read: ReadOptions,
    tabs: Vec<Tab>,
    active: usize,
    /// How many tabs there were so far.
    opened: u64,
    settings: Settings,
    dialog: Option<Dialog>,
    jobs: Jobs,
    requests: Vec<Request>,
    /// The search field is to get the focus.
    focus_search: bool,
}

/// An opened file, or one that is being opened.
struct Tab {
    /// No other tab of this window has or had it: what egui remembers of widgets is remembered for each tab.
    id: u64,
    title: String,
    path: Option<PathBuf>,
    content: Content,
}

enum Content {
    Loading(Loading),
    Failed(String),
    Open(Box<OpenDocument>),
}

impl Viewer {
    /// Begins to open `inputs`.
    pub fn new(inputs: Vec<Input>, settings: Settings, jobs: Jobs) -> Self {
        Self::reading(inputs, ReadOptions::default(), settings, jobs)
    }

    /// Begins to open `inputs`. They, and whatever is opened later, are read with `read`.
    pub fn reading(inputs: Vec<Input>, read: ReadOptions, settings: Settings, jobs: Jobs) -> Self {
        let mut viewer = Self {
            read,
            tabs: Vec::new(),
            active: 0,
            opened: 0,
            settings,
            dialog: None,
            jobs,
            requests: Vec::new(),
            focus_search: false,
        };
        for input in inputs {
            viewer.open(input);
        }
        viewer.active = 0;
        viewer
    }

    /// Opens another file, in a tab of its own.
    pub fn open(&mut self, input: Input) {
        let id = self.opened;
        self.opened += 1;
        let tab = match input {
            Input::File(path) => self.load(id, path),
            Input::Profile { path, profile } => Tab::of(id, loading::document(path.as_deref(), profile)),
        };
        if let Some(path) = &tab.path {
            self.settings.add_recent(path);
            self.requests.push(Request::SaveSettings);
        }
        self.tabs.push(tab);
        self.active = self.tabs.len() - 1;
    }

    /// What is to be done outside, once.
    pub fn take_requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }

    /// What is to be kept until the next time.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes up what was kept the last time. Files that were opened since are recent too.
    pub fn restore(&mut self, settings: Settings) {
        let opened = std::mem::replace(&mut self.settings, settings).recent;
        opened.iter().rev().for_each(|path| self.settings.add_recent(path));
    }

    /// What the window is called.
    pub fn title(&self) -> String {
        match self.tabs.get(self.active) {
            Some(tab) => format!("{} - traceview", tab.title),
            None => "traceview".to_owned(),
        }
    }

    /// Shows the tab of tables that is called this in [`PANELS`].
    pub fn show_panel(&mut self, name: &str) {
        // All others are always seen.
        if PANELS.iter().any(|panel| panel.name == name && panel.place == Place::Tab) {
            name.clone_into(&mut self.settings.table);
        }
    }

    /// Whether nothing is being loaded or computed.
    pub fn is_idle(&self) -> bool {
        self.jobs.running() == 0 && !self.tabs.iter().any(|tab| matches!(tab.content, Content::Loading(_)))
    }

    /// The first file that could not be opened, and why.
    pub fn failure(&self) -> Option<(&str, &str)> {
        self.tabs.iter().find_map(|tab| match &tab.content {
            Content::Failed(message) => Some((tab.title.as_str(), message.as_str())),
            Content::Loading(_) | Content::Open(_) => None,
        })
    }

    /// The document that is shown.
    pub fn document(&self) -> Option<&Arc<Document>> {
        match &self.tabs.get(self.active)?.content {
            Content::Open(open) => Some(open.document()),
            Content::Loading(_) | Content::Failed(_) => None,
        }
    }

    /// Does `action` in the profile that is shown.
    #[cfg(test)]
    fn act(&mut self, action: &crate::action::Action) {
        let Some(Content::Open(open)) = self.tabs.get_mut(self.active).map(|tab| &mut tab.content) else {
            panic!("a profile is open")
        };
        open.act(action);
    }

    /// Draws everything and takes the input.
    pub fn ui(&mut self, ui: &mut Ui) {
        self.receive();
        self.take_dropped_files(ui);
        let typing = ui.text_edit_focused();
        let theme = Theme::of(ui.visuals());
        theme.apply(ui.visuals_mut());
        self.menu_bar(ui);
        self.tab_bar(ui);
        let focus_search = std::mem::take(&mut self.focus_search);
        let (mut closed, mut commands) = (None, Vec::new());
        let tab = self.tabs.get_mut(self.active);
        let id = tab.as_ref().map(|tab| tab.id);
        match tab.map(|tab| (tab.title.as_str(), &mut tab.content)) {
            None => {
                if let Some(path) = pages::welcome(ui, &theme, &self.settings, &mut self.requests) {
                    self.open(Input::File(path));
                }
            }
            Some((_, Content::Loading(loading))) => {
                if pages::loading(ui, loading) {
                    closed = Some(self.active);
                }
            }
            Some((title, Content::Failed(message))) => match pages::failed(ui, &theme, title, message) {
                Some(pages::Answer::Retry) => self.reload(),
                Some(pages::Answer::Close) => closed = Some(self.active),
                None => {}
            },
            Some((_, Content::Open(open))) => {
                let drawn = ui.push_id(id, |ui| open.ui(ui, &theme, &self.jobs, &mut self.settings, focus_search));
                commands = drawn.inner;
            }
        }
        if let Some(index) = closed {
            self.close(index);
        }
        self.dialog(ui, &theme);
        for command in commands {
            self.run(command, ui);
        }
        // Last, so that a panel with the focus has taken the keys that mean something to it.
        for command in ui.input(|input| Command::pressed(&input.events, typing)) {
            // Nothing happens behind a dialog.
            if self.dialog.is_some() && command != Command::Cancel {
                continue;
            }
            self.run(command, ui);
            ui.request_repaint();
        }
    }

    /// Carries out a command.
    pub fn run(&mut self, command: Command, context: &Context) {
        match command {
            Command::Open => self.dialog = Some(Dialog::open_file()),
            Command::Palette => self.dialog = Some(Dialog::palette()),
            Command::Warnings if self.document().is_some() => {
                self.dialog = Some(Dialog::Warnings(WarningList::default()));
            }
            Command::ShowKeys => self.dialog = Some(Dialog::Keys),
            Command::Cancel if self.dialog.is_some() => self.dialog = None,
            Command::Reload => self.reload(),
            Command::CloseTab => self.close(self.active),
            Command::NextTab => self.active = (self.active + 1) % self.tabs.len().max(1),
            Command::Quit => context.send_viewport_cmd(ViewportCommand::Close),
            Command::SystemTheme => self.set_theme(ThemeChoice::System, context),
            Command::LightTheme => self.set_theme(ThemeChoice::Light, context),
            Command::DarkTheme => self.set_theme(ThemeChoice::Dark, context),
            Command::ResetLayout => open_document::reset_layout(context),
            Command::NextPanel => {
                if let Some(document) = self.document() {
                    let tabs = tabs_of(document);
                    self.settings.next_table(&tabs);
                }
            }
            Command::ShowFlameGraph => self.show_panel("flame-graph"),
            Command::Find => self.focus_search = true,
            other => {
                if let Some(Content::Open(open)) = self.tabs.get_mut(self.active).map(|tab| &mut tab.content) {
                    open.run(other, context);
                }
            }
        }
    }

    fn set_theme(&mut self, choice: ThemeChoice, context: &Context) {
        self.settings.theme = choice;
        context.set_theme(choice.preference());
        self.requests.push(Request::SaveSettings);
    }

    fn load(&self, id: u64, path: PathBuf) -> Tab {
        let title =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        Tab {
            id,
            title,
            path: Some(path.clone()),
            content: Content::Loading(Loading::start(path, self.read, &self.jobs)),
        }
    }

    fn reload(&mut self) {
        let file = self.tabs.get(self.active).and_then(|tab| Some((tab.id, tab.path.clone()?)));
        if let Some((id, path)) = file {
            self.tabs[self.active] = self.load(id, path);
        }
    }

    fn close(&mut self, index: usize) {
        if index < self.tabs.len() {
            self.tabs.remove(index);
            if index < self.active {
                self.active -= 1;
            }
            self.active = self.active.min(self.tabs.len().saturating_sub(1));
        }
    }

    /// Takes files that are loaded.
    fn receive(&mut self) {
        for tab in &mut self.tabs {
            let Content::Loading(loading) = &tab.content else { continue };
            match loading.poll() {
                None => {}
                Some(Ok(document)) => *tab = Tab::of(tab.id, document),
                Some(Err(error)) => tab.content = Content::Failed(error.to_string()),
            }
        }
    }

    fn take_dropped_files(&mut self, context: &Context) {
        let paths: Vec<PathBuf> =
            context.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        for path in paths {
            self.open(Input::File(path));
        }
    }
}

impl Tab {
    fn of(id: u64, document: Document) -> Self {
        Self {
            id,
            title: document.name.clone(),
            path: document.path.clone(),
            content: Content::Open(Box::new(OpenDocument::new(Arc::new(document)))),
        }
    }
}
