//! A program that was never run: threads that work in deep stacks and wait now and then.

use traceview_core::model::{
    CpuDelta, Crate, Frame, FrameId, Function, Nanos, OsId, Process, Profile, ProfileBuilder, StackId,
    StandardCategory, Thread, Time, Wait, WaitReason,
};

use crate::shared::Random;

const FUNCTIONS: usize = 400;
const CRATES: usize = 20;
const DEPTH: usize = 32;
const MS: i64 = 1_000_000;

/// A profile of one process with so many threads, each with so many samples at 1 kHz.
pub(crate) fn profile(threads: usize, samples: usize) -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    builder.meta_mut().interval = Some(Nanos(MS));
    let name = builder.string("synthetic");
    let process = builder.add_process(Process {
        pid: OsId::Number(1000),
        parent: None,
        name,
        command_line: vec![name],
        start: Some(Time(0)),
        end: None,
        exit: None,
    });
    let frames = frames(&mut builder);
    let mut random = Random(11);
    for number in 0..threads {
        let name = builder.string(&format!("worker-{number}"));
        let tid = OsId::Number(1000 + i64::try_from(number).expect("few threads"));
        let thread = Thread { is_main: number == 0, ..Thread::new(process, tid, name) };
        let thread = fill(&mut builder, thread, samples, &frames, &mut random);
        builder.add_thread(thread);
    }
    builder.finish().expect("it keeps the rules")
}

/// A frame of each function.
fn frames(builder: &mut ProfileBuilder) -> Vec<FrameId> {
    let categories = [
        StandardCategory::Workspace,
        StandardCategory::Dependency,
        StandardCategory::Dependency,
        StandardCategory::Std,
        StandardCategory::System,
    ];
    let frame = |number: usize| {
        let of = number % CRATES;
        let krate = builder.string(&format!("crate_{of}"));
        let version = Some(builder.string("1.2.3"));
        let origin = Some(builder.add_crate(Crate { name: krate, version }));
        let name = builder.string(&format!("crate_{of}::module_{}::Type<T, U>::method_{number}", number % 7));
        let function = builder.function(Function { origin, ..Function::named(name) });
        let category = Some(categories[of % categories.len()].id());
        let line = Some(u32::try_from(number).expect("few functions") + 1);
        builder.frame(Frame { category, line, ..Frame::of(function) })
    };
    (0..FUNCTIONS).map(frame).collect()
}

/// Samples of a random walk: each returns from a few calls and makes others. About each fiftieth is followed by a wait.
fn fill(
    builder: &mut ProfileBuilder,
    mut thread: Thread,
    samples: usize,
    frames: &[FrameId],
    random: &mut Random,
) -> Thread {
    let mut stack: Vec<StackId> = Vec::new();
    let mut now = random.below(MS);
    for _ in 0..samples {
        // Mostly near the leaf, at times far up.
        let mut returns = 0;
        while random.below(4) != 0 {
            returns += 1;
        }
        stack.truncate(stack.len().saturating_sub(returns));
        let depth = DEPTH - 4 + usize::try_from(random.below(8)).expect("not negative");
        while stack.len() < depth {
            // At every fourth depth there is a choice of what to call, elsewhere one function calls the next.
            let choice = if stack.len().is_multiple_of(4) { random.below(4) } else { 0 };
            let function = stack.len() * 12 + usize::try_from(choice).expect("not negative") * 3;
            stack.push(builder.stack(stack.last().copied(), frames[function % FUNCTIONS]));
        }
        now += MS;
        thread.samples.time.push(Time(now));
        thread.samples.stack.push(stack.last().copied());
        thread.samples.cpu.push(CpuDelta::new(Nanos(MS)));
        if random.below(50) == 0 {
            let duration = random.below(30 * MS);
            let syscall = Some(builder.string("futex"));
            thread.waits.push(Wait {
                start: Time(now + 1),
                duration: Nanos(duration),
                stack: stack.last().copied(),
                reason: WaitReason::Blocked,
                syscall,
                target: None,
                inferred: false,
            });
            now += duration;
        }
    }
    thread
}
