//! What is kept from one time to the next.

use std::path::{Path, PathBuf};

use egui::ThemePreference;
use serde::{Deserialize, Serialize};

use crate::panels::{PANELS, Place};

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

    /// Shows the next tab of tables.
    pub(super) fn next_table(&mut self) {
        let tabs: Vec<&str> = PANELS.iter().filter(|panel| panel.place == Place::Tab).map(|panel| panel.name).collect();
        let at = tabs.iter().position(|name| *name == self.table).map_or(0, |at| at + 1);
        if let Some(name) = tabs.get(at % tabs.len().max(1)) {
            (*name).clone_into(&mut self.table);
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
        let mut settings = Settings::default();
        let first = settings.table.clone();
        settings.next_table();
        assert_ne!(settings.table, first);
        settings.next_table();
        assert_eq!(settings.table, first);
    }
}
