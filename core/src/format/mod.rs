//! File formats. [`FORMATS`] is the one table of them: detection, endings, help and dialogs are derived from it.
//!
//! Readers take bytes and writers an [`io::Write`]; neither touches a file system. A format knows the model and
//! nothing of other formats.

pub mod chrome;
pub mod collapsed;
pub mod cpuprofile;
pub mod gecko;
pub mod perf_script;
pub mod pprof;
pub mod speedscope;

mod compression;
mod decimal;
mod deep_stacks;
mod foreign;
mod import_report;
mod input;
mod json_error;
mod json_keys;
mod json_scan;
mod json_value;
mod omissions;
mod room;
mod text_lines;
mod v8_profile;

pub use input::read_input;

use std::io::{self, Write};
use std::path::Path;

use self::chrome::calltree::{CallTree, CallTreeError, CallTreeQuery, CallTreeSource};
use self::deep_stacks::Stacks;
use crate::analysis::Measure;
use crate::model::check::Invalid;
use crate::model::{Profile, Warning};

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// The name it has on the command line.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The endings of its files, the usual one first; those that end in `.gz` mean compressed files.
    pub extensions: &'static [&'static str],
    /// Whether a file of this format can begin with these decompressed bytes.
    pub begins: fn(&[u8]) -> bool,
    /// Whether decompressed bytes look like a file of this format.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads decompressed bytes.
    pub read: Reader,
    /// Writes uncompressed; `None` for a format that is only read.
    pub write: Option<Writer>,
}

/// Reads decompressed bytes, which are not too many. Gives the version of the format as well, if it has versions.
pub type Reader = fn(&[u8], &ReadOptions) -> Result<(Profile, Option<u64>), ReadError>;

/// Writes a profile uncompressed. Gives what had to be repaired or left out.
pub type Writer = fn(&Profile, &WriteOptions, &mut dyn Write) -> Result<Vec<Warning>, WriteError>;

/// All formats, in the order in which they are tried on a file.
pub const FORMATS: &[Format] = &[
    Format {
        name: "firefox",
        title: "Firefox Profiler",
        extensions: &[".json.gz", ".json"],
        begins: gecko::begins,
        sniff: gecko::sniff,
        read: |bytes, _| gecko::read(bytes),
        write: Some(gecko::write),
    },
    Format {
        name: "pprof",
        title: "pprof",
        extensions: &[".pb.gz"],
        begins: pprof::begins,
        sniff: pprof::sniff,
        read: |bytes, _| Ok((pprof::read(bytes)?, None)),
        write: Some(|profile, options, out| deep_stacks::write(Stacks::Merged, pprof::write, profile, options, out)),
    },
    Format {
        name: "chrome",
        title: "Chrome trace",
        extensions: &[".trace.json", ".trace.json.gz"],
        begins: chrome::begins,
        sniff: chrome::sniff,
        read: |bytes, options| Ok((chrome::read_bound(bytes, options.flow_binding)?, None)),
        write: Some(chrome::write),
    },
    Format {
        name: "speedscope",
        title: "speedscope",
        extensions: &[".speedscope.json"],
        begins: speedscope::begins,
        sniff: speedscope::sniff,
        read: |bytes, _| Ok((speedscope::read(bytes)?, None)),
        write: Some(|profile, options, out| {
            deep_stacks::write(Stacks::PerSample, speedscope::write, profile, options, out)
        }),
    },
    Format {
        name: "cpuprofile",
        title: "V8 CPU profile",
        extensions: &[".cpuprofile"],
        begins: cpuprofile::begins,
        sniff: cpuprofile::sniff,
        read: |bytes, _| Ok((cpuprofile::read(bytes)?, None)),
        write: None,
    },
    // Texts last: they have no mark, only a shape.
    Format {
        name: "perf-script",
        title: "perf script",
        extensions: &[".perf"],
        begins: perf_script::begins,
        sniff: perf_script::sniff,
        read: |bytes, _| Ok((perf_script::read(bytes)?, None)),
        write: None,
    },
    Format {
        name: "collapsed",
        title: "collapsed stacks",
        extensions: &[".folded", ".collapsed"],
        begins: collapsed::begins,
        sniff: collapsed::sniff,
        read: |bytes, _| Ok((collapsed::read(bytes)?, None)),
        write: Some(|profile, options, out| {
            deep_stacks::write(Stacks::Merged, collapsed::write, profile, options, out)
        }),
    },
];

/// How a file is to be written.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// In which format.
    pub format: &'static Format,
    /// Whether it is compressed with gzip.
    pub gzip: bool,
}

