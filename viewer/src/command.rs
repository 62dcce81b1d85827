//! Everything that can be done without pointing at something: one value gives label, explanation, keys and menu entry.

use egui::{Event, Key, Modifiers};

/// Something that a key, a menu entry or a row of the palette does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "see their labels")]
pub enum Command {
    Open,
    Reload,
    CloseTab,
    NextTab,
    Quit,
    Undo,
    Redo,
    ZoomIn,
    ZoomOut,
    PanLeft,
    PanRight,
    ShowAll,
    ShowSelected,
    Cancel,
    NextInRow,
    PreviousInRow,
    NextMarker,
    PreviousMarker,
    FollowForward,
    FollowBack,
    WholeChain,
    ShowFlameGraph,
    GraphZoomOut,
    GraphUpwards,
    Find,
    FindNext,
    FindPrevious,
    AllThreads,
    CountCpu,
    CountWall,
    CountOffCpu,
    CountSamples,
    FoldAsync,
    OnlyOwnCode,
    FocusFunction,
    FocusSelf,
    MergeFunction,
    CollapseFunction,
    CollapseRecursion,
    CollapseDirectRecursion,
    CollapseLibrary,
    DropFunction,
    OnlyCategory,
    DropCategory,
    OnlyWithinMatches,
    ResetStacks,
    NextPanel,
    SystemTheme,
    LightTheme,
    DarkTheme,
    ResetLayout,
    CopyForAssistant,
    Warnings,
    Palette,
    ShowKeys,
}

/// The menus of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Menu {
    /// Files and windows.
    File,
    /// What is shown.
    View,
    /// What is counted.
    Count,
    /// What stacks are made of.
    Stacks,
    /// Help.
    Help,
}

/// A key with what is held down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shortcut {
    /// The key.
    pub key: Key,
    /// What is held down.
    pub modifiers: Modifiers,
    /// Whether the key is meant by its place on the keyboard, not by its letter.
    pub physical: bool,
}

impl Menu {
    /// All of them, from left to right.
    pub const ALL: [Self; 5] = [Self::File, Self::View, Self::Count, Self::Stacks, Self::Help];

    /// What it is called.
    pub const fn title(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::View => "View",
            Self::Count => "Count",
            Self::Stacks => "Stacks",
            Self::Help => "Help",
        }
    }
}

/// What is known of a command.
struct Row {
    command: Command,
    label: &'static str,
    help: &'static str,
    menu: Menu,
    keys: &'static [Shortcut],
}

const fn row(command: Command, menu: Menu, label: &'static str, help: &'static str, keys: &'static [Shortcut]) -> Row {
    Row { command, label, help, menu, keys }
}

