//! Slices as stacks, so that whatever lists and draws stacks can say where the time of slices went.

use crate::model::{
    Category, Frame, Function, Nanos, Process, Profile, ProfileBuilder, SampleTable, StackId, StringId, Thread,
    TimeRange, Values,
};

/// The slices of `profile` as samples, in a profile of their own: for each slice one at its start, whose stack is the slices
/// around it, and whose weight the time in `range` that it spent in no slice inside it, in ns.
/// [`Measure::Slices`](super::Measure::Slices) adds these up.
///
/// Slices of one name are one function. Threads keep their ids.
///
/// # Panics
/// Never for a profile, which keeps the rules of the model.
#[must_use]
pub fn slices_as_samples(profile: &Profile, range: TimeRange) -> Profile {
    let mut builder = ProfileBuilder::new();
    *builder.meta_mut() = profile.meta.clone();
    // Slices last longer than the samples that stand for them.
    if let Some(extent) = profile.extent() {
        (builder.meta_mut().recording_start, builder.meta_mut().recording_end) = (Some(extent.start), Some(extent.end));
    }
    for category in &profile.categories {
        let name = builder.string(profile.string(category.name));
        let subcategories = category.subcategories.iter().map(|name| builder.string(profile.string(*name))).collect();
        builder.add_category(Category { name, color: category.color, subcategories });
    }
    for process in &profile.processes {
        let name = builder.string(profile.string(process.name));
        builder.add_process(Process { name, command_line: Vec::new(), ..process.clone() });
    }
    let mut names = vec![None; profile.strings.len()];
    for thread in &profile.threads {
        let samples = samples(profile, thread, range, &mut names, &mut builder);
        let name = builder.string(profile.string(thread.name));
        let mut added = Thread::new(thread.process, thread.tid.clone(), name);
        (added.is_main, added.start, added.end, added.samples) = (thread.is_main, thread.start, thread.end, samples);
        builder.add_thread(added);
    }
    builder.finish().expect("the tables of a profile and stacks that the builder made")
}

/// The slices of one thread; `names` are the strings of `builder` by those of `profile`, as far as they are there.
fn samples(
    profile: &Profile,
    thread: &Thread,
    range: TimeRange,
    names: &mut [Option<StringId>],
    builder: &mut ProfileBuilder,
) -> SampleTable {
    let slices = &thread.slices;
    let mut own: Vec<i64> = Vec::with_capacity(slices.len());
    let mut stacks: Vec<StackId> = Vec::with_capacity(slices.len());
    for row in 0..slices.len() {
        let slice = slices.get(row);
        let Nanos(time) = range.overlap(slice.start, slice.duration);
        if let Some(parent) = slice.parent {
            own[parent.index()] -= time;
        }
        own.push(time);
        let name = *names[slice.name.index()].get_or_insert_with(|| builder.string(profile.string(slice.name)));
        let function = builder.function(Function::named(name));
        let frame = builder.frame(Frame { category: Some(slice.category), ..Frame::of(function) });
        let parent = slice.parent.map(|parent| stacks[parent.index()]);
        stacks.push(builder.stack(parent, frame));
    }
    SampleTable {
        time: slices.start.clone(),
        stack: stacks.into_iter().map(Some).collect(),
        weight: Values::Integer(own),
        ..SampleTable::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Measure, Selection, StackValues, call_tree, functions};
    use super::*;
    use crate::model::{OsId, Slice, SliceId, StandardCategory, Time};

    /// a 0–10 with b 2–5 (with c 3–4) and b 6–8; d 20–30.
    fn profile() -> Profile {
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string("main");
        let (parent, start, end, exit) = (None, None, None, None);
        let process = Process { pid: OsId::Number(1), parent, name, command_line: Vec::new(), start, end, exit };
        let process = builder.add_process(process);
        let thread = builder.add_thread(Thread::new(process, OsId::Number(1), name));
        for (name, from, to, parent, depth) in [
            ("a", 0, 10, None, 0),
            ("b", 2, 5, Some(0), 1),
            ("c", 3, 4, Some(1), 2),
            ("b", 6, 8, Some(0), 1),
            ("d", 20, 30, None, 0),
        ] {
            let slice = Slice {
                start: Time(from),
                duration: Nanos(to - from),
                name: builder.string(name),
                category: StandardCategory::Other.id(),
                parent: parent.map(SliceId::new),
                depth,
                lane: 0,
                args: None,
                incomplete: false,
            };
            builder.thread_mut(thread).slices.push(slice);
        }
        builder.finish().expect("a valid profile")
    }

    /// Name, own and total time of all.
    fn times(range: TimeRange) -> Vec<(String, f64, f64)> {
        let profile = slices_as_samples(&profile(), range);
        let values = StackValues::of(&profile, &Selection::default(), Measure::Slices).expect("times add up");
        let list = functions(&profile, &values);
        let name = |row: usize| profile.string(profile.functions.name[list.rows[row].function.index()]).to_owned();
        let mut times: Vec<_> =
            list.rows.iter().enumerate().map(|(row, one)| (name(row), one.own.value, one.total.value)).collect();
        times.sort_by(|a, b| a.0.cmp(&b.0));
        times
    }

    #[test]
    fn time_belongs_to_the_innermost_slice() {
        let expected = [("a", 5.0, 10.0), ("b", 4.0, 5.0), ("c", 1.0, 1.0), ("d", 10.0, 10.0)];
        assert_eq!(times(TimeRange::ALL), expected.map(|(name, own, total)| (name.to_owned(), own, total)));
        let tree_of = slices_as_samples(&profile(), TimeRange::ALL);
        let values = StackValues::of(&tree_of, &Selection::default(), Measure::Slices).expect("times add up");
        assert_eq!(call_tree(&tree_of, &values).whole.total.value, 20.0);
        assert_eq!(tree_of.extent(), profile().extent(), "also the time after the last start");
    }

    /// A table of all strings for each thread would be billions of rows.
    #[test]
    fn many_threads_and_many_strings_take_linear_time() {
        const MANY: usize = 50_000;
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string("main");
        let (parent, start, end, exit) = (None, None, None, None);
        let process = Process { pid: OsId::Number(1), parent, name, command_line: Vec::new(), start, end, exit };
        let process = builder.add_process(process);
        for index in 0..MANY {
            let name = builder.string(&index.to_string());
            builder.add_thread(Thread::new(process, OsId::Number(1), name));
        }
        let profile = builder.finish().expect("a valid profile");
        assert_eq!(slices_as_samples(&profile, TimeRange::ALL).threads.len(), MANY);
    }

    #[test]
    fn slices_count_as_far_as_they_lie_in_the_range() {
        let range = TimeRange { start: Time(4), end: Time(7) };
        let expected = [("a", 1.0, 3.0), ("b", 2.0, 2.0)];
        assert_eq!(times(range), expected.map(|(name, own, total)| (name.to_owned(), own, total)));
    }
}
