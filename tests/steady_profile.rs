//! A profile that is the same on every machine, with boxes of known place: for tests of what is drawn.

use std::fs;
use std::path::Path;

use traceview_core::format::{self, WriteOptions};
use traceview_core::model::{
    CpuDelta, Frame, Function, Meta, Nanos, OsId, Process, ProcessId, Profile, ProfileBuilder, StackId,
    StandardCategory, Thread, Time, Values,
};

const MILLISECOND: i64 = 1_000_000;
/// Of each thread, one a millisecond.
const SAMPLES: i64 = 1000;
/// More functions than a table shows at once.
const HELPERS: i64 = 40;

/// Writes [`steady_profile`] as a file that can be opened.
///
/// # Panics
/// When it can't be written.
pub fn write_steady_profile(path: &Path) {
    let mut bytes = Vec::new();
    let target = format::by_name("firefox").expect("it is our own format").target();
    format::write(&steady_profile(), target, &WriteOptions::default(), &mut bytes).expect("memory takes it");
    fs::write(path, bytes).expect("there is room");
}

/// One second of two threads that are always busy: in `steady` they are for 400 ms in `work::load`, for 300 ms in
/// `work::parse`, and for as long in `work::hash`; in `worker` for 25 ms in each of forty functions.
///
/// # Panics
/// Never, unless the model's rules have changed.
#[must_use]
pub fn steady_profile() -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    *builder.meta_mut() = Meta { name: "steady".to_owned(), interval: Some(Nanos(MILLISECOND)), ..Meta::default() };
    let name = builder.string("steady");
    let process = builder.add_process(Process {
        pid: OsId::Number(1),
        parent: None,
        name,
        command_line: vec![name],
        start: Some(Time(0)),
        end: Some(Time(SAMPLES * MILLISECOND)),
        exit: None,
    });
    let run = call(&mut builder, None, "work::run");
    let [load, parse, hash] =
        ["work::load", "work::parse", "work::hash"].map(|name| call(&mut builder, Some(run), name));
    add_thread(&mut builder, process, "steady", |at| match at {
        0..400 => load,
        400..700 => parse,
        _ => hash,
    });
    let helpers: Vec<StackId> =
        (0..HELPERS).map(|number| call(&mut builder, Some(run), &format!("work::helper_{number}"))).collect();
    add_thread(&mut builder, process, "worker", |at| helpers[at / (SAMPLES / HELPERS) as usize]);
    builder.finish().expect("the rules of the model are kept")
}

fn call(builder: &mut ProfileBuilder, caller: Option<StackId>, name: &str) -> StackId {
    let name = builder.string(name);
    let function = builder.function(Function::named(name));
    let frame = builder.frame(Frame { category: Some(StandardCategory::Workspace.id()), ..Frame::of(function) });
    builder.stack(caller, frame)
}

fn add_thread(builder: &mut ProfileBuilder, process: ProcessId, name: &str, stack: impl Fn(usize) -> StackId) {
    let is_main = name == "steady";
    let name = builder.string(name);
    let mut thread = Thread::new(process, OsId::Number(if is_main { 1 } else { 2 }), name);
    thread.is_main = is_main;
    thread.samples.time = (0..SAMPLES).map(|at| Time(at * MILLISECOND)).collect();
    thread.samples.stack = (0..SAMPLES as usize).map(|at| Some(stack(at))).collect();
    thread.samples.cpu = vec![CpuDelta::new(Nanos(MILLISECOND)); SAMPLES as usize];
    thread.samples.weight = Values::Ones;
    builder.add_thread(thread);
}
