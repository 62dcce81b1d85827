//! What is kept from one time to the next.

use std::path::{Path, PathBuf};

use egui::ThemePreference;
use serde::{Deserialize, Serialize};

use crate::panels::{PANELS, PanelRow, Place};

/// What is kept from one time to the next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Light or dark.
    pub theme: ThemeChoice,
    /// The tab of tables that is shown.
    pub table: String,
    /// Files that were opened, the last one first.
    pub recent: Vec<PathBuf>,
}

/// Light or dark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ThemeChoice {
    /// As the desktop has it.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

const MOST_RECENT: usize = 10;

impl Default for Settings {
    fn default() -> Self {
        let first = PANELS.iter().find(|panel| panel.place == Place::Tab).map_or("", |panel| panel.name);
        Self { theme: ThemeChoice::System, table: first.to_owned(), recent: Vec::new() }
    }
}

impl Settings {
    /// Remembers a file that was opened.
    pub(super) fn add_recent(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|recent| *recent != path);
        self.recent.insert(0, path);
        self.recent.truncate(MOST_RECENT);
    }

    /// Which of `tabs` is shown: the one that the person chose last, if it is one of them.
    pub(super) fn shown(&self, tabs: &[&'static PanelRow]) -> &'static str {
        let chosen = tabs.iter().find(|row| row.name == self.table);
        chosen.or(tabs.first()).map_or("", |row| row.name)
    }

    /// Shows the next one of `tabs`.
    pub(super) fn next_table(&mut self, tabs: &[&'static PanelRow]) {
        let shown = self.shown(tabs);
        let at = tabs.iter().position(|row| row.name == shown).map_or(0, |at| at + 1);
        if let Some(row) = tabs.get(at % tabs.len().max(1)) {
            row.name.clone_into(&mut self.table);
        }
    }
}

impl ThemeChoice {
    /// The same for egui.
    pub fn preference(self) -> ThemePreference {
        match self {
            Self::System => ThemePreference::System,
            Self::Light => ThemePreference::Light,
            Self::Dark => ThemePreference::Dark,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recent_once_and_not_for_ever() {
        let mut settings = Settings::default();
        for name in ["/a", "/b", "/a"] {
            settings.add_recent(Path::new(name));
        }
        assert_eq!(settings.recent, [PathBuf::from("/a"), PathBuf::from("/b")]);
        (0..20).for_each(|index| settings.add_recent(&PathBuf::from(format!("/{index}"))));
        assert_eq!(settings.recent.len(), MOST_RECENT);
        assert_eq!(settings.recent[0], PathBuf::from("/19"));
    }

    #[test]
    fn tables_follow_each_other_in_a_circle() {
        let tabs: Vec<&PanelRow> = PANELS.iter().filter(|row| row.place == Place::Tab).collect();
        let mut settings = Settings::default();
        let first = settings.table.clone();
        let shown: Vec<&str> = tabs
            .iter()
            .map(|_| {
                settings.next_table(&tabs);
                settings.shown(&tabs)
            })
            .collect();
        let mut expected: Vec<&str> = tabs.iter().map(|row| row.name).collect();
        expected.rotate_left(1);
        assert_eq!(shown, expected);
        assert_eq!(settings.table, first);
    }

    #[test]
    fn a_table_that_a_profile_has_not_is_not_shown_but_remembered() {
        let tabs: Vec<&PanelRow> = PANELS.iter().filter(|row| row.place == Place::Tab).collect();
        let settings = Settings { table: tabs[0].name.to_owned(), ..Settings::default() };
        assert_eq!(settings.shown(&tabs[1..]), tabs[1].name);
        assert_eq!(settings.shown(&tabs), tabs[0].name);
    }
}
