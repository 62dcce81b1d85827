//! Formats that write each stack out from its root. In the model stacks share what they have in common, so that a million
//! samples of a recursion a million frames deep are a little file; written out they would fill any disk.
//!
//! Where stacks average more than 1024 frames, and all together have more than 67 million, each keeps its share of these
//! (128 to 1024) of its outermost frames and the innermost one, with a frame between that says what is missing: totals of
//! what all began with and self times stay as they are.

use rustc_hash::FxHashSet;

use super::omissions::Omissions;
use super::{WriteError, WriteOptions, Writer};
use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, StackId, Thread, Warning};

/// How much is written out.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// So many frames of a stack are written however many stacks there are.
    fewest: u32,
    /// Stacks that average no more frames than this are written however many they are.
    deepest: u32,
    /// So many frames are written however deep the stacks are.
    always: u64,
}

const LIMITS: Limits = Limits { fewest: 128, deepest: 1024, always: 1 << 26 };

/// What stands for the frames that are missing.
const CUT_FRAME: &str = "[frames cut: too deep]";

/// How a format has the stacks of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stacks {
    /// Once each, with a sum.
    Merged,
    /// For each sample.
    PerSample,
}

/// Writes with `write`, in a format that has `stacks` written out, after stacks were cut that would make too much of it.
///
/// # Errors
/// What `write` says.
pub(super) fn write(
    stacks: Stacks,
    write: Writer,
    profile: &Profile,
    options: &WriteOptions,
    out: &mut dyn std::io::Write,
) -> Result<Vec<Warning>, WriteError> {
    match LIMITS.cut(profile, stacks) {
        None => write(profile, options, out),
        Some((cut, warning)) => {
            let mut warnings = write(&cut, options, out)?;
            warnings.push(warning);
            Ok(warnings)
        }
    }
}

/// How many frames each stack has.
fn depths(profile: &Profile) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(profile.stacks.len());
    for prefix in &profile.stacks.prefix {
        depths.push(prefix.map_or(1, |prefix| depths[prefix.index()] + 1));
    }
    depths
}

impl Limits {
    /// `profile` with its deep stacks cut, and how many those are; `None` where it can be written as it is.
    fn cut(self, profile: &Profile, stacks: Stacks) -> Option<(Profile, Warning)> {
        let depths = depths(profile);
        if depths.iter().all(|depth| *depth <= self.deepest) {
            return None;
        }
        let kept = Kept(self.kept(profile, &depths, stacks)?);
        Some((kept.without_deep_stacks(profile, &depths), kept.warning(profile, &depths)))
    }

    /// How many outermost frames of each stack can be written; `None`: all.
    fn kept(self, profile: &Profile, depths: &[u32], stacks: Stacks) -> Option<u32> {
        let (mut written, mut frames) = (0_u64, 0_u64);
        for thread in &profile.threads {
            let mut known = FxHashSet::default();
            for stack in stacks_of(thread).filter(|stack| stacks == Stacks::PerSample || known.insert(*stack)) {
                written += 1;
                frames += u64::from(depths[stack.index()]);
            }
        }
        let kept = u32::try_from(self.always / written.max(1)).unwrap_or(u32::MAX).clamp(self.fewest, self.deepest);
        (frames > self.always.max(written * u64::from(self.deepest))).then_some(kept)
    }
}

/// How many outermost frames a stack keeps that is cut.
#[derive(Clone, Copy, Debug)]
struct Kept(u32);

impl Kept {
    /// Whether a stack with so many frames is cut.
    fn is_deep(self, depth: u32) -> bool {
        depth > self.0 + 1
    }

    fn without_deep_stacks(self, profile: &Profile, depths: &[u32]) -> Profile {
        let mut builder = ProfileBuilder::with_stacks_to_replace(profile);
        let name = builder.string(CUT_FRAME);
        let function = builder.function(Function { kind: FunctionKind::Unsymbolized, ..Function::named(name) });
        let missing = builder.frame(Frame::of(function));
        let callers = &profile.stacks.prefix;
        let mut new: Vec<Option<StackId>> = Vec::with_capacity(callers.len());
        // Of each stack with missing frames the part that ends in the frame that says so.
        let mut ends: Vec<Option<StackId>> = Vec::with_capacity(callers.len());
        for (row, (caller, frame)) in callers.iter().zip(&profile.stacks.frame).enumerate() {
            let end = caller.filter(|_| self.is_deep(depths[row])).map(|caller| match ends[caller.index()] {
                Some(end) => end,
                None => builder.stack(callers[caller.index()].and_then(|kept| new[kept.index()]), missing),
            });
            ends.push(end);
            let caller = end.or_else(|| caller.and_then(|caller| new[caller.index()]));
            new.push(Some(builder.stack(caller, *frame)));
        }
        builder.replace_stacks(&new);
        builder.finish().expect("other stacks of the same frames break no rule")
    }

