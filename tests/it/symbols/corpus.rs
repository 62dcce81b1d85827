//! One program in all the ways that compilers, linkers and distributions make programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the program is compiled and linked; the linker is lld unless said otherwise.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) name: &'static str,
    /// For rustc.
    arguments: &'static [&'static str],
    /// For the parts in C and C++.
    dwarf: &'static str,
}

const fn build(name: &'static str, dwarf: &'static str, arguments: &'static [&'static str]) -> Build {
    Build { name, arguments, dwarf }
}

/// Programs with all their debug information in them.
pub(super) const BUILDS: [Build; 9] = [
    build("opt-3", "-gdwarf-4", &["-Copt-level=3", "-g"]),
    build("lto-fat", "-gdwarf-5", &["-Copt-level=3", "-g", "-Clto=fat", "-Cdwarf-version=5"]),
    build(
        "lto-thin-v0",
        "-gdwarf-5",
        &["-Copt-level=3", "-Cdebuginfo=1", "-Clto=thin", "-Csymbol-mangling-version=v0"],
    ),
    build("opt-0", "-gdwarf-5", &["-Copt-level=0", "-g"]),
    build("opt-s-v0", "-gdwarf-4", &["-Copt-level=s", "-g", "-Csymbol-mangling-version=v0", "-Cdwarf-version=5"]),
    build("panic-abort", "-gdwarf-4", &["-Copt-level=2", "-Cdebuginfo=1", "-Cpanic=abort"]),
    build("non-pie", "-gdwarf-5", &["-Copt-level=2", "-g", "-Crelocation-model=static"]),
    build("static", "-gdwarf-5", &["-Copt-level=2", "-g", "-Ctarget-feature=+crt-static"]),
    build("bfd", "-gdwarf-5", &["-Copt-level=2", "-g", "-Clinker-features=-lld"]),
];

/// Programs whose debug information is elsewhere, and the program of [`BUILDS`] that has the same code. Where all is optimized
/// as one, several units stand in one file.
pub(super) const SPLIT: [(Build, &str); 2] = [
    (build("packed", "-gdwarf-4", &["-Copt-level=3", "-g", "-Csplit-debuginfo=packed"]), "opt-3"),
    (
        build(
            "unpacked-lto-5",
            "-gdwarf-5",
            &["-Copt-level=3", "-g", "-Clto=fat", "-Cdwarf-version=5", "-Csplit-debuginfo=unpacked"],
        ),
        "lto-fat",
    ),
];

/// Ways to change a program of [`BUILDS`] so that it has the same code, and its debug information in another form; each a
/// script with the program's copy as `$1`.
pub(super) const CHANGED: [(&str, &str); 8] = [
    ("zlib", "objcopy --compress-debug-sections=zlib $1"),
    ("zlib-gnu", "objcopy --compress-debug-sections=zlib-gnu $1"),
    ("zstd", "objcopy --compress-debug-sections=zstd $1"),
    (
        "debug-link",
        "objcopy --only-keep-debug --compress-debug-sections=zlib $1 $1.debug
         objcopy --strip-all --add-gnu-debuglink=$1.debug $1",
    ),
    ("dwz-alone", "dwz $1"),
    // The supplement is made of two programs, so that there is something to share; the link to it stands in a debug file.
    (
        "dwz",
        "cp $1 $1.other
         dwz -m $1.shared $1 $1.other
         objcopy --only-keep-debug $1 $1.debug
         objcopy --strip-all -R .gnu_debugaltlink --add-gnu-debuglink=$1.debug $1",
    ),
    ("symbols-only", "objcopy --strip-debug $1"),
    (
        "embedded",
        "objcopy --only-keep-debug $1 $1.debug
         objcopy --strip-debug --remove-section .comment $1.debug $1.mini
         rm $1.debug
         xz $1.mini
         objcopy --strip-all --add-section .gnu_debugdata=$1.mini.xz $1",
    ),
];

/// Compiles the program as `build` says into a directory of its own; returns the program.
pub(super) fn compile(build: &Build, root: &Path) -> PathBuf {
    let directory = root.join(build.name);
    fs::create_dir(&directory).expect("a directory of the test");
    for (name, text) in [
        ("program.rs", include_str!("sources/program.rs")),
        ("part.c", include_str!("sources/part.c")),
        ("part.cpp", include_str!("sources/part.cpp")),
    ] {
        fs::write(directory.join(name), text).expect("a file of the test");
    }
    let part = ["-c", "-O2", build.dwarf, "-fno-exceptions", "-fno-rtti"];
    run(Command::new("cc").args(&part[..3]).args(["part.c", "-o", "c.o"]).current_dir(&directory));
    run(Command::new("c++").args(part).args(["part.cpp", "-o", "cpp.o"]).current_dir(&directory));
    let rustc = ["program.rs", "--edition=2024", "-Clink-arg=c.o", "-Clink-arg=cpp.o", "-Ccodegen-units=4"];
    run(Command::new("rustc").args(rustc).args(build.arguments).current_dir(&directory));
    directory.join("program")
}

/// A copy of `program` with its debug information in another form.
pub(super) fn changed(program: &Path, name: &str, script: &str, root: &Path) -> PathBuf {
    let directory = root.join(name);
    fs::create_dir(&directory).expect("a directory of the test");
    fs::copy(program, directory.join("program")).expect("a copy");
    run(Command::new("sh").args(["-e", "-c", script, "sh", "program"]).current_dir(&directory));
    directory.join("program")
}

pub(super) fn run(command: &mut Command) {
    let output = command.env_remove("RUSTFLAGS").output().expect("the tool was found before");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
