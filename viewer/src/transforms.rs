//! Which changes of stacks there are for a function, a node or a command.

use egui::{Button, Ui};
use traceview_core::analysis::Transform;
use traceview_core::model::{CategoryId, FunctionId, StandardCategory};

use crate::action::Action;
use crate::command::Command;
use crate::document::Document;
use crate::selection::Selection;

/// What a change is asked for: a function, and if it was seen in one place, where that is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The function.
    pub function: FunctionId,
    /// The functions around it.
    pub place: Option<Place>,
}

/// Where in a tree a function is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// From the root to it.
    Below(Vec<FunctionId>),
    /// In an inverted tree: from the innermost function outwards to it.
    Above(Vec<FunctionId>),
}

/// The commands for functions, in the order of the menu.
const OF_FUNCTIONS: [Command; 10] = [
    Command::FocusFunction,
    Command::FocusSelf,
    Command::MergeFunction,
    Command::CollapseFunction,
    Command::CollapseRecursion,
    Command::CollapseDirectRecursion,
    Command::CollapseLibrary,
    Command::DropFunction,
    Command::OnlyCategory,
    Command::DropCategory,
];

/// What `command` makes of stacks, where `selection` says of which function; `None`: it does not change stacks, or nothing
/// is selected that it could be of.
pub fn of_command(command: Command, document: &Document, selection: &Selection) -> Option<Transform> {
    match command {
        Command::FoldAsync => Some(Transform::FoldAsync),
        Command::OnlyOwnCode => {
            let is_own = document.categories_called(StandardCategory::Workspace);
            is_own.into_iter().position(|is_own| is_own).map(|row| Transform::FocusCategory(CategoryId::new(row)))
        }
        Command::OnlyWithinMatches => {
            let text = selection.search.trim();
            (!text.is_empty()).then(|| Transform::Within(text.to_owned()))
        }
        _ => of_function(command, document, selection.function?),
    }
}

/// What `command` makes of stacks with `function`.
fn of_function(command: Command, document: &Document, function: FunctionId) -> Option<Transform> {
    let facts = &document.facts;
    Some(match command {
        Command::FocusFunction => Transform::FocusFunction(function),
        Command::FocusSelf => Transform::FocusSelf(vec![function]),
        Command::MergeFunction => Transform::MergeFunction(function),
        Command::CollapseFunction => Transform::CollapseFunction(function),
        Command::CollapseRecursion => Transform::CollapseRecursion(function),
        Command::CollapseDirectRecursion => Transform::CollapseDirectRecursion(function),
        Command::CollapseLibrary => Transform::CollapseLibrary(facts.library(function)?),
        Command::DropFunction => Transform::DropFunction(function),
        Command::OnlyCategory => Transform::FocusCategory(facts.category(function)?),
        Command::DropCategory => Transform::DropCategory(facts.category(function)?),
        _ => return None,
    })
}

/// A submenu with all that can be made of `target`.
pub fn menu(ui: &mut Ui, document: &Document, target: &Target, actions: &mut Vec<Action>) {
    ui.menu_button("Change stacks", |ui| {
        let mut offer = |ui: &mut Ui, title: &str, help: &str, key: Option<String>, transform: Transform| {
            let button = key.map_or_else(|| Button::new(title), |key| Button::new(title).shortcut_text(key));
            if ui.add(button).on_hover_text(help).clicked() {
                actions.push(Action::Transform(transform));
                ui.close();
            }
        };
        for (title, help, transform) in target.place.iter().flat_map(Place::transforms) {
            offer(ui, title, help, None, transform);
        }
        if target.place.is_some() {
            ui.separator();
        }
        for command in OF_FUNCTIONS {
            if let Some(transform) = of_function(command, document, target.function) {
                let key = command.keys().first().map(crate::command::Shortcut::label);
                offer(ui, &title(command, document, target.function), command.help(), key, transform);
            }
        }
    });
}

/// An entry that drops what happened outside of what is called `name`.
pub fn within_menu(ui: &mut Ui, name: &str, actions: &mut Vec<Action>) {
    let help = "Drop the samples and waits outside of markers and slices that are called so, in the same thread";
    if ui.button("Only within these").on_hover_text(help).clicked() {
        actions.push(Action::Transform(Transform::Within(name.to_owned())));
        ui.close();
    }
}

impl Place {
    fn transforms(&self) -> Vec<(&'static str, &'static str, Transform)> {
        match self {
            Self::Below(path) => vec![
                (
                    "Focus on this node",
                    "Begin stacks with this call here; drop all other samples",
                    Transform::FocusNode(path.clone()),
                ),
                (
                    "Leave this node out",
                    "Leave the function out in this place; its time is its caller's",
                    Transform::MergeNode(path.clone()),
                ),
            ],
            Self::Above(path) => {
                let help = "Drop the samples that did not end in these calls";
                vec![("Focus on this node", help, Transform::FocusSelf(path.clone()))]
            }
        }
    }
}

/// What a command is called for a function of which more is known.
fn title(command: Command, document: &Document, function: FunctionId) -> String {
    let category = |id: CategoryId| document.profile.string(document.profile.categories[id.index()].name);
    match (command, document.facts.category(function), document.facts.library(function)) {
        (Command::OnlyCategory, Some(id), _) => format!("Only code of {}", category(id)),
        (Command::DropCategory, Some(id), _) => format!("Drop samples in {}", category(id)),
        (Command::CollapseLibrary, _, Some(id)) => {
            let library = &document.profile.libraries[id.index()];
            format!("Collapse {}", document.profile.string(library.name))
        }
        _ => command.label().to_owned(),
    }
}
