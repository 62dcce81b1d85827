//! A desktop that nobody sees: an X server without a screen, a window manager, and somebody who types, points and looks.
#![expect(clippy::print_stderr, reason = "who has to find out why a test failed is told where the pictures are")]

use std::env;
use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::until;
use crate::tools::has_tool;

/// Two pictures that differ in fewer pixels are of the same state: a text cursor blinks.
const STILL: usize = 150;

/// An X server with a window manager. Both end with it.
#[derive(Debug)]
pub struct Desktop {
    display: String,
    programs: Vec<Child>,
    /// Of the window manager.
    home: TempDir,
    /// The last picture of a window, to be looked at when a test has failed.
    last: Mutex<Option<Picture>>,
}

/// A window on a [`Desktop`].
#[derive(Clone, Debug)]
pub struct Window<'a> {
    desktop: &'a Desktop,
    id: String,
    ignored_top: usize,
}

/// What a window looked like.
#[derive(Clone)]
pub struct Picture {
    width: usize,
    /// Red, green and blue of each pixel, row by row.
    pixels: Vec<[u8; 3]>,
}

impl Desktop {
    /// A desktop of this size, such as `1400x900`; `None` where the tools for it are missing.
    ///
    /// # Panics
    /// When they are missing in CI, or the X server does not come up.
    #[must_use]
    pub fn start(size: &str) -> Option<Self> {
        if !["Xvfb", "openbox", "xdotool", "import"].into_iter().all(has_tool) {
            return None;
        }
        // It chooses a number that is free and tells it when it is ready. `-noreset`: it outlives its first client.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", &format!("{size}x24")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts");
        let mut number = String::new();
        let stdout = server.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut number).expect("a pipe can be read");
        assert!(number.trim().parse::<u32>().is_ok(), "Xvfb did not come up: {number:?}");
        let home = tempfile::Builder::new().prefix("traceview-desktop-").tempdir().expect("a temporary directory");
        let mut desktop =
            Self { display: format!(":{}", number.trim()), programs: vec![server], home, last: Mutex::new(None) };
        let mut manager = Command::new("openbox");
        manager.env("HOME", desktop.home.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        desktop.programs.push(desktop.inhabit(&mut manager).spawn().expect("openbox starts"));
        // It gives the keyboard to windows that come, not to those that are there.
        until("a window manager", || desktop.ask(&["get_num_desktops"]).is_some());
        Some(desktop)
    }

    /// Has a command find this desktop and no other.
    pub fn inhabit<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for name in ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] {
            command.env_remove(name);
        }
        for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command.env("DISPLAY", &self.display).env("WINIT_X11_SCALE_FACTOR", "1")
    }

    /// Waits for a window with this title that has the keyboard.
    ///
    /// # Panics
    /// When none comes.
    pub fn window(&self, title: &str) -> Window<'_> {
        let mut id = String::new();
        until(&format!("a window `{title}`"), || {
            // Fails as long as no window is active.
            let Some(found) = self.ask(&["getactivewindow", "getwindowname"]) else { return false };
            let Some(active) = self.ask(&["getactivewindow"]) else { return false };
            id = active;
            found == title
        });
        Window { desktop: self, id, ignored_top: 0 }
    }

    /// What xdotool says to this; `None` if it fails.
    fn ask(&self, args: &[&str]) -> Option<String> {
        let output = self.inhabit(Command::new("xdotool").args(args)).output().expect("xdotool starts");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // The window manager first: it would complain about a server that is gone.
        for program in self.programs.iter_mut().rev() {
            // Either is gone already, or is now.
            let _gone = program.kill();
            let _gone = program.wait();
        }
        let last = self.last.get_mut().ok().and_then(Option::take);
        if let (true, Some(last)) = (thread::panicking(), last) {
            let path = env::temp_dir().join(format!("traceview-window{}.ppm", self.display));
            let written = fs::write(&path, last.to_ppm());
            eprintln!("what the window looked like: {} ({written:?})", path.display());
        }
    }
}

