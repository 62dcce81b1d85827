//! What was really said on a bare Debian 12 (paths shortened), library by library.

use super::*;

/// The loader's list of a system that has these.
fn with_libraries(libraries: &[&str]) -> Desktop {
    let mut list = b"glibc-ld.so.cache1.1\0libc.so.6\0".to_vec();
    for library in libraries {
        list.extend(format!("{library}\0/usr/lib/x86_64-linux-gnu/{library}\0").bytes());
    }
    Desktop { libraries: list, ..Desktop::default() }
}

fn on_x11() -> Desktop {
    Desktop { x_display: Some(":99".to_owned()), ..with_libraries(&[&FOR_X11[..], &OPENGL].concat()) }
}

fn on_wayland() -> Desktop {
    Desktop {
        wayland_display: Some("wayland-9".to_owned()),
        runtime_directory: Some("/run/user/1000".to_owned()),
        ..with_libraries(&[&FOR_WAYLAND[..], &OPENGL].concat())
    }
}

/// A failure to load one of the X11 libraries.
fn xlib(opening: &str) -> (String, String) {
    let place = "/home/me/.cargo/registry/src/winit-0.30.13/src/platform_impl/linux/mod.rs";
    (
        format!("winit EventLoopError: os error at {place}:788: Failed to load one of xlib's shared libraries"),
        format!(
            "WinitEventLoop(Os(OsError {{ line: 788, file: \"{place}\", error: XNotSupported(LibraryOpenError(OpenError \
             {{ kind: Library, detail: \"{opening}\" }})) }}))"
        ),
    )
}

fn not_opened(names: &[&str]) -> String {
    let failures = names.iter().map(|name| {
        format!("opening library failed ({name}: cannot open shared object file: No such file or directory)")
    });
    failures.collect::<Vec<_>>().join("; ")
}

#[test]
fn a_missing_library_of_x11_is_named_with_its_package() {
    for (names, library, package) in [
        (
            &[
                "libX11.so.6",
                "libX11.so",
                "/usr/lib/x86_64-linux-gnu/libX11.so.6",
                "/usr/lib/x86_64-linux-gnu/libX11.so",
            ][..],
            "libX11.so.6",
            "libx11-6",
        ),
        (&["libX11-xcb.so.1", "libX11-xcb.so"], "libX11-xcb.so.1", "libx11-xcb1"),
        (&["libXcursor.so.1", "libXcursor.so"], "libXcursor.so.1", "libxcursor1"),
        (&["libXi.so.6", "libXi.so"], "libXi.so.6", "libxi6"),
        // What one of them needs itself.
        (&["libxcb.so.1", "libX11.so", "libxcb.so.1", "/usr/lib/x86_64-linux-gnu/libX11.so"], "libxcb.so.1", "libxcb1"),
    ] {
        let (message, details) = xlib(&not_opened(names));
        let error = WindowError::from_messages(&message, &details, &on_x11());
        assert_eq!(error.to_string(), format!("{library} is missing; on Debian or Ubuntu: apt install {package}"));
    }
}

#[test]
fn a_missing_library_of_the_keyboard_is_told_by_a_panic() {
    let panic = "Library libxkbcommon-x11.so could not be loaded.";
    let error = WindowError::from_messages(panic, panic, &on_x11());
    let sentence = "libxkbcommon-x11.so.0 is missing; on Debian or Ubuntu: apt install libxkbcommon-x11-0";
    assert_eq!(error.to_string(), sentence);
}

#[test]
fn where_nothing_is_installed_all_packages_are_named_at_once() {
    let desktop = Desktop { x_display: Some(":0".to_owned()), ..with_libraries(&[]) };
    let (message, details) = xlib(&not_opened(&["libX11.so.6", "libX11.so"]));
    let error = WindowError::from_messages(&message, &details, &desktop);
    let packages = "libx11-6 libxcursor1 libx11-xcb1 libxi6 libxkbcommon-x11-0 libgl1 libegl1";
    assert_eq!(error.to_string(), format!("libX11.so.6 is missing; on Debian or Ubuntu: apt install {packages}"));
    // Half of it, and one way to OpenGL.
    let half = ["libX11.so.6", "libX11-xcb.so.1", "libEGL.so.1"];
    let desktop = Desktop { x_display: Some(":0".to_owned()), ..with_libraries(&half) };
    let (message, details) = xlib(&not_opened(&["libXcursor.so.1", "libXcursor.so"]));
    let WindowError::MissingLibrary { packages, .. } = WindowError::from_messages(&message, &details, &desktop) else {
        panic!("another error");
    };
    assert_eq!(packages, "libxcursor1 libxi6 libxkbcommon-x11-0");
}

#[test]
fn without_a_list_of_libraries_only_the_missed_one_is_named() {
    let (message, details) = xlib(&not_opened(&["libXi.so.6", "libXi.so"]));
    let error = WindowError::from_messages(&message, &details, &Desktop::default());
    assert_eq!(error.to_string(), "libXi.so.6 is missing; on Debian or Ubuntu: apt install libxi6");
}