/// The one table of commands, in the order of menus and help.
const ROWS: &[Row] = {
    use Command as C;
    use Menu::{Count, File, Help, Stacks, View};
    &[
        row(C::Open, File, "Open…", "Open another profile", &[command(Key::O)]),
        row(C::Reload, File, "Reload", "Read the file again", &[command(Key::R), plain(Key::F5)]),
        row(
            C::Warnings,
            File,
            "Warnings…",
            "List what was dropped, repaired or doubtful in this profile, and which flows lead nowhere",
            &[plain(Key::I)],
        ),
        row(
            C::CopyForAssistant,
            File,
            "Copy for an AI assistant",
            "Copy the call tree of what the tables count, as text that explains itself",
            &[command(Key::I)],
        ),
        row(C::NextTab, File, "Next tab", "Show the next opened profile", &[control(Key::Tab)]),
        row(C::CloseTab, File, "Close tab", "Close this profile", &[command(Key::W)]),
        row(C::Quit, File, "Quit", "Close the window", &[command(Key::Q)]),
        row(
            C::ZoomIn,
            View,
            "Zoom in",
            "Zoom in at the pointer",
            &[place(Key::W), plain(Key::Plus), plain(Key::Equals)],
        ),
        row(C::ZoomOut, View, "Zoom out", "Zoom out at the pointer", &[place(Key::S), plain(Key::Minus)]),
        row(C::PanLeft, View, "Earlier", "Move to an earlier time", &[place(Key::A)]),
        row(C::PanRight, View, "Later", "Move to a later time", &[place(Key::D)]),
        row(C::ShowAll, View, "Zoom out to everything", "Show all of the time", &[plain(Key::Num0), plain(Key::Home)]),
        row(
            C::ShowSelected,
            View,
            "Zoom to selection",
            "Show the selected box, or else the selected time",
            &[plain(Key::F)],
        ),
        row(
            C::Undo,
            View,
            "Back",
            "Take back the last change of view or selection",
            &[command(Key::Z), plain(Key::Backspace), alt(Key::ArrowLeft)],
        ),
        row(
            C::Redo,
            View,
            "Forward",
            "Make the change again that was taken back",
            &[command_shift(Key::Z), command(Key::Y), alt(Key::ArrowRight)],
        ),
        row(
            C::Cancel,
            View,
            "Unselect, then zoom out",
            "Clear the search, the selected box, range and threads one after the other; then zoom out",
            &[plain(Key::Escape)],
        ),
        row(C::NextInRow, View, "Next in row", "Select the next box at the same depth", &[plain(Key::Period)]),
        row(
            C::PreviousInRow,
            View,
            "Previous in row",
            "Select the box before it at the same depth",
            &[plain(Key::Comma)],
        ),
        row(C::NextMarker, View, "Next marker", "Select the next marker on the track of the thread", &[plain(Key::N)]),
        row(
            C::PreviousMarker,
            View,
            "Previous marker",
            "Select the marker before it on the track of the thread",
            &[shift(Key::N)],
        ),
        row(
            C::FollowForward,
            View,
            "Follow the arrow",
            "Go along the first arrow from the selected marker or slice to what came of it",
            &[plain(Key::CloseBracket)],
        ),
        row(
            C::FollowBack,
            View,
            "Follow the arrow back",
            "Go along the last arrow to the selected marker or slice back to what it came of",
            &[plain(Key::OpenBracket)],
        ),
        row(
            C::WholeChain,
            View,
            "Whole chain of arrows",
            "Draw all that came of the selected marker or slice and all that it came of, or only its neighbours again",
            &[plain(Key::C)],
        ),
        row(
            C::ShowFlameGraph,
            View,
            "Flame graph",
            "Show all that is counted as one picture: the wider a box, the more it took",
            &[plain(Key::G)],
        ),
        row(
            C::GraphZoomOut,
            View,
            "Zoom out of the flame graph",
            "Show all of the flame graph again (Esc or a double click in it)",
            &[],
        ),
        row(
            C::GraphUpwards,
            View,
            "Flame graph upwards",
            "Draw the flame graph with the outermost functions at its lower edge, or at the top again",
            &[shift(Key::G)],
        ),
        row(C::Find, View, "Search", "Search for functions", &[command(Key::F), plain(Key::Slash)]),
        row(C::FindNext, View, "Next match", "Go to the next match in the chart", &[plain(Key::F3)]),
        row(C::FindPrevious, View, "Previous match", "Go to the match before it in the chart", &[shift(Key::F3)]),
        row(C::NextPanel, View, "Next table", "Show the next tab of tables", &[command(Key::PageDown)]),
        row(C::SystemTheme, View, "Colours of the system", "Light or dark as the desktop has it", &[]),
        row(C::LightTheme, View, "Light colours", "Dark text on a light ground", &[]),
        row(C::DarkTheme, View, "Dark colours", "Light text on a dark ground", &[]),
        row(C::ResetLayout, View, "Reset layout", "Give all parts of the window their first sizes again", &[]),
        row(C::AllThreads, Count, "All threads", "Count all threads in the tables again", &[command(Key::A)]),
        row(C::CountCpu, Count, "CPU time", "Count the time that code ran", &[]),
        row(C::CountWall, Count, "Wall time", "Count the time that code ran or waited", &[]),
        row(C::CountOffCpu, Count, "Off-CPU time", "Count the time that code waited", &[]),
        row(C::CountSamples, Count, "Samples", "Count samples instead of time", &[]),
        row(
            C::FoldAsync,
            Stacks,
            "Fold async functions",
            "Show who awaits whom, without runtime, wrappers and poll, or all of it again",
            &[plain(Key::T)],
        ),
        row(
            C::OnlyOwnCode,
            Stacks,
            "Only my code",
            "Leave out all functions but those of the workspace; their time is that of the callers there",
            &[alt(Key::O)],
        ),
        row(
            C::FocusFunction,
            Stacks,
            "Focus on function",
            "Begin stacks with the selected function; drop the samples without it",
            &[alt(Key::F)],
        ),
        row(
            C::FocusSelf,
            Stacks,
            "Focus on self",
            "Drop the samples that were not taken in the selected function itself",
            &[alt(Key::S)],
        ),
        row(
            C::MergeFunction,
            Stacks,
            "Leave function out",
            "Merge the selected function into its callers: its own time is theirs",
            &[alt(Key::M)],
        ),
        row(
            C::CollapseFunction,
            Stacks,
            "Collapse function",
            "Leave out all that the selected function calls; that time is its own",
            &[alt(Key::C)],
        ),
        row(
            C::CollapseRecursion,
            Stacks,
            "Collapse recursion",
            "Make one call of all calls of the selected function on a stack",
            &[alt(Key::R)],
        ),
        row(
            C::CollapseDirectRecursion,
            Stacks,
            "Collapse direct recursion",
            "Make one call of calls of the selected function by itself",
            &[alt_shift(Key::R)],
        ),
        row(
            C::CollapseLibrary,
            Stacks,
            "Collapse library",
            "Make one function of those that call each other in the library of the selected one",
            &[alt(Key::L)],
        ),
        row(
            C::DropFunction,
            Stacks,
            "Drop samples with function",
            "Drop the samples that have the selected function on their stack",
            &[alt(Key::D)],
        ),
        row(
            C::OnlyCategory,
            Stacks,
            "Only code of this category",
            "Leave out all functions that are not of the selected function's category",
            &[alt(Key::G)],
        ),
        row(
            C::DropCategory,
            Stacks,
            "Drop samples in this category",
            "Drop the samples that were taken in code of the selected function's category",
            &[alt_shift(Key::G)],
        ),
        row(
            C::OnlyWithinMatches,
            Stacks,
            "Only within markers that match",
            "Drop what happened outside of markers and slices whose names contain what is searched for",
            &[alt(Key::W)],
        ),
        row(C::ResetStacks, Stacks, "All stacks again", "Take back all changes of stacks", &[alt(Key::Num0)]),
        row(C::Palette, Help, "Commands…", "Find a command by its name", &[command_shift(Key::P), plain(Key::F1)]),
        row(C::ShowKeys, Help, "Keys", "Show all keys", &[plain(Key::Questionmark)]),
    ]
};