impl Window<'_> {
    /// The same, but its pictures are without so many rows of pixels at the top.
    #[must_use]
    pub fn without_top(self, rows: usize) -> Self {
        Self { ignored_top: rows, ..self }
    }

    /// Presses keys one after the other, such as `w` or `ctrl+f`.
    ///
    /// # Panics
    /// When there is no window any more.
    pub fn press(&self, keys: &[&str]) {
        self.tell(&[&["key", "--clearmodifiers", "--delay", "60"], keys].concat());
    }

    /// Types text.
    ///
    /// # Panics
    /// When there is no window any more.
    pub fn write(&self, text: &str) {
        self.tell(&["type", "--delay", "60", text]);
    }

    /// Moves the pointer to a place in the window.
    ///
    /// # Panics
    /// When there is no window any more.
    pub fn point_at(&self, place: (u32, u32)) {
        let (x, y) = (place.0.to_string(), place.1.to_string());
        self.tell(&["mousemove", "--window", &self.id, &x, &y]);
    }

    /// Clicks there: 1 is the left button; 4 and 5 turn the wheel up and down.
    ///
    /// # Panics
    /// When there is no window any more.
    pub fn click(&self, place: (u32, u32), button: u8) {
        self.point_at(place);
        self.tell_and_see(&["click", &button.to_string()]);
    }

    /// Turns the wheel up there while Ctrl is held down.
    ///
    /// # Panics
    /// When there is no window any more.
    pub fn turn_wheel_with_ctrl(&self, place: (u32, u32)) {
        self.point_at(place);
        self.tell_and_see(&["keydown", "ctrl"]);
        self.tell_and_see(&["click", "4"]);
        self.tell(&["keyup", "ctrl"]);
    }

    /// Drags with the left button, so slowly that the window sees each step.
    ///
    /// # Panics
    /// When there is no window any more.
    pub fn drag(&self, from: (u32, u32), to: (u32, u32)) {
        self.point_at(from);
        self.tell_and_see(&["mousedown", "1"]);
        self.point_at(((from.0 + to.0) / 2, (from.1 + to.1) / 2));
        let _moved = self.still();
        self.point_at(to);
        let _moved = self.still();
        self.tell_and_see(&["mouseup", "1"]);
    }

    /// Has the window manager close it, by Alt+F4, which the manager misses now and then: until it is gone.
    ///
    /// # Panics
    /// When it stays.
    pub fn close(&self) {
        until("Alt+F4 closes the window", || {
            let _missed = self.desktop.ask(&["key", "--delay", "60", "alt+F4"]);
            let deadline = Instant::now() + Duration::from_secs(2);
            while Instant::now() < deadline {
                if self.desktop.ask(&["getwindowname", &self.id]).is_none() {
                    return true;
                }
                thread::sleep(Duration::from_millis(50));
            }
            false
        });
    }

    /// What it looks like as soon as nothing has moved in it for a moment.
    ///
    /// # Panics
    /// When that never is, or the window is gone.
    #[must_use]
    pub fn still(&self) -> Picture {
        self.still_for(Duration::from_millis(300))
    }

    /// What it looks like as soon as nothing has moved in it for so long.
    ///
    /// # Panics
    /// When that never is, or the window is gone.
    #[must_use]
    pub fn still_for(&self, time: Duration) -> Picture {
        let mut first = self.picture();
        let mut since = Instant::now();
        until("nothing moves", || {
            let now = self.picture();
            if now.difference(&first) >= STILL {
                (first, since) = (now, Instant::now());
            }
            since.elapsed() >= time
        });
        first
    }

    /// Does something, and waits until the window looks different from `before` and nothing moves in it.
    ///
    /// # Panics
    /// When it goes on looking the same.
    pub fn changed_by(&self, what: &str, before: &Picture, does: impl FnOnce(&Self)) -> Picture {
        does(self);
        let mut after = self.still();
        until(&format!("{what} changes something"), || {
            after = self.still();
            after.difference(before) > STILL
        });
        after
    }

    /// Does something, and waits until the window looks as in `picture`.
    ///
    /// # Panics
    /// When it does not.
    pub fn looks_again_like(&self, what: &str, picture: &Picture, does: impl FnOnce(&Self)) {
        does(self);
        until(&format!("{what} brings the picture back"), || self.picture().difference(picture) < STILL);
    }

    fn picture(&self) -> Picture {
        let mut import = Command::new("import");
        let output = self.desktop.inhabit(import.args(["-window", &self.id, "-depth", "8", "ppm:-"])).output();
        let output = output.expect("import starts");
        let picture = Picture::from_ppm(&output.stdout, self.ignored_top);
        let picture = picture.unwrap_or_else(|| panic!("no picture: {}", String::from_utf8_lossy(&output.stderr)));
        *self.desktop.last.lock().expect("nobody panics with the lock") = Some(picture.clone());
        picture
    }

    /// What comes within one frame is one event to some programs.
    fn tell_and_see(&self, args: &[&str]) {
        self.tell(args);
        let _seen = self.still();
    }

    fn tell(&self, args: &[&str]) {
        assert!(self.desktop.ask(args).is_some(), "xdotool {args:?} failed");
    }
}

impl Picture {
    /// In how many pixels they differ; all, if their sizes do.
    #[must_use]
    pub fn difference(&self, other: &Self) -> usize {
        if self.width != other.width || self.pixels.len() != other.pixels.len() {
            return self.pixels.len().max(other.pixels.len());
        }
        self.pixels.iter().zip(&other.pixels).filter(|(one, other)| one != other).count()
    }

    /// From 0, all black, to 1, all white.
    #[must_use]
    pub fn brightness(&self) -> f64 {
        let sum: u64 = self.pixels.as_flattened().iter().copied().map(u64::from).sum();
        sum as f64 / (255 * self.pixels.as_flattened().len()) as f64
    }

    /// Reads a binary PPM file: `P6`, width, height and 255, each followed by one white space, then the pixels.
    fn from_ppm(file: &[u8], without_rows: usize) -> Option<Self> {
        let mut rest = file;
        let mut numbers = Vec::new();
        while numbers.len() < 4 {
            let end = rest.iter().position(u8::is_ascii_whitespace)?;
            numbers.push(str::from_utf8(&rest[..end]).ok()?);
            rest = &rest[end + 1..];
        }
        let [kind, width, height, "255"] = numbers[..] else { return None };
        let (width, height): (usize, usize) = (width.parse().ok()?, height.parse().ok()?);
        let (pixels, more) = rest.as_chunks::<3>();
        let whole = kind == "P6" && pixels.len() == width * height && more.is_empty();
        whole.then(|| Self { width, pixels: pixels[(width * without_rows).min(pixels.len())..].to_vec() })
    }

    fn to_ppm(&self) -> Vec<u8> {
        let header = format!("P6 {} {} 255\n", self.width, self.pixels.len() / self.width);
        [header.as_bytes(), self.pixels.as_flattened()].concat()
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picture").field("width", &self.width).finish_non_exhaustive()
    }
}
