//! Writes a large made-up profile to stdout, to measure what a format costs:
//!
//! ```sh
//! cargo build --release -p traceview-core --example write_large
//! time target/release/examples/write_large pprof 1000000 > large.pb.gz
//! ```
//!
//! The arguments are a format, or `none` to measure the profile alone, and how many samples it has. Every sample is of one
//! of half as many stacks; these are 24 frames deep and share their outer frames, as those of programs do.

use std::error::Error;
use std::io;

use traceview_core::format::{self, WriteOptions};
use traceview_core::model::{
    CpuDelta, Frame, FrameId, Function, Library, LibraryId, Mapping, Nanos, OsId, Process, ProcessId, Profile,
    ProfileBuilder, StackId, SymbolStatus, Thread, Time,
};

const THREADS: usize = 8;
const FUNCTIONS: u32 = 20_000;
/// Frames of a function.
const PLACES: u32 = 3;
const DEPTH: u32 = 24;
const BASE: u64 = 0x5555_0000_0000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (format, samples) = (args.next().ok_or("which format?")?, args.next().ok_or("how many samples?")?.parse()?);
    let profile = profile(samples)?;
    if format == "none" {
        return Ok(());
    }
    let target = format::by_name(&format)?.target();
    format::write(&profile, target, &WriteOptions::default(), io::stdout().lock())?;
    Ok(())
}

fn profile(samples: usize) -> Result<Profile, Box<dyn Error>> {
    let mut builder = ProfileBuilder::with_standard_categories();
    builder.meta_mut().interval = Some(Nanos(1_000_000));
    let name = builder.string("large");
    let process = builder.add_process(Process {
        pid: OsId::Number(1),
        parent: None,
        name,
        command_line: vec![name],
        start: None,
        end: None,
        exit: None,
    });
    let frames = frames(&mut builder, process);
    let mut random = Random(1);
    let stacks: Vec<StackId> = (0..samples / 2).map(|_| stack(&mut builder, &frames, &mut random)).collect();
    for thread in 0..THREADS {
        let name = builder.string(&format!("worker {thread}"));
        let id = builder.add_thread(Thread::new(process, OsId::Number(i64::try_from(thread)? + 1), name));
        let table = &mut builder.thread_mut(id).samples;
        for row in 0..samples / THREADS {
            table.time.push(Time(i64::try_from(row)? * 1_000_000));
            table.stack.push(Some(stacks[random.below(u32::try_from(stacks.len())?) as usize]));
            table.cpu.push(CpuDelta::new(Nanos(1_000_000 - i64::from(random.below(1000)))));
        }
    }
    Ok(builder.finish()?)
}

/// Functions of one mapped library.
fn frames(builder: &mut ProfileBuilder, process: ProcessId) -> Vec<FrameId> {
    let [name, path] = ["large", "/usr/bin/large"].map(|text| builder.string(text));
    let library: LibraryId = builder.add_library(Library {
        name,
        path,
        debug_name: name,
        debug_path: path,
        code_id: None,
        breakpad_id: name,
        arch: name,
        symbols: SymbolStatus::DebugInfo,
    });
    builder.add_mapping(Mapping {
        process,
        library,
        start: BASE,
        end: BASE + (1 << 32),
        file_offset: 0,
        base: Some(BASE),
        from: Time::ZERO,
        until: None,
    });
    let mut frames = Vec::new();
    for function in 0..FUNCTIONS {
        let [name, mangled] = [
            format!("crate_{}::module::Type<T>::function_{function}", function % 50),
            format!("_ZN8crate_{}6module8function_{function}17h0123456789abcdefE", function % 50),
        ]
        .map(|text| builder.string(&text));
        let function_id = builder.function(Function { full_name: Some(mangled), ..Function::named(name) });
        for place in 0..PLACES {
            frames.push(builder.frame(Frame {
                library: Some(library),
                address: Some(u64::from(function) * 64 + u64::from(place)),
                line: Some(function % 900 + place + 1),
                ..Frame::of(function_id)
            }));
        }
    }
    frames
}

/// A stack whose frames are chosen from the more the deeper they are.
fn stack(builder: &mut ProfileBuilder, frames: &[FrameId], random: &mut Random) -> StackId {
    let mut node = None;
    for depth in 0..DEPTH {
        let choices = (1 << depth.min(15)).min(u32::try_from(frames.len()).unwrap_or(u32::MAX));
        node = Some(builder.stack(node, frames[random.below(choices) as usize]));
    }
    node.expect("a stack is deep")
}

/// Xorshift: the same profile every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(((self.0 >> 32) * u64::from(limit)) >> 32).expect("less than the limit")
    }
}
