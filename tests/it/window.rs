//! The real window, with real keys and a real mouse on a desktop that nobody sees; and what there is without a display.

use std::fs;
use std::process::Command;
use std::time::Duration;

use traceview_tests::desktop::{Desktop, Picture, Window};
use traceview_tests::process::{Finished, Running, start};
use traceview_tests::profiler::Profiler;
use traceview_tests::steady_profile::write_steady_profile;

use crate::traceview;

/// Places in the window as it is at first: on its ruler, in its flame chart, in its table.
const RULER: [(u32, u32); 2] = [(500, 98), (800, 98)];
const CHART: (u32, u32) = (640, 330);
const TABLE: (u32, u32) = (540, 600);
/// Menus, buttons and the search field stay as they were used.
const BARS: usize = 66;
/// Where nothing lights up.
const NOWHERE: (u32, u32) = (1200, 780);

/// Begins to open a file, or to record, on a desktop.
fn begin(traceview: &Profiler, desktop: &Desktop, args: &[&str]) -> Running {
    start(desktop.inhabit(&mut traceview.command(args)), b"")
}

/// A file to look at.
fn profile(traceview: &Profiler) -> String {
    let path = traceview.path("steady.json.gz");
    write_steady_profile(&path);
    path.to_str().expect("the test's own name").to_owned()
}

#[test]
fn keys_and_mouse_do_what_they_say() {
    let Some(desktop) = Desktop::start("1400x900") else { return };
    let traceview = traceview();
    let file = profile(&traceview);
    let running = begin(&traceview, &desktop, &["open", &file]);
    let window = desktop.window("steady - traceview");
    let below_bars = window.clone().without_top(BARS);
    below_bars.point_at(NOWHERE);
    // Tables are computed beside the window.
    let first = below_bars.still_for(Duration::from_secs(3));
    zoom_with_keys(&below_bars, &first);
    search(&window, &below_bars, &first);
    use_mouse(&below_bars, &first);
    let light = choose_theme(&window, "light");
    assert!(light.brightness() > 0.6, "light is {}", light.brightness());
    let dark = choose_theme(&window, "dark");
    assert!(dark.brightness() < 0.4, "dark is {}", dark.brightness());
    choose_theme(&window, "light");
    window.close();
    assert_silent(&running.finish());

    let running = begin(&traceview, &desktop, &["open", &file]);
    let window = desktop.window("steady - traceview");
    let again = window.still();
    assert!(again.brightness() > 0.6, "the theme was forgotten: {}", again.brightness());
    window.press(&["ctrl+q"]);
    assert_silent(&running.finish());
}

fn zoom_with_keys(window: &Window<'_>, first: &Picture) {
    window.point_at(CHART);
    let pointed = window.still();
    let near = window.changed_by("W", &pointed, |window| window.press(&["w", "w", "w"]));
    window.changed_by("S", &near, |window| window.press(&["s"]));
    window.press(&["0"]);
    window.looks_again_like("0", first, |window| window.point_at(NOWHERE));

    window.changed_by("the question mark", first, |window| window.write("?"));
    window.looks_again_like("Escape", first, |window| window.press(&["Escape"]));
}

fn search(window: &Window<'_>, below_bars: &Window<'_>, first: &Picture) {
    window.changed_by("Ctrl+F", &window.still(), |window| window.press(&["ctrl+f"]));
    let searched = below_bars.changed_by("typing", first, |window| window.write("w"));
    below_bars.changed_by("typing on", &searched, |window| window.write("ork::hash"));
    // Letters were text there, not keys: nothing has zoomed.
    below_bars.looks_again_like("Escape", first, |window| window.press(&["Escape"]));
}

