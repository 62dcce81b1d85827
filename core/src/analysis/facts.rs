//! What is known about functions only through their frames: the library and the category.

use crate::model::{CategoryId, FunctionId, LibraryId, Profile};

/// Library and category of each function, from the first of its frames that has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionFacts {
    library: Vec<Option<LibraryId>>,
    category: Vec<Option<CategoryId>>,
}

impl FunctionFacts {
    /// Looks through the frames and stacks of `profile`.
    pub fn of(profile: &Profile) -> Self {
        let frames = &profile.frames;
        let resource_library = |resource: &Option<crate::model::ResourceId>| {
            resource.and_then(|resource| profile.resources[resource.index()].library)
        };
        let mut library: Vec<_> = profile.functions.resource.iter().map(resource_library).collect();
        let mut category = vec![None; profile.functions.len()];
        for (row, function) in frames.function.iter().enumerate() {
            let function = function.index();
            library[function] = library[function].or(frames.library[row]);
            category[function] = category[function].or(frames.category[row]);
        }
        for (frame, resolved) in profile.stacks.frame.iter().zip(node_categories(profile)) {
            let function = frames.function[frame.index()].index();
            category[function] = category[function].or(resolved);
        }
        Self { library, category }
    }

    /// The library that `function` is in.
    pub fn library(&self, function: FunctionId) -> Option<LibraryId> {
        self.library[function.index()]
    }

    /// Whose code `function` is.
    pub fn category(&self, function: FunctionId) -> Option<CategoryId> {
        self.category[function.index()]
    }
}

/// The category of each stack node. A frame without one has that of its caller.
pub(super) fn node_categories(profile: &Profile) -> Vec<Option<CategoryId>> {
    let stacks = &profile.stacks;
    let mut categories: Vec<Option<CategoryId>> = Vec::with_capacity(stacks.len());
    for (prefix, frame) in stacks.prefix.iter().zip(&stacks.frame) {
        let inherited = || prefix.and_then(|prefix| categories[prefix.index()]);
        categories.push(profile.frames.category[frame.index()].or_else(inherited));
    }
    categories
}
