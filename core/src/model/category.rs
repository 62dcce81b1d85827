//! Whose code a frame is, and the colour that says so.

use super::ids::{CategoryId, StringId};

/// A category and the subcategories it is divided into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Category {
    /// What it is called.
    pub name: StringId,
    /// How it is drawn.
    pub color: Color,
    /// Names of its subcategories; the first, "Other", is what a frame without one has.
    pub subcategories: Vec<StringId>,
}

/// The colours that a category can have. The names are those of Firefox profiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "colours name themselves")]
pub enum Color {
    Transparent,
    Purple,
    Green,
    Orange,
    Yellow,
    LightBlue,
    Blue,
    Brown,
    Magenta,
    Red,
    LightRed,
    DarkGrey,
    Grey,
}

impl Color {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Transparent,
        Self::Purple,
        Self::Green,
        Self::Orange,
        Self::Yellow,
        Self::LightBlue,
        Self::Blue,
        Self::Brown,
        Self::Magenta,
        Self::Red,
        Self::LightRed,
        Self::DarkGrey,
        Self::Grey,
    ];
}

/// The categories of a recording, in the order in which they stand in its [`CategoryTable`]. The set is fixed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum StandardCategory {
    /// Not known; the default, drawn grey.
    Other,
    /// Code of the user's own workspace.
    Workspace,
    /// Code of a crate that the workspace depends on.
    Dependency,
    /// `std`, `core`, `alloc`.
    Std,
    /// A library of the system: libc, the dynamic linker, …
    System,
    /// Inside a system call.
    Kernel,
    /// Not running. Firefox profiles know it by this name.
    Idle,
    /// Code that was generated while the program ran.
    Jit,
}

impl StandardCategory {
    /// All of them, in table order.
    pub const ALL: [Self; 8] =
        [Self::Other, Self::Workspace, Self::Dependency, Self::Std, Self::System, Self::Kernel, Self::Idle, Self::Jit];

    /// Its row in a table that starts with the standard categories.
    pub fn id(self) -> CategoryId {
        CategoryId::new(self as usize)
    }

    /// Its name in files and on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "Other",
            Self::Workspace => "Workspace",
            Self::Dependency => "Dependency",
            Self::Std => "Std",
            Self::System => "System",
            Self::Kernel => "Kernel",
            Self::Idle => "Idle",
            Self::Jit => "JIT",
        }
    }

    /// Its colour.
    pub const fn color(self) -> Color {
        match self {
            Self::Other => Color::Grey,
            Self::Workspace => Color::Blue,
            Self::Dependency => Color::Green,
            Self::Std => Color::Orange,
            Self::System => Color::Yellow,
            Self::Kernel => Color::Red,
            Self::Idle => Color::Transparent,
            Self::Jit => Color::Magenta,
        }
    }
}

/// The categories of a profile. A recording has the [standard ones](StandardCategory), a file may have others.
pub type CategoryTable = Vec<Category>;
