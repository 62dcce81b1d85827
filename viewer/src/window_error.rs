//! Why there is no window, in one sentence that says what to do about it.

#[cfg(test)]
mod tests;

use std::env;
use std::fs;
use std::path::Path;

/// Why there is no window.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// Neither X11 nor Wayland is there.
    #[error("there is no display (neither WAYLAND_DISPLAY nor DISPLAY is set)")]
    NoDisplay,
    /// A display is named but does not answer.
    #[error("the display {display} does not answer, or refuses us; {remedy}")]
    DeadDisplay {
        /// Which.
        display: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Libraries are missing that windows need.
    #[error("{library} is missing; on Debian or Ubuntu: apt install {packages}")]
    MissingLibrary {
        /// The one that was noticed first.
        library: String,
        /// The packages that have it and whatever else is missing.
        packages: String,
    },
    /// There is a display, but nothing can be drawn on it.
    #[error("OpenGL does not work here; on Debian or Ubuntu: apt install libgl1 libegl1 libgl1-mesa-dri")]
    NoOpenGl,
    /// The window was there and broke down.
    #[error("the window broke down, which is a fault of traceview: {0}")]
    BrokeDown(String),
    /// Something else.
    #[error("the display can't be used: {0}")]
    Other(String),
}

/// What this process knows of displays and of the libraries for them.
#[derive(Clone, Default, Debug)]
pub(crate) struct Desktop {
    wayland_display: Option<String>,
    wayland_socket: Option<String>,
    x_display: Option<String>,
    runtime_directory: Option<String>,
    /// The dynamic loader's list of libraries; empty where there is none.
    libraries: Vec<u8>,
}

/// What is loaded when a window is made on X11; each brings along what it needs itself.
const FOR_X11: [&str; 5] = ["libX11.so.6", "libXcursor.so.1", "libX11-xcb.so.1", "libXi.so.6", "libxkbcommon-x11.so.0"];
const FOR_WAYLAND: [&str; 4] = ["libwayland-client.so.0", "libxkbcommon.so.0", "libwayland-egl.so.1", "libEGL.so.1"];
/// On X11 one of them suffices.
const OPENGL: [&str; 2] = ["libGL.so.1", "libEGL.so.1"];

impl Desktop {
    /// As the environment has it.
    pub(crate) fn of_this_process() -> Self {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            wayland_display: variable("WAYLAND_DISPLAY"),
            wayland_socket: variable("WAYLAND_SOCKET"),
            x_display: variable("DISPLAY"),
            runtime_directory: variable("XDG_RUNTIME_DIR"),
            // Where there is none, nothing is said of libraries that nobody has missed yet.
            libraries: fs::read("/etc/ld.so.cache").unwrap_or_default(),
        }
    }

    /// Whether there is a display as far as that can be told without asking it.
    pub(crate) fn check(&self) -> Result<(), WindowError> {
        match (&self.wayland_socket, &self.wayland_display, &self.x_display) {
            (None, None, None) => Err(WindowError::NoDisplay),
            // Whoever takes a descriptor for a connection that is none brings the process down.
            (Some(socket), ..) if !is_socket(socket) => Err(WindowError::DeadDisplay {
                display: format!("of WAYLAND_SOCKET={socket}"),
                remedy: "unset WAYLAND_SOCKET",
            }),
            _ => Ok(()),
        }
    }

    fn is_wayland(&self) -> bool {
        self.wayland_socket.is_some() || self.wayland_display.is_some()
    }

    fn dead_display(&self) -> WindowError {
        let (display, remedy) = match (&self.wayland_display, &self.x_display) {
            (Some(name), _) if self.runtime_directory.is_none() && Path::new(name).is_relative() => {
                (name, "its socket is looked for in XDG_RUNTIME_DIR, which is not set")
            }
            (Some(name), Some(_)) => (name, "unset WAYLAND_DISPLAY to use DISPLAY instead"),
            (Some(name), None) => (name, "set WAYLAND_DISPLAY to one that runs"),
            (None, Some(name)) => (name, "set DISPLAY to one that runs"),
            (None, None) => return WindowError::NoDisplay,
        };
        WindowError::DeadDisplay { display: display.clone(), remedy }
    }

    fn has(&self, library: &str) -> bool {
        let entry = [library.as_bytes(), b"\0"].concat();
        self.libraries.is_empty() || self.libraries.windows(entry.len()).any(|bytes| bytes == entry)
    }

    /// `library` was looked for in vain. Whoever lacks one often lacks them all: all are named at once.
    fn missing(&self, library: &str) -> WindowError {
        let needed: &[&str] = if self.is_wayland() { &FOR_WAYLAND } else { &FOR_X11 };
        // Some are named without their version.
        let with_version = |name: &&&str| name.strip_prefix(library).is_some_and(|rest| rest.starts_with('.'));
        let library = needed.iter().find(with_version).copied().unwrap_or(library);
        let mut missing = vec![library];
        missing.extend(needed.iter().copied().filter(|other| *other != library && !self.has(other)));
        if !OPENGL.iter().any(|library| self.has(library)) {
            missing.extend(OPENGL.into_iter().filter(|library| !needed.contains(library)));
        }
        let packages: Vec<String> = missing.iter().filter_map(|library| package_of(library)).collect();
        if packages.is_empty() {
            return WindowError::Other(format!("{library} is missing"));
        }
        WindowError::MissingLibrary { library: library.to_owned(), packages: packages.join(" ") }
    }
}

impl WindowError {
    /// What the messages of those who should have made the window mean.
    pub(crate) fn from_messages(message: &str, details: &str, desktop: &Desktop) -> Self {
        if let Some(library) = library_in(details) {
            return desktop.missing(library);
        }
        let says = |part: &str| message.contains(part) || details.contains(part);
        if says("WAYLAND_DISPLAY nor") {
            Self::NoDisplay
        } else if says("Failed to open connection to X server") || says("Could not find wayland compositor") {
            desktop.dead_display()
        } else if says("NoWaylandLib") {
            desktop.missing(FOR_WAYLAND[0])
        } else if says("Glutin") || says("glutin") || says("OpenGL") {
            Self::NoOpenGl
        } else {
            Self::Other(without_place(message).to_owned())
        }
    }
}

/// Whether this is the number of an open socket of ours.
fn is_socket(descriptor: &str) -> bool {
    descriptor.parse::<u32>().is_ok_and(|number| {
        let target = fs::read_link(format!("/proc/self/fd/{number}"));
        target.is_ok_and(|target| target.as_os_str().as_encoded_bytes().starts_with(b"socket:"))
    })
}

/// The first file name of a library in a text.
fn library_in(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-' | '+'));
    let names = words.map(|word| word.trim_end_matches('.'));
    names.into_iter().find(|name| {
        let end = name.split_once(".so").map(|(_, end)| end);
        name.starts_with("lib") && end.is_some_and(|end| end.is_empty() || end.starts_with('.'))
    })
}

/// The package that has a library, by Debian's rule for their names: `libXi.so.6` is in `libxi6`, `libX11.so.6` in
/// `libx11-6`.
fn package_of(library: &str) -> Option<String> {
    let (name, version) = library.split_once(".so.")?;
    let hyphen = if name.ends_with(|last: char| last.is_ascii_digit()) { "-" } else { "" };
    Some(format!("{}{hyphen}{version}", name.to_lowercase()))
}

/// The first line of a message, without the place in somebody's source that it may begin with.
fn without_place(message: &str) -> &str {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown reason");
    match line.split_once(".rs:").and_then(|(_, rest)| rest.split_once(": ")) {
        Some((place, text)) if place.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => text,
        _ => line,
    }
}
