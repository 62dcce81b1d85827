//! What nodes are called: names and files by number.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::escape::escaped;
use crate::analysis::{Callee, WaitKind};
use crate::model::{FunctionId, Profile, StringId};
use crate::report::label::{Labels, known_path};

/// What nodes are called, and where that is.
#[derive(Debug)]
pub(super) struct Name<'p> {
    /// The name, escaped.
    pub(super) text: Cow<'p, str>,
    /// Index of the file.
    pub(super) file: Option<u32>,
    /// The line in which the function begins.
    pub(super) first_line: Option<u32>,
}

/// Gives numbers to names and files.
pub(super) struct Namer<'p> {
    profile: &'p Profile,
    labels: Labels<'p>,
    /// The name of each function that was asked for.
    of_function: Vec<Option<u32>>,
    known: FxHashMap<NameKey, u32>,
    known_files: FxHashMap<String, u32>,
    names: Vec<Name<'p>>,
}

/// What reads the same.
#[derive(PartialEq, Eq, Hash)]
enum NameKey {
    /// Name, file, first line.
    Function(StringId, Option<u32>, Option<u32>),
    Wait(WaitKind),
}

impl<'p> Namer<'p> {
    pub(super) fn of(profile: &'p Profile) -> Self {
        Self {
            profile,
            labels: Labels::of(profile),
            of_function: vec![None; profile.functions.len()],
            known: FxHashMap::default(),
            known_files: FxHashMap::default(),
            names: Vec::new(),
        }
    }

    /// The number of the name of `callee`.
    pub(super) fn number(&mut self, callee: Callee) -> u32 {
        let profile = self.profile;
        match callee {
            Callee::Function(function) => {
                if let Some(known) = self.number_of(function) {
                    return known;
                }
                let (name, file) = (profile.functions.name[function.index()], self.file(callee));
                let first_line = self.labels.first_line(callee);
                let number = self.add(NameKey::Function(name, file, first_line), || Name {
                    text: escaped(profile.string(name)),
                    file,
                    first_line,
                });
                self.of_function[function.index()] = Some(number);
                number
            }
            Callee::Wait(kind) => self.add(NameKey::Wait(kind), || Name {
                text: escaped(&kind.label(profile)).into_owned().into(),
                file: None,
                first_line: None,
            }),
        }
    }

    /// The number of the name of `function`, if that was asked for before.
    pub(super) fn number_of(&self, function: FunctionId) -> Option<u32> {
        self.of_function[function.index()]
    }

    /// The names and the files by their numbers.
    pub(super) fn finish(self) -> (Vec<Name<'p>>, Vec<String>) {
        let mut files = vec![String::new(); self.known_files.len()];
        for (file, number) in self.known_files {
            files[number as usize] = file;
        }
        (self.names, files)
    }

    fn add(&mut self, key: NameKey, name: impl FnOnce() -> Name<'p>) -> u32 {
        let names = &mut self.names;
        *self.known.entry(key).or_insert_with(|| {
            names.push(name());
            row(names.len() - 1)
        })
    }

    /// The source file; else whose code it is.
    fn file(&mut self, callee: Callee) -> Option<u32> {
        let next = row(self.known_files.len());
        let text = match self.labels.file(callee) {
            Some(path) => escaped(known_path(path)),
            None => format!("[{}]", escaped(&self.labels.owner(callee)?)).into(),
        };
        if let Some(known) = self.known_files.get(&*text) {
            return Some(*known);
        }
        self.known_files.insert(text.into_owned(), next);
        Some(next)
    }
}

/// An index as the tree has it.
pub(super) fn row(index: usize) -> u32 {
    u32::try_from(index).expect("a tree has fewer nodes than a profile has stacks")
}
