//! A recording's file, read as plain JSON: just enough of the Firefox Profiler's format to ask which functions were on
//! the stacks of which threads, and for how much CPU time. What the file must hold is checked elsewhere.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

/// The threads of a file and the tables that they share.
#[derive(Debug)]
pub struct File {
    /// The threads.
    pub threads: Vec<Thread>,
    frames: Vec<Frame>,
    stacks: Vec<Node>,
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Its process.
    pub pid: String,
    /// Its samples, in order.
    pub samples: Vec<Sample>,
}

/// A sample: CPU time since the one before, and the stack.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// CPU nanoseconds.
    pub cpu_ns: u64,
    /// The innermost node of its stack.
    pub stack: Option<usize>,
}

/// A function on a stack.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The function's name.
    pub function: String,
    /// The name of its crate, or else of its library; empty if there is neither.
    pub library: String,
}

#[derive(Debug)]
struct Node {
    frame: usize,
    prefix: Option<usize>,
}

impl File {
    /// Reads a file, compressed or not.
    ///
    /// # Panics
    /// When it is not such a file.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let root = read_json(path);
        let shared = &root["shared"];
        let strings = &shared["stringArray"];
        let text =
            |index: &Value| index.as_u64().map_or("", |index| strings[to_usize(index)].as_str().expect("strings"));
        let frames = column(&shared["frameTable"], "func")
            .map(|function| {
                let function = to_usize(function.as_u64().expect("a frame has a function"));
                let resource =
                    shared["funcTable"]["resource"][function].as_i64().and_then(|index| usize::try_from(index).ok());
                Frame {
                    function: text(&shared["funcTable"]["name"][function]).to_owned(),
                    library: resource.map_or("", |index| text(&shared["resourceTable"]["name"][index])).to_owned(),
                }
            })
            .collect();
        let stacks = column(&shared["stackTable"], "frame")
            .zip(column(&shared["stackTable"], "prefix"))
            .map(|(frame, prefix)| Node {
                frame: to_usize(frame.as_u64().expect("a stack node has a frame")),
                prefix: prefix.as_u64().map(to_usize),
            })
            .collect();
        let unit = match root["meta"]["sampleUnits"]["threadCPUDelta"].as_str() {
            Some("ns") => 1.0,
            Some("µs") => 1e3,
            other => panic!("unit of CPU times: {other:?}"),
        };
        let threads = root["threads"].as_array().expect("threads");
        Self { threads: threads.iter().map(|thread| read_thread(thread, unit)).collect(), frames, stacks }
    }

    /// The frames of a stack, from the innermost outwards.
    pub fn frames(&self, stack: Option<usize>) -> impl Iterator<Item = &Frame> {
        let nodes = std::iter::successors(stack, |&node| self.stacks[node].prefix);
        nodes.map(|node| &self.frames[self.stacks[node].frame])
    }

    /// CPU time of all samples with this function anywhere on the stack.
    #[must_use]
    pub fn cpu_below(&self, function: &str) -> u64 {
        self.cpu_where(|frames| frames.iter().any(|frame| is_function(&frame.function, function)))
    }

    /// CPU time of all samples.
    #[must_use]
    pub fn cpu(&self) -> u64 {
        self.cpu_where(|_| true)
    }

    /// CPU time of the samples whose frames (innermost first) are as wanted. Each stack is looked at once.
    pub fn cpu_where(&self, wanted: impl Fn(&[&Frame]) -> bool) -> u64 {
        let mut by_stack: HashMap<Option<usize>, u64> = HashMap::new();
        for sample in self.threads.iter().flat_map(|thread| &thread.samples) {
            *by_stack.entry(sample.stack).or_default() += sample.cpu_ns;
        }
        let is_wanted = |stack: &Option<usize>| wanted(&self.frames(*stack).collect::<Vec<_>>());
        by_stack.iter().filter(|&(stack, &cpu_ns)| cpu_ns > 0 && is_wanted(stack)).map(|(_, cpu_ns)| cpu_ns).sum()
    }

    /// The threads of that name.
    pub fn threads_named(&self, name: &str) -> impl Iterator<Item = &Thread> {
        self.threads.iter().filter(move |thread| thread.name == name)
    }
}

/// Whether a demangled name, `crate::module::function`, is that of this function.
#[must_use]
pub fn is_function(demangled: &str, function: &str) -> bool {
    demangled.rsplit("::").next() == Some(function)
}

/// The file's JSON.
///
/// # Panics
/// When it has none.
#[must_use]
pub fn read_json(path: &Path) -> Value {
    let mut bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut json = Vec::new();
        GzDecoder::new(bytes.as_slice()).read_to_end(&mut json).expect("whole gzip data");
        bytes = json;
    }
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_thread(thread: &Value, unit: f64) -> Thread {
    let samples = &thread["samples"];
    let cpu_ns = |index: usize| {
        let delta = samples["threadCPUDelta"][index].as_f64().unwrap_or(0.0);
        // Not negative, and a recording is shorter than the centuries that would overflow.
        (delta * unit).round() as u64
    };
    Thread {
        name: thread["name"].as_str().expect("a thread has a name").to_owned(),
        pid: thread["pid"].as_str().expect("a thread has a process").to_owned(),
        samples: column(samples, "stack")
            .enumerate()
            .map(|(index, stack)| Sample { cpu_ns: cpu_ns(index), stack: stack.as_u64().map(to_usize) })
            .collect(),
    }
}

fn column<'a>(table: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    table[name].as_array().unwrap_or_else(|| panic!("no column `{name}`")).iter()
}

fn to_usize(index: u64) -> usize {
    usize::try_from(index).expect("an index of a table in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_walked_outwards_and_times_have_their_unit() {
        let json = r#"{
            "meta": {"sampleUnits": {"threadCPUDelta": "µs"}},
            "shared": {
                "stringArray": ["main", "app::work", "app", "libc.so.6", "memset"],
                "frameTable": {"func": [0, 1, 2]},
                "funcTable": {"name": [0, 1, 4], "resource": [0, 0, 1]},
                "resourceTable": {"name": [2, 3]},
                "stackTable": {"frame": [0, 1, 2], "prefix": [null, 0, 1]}
            },
            "threads": [{"name": "t", "pid": "7", "samples": {"stack": [2, null, 1], "threadCPUDelta": [5, null, 2]}}]
        }"#;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.json");
        fs::write(&path, json).unwrap();
        let file = File::read(&path);
        let innermost = file.threads[0].samples[0].stack;
        let frames: Vec<_> = file.frames(innermost).map(|f| (f.function.as_str(), f.library.as_str())).collect();
        assert_eq!(frames, [("memset", "libc.so.6"), ("app::work", "app"), ("main", "app")]);
        assert_eq!((file.cpu(), file.cpu_below("work"), file.cpu_below("memset")), (7_000, 7_000, 5_000));
        assert_eq!(file.cpu_where(|frames| frames.first().is_some_and(|leaf| leaf.library == "app")), 2_000);
    }
}