impl Command {
    /// All of them, in the order of menus and help.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.command)
    }

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.command == self).expect("each command has a row, as a test checks")
    }

    /// What it is called.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// What it does.
    pub fn help(self) -> &'static str {
        self.row().help
    }

    /// The menu that it is in.
    pub fn menu(self) -> Menu {
        self.row().menu
    }

    /// The keys for it, the usual one first.
    pub fn keys(self) -> &'static [Shortcut] {
        self.row().keys
    }

    /// The commands whose keys were pressed according to `events`. While text is typed only those count that type nothing.
    pub fn pressed(events: &[Event], typing: bool) -> Vec<Self> {
        let mut pressed = Vec::new();
        for event in events {
            let Event::Key { key, physical_key, pressed: true, modifiers, .. } = event else { continue };
            let meant = |shortcut: &&Shortcut| {
                let found = if shortcut.physical { physical_key.unwrap_or(*key) } else { *key };
                found == shortcut.key && shortcut.holds(*modifiers) && !(typing && shortcut.types())
            };
            pressed.extend(Self::all().filter(|it| it.keys().iter().any(|key| meant(&key))));
        }
        pressed
    }
}

impl Shortcut {
    /// How it is written in menus.
    pub fn label(&self) -> String {
        let mut label = String::new();
        let held = [
            (self.modifiers.command || self.modifiers.ctrl, "Ctrl+"),
            (self.modifiers.alt, "Alt+"),
            (self.modifiers.shift && self.key != Key::Questionmark, "Shift+"),
        ];
        for (held, name) in held {
            if held {
                label.push_str(name);
            }
        }
        let name = match self.key {
            Key::ArrowLeft => "Left",
            Key::ArrowRight => "Right",
            Key::Plus => "+",
            Key::Minus => "-",
            Key::Equals => "=",
            Key::Comma => ",",
            Key::Period => ".",
            Key::Slash => "/",
            Key::Questionmark => "?",
            Key::Escape => "Esc",
            Key::PageDown => "PgDn",
            Key::OpenBracket => "[",
            Key::CloseBracket => "]",
            other => other.name(),
        };
        label + name
    }

    fn holds(&self, held: Modifiers) -> bool {
        // Where `?` is, and whether it needs Shift, differs between keyboards; `+` too.
        let shifted = matches!(self.key, Key::Questionmark | Key::Plus | Key::Slash | Key::Equals);
        let held = if shifted { Modifiers { shift: self.modifiers.shift, ..held } } else { held };
        held.matches_exact(self.modifiers)
    }

    /// Whether a text field would take it.
    fn types(&self) -> bool {
        let function_key = matches!(self.key, Key::Escape | Key::F1 | Key::F3 | Key::F5);
        let edits = matches!(self.key, Key::A | Key::W | Key::Z | Key::Y | Key::ArrowLeft | Key::ArrowRight);
        !function_key && (edits || !(self.modifiers.command || self.modifiers.ctrl || self.modifiers.alt))
    }
}