fn use_mouse(window: &Window<'_>, first: &Picture) {
    window.changed_by("a click on a box", first, |window| {
        window.click(CHART, 1);
        window.point_at(NOWHERE);
    });
    // First the box, then its function.
    window.looks_again_like("Escape", first, |window| window.press(&["Escape", "Escape"]));

    window.changed_by("a drag on the ruler", first, |window| {
        window.drag(RULER[0], RULER[1]);
        window.point_at(NOWHERE);
    });
    window.looks_again_like("Escape", first, |window| window.press(&["Escape"]));

    window.changed_by("the wheel with Ctrl", first, |window| {
        window.turn_wheel_with_ctrl(CHART);
        window.point_at(NOWHERE);
    });
    window.looks_again_like("0", first, |window| window.press(&["0"]));

    window.changed_by("the wheel on the table", first, |window| {
        window.click(TABLE, 5);
        window.point_at(NOWHERE);
    });
    window.looks_again_like("the wheel back", first, |window| {
        window.click(TABLE, 4);
        window.point_at(NOWHERE);
    });
}

/// Switches it through the palette.
fn choose_theme(window: &Window<'_>, name: &str) -> Picture {
    let before = window.still();
    window.changed_by("the palette", &before, |window| window.press(&["ctrl+shift+p"]));
    window.changed_by("a theme", &before, |window| {
        window.write(name);
        window.press(&["Return"]);
    })
}

/// That it ended well and said nothing, also not for others.
fn assert_silent(finished: &Finished) {
    assert_eq!((finished.code, finished.text(), finished.stderr.as_str()), (0, "", ""));
}

#[test]
fn the_window_opens_after_a_recording_and_the_exit_status_is_the_programs() {
    let Some(desktop) = Desktop::start("1400x900") else { return };
    let traceview = traceview();
    // By the window manager, and by Ctrl-C on the terminal.
    type Close = fn(&Window<'_>, &Running);
    let closings: [(i32, Close); 2] = [(7, |window, _| window.close()), (9, |_, running| running.signal_group("INT"))];
    for (code, close) in closings {
        let script = format!("exit {code}");
        let running = begin(&traceview, &desktop, &["record", "-o", "out.json.gz", "--", "sh", "-c", &script]);
        let window = desktop.window("sh - traceview");
        let _shown = window.still();
        assert!(traceview.path("out.json.gz").exists(), "saved before it is shown");
        close(&window, &running);
        let finished = running.finish();
        assert_eq!(finished.code, code, "{}", finished.stderr);
        assert!(finished.stderr.contains("Recorded "), "{}", finished.stderr);
        assert!(!finished.stderr.contains("window"), "{}", finished.stderr);
        fs::remove_file(traceview.path("out.json.gz")).unwrap();
    }
}

/// The command without any display.
fn without_display(command: &mut Command) -> &mut Command {
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XDG_RUNTIME_DIR"] {
        command.env_remove(name);
    }
    command
}

fn run(traceview: &Profiler, args: &[&str]) -> Finished {
    start(without_display(&mut traceview.command(args)), b"").finish()
}

#[test]
fn without_a_display_a_sentence_says_so() {
    let traceview = traceview();
    let file = profile(&traceview);
    let finished = run(&traceview, &["open", &file]);
    assert_eq!((finished.code, finished.text()), (1, ""));
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", finished.stderr);
    assert!(lines[0].starts_with("error: no window can be opened; ") && lines[0].contains("--screenshot"), "{lines:?}");
    assert!(lines[1].starts_with("  cause: there is no display"), "{lines:?}");

    // One that nobody serves: numbers that high are not given out.
    let mut command = traceview.command(["open", &file]);
    let finished = start(without_display(&mut command).env("DISPLAY", ":4321"), b"").finish();
    assert_eq!(finished.code, 1, "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 2, "{}", finished.stderr);
}

#[test]
fn without_a_display_a_recording_is_what_it_always_is() {
    let traceview = traceview();
    let finished = run(&traceview, &["record", "-o", "out.json.gz", "--", "sh", "-c", "echo hello; exit 7"]);
    assert_eq!((finished.code, finished.text()), (7, "hello\n"), "{}", finished.stderr);
    assert!(finished.stderr.contains("Recorded "), "{}", finished.stderr);
    let last = finished.stderr.lines().last().unwrap();
    assert!(last.starts_with("traceview: no window: there is no display"), "{last}");
    assert!(last.contains("cargo traceview open @1"), "{last}");
    assert_eq!(traceview.run(["info", "out.json.gz"]).code, 0);
}

/// Width and height of a PNG file.
fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&bytes[12..16], b"IHDR");
    assert!(bytes.ends_with(b"IEND\xaeB`\x82"), "the file is cut");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (number(16), number(20))
}