/// What goes into a file besides what always does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// Waits, in formats that would otherwise hold CPU time only.
    pub off_cpu: bool,
    /// Which of several sample types is meant, in formats that hold only one or show one first; `None`: the
    /// [default](crate::analysis::default_measure).
    pub measure: Option<Measure>,
}

/// What was in a file, and what sort of file it is.
#[derive(Debug)]
pub struct Contents {
    /// The profile.
    pub profile: Profile,
    /// The format of the file.
    pub format: &'static Format,
    /// The version of the format, if it has versions.
    pub version: Option<u64>,
}

/// Limits of reading, and how to read what can be read in several ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// The most bytes that a file may have once decompressed.
    pub max_size: u64,
    /// What the phases of a trace's flows are bound to.
    pub flow_binding: FlowBinding,
    /// The [name](Format::name) of the format that the file is [named] for: what it is taken for where its content
    /// looks like none, and can be that.
    pub named: Option<&'static str>,
}

/// What the phases of a Chrome trace's flows are bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FlowBinding {
    /// What a person expects: what begins at their times, else the slice around them, or behind an end.
    #[default]
    Auto,
    /// What Chrome DevTools binds them to, faults included.
    DevTools,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It looks like no format of [`FORMATS`].
    #[error(
        "not a profile in a known format ({}): {}", names(|_| true),
        hint.map_or_else(|| format!("the file begins with {start:?}"), str::to_owned)
    )]
    UnknownFormat {
        /// Its first bytes, as text.
        start: String,
        /// What it is instead, and what to do with it.
        hint: Option<&'static str>,
    },
    /// The compressed data ends too soon.
    #[error(
        "the {method} data is cut off after {decompressed} decompressed bytes: the file is incomplete, copy or record it \
         again"
    )]
    TruncatedCompression {
        /// How it is compressed.
        method: &'static str,
        /// How much could be decompressed.
        decompressed: u64,
    },
    /// The compressed data is damaged.
    #[error("the {method} data is damaged after {decompressed} decompressed bytes: {reason}")]
    DamagedCompression {
        /// How it is compressed.
        method: &'static str,
        /// How much could be decompressed.
        decompressed: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// It is larger than [`ReadOptions::max_size`].
    #[error("the file is larger than {max_size} bytes when decompressed (`--max-size` allows more)")]
    TooLarge {
        /// The limit.
        max_size: u64,
    },
    /// It has more rows than a file of its size can, so that they would fill the memory.
    #[error(
        "{place}: up to here the file has more frames, threads or names than a profile of its size can (they would take \
         more than {} MiB of memory): it is damaged, or made to do harm", most >> 20
    )]
    TooDense {
        /// Where: a byte offset or a path into the file's structure.
        place: String,
        /// The most bytes of memory that such a file's rows may take.
        most: usize,
    },
    /// The text ends too soon.
    #[error("the file ends too early, at byte {offset}: it is incomplete, copy or record it again")]
    Truncated {
        /// Where it ends.
        offset: usize,
    },
    /// The text is not what the format demands.
    #[error("byte {offset}: {message}")]
    Syntax {
        /// Where.
        offset: usize,
        /// What is wrong, with the offending value.
        message: String,
    },
    /// The format is known, but not this version of it.
    #[error("version {found} of {format} is not supported ({supported} is)")]
    Version {
        /// The format, for people.
        format: &'static str,
        /// The version that the file says it has.
        found: String,
        /// What can be read.
        supported: String,
    },
    /// It is in a form that the format had before its present one.
    #[error("this is the old {form} form of {format}, which is not read: `{converts}` converts it")]
    OldForm {
        /// The format, for people.
        format: &'static str,
        /// Which of its old forms.
        form: &'static str,
        /// A command that converts such a file.
        converts: &'static str,
    },
    /// A value is not what the format demands.
    #[error("{path}: {message}")]
    Value {
        /// Where: a path into the file's structure.
        path: String,
        /// What is wrong, with the offending value.
        message: String,
    },
    /// The values contradict each other.
    #[error("the file breaks a rule of profiles: {0}")]
    Invalid(#[from] Invalid),
}

/// Why a profile could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format is one that is only read.
    #[error("{format} files are read, not written (these are: {})", names(is_written))]
    ReadOnly {
        /// The format, for people.
        format: &'static str,
    },
    /// The format cannot express such a profile.
    #[error("a {format} file cannot hold this profile: {reason}")]
    Unsupported {
        /// The format, for people.
        format: &'static str,
        /// What it cannot express.
        reason: &'static str,
    },
}

