//! Why there is no window, in one sentence that says what to do about it.

use std::env;

/// Why there is no window.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// Neither X11 nor Wayland is there.
    #[error("there is no display (neither WAYLAND_DISPLAY nor DISPLAY is set)")]
    NoDisplay,
    /// A display is named but does not answer.
    #[error("the display {0} does not answer")]
    DeadDisplay(String),
    /// A library is missing that windows need.
    #[error("{library} is missing; on Debian or Ubuntu: apt install {package}")]
    MissingLibrary {
        /// Which.
        library: &'static str,
        /// The package that has it.
        package: &'static str,
    },
    /// There is a display, but nothing can be drawn on it.
    #[error("OpenGL does not work here; on Debian or Ubuntu: apt install libgl1 libegl1 libgl1-mesa-dri")]
    NoOpenGl,
    /// The window was there and broke down.
    #[error("the window broke down, which is a fault of traceview: {0}")]
    BrokeDown(String),
    /// Something else.
    #[error("no window can be opened: {0}")]
    Other(String),
}

/// The libraries that are loaded at run time, and the packages that have them.
const LIBRARIES: &[(&str, &str)] = &[
    ("libX11.so", "libx11-6"),
    ("libX11-xcb.so", "libx11-xcb1"),
    ("libXcursor.so", "libxcursor1"),
    ("libXi.so", "libxi6"),
    ("libxkbcommon-x11.so", "libxkbcommon-x11-0"),
    ("libxkbcommon.so", "libxkbcommon0"),
    ("libwayland-client.so", "libwayland-client0"),
    ("libwayland-egl.so", "libwayland-egl1"),
];

impl WindowError {
    /// Whether a display is named at all: the answer that costs nothing.
    pub(crate) fn check_display() -> Result<(), Self> {
        let named = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let any = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"].into_iter().any(named);
        if any { Ok(()) } else { Err(Self::NoDisplay) }
    }

    /// What the messages of those who should have made the window mean.
    pub(crate) fn from_messages(message: &str, details: &str) -> Self {
        for (library, package) in LIBRARIES {
            if details.contains(library) {
                return Self::MissingLibrary { library, package };
            }
        }
        let says = |part: &str| message.contains(part) || details.contains(part);
        if says("WAYLAND_DISPLAY nor") {
            Self::NoDisplay
        } else if says("Failed to open connection to X server") || says("Could not find wayland compositor") {
            let name = env::var("WAYLAND_DISPLAY").or_else(|_| env::var("DISPLAY"));
            Self::DeadDisplay(name.unwrap_or_else(|_| "that is named".to_owned()))
        } else if says("Glutin") || says("glutin") || says("OpenGL") || says("NoGlutinConfigs") {
            Self::NoOpenGl
        } else {
            let first = message.lines().next().unwrap_or_default();
            Self::Other(if first.is_empty() { "unknown reason".to_owned() } else { first.to_owned() })
        }
    }
}