#[test]
fn a_library_without_a_version_has_no_package_that_could_be_told() {
    let panic = "Library libodd.so could not be loaded.";
    let error = WindowError::from_messages(panic, panic, &on_x11());
    assert_eq!(error.to_string(), "the display can't be used: libodd.so is missing");
}

#[test]
fn a_missing_library_of_wayland() {
    let place = "/home/me/.cargo/registry/src/winit-0.30.13/src/platform_impl/linux/wayland/event_loop/mod.rs";
    let error = WindowError::from_messages(
        &format!("winit EventLoopError: os error at {place}:89: The wayland library could not be loaded"),
        &format!(
            "WinitEventLoop(Os(OsError {{ line: 89, file: \"{place}\", error: WaylandError(Connection(NoWaylandLib)) }}))"
        ),
        &on_wayland(),
    );
    let sentence = "libwayland-client.so.0 is missing; on Debian or Ubuntu: apt install libwayland-client0";
    assert_eq!(error.to_string(), sentence);
}

#[test]
fn without_opengl_its_packages_are_named() {
    let template = "ConfigTemplate { color_buffer_type: Rgb { r_size: 8, g_size: 8, b_size: 8 }, alpha_size: 8 }";
    for (message, details) in [
        // Neither libGL nor libEGL.
        (
            format!("Found no glutin configs matching the template: {template}. Error: not found"),
            format!("NoGlutinConfigs({template}, Error {{ raw_code: None, raw_os_message: None, kind: NotFound }})"),
        ),
        // libEGL without a driver.
        (
            format!("Found no glutin configs matching the template: {template}. Error: [3001] initialization failed"),
            format!(
                "NoGlutinConfigs({template}, Error {{ raw_code: Some(12289), raw_os_message: None, kind: \
                 InitializationFailed }})"
            ),
        ),
        // libGL without a driver.
        (
            "glutin error: [a7] GLXBadFBConfig".to_owned(),
            "Glutin(Error { raw_code: Some(167), raw_os_message: Some(\"GLXBadFBConfig\"), kind: BadConfig })"
                .to_owned(),
        ),
    ] {
        let error = WindowError::from_messages(&message, &details, &on_x11());
        assert_eq!(error, WindowError::NoOpenGl, "{message}");
        assert!(error.to_string().contains("apt install libgl1 libegl1 libgl1-mesa-dri"));
    }
}

#[test]
fn a_display_that_does_not_answer_is_named() {
    let place = "/home/me/.cargo/registry/src/winit-0.30.13/src/platform_impl/linux/mod.rs";
    let x11 = format!("winit EventLoopError: os error at {place}:788: Failed to open connection to X server");
    let wayland = format!("winit EventLoopError: os error at {place}:89: Could not find wayland compositor");
    let both = Desktop { x_display: Some(":0".to_owned()), ..on_wayland() };
    let no_runtime = Desktop { runtime_directory: None, ..on_wayland() };
    for (message, desktop, display, remedy) in [
        (&x11, on_x11(), ":99", "set DISPLAY"),
        (&wayland, on_wayland(), "wayland-9", "set WAYLAND_DISPLAY"),
        (&wayland, both, "wayland-9", "unset WAYLAND_DISPLAY"),
        (&wayland, no_runtime, "wayland-9", "XDG_RUNTIME_DIR"),
    ] {
        let sentence = WindowError::from_messages(message, "", &desktop).to_string();
        assert!(sentence.starts_with(&format!("the display {display} does not answer")), "{sentence}");
        assert!(sentence.contains(remedy), "{sentence}");
    }
}

#[test]
fn what_is_not_known_is_told_without_places_in_the_source() {
    let place = "/home/me/.cargo/registry/src/winit-0.30.13/src/platform_impl/linux/mod.rs";
    for (message, told) in [
        // An X server without the extension RANDR; this one is a panic.
        (
            "failed to request XRandR version: UnsupportedExtension",
            "failed to request XRandR version: UnsupportedExtension",
        ),
        (&format!("winit EventLoopError: os error at {place}:12: No seats\nand more"), "No seats"),
        ("", "unknown reason"),
    ] {
        let error = WindowError::from_messages(message, "", &on_x11());
        assert_eq!(error, WindowError::Other(told.to_owned()));
    }
}

#[test]
fn no_display_is_told_without_asking_anyone() {
    assert_eq!(Desktop::default().check(), Err(WindowError::NoDisplay));
    assert_eq!(on_x11().check(), Ok(()));
    assert_eq!(on_wayland().check(), Ok(()));
    let with_socket = |socket: &str| Desktop { wayland_socket: Some(socket.to_owned()), ..Desktop::default() };
    for wrong in ["77", "-1", "wayland", ""] {
        let error = with_socket(wrong).check().expect_err(wrong);
        assert!(error.to_string().contains("unset WAYLAND_SOCKET"), "{error}");
    }
    let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&socket).to_string();
    assert_eq!(with_socket(&number).check(), Ok(()));
}
