//! Every file of another tool that can be read, written in every format: the tools that own the formats accept it, and what
//! is read again weighs as much.

use std::fs;
use std::path::{Path, PathBuf};

use traceview_core::analysis::{Measure, Selection, StackValues};
use traceview_core::format::{self, Contents, ReadOptions, WriteError, WriteOptions};
use traceview_core::model::{MarkerTiming, Profile, Thread};
use traceview_tests::gecko_validator::violations;
use traceview_tests::pprof_tool::PprofTool;
use traceview_tests::tools::has_tool;

use crate::traceview;

/// What files of Firefox itself have, and keep: a recording of ours must not have it.
const CARRIED_ALONG: [&str; 11] = [
    "meta.keepProfileThreadOrder",
    "meta.usesOnlyOneStackType",
    "meta.sourceCodeIsNotOnSearchfox",
    "meta.symbolicated",
    ".showMarkersInTimeline",
    ".processType: \"",
    // Types that its front end knows without a schema, or has code of its own for.
    "no schema is called",
    "is not a string that is not reserved",
    // The front end ignores the first change.
    ".samples.count[0]",
    ".samples.number[0]",
    // `perf script` without addresses.
    "the caller of an inlined frame is not what it was inlined into",
];

/// The files below `tests/fixtures` that are no descriptions of others.
fn fixtures() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("fixtures are there") {
            let path = entry.expect("it can be listed").path();
            match path.file_name().and_then(|name| name.to_str()) {
                Some("expected" | "README.md" | "MANIFEST.tsv" | "LICENSE.upstream") => {}
                Some(name) if name.contains(".expected.") => {}
                _ if path.is_dir() => folders.push(path),
                _ => files.push(path),
            }
        }
    }
    files.sort();
    files
}

/// Those that can be read.
fn profiles() -> impl Iterator<Item = (PathBuf, Contents)> {
    fixtures().into_iter().filter_map(|path| {
        let bytes = fs::read(&path).expect("it can be read");
        let contents = format::read(&bytes, &ReadOptions::default()).ok()?;
        Some((path, contents))
    })
}

/// What all samples add up to, where they do.
fn total(profile: &Profile) -> Option<f64> {
    StackValues::of(profile, &Selection::default(), Measure::Weights).ok().map(|values| values.total.value)
}

/// `None` where the format can't hold such a profile.
fn written(profile: &Profile, format: &'static format::Format) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let target = format::Target { format, gzip: false };
    match format::write(profile, target, &WriteOptions::default(), &mut bytes) {
        Ok(_) => Some(bytes),
        Err(WriteError::Unsupported { .. }) => None,
        Err(error) => panic!("memory takes it: {error}"),
    }
}

#[test]
fn firefox_files_of_all_other_files_break_no_rule() {
    let firefox = format::by_name("firefox").expect("a known format");
    let mut count = 0;
    for (path, contents) in profiles() {
        let Some(bytes) = written(&contents.profile, firefox) else {
            assert!(contents.profile.threads.is_empty(), "{}", path.display());
            continue;
        };
        let found = violations(&serde_json::from_slice(&bytes).expect("it is JSON"));
        let own = found.iter().find(|violation| !CARRIED_ALONG.iter().any(|known| violation.contains(known)));
        assert_eq!(own, None, "{}", path.display());
        let again = format::read(&bytes, &ReadOptions::default()).expect("it can be read again").profile;
        assert!(again == contents.profile, "{} comes back changed", path.display());
        count += 1;
    }
    assert!(count > 150, "{count} files");
}

#[test]
fn pprof_files_of_all_other_files_are_accepted_by_go() {
    if !has_tool("go") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    let pprof = format::by_name("pprof").expect("a known format");
    for (index, (path, contents)) in profiles().enumerate() {
        // Large ones take Go minutes.
        if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > 300_000) {
            continue;
        }
        let file = traceview.path(format!("{index}.pb"));
        let Some(bytes) = written(&contents.profile, pprof) else { continue };
        fs::write(&file, bytes).expect("there is room");
        // Its libraries are not on this machine, so names are not looked for. It fails the test when it complains.
        let _text = tool.run("-symbolize=none -top -nodecount=3", &[&file]);
    }
}

#[test]
fn chrome_traces_of_all_other_files_have_their_slices_and_flows() {
    let chrome = format::by_name("chrome").expect("a known format");
    let sum = |profile: &Profile, count: fn(&Thread) -> usize| profile.threads.iter().map(count).sum::<usize>();
    let slices = |profile: &Profile| sum(profile, |thread| thread.slices.len());
    // Markers that last are slices of tracks of their own.
    let lasting = |profile: &Profile| {
        let lasts = |timing: &&MarkerTiming| matches!(timing, MarkerTiming::Interval(..) | MarkerTiming::Start(_));
        profile.threads.iter().map(|thread| thread.markers.timing.iter().filter(lasts).count()).sum::<usize>()
    };
    for (path, contents) in profiles() {
        let profile = contents.profile;
        let bytes = written(&profile, chrome).expect("it holds any profile");
        let again = format::read(&bytes, &ReadOptions::default()).expect("it can be read again").profile;
        let expected = slices(&profile);
        assert!((expected..=expected + lasting(&profile)).contains(&slices(&again)), "{}", path.display());
        assert_eq!(again.flows.len(), profile.flows.len(), "{}", path.display());
    }
}

#[test]
fn what_is_written_in_any_format_is_read_again_as_that_format() {
    for (path, contents) in profiles() {
        for format in format::written() {
            let threads = &contents.profile.threads;
            let has_samples = threads.iter().any(|thread| thread.samples.stack.iter().any(Option::is_some));
            let Some(bytes) = written(&contents.profile, format) else {
                assert!(!has_samples, "{} as {}", path.display(), format.name);
                continue;
            };
            let again = written(&contents.profile, format);
            assert!(again.as_ref() == Some(&bytes), "{} as {} is not the same twice", path.display(), format.name);
            match format::read(&bytes, &ReadOptions::default()) {
                Ok(again) => {
                    assert_eq!(again.format.name, format.name, "{}", path.display());
                    if format.name == "firefox" {
                        assert_eq!(total(&again.profile), total(&contents.profile), "{}", path.display());
                    }
                }
                // Of one frame each they look like any list of words and numbers.
                Err(_) if format.name == "collapsed" && !bytes.contains(&b';') => {}
                // Samples are all that some formats hold.
                Err(error) => assert!(!has_samples, "{} as {}: {error}", path.display(), format.name),
            }
        }
    }
}