#[test]
fn pictures_need_no_display() {
    let traceview = traceview();
    let file = profile(&traceview);
    for (args, size) in [
        (&["open", &file, "--screenshot", "out.png"][..], (1280, 800)),
        (
            &["open", &file, "--screenshot", "out.png", "--size", "640x480", "--scale", "2", "--theme", "light"],
            (1280, 960),
        ),
        (&["export", &file, "-o", "out.png", "--size", "900x500"], (900, 500)),
        (&["export", &file, "-o", "out.png", "--panel", "timeline", "--scale", "2"], (2560, 1600)),
    ] {
        let finished = run(&traceview, args);
        assert_eq!((finished.code, finished.text()), (0, ""), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.starts_with("traceview: wrote "), "{}", finished.stderr);
        assert_eq!(png_size(&fs::read(traceview.path("out.png")).unwrap()), size, "{args:?}");
        fs::remove_file(traceview.path("out.png")).unwrap();
    }
}

#[test]
fn drawings_are_well_formed_and_hold_the_functions_names() {
    let traceview = traceview();
    let file = profile(&traceview);
    for (panel, words) in
        [("flame-chart", &["steady", "work::run", "work::load", "work::hash"][..]), ("timeline", &["steady", "worker"])]
    {
        let finished = run(&traceview, &["export", &file, "--format", "svg", "--panel", panel]);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
        let texts = texts_of_xml(finished.text());
        for word in words {
            assert!(texts.iter().any(|text| text.contains(word)), "{panel}: no `{word}` in {texts:?}");
        }
    }
}

/// The texts between the tags, after checking that each tag that is opened is closed in order.
fn texts_of_xml(xml: &str) -> Vec<String> {
    let (mut open, mut texts) = (Vec::new(), Vec::new());
    let mut rest = xml.trim_start();
    while let Some((text, after)) = rest.split_once('<') {
        if !text.trim().is_empty() {
            assert!(!open.is_empty(), "text outside: {text}");
            texts.push(text.trim().to_owned());
        }
        let (tag, after) = after.split_once('>').expect("the tag ends");
        rest = after;
        let name = |tag: &str| tag.split_whitespace().next().expect("a name").to_owned();
        match tag {
            _ if tag.starts_with(['?', '!']) || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name(&tag[1..])), "</{tag}>"),
            _ => open.push(name(tag)),
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "open at the end: {open:?} {rest}");
    texts
}

#[test]
fn what_can_not_be_drawn_is_explained() {
    let traceview = traceview();
    let file = profile(&traceview);
    fs::write(traceview.path("noise.json"), "{\"no\": \"profile\"}").unwrap();
    for (args, words) in [
        (
            &["open", &file, "--screenshot", "out.png", "--panel", "nonsense"][..],
            &["`nonsense`", "flame-chart", "functions"][..],
        ),
        (&["export", &file, "-o", "out.png", "--panel", "nonsense"], &["`nonsense`", "flame-chart", "timeline"]),
        (&["export", &file, "-o", "out.png", "--panel", "functions"], &["`functions`", "alone", "flame-chart"]),
        (&["open", "noise.json", "--screenshot", "out.png"], &["noise.json"]),
        (&["export", "noise.json", "-o", "out.png"], &["noise.json"]),
    ] {
        let finished = run(&traceview, args);
        assert_eq!(finished.code, 1, "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.starts_with("error: "), "{args:?}: {}", finished.stderr);
        for word in words {
            assert!(finished.stderr.contains(word), "{args:?}: {}", finished.stderr);
        }
        assert!(!traceview.path("out.png").exists(), "{args:?}");
    }
}