/// A name or ending that belongs to no format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownFormat {
    /// No format has this name.
    #[error("unknown format {name:?} (known: {})", names(|_| true))]
    Name {
        /// The name.
        name: String,
    },
    /// No format that is written has the ending of this file.
    #[error("{path:?} has no ending of a format that is written (known: {})", written_extensions())]
    Extension {
        /// The file.
        path: String,
    },
}

impl Format {
    /// How it is written where nothing else is said: as its usual ending says.
    #[must_use]
    pub fn target(&'static self) -> Target {
        Target { format: self, gzip: self.extensions[0].ends_with(".gz") }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_size: 4 << 30, flow_binding: FlowBinding::Auto, named: None }
    }
}

impl From<serde_json::Error> for WriteError {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}

/// Reads a file of any known format, compressed or not. Its content decides which, and its name only where that leaves it
/// open.
///
/// What a reader had to repair or leave out is in the profile's [warnings](crate::model::Meta::warnings).
///
/// # Errors
/// If the bytes are not a whole, sound file of a known format.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Contents, ReadError> {
    let bytes = compression::decompress(bytes, options.max_size)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty);
    }
    let is_named = |format: &&Format| options.named == Some(format.name) && (format.begins)(&bytes);
    let format = FORMATS.iter().find(|format| (format.sniff)(&bytes)).or_else(|| FORMATS.iter().find(is_named));
    let format = format.ok_or_else(|| unknown_format(&bytes))?;
    let (profile, version) = (format.read)(&bytes, options)?;
    Ok(Contents { profile, format, version })
}

/// The flows that Chrome DevTools finds in a trace, compressed or not: `{flows:[[{name,cat,ph,ts,pid,tid},…],…],
/// unbound:{reason:count}}` with the values as they are written. `None` for files that are no Chrome traces.
///
/// # Errors
/// If the bytes are not a whole, sound file.
pub fn devtools_flows(bytes: &[u8], options: &ReadOptions) -> Result<Option<String>, ReadError> {
    let bytes = compression::decompress(bytes, options.max_size)?;
    let format = FORMATS.iter().find(|format| (format.sniff)(&bytes));
    if format.is_none_or(|format| format.name != "chrome") {
        return Ok(None);
    }
    let table = chrome::events::EventTable::read(&bytes)?;
    Ok(Some(chrome::flows::devtools_json(&table, &chrome::flows::devtools(&table))))
}

/// The call tree that Chrome DevTools makes of a trace or a CPU profile of V8, compressed or not, for its AI assistant.
///
/// # Errors
/// If the bytes are not a whole, sound file, or DevTools makes none of it.
pub fn devtools_call_tree(
    bytes: &[u8],
    options: &ReadOptions,
    query: &CallTreeQuery,
) -> Result<CallTree, CallTreeError> {
    let bytes = compression::decompress(bytes, options.max_size)?;
    let format = FORMATS.iter().find(|format| (format.sniff)(&bytes));
    match format.map(|format| format.name) {
        Some("chrome") => {
            let table = chrome::events::EventTable::read(&bytes)?;
            chrome::calltree::call_tree(CallTreeSource::Trace(&table), query)
        }
        Some("cpuprofile") => chrome::calltree::call_tree(CallTreeSource::CpuProfile(json_keys::start(&bytes)), query),
        _ => Err(CallTreeError::OtherFormat),
    }
}

fn unknown_format(bytes: &[u8]) -> ReadError {
    let start = &bytes[..bytes.len().min(24)];
    ReadError::UnknownFormat { start: String::from_utf8_lossy(start).into_owned(), hint: foreign::hint(bytes) }
}

/// Whether a file that begins with `start` can be one that [`read`] takes, compressed or not. With a few kilobytes of a
/// file it need not be read to its end to see that it is none.
#[must_use]
pub fn can_begin(start: &[u8]) -> bool {
    compression::is_compressed(start) || FORMATS.iter().any(|format| (format.begins)(start))
}

/// Writes `profile` as `target` says. Equal profiles give equal bytes. Returns what the format made the writer repair
/// or leave out.
///
/// # Errors
/// If `out` fails, or the format cannot express the profile.
pub fn write(
    profile: &Profile,
    target: Target,
    options: &WriteOptions,
    mut out: impl Write,
) -> Result<Vec<Warning>, WriteError> {
    let write = target.format.write.ok_or(WriteError::ReadOnly { format: target.format.title })?;
    let repairs = if target.gzip {
        compression::compress(&mut out, |out| write(profile, options, out))?
    } else {
        write(profile, options, &mut out)?
    };
    out.flush()?;
    Ok(repairs)
}

