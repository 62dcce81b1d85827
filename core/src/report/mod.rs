//! Profiles as text for people ([`write_top`], [`write_groups`], [`write_tree`], [`write_waits`], [`write_threads`],
//! [`write_flows`], [`write_info`], [`write_summary`]) and as JSON for scripts ([`top_json`], [`groups_json`], [`tree_json`],
//! [`waits_json`], [`threads_json`], [`flows_json`], [`info_json`]).
//! [`ai_text`] is for AI assistants.
//!
//! Nothing here looks at a terminal: what fits and whether there are colours is said by [`Style`].

mod ai;
mod flows;
mod found;
mod groups;
mod info;
mod json;
mod label;
mod number;
mod outline;
mod processes;
mod style;
mod summary;
mod table;
mod threads;
mod top;
mod tree;
mod waits;

#[cfg(test)]
mod tests;

pub use ai::{AiForm, AiOptions, AiSubject, AiTextError, ai_text};
pub use flows::{flows_json, write_flows};
pub use found::Found;
pub use groups::{groups_json, write_groups};
pub(crate) use info::command_text;
pub use info::{InfoSource, info_json, write_info};
pub use json::{top_json, tree_json};
pub use label::{known_path, short_path};
pub use number::{format_amount, format_duration, format_percent};
pub use outline::TreeLimits;
pub use style::{Style, printable, shorten};
pub use summary::{SummaryLines, write_summary};
pub use threads::{threads_json, write_threads};
pub use top::{is_guess, write_top};
pub use tree::{TreeDirection, write_tree};
pub use waits::{waits_json, write_waits};