    fn warning(self, profile: &Profile, depths: &[u32]) -> Warning {
        let of_thread = |thread: &Thread| stacks_of(thread).filter(|stack| self.is_deep(depths[stack.index()])).count();
        let count = profile.threads.iter().map(|thread| of_thread(thread) as u64).sum();
        let first = Omissions::of(profile).first_thread(of_thread);
        let message = format!(
            "stacks of samples and waits are cut ({count}): such a file has each in full, and would be too large; their \
             outermost {} frames and the innermost one are written",
            self.0
        );
        Warning { code: "stack-cut".to_owned(), message, count, first }
    }
}

/// The stacks of a thread's samples and waits.
fn stacks_of(thread: &Thread) -> impl Iterator<Item = StackId> {
    thread.samples.stack.iter().chain(&thread.waits.stack).flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Target, by_name, write};
    use crate::model::{OsId, Process};

    /// Samples at each of so many depths of a recursion.
    fn recursion(deepest: usize) -> Profile {
        let mut builder = ProfileBuilder::with_standard_categories();
        let names = ["main", "walk", "leaf"].map(|name| builder.string(name));
        let [main, walk, leaf] = names.map(|name| {
            let function = builder.function(Function::named(name));
            builder.frame(Frame::of(function))
        });
        let process = builder.add_process(Process::new(OsId::Number(1), names[0]));
        let mut thread = Thread::new(process, OsId::Number(1), names[0]);
        thread.timed = false;
        let mut caller = builder.stack(None, main);
        for _ in 0..deepest - 2 {
            caller = builder.stack(Some(caller), walk);
            thread.samples.stack.push(Some(builder.stack(Some(caller), leaf)));
        }
        builder.add_thread(thread);
        builder.finish().expect("a valid profile")
    }

    const SMALL: Limits = Limits { fewest: 4, deepest: 16, always: 1000 };

    #[test]
    fn a_deep_recursion_does_not_fill_the_disk() {
        let profile = recursion(60);
        let (cut, warning) = SMALL.cut(&profile, Stacks::Merged).expect("it is too deep");
        assert_eq!((warning.code.as_str(), warning.count), ("stack-cut", 60 - 17));
        assert_eq!(warning.first.as_deref(), Some("thread main"));
        let names = |profile: &Profile, stack| {
            let name = |node| profile.string(profile.functions.name[profile.leaf_function(node).index()]).to_owned();
            let mut names: Vec<String> = profile.stacks.ancestors(stack).map(name).collect();
            names.reverse();
            names
        };
        let pairs = profile.threads[0].samples.stack.iter().zip(&cut.threads[0].samples.stack);
        for (before, after) in pairs.map(|(before, after)| (before.expect("a stack"), after.expect("a stack"))) {
            let (before, after) = (names(&profile, before), names(&cut, after));
            if before.len() <= 17 {
                assert_eq!(before, after);
            } else {
                assert_eq!((&after[..16], &*after[16], &*after[17]), (&before[..16], CUT_FRAME, "leaf"));
                assert_eq!(after.len(), 18);
            }
        }
    }

    #[test]
    fn what_is_not_too_much_stays_as_it_is() {
        let few = recursion(40);
        assert!(SMALL.cut(&few, Stacks::Merged).is_none(), "fewer than 1000 frames");
        assert!(LIMITS.cut(&recursion(3000), Stacks::PerSample).is_none());
    }

    #[test]
    fn equal_stacks_count_once_where_they_are_merged() {
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string("f");
        let function = builder.function(Function::named(name));
        let frame = builder.frame(Frame::of(function));
        let stack = (0..100).fold(None, |caller, _| Some(builder.stack(caller, frame)));
        let process = builder.add_process(Process::new(OsId::Number(1), name));
        let mut thread = Thread::new(process, OsId::Number(1), name);
        thread.timed = false;
        thread.samples.stack = vec![stack; 50];
        builder.add_thread(thread);
        let profile = builder.finish().expect("a valid profile");
        assert!(SMALL.cut(&profile, Stacks::Merged).is_none());
        assert_eq!(SMALL.cut(&profile, Stacks::PerSample).map(|(_, warning)| warning.count), Some(50));
    }

    #[test]
    fn files_say_what_was_cut() {
        // Written in full these are 72 million frames.
        let profile = recursion(12_000);
        let mut file = Vec::new();
        let target = Target { gzip: false, ..by_name("collapsed").expect("a format").target() };
        let warnings = write(&profile, target, &WriteOptions::default(), &mut file).expect("memory does not fail");
        assert!(file.len() < 80 << 20, "{} MiB", file.len() >> 20);
        let cut = warnings.iter().find(|warning| warning.code == "stack-cut").expect("it is said");
        assert_eq!((cut.count, cut.first.as_deref()), (12_000 - 1025, Some("thread main")));
    }
}