/// The format called `name`.
///
/// # Errors
/// If there is none; the message lists those that are.
pub fn by_name(name: &str) -> Result<&'static Format, UnknownFormat> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| UnknownFormat::Name { name: name.to_owned() })
}

/// The formats that can be written.
pub fn written() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| is_written(format))
}

fn is_written(format: &Format) -> bool {
    format.write.is_some()
}

/// The name of the format that a file, compressed or not, is called for; `None` unless it is one that has only its shape to be
/// known by.
#[must_use]
pub fn named(path: &Path) -> Option<&'static str> {
    let file = path.file_name()?.to_str()?.to_ascii_lowercase();
    let file = [".gz", ".zst"].iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(&file);
    let mut texts = FORMATS.iter().filter(|format| ["collapsed", "perf-script"].contains(&format.name));
    let is_named = |format: &&Format| format.extensions.iter().any(|extension| file.ends_with(extension));
    texts.find(is_named).map(|format| format.name)
}

/// What the ending of `path` says to write.
///
/// # Errors
/// If it says nothing; the message lists the known endings.
pub fn by_extension(path: &Path) -> Result<Target, UnknownFormat> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    // The longest ending wins: `.trace.json` is more than `.json`.
    written()
        .flat_map(|format| format.extensions.iter().map(move |extension| (format, *extension)))
        .filter(|(_, extension)| file.ends_with(extension))
        .max_by_key(|(_, extension)| extension.len())
        .map(|(format, extension)| Target { format, gzip: extension.ends_with(".gz") })
        .ok_or_else(|| UnknownFormat::Extension { path: path.display().to_string() })
}

/// The names of the formats that `is_meant`, as words.
fn names(is_meant: fn(&Format) -> bool) -> String {
    let meant = FORMATS.iter().filter(|format| is_meant(format));
    meant.map(|format| format.name).collect::<Vec<_>>().join(", ")
}

fn written_extensions() -> String {
    written().flat_map(|format| format.extensions).copied().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_say_format_and_compression() {
        for (path, format, gzip) in [
            ("a.json", "firefox", false),
            ("dir.x/b.JSON.GZ", "firefox", true),
            ("weird.gz.json", "firefox", false),
            ("cpu.pb.gz", "pprof", true),
            ("a.folded", "collapsed", false),
            ("a.speedscope.json", "speedscope", false),
        ] {
            let target = by_extension(Path::new(path)).expect(path);
            assert_eq!((target.format.name, target.gzip), (format, gzip), "{path}");
        }
    }

    #[test]
    fn the_name_decides_where_the_content_does_not() {
        let lines = b"GET /x;y=1 200\nGET /z;y=1 404\n";
        let format = |path: &str, bytes: &[u8]| {
            let options = ReadOptions { named: named(Path::new(path)), ..ReadOptions::default() };
            read(bytes, &options).ok().map(|contents| contents.format.name)
        };
        assert_eq!(format("access.log", lines), None);
        assert_eq!(format("requests.folded", lines), Some("collapsed"));
        assert_eq!(format("requests.collapsed.gz", lines), Some("collapsed"));
        assert_eq!(format("requests.perf", lines), None, "it can't be that");
        assert_eq!(format("stacks.perf", b"main;work 5\n"), Some("collapsed"), "the content comes first");
        assert_eq!(format("a.json", lines), None);
    }

    #[test]
    fn an_unknown_ending_lists_the_known_ones() {
        let error = by_extension(Path::new("out/profile.xyz")).expect_err("no such ending").to_string();
        assert_eq!(
            error,
            format!(r#""out/profile.xyz" has no ending of a format that is written (known: {})"#, written_extensions())
        );
        assert!(by_extension(Path::new("/")).is_err());
        assert!(by_extension(Path::new("json")).is_err());
        let error = by_name("word").expect_err("no such format").to_string();
        assert_eq!(error, format!(r#"unknown format "word" (known: {})"#, names(|_| true)));
        assert!(error.contains("firefox, pprof"), "{error}");
        assert_eq!(by_name("firefox").expect("a format").extensions[0], ".json.gz");
    }

    #[test]
    fn what_is_no_profile_is_refused_by_name() {
        let read = |bytes: &[u8]| read(bytes, &ReadOptions::default()).expect_err("no profile").to_string();
        assert_eq!(read(b""), "the file is empty");
        assert_eq!(read(b" \n"), "the file is empty");
        assert_eq!(
            read(b"\x02LF and so on"),
            format!(
                r#"not a profile in a known format ({}): the file begins with "\u{{2}}LF and so on""#,
                names(|_| true)
            )
        );
        assert!(read(b"{}").contains("not a profile"));
    }
}
