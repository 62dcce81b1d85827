//! What the terminal can show, if there is one.

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use traceview_core::report::Style;

/// How to write text to stdout.
#[must_use]
pub fn stdout_style() -> Style {
    style_of(&io::stdout(), env::var_os("NO_COLOR").as_deref())
}

/// How to write text to stderr.
#[must_use]
pub fn stderr_style() -> Style {
    style_of(&io::stderr(), env::var_os("NO_COLOR").as_deref())
}

/// A terminal has a width, and colours unless `no_color` (the variable of that name) has any text. What is no terminal
/// gets everything in full: a file or a pipe must not depend on a window's size.
fn style_of(stream: &(impl IsTerminal + AsFd), no_color: Option<&OsStr>) -> Style {
    if !stream.is_terminal() {
        return Style::default();
    }
    let width = terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    // Some terminals say 0 when they don't know.
    Style { width: width.filter(|width| *width > 0), color: no_color.is_none_or(OsStr::is_empty) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_pipe_gets_everything_and_no_colours() {
        let pipe = OwnedFd::from(io::pipe().unwrap().0);
        assert_eq!(style_of(&pipe, None), Style { width: None, color: false });
    }
}
