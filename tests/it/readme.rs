//! What the README promises is there: its pictures, and the commands in it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_traceview::cli::args::Cli;

/// A picture that is larger makes each clone larger for ever.
const LARGEST_PICTURE: usize = 200_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lies in the workspace").to_path_buf()
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("there is a README")
}

#[test]
fn its_pictures_are_there_and_not_too_large() {
    let readme = readme();
    let named = readme.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let pictures: Vec<&str> = named.filter(|target| target.ends_with(".png")).collect();
    assert!(pictures.len() >= 2, "{pictures:?}");
    for picture in pictures {
        let bytes = fs::read(root().join(picture)).unwrap_or_else(|error| panic!("{picture}: {error}"));
        assert!(bytes.starts_with(b"\x89PNG"), "{picture} is no PNG file");
        assert!(bytes.len() <= LARGEST_PICTURE, "{picture} has {} bytes", bytes.len());
    }
}

#[test]
fn its_commands_are_understood() {
    let readme = readme();
    let lines = readme.lines().filter(|line| line.starts_with("cargo traceview"));
    // Neither the comment behind a command nor what its output is piped into.
    let commands: Vec<&str> = lines.filter_map(|line| line.split(['#', '|']).next()).map(str::trim).collect();
    assert!(commands.len() >= 15, "{commands:?}");
    for command in commands {
        let words = words(command).into_iter().skip(1).map(OsString::from);
        let args = [OsString::from("cargo-traceview")].into_iter().chain(words);
        if let Err(error) = Cli::parse_args(args) {
            panic!("`{command}`: {error}");
        }
    }
}

/// The words of a command; one in quotes can have blanks.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    let words = parts.map(|(index, part)| if index % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
    words.collect::<Vec<_>>().concat()
}