const fn shortcut(key: Key, modifiers: Modifiers, physical: bool) -> Shortcut {
    Shortcut { key, modifiers, physical }
}

const fn plain(key: Key) -> Shortcut {
    shortcut(key, Modifiers::NONE, false)
}

const fn place(key: Key) -> Shortcut {
    shortcut(key, Modifiers::NONE, true)
}

const fn command(key: Key) -> Shortcut {
    shortcut(key, Modifiers::COMMAND, false)
}

const fn control(key: Key) -> Shortcut {
    shortcut(key, Modifiers::CTRL, false)
}

const fn shift(key: Key) -> Shortcut {
    shortcut(key, Modifiers::SHIFT, false)
}

const fn alt(key: Key) -> Shortcut {
    shortcut(key, Modifiers::ALT, false)
}

const fn alt_shift(key: Key) -> Shortcut {
    shortcut(key, Modifiers { shift: true, ..Modifiers::ALT }, false)
}

const fn command_shift(key: Key) -> Shortcut {
    shortcut(key, Modifiers { shift: true, ..Modifiers::COMMAND }, false)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn pressed(key: Key, physical: Option<Key>, modifiers: Modifiers, typing: bool) -> Vec<Command> {
        let event = Event::Key { key, physical_key: physical, pressed: true, repeat: false, modifiers };
        Command::pressed(&[event], typing)
    }

    #[test]
    fn each_key_means_one_thing() {
        let mut seen = HashSet::new();
        for command in Command::all() {
            for key in command.keys() {
                assert!(seen.insert((key.key, key.modifiers)), "{command:?}: {}", key.label());
            }
            assert!(!command.label().is_empty() && !command.help().ends_with('.'), "{command:?}");
        }
        let distinct: HashSet<_> = Command::all().collect();
        assert_eq!(distinct.len(), Command::all().count());
        assert_eq!(distinct.len(), Command::ShowKeys as usize + 1, "the last one: each has a row");
    }

    #[test]
    fn letters_for_moving_go_by_their_place() {
        assert_eq!(pressed(Key::Z, Some(Key::W), Modifiers::NONE, false), [Command::ZoomIn], "AZERTY");
        assert_eq!(pressed(Key::W, None, Modifiers::NONE, false), [Command::ZoomIn]);
        assert_eq!(pressed(Key::Questionmark, Some(Key::Slash), Modifiers::SHIFT, false), [Command::ShowKeys]);
        assert_eq!(pressed(Key::Slash, None, Modifiers::NONE, false), [Command::Find]);
    }

    #[test]
    fn typing_is_not_commanding() {
        for key in [Key::W, Key::A, Key::S, Key::D, Key::F, Key::Num0, Key::Backspace, Key::Home, Key::Slash] {
            assert_eq!(pressed(key, Some(key), Modifiers::NONE, true), [], "{key:?}");
        }
        assert_eq!(pressed(Key::A, None, Modifiers::COMMAND, true), [], "selects the text");
        assert_eq!(pressed(Key::W, None, Modifiers::COMMAND, true), [], "deletes a word");
        assert_eq!(pressed(Key::Escape, None, Modifiers::NONE, true), [Command::Cancel]);
        assert_eq!(pressed(Key::O, None, Modifiers::COMMAND, true), [Command::Open]);
        assert_eq!(pressed(Key::F, None, Modifiers::COMMAND, true), [Command::Find]);
    }

    #[test]
    fn keys_are_written_as_people_know_them() {
        let label = |command: Command| command.keys()[0].label();
        assert_eq!(label(Command::Open), "Ctrl+O");
        assert_eq!(label(Command::Palette), "Ctrl+Shift+P");
        assert_eq!(label(Command::ShowKeys), "?");
        assert_eq!(label(Command::Cancel), "Esc");
    }

    /// Rows of the README's table are `| `KEY` `KEY` | what they do |`.
    #[test]
    fn the_keys_in_the_readme_are_those_of_commands() {
        let readme = include_str!("../../README.md");
        let table = readme.lines().skip_while(|line| *line != "| key | does |").skip(2);
        let rows: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
        assert!(rows.len() >= 5, "the README has no table of keys: {rows:?}");
        let known: HashSet<String> = Command::all().flat_map(Command::keys).map(Shortcut::label).collect();
        for row in rows {
            let keys = row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2);
            for key in keys {
                assert!(known.contains(key), "no command has the key {key} of the README's row {row}");
            }
        }
    }
}
