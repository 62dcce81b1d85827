//! Locations, functions and mappings.

use super::{WITH_WAITS, written, written_with};
use crate::analysis::fixture::Fixture;
use crate::model::{
    Frame, FrameId, Function, FunctionKind, Library, LibraryId, Mapping, ProcessId, Profile, ProfileBuilder, StackId,
    StandardCategory, SymbolStatus, Time, Values,
};

/// `main` at 0x1010 with `inner` inlined into `outer` inlined into it; `main` at 0x1020; unnamed code of the program and
/// of a library that is not mapped; code without a file.
struct CodeFixture {
    fixture: Fixture,
    inlined: [FrameId; 3],
    main: FrameId,
    unnamed: FrameId,
    unmapped: FrameId,
    in_memory: FrameId,
}

fn code() -> CodeFixture {
    let mut fixture = Fixture::new();
    let builder = &mut fixture.builder;
    let names = ["main", "outer", "inner", "_ZN4main", "demo+0x1fff", "ghost+0x5000", "[code in memory]"];
    let [main, outer, inner, mangled, unnamed, ghost, memory] = names.map(|name| builder.string(name));
    let demo = LibraryId::new(0);
    let build_id = builder.string("00ff");
    let [name, path] = ["ghost", "/lib/ghost (deleted)"].map(|text| builder.string(text));
    let library = Library {
        name,
        path,
        debug_name: name,
        debug_path: path,
        code_id: Some(build_id),
        breakpad_id: build_id,
        arch: name,
        symbols: SymbolStatus::Stripped,
    };
    let ghost_library = builder.add_library(library);
    for (library, process_start) in [(LibraryId::new(1), 0x7000_0000), (demo, 0x5555_0000), (demo, 0x6666_0000)] {
        builder.add_mapping(Mapping {
            process: ProcessId::new(0),
            library,
            start: process_start,
            end: process_start + 0x2000,
            file_offset: 0x800,
            // Code is a page further in memory than in the file, as lld has it.
            base: Some(process_start - 0x1000),
            from: Time(0),
            until: None,
        });
    }
    let main = builder.function(Function { full_name: Some(mangled), line: Some(3), ..Function::named(main) });
    // A full name that is not another one.
    let outer = builder.function(Function { full_name: Some(outer), ..Function::named(outer) });
    let inner = builder.function(Function::named(inner));
    let kind = FunctionKind::Unsymbolized;
    let [unnamed, ghost, memory] =
        [unnamed, ghost, memory].map(|name| builder.function(Function { kind, ..Function::named(name) }));
    let at = |function, library, address| Frame { library, address: Some(address), ..Frame::of(function) };
    let inlined = |function, inline_depth, line| Frame {
        inline_depth,
        line: Some(line),
        column: Some(2),
        ..at(function, Some(demo), 0x1010)
    };
    let inlined = [inlined(main, 0, 30), inlined(outer, 1, 20), inlined(inner, 2, 10)].map(|row| builder.frame(row));
    let [main, unnamed, unmapped, in_memory] = [
        at(main, Some(demo), 0x1020),
        at(unnamed, Some(demo), 0x1fff),
        at(ghost, Some(ghost_library), 0x5000),
        at(memory, None, 0x9999_1234),
    ]
    .map(|row| builder.frame(row));
    CodeFixture { fixture, inlined, main, unnamed, unmapped, in_memory }
}

fn stack(builder: &mut ProfileBuilder, frames: &[FrameId]) -> StackId {
    let node = frames.iter().fold(None, |node, frame| Some(builder.stack(node, *frame)));
    node.expect("a stack has a frame")
}

fn profile_of(mut fixture: Fixture, stacks: &[&[FrameId]]) -> Profile {
    let thread = fixture.thread("main", 1);
    for (time, frames) in (0..).zip(stacks) {
        let stack = stack(&mut fixture.builder, frames);
        fixture.sample(thread, time, Some(stack), Some(1));
    }
    fixture.finish()
}

#[test]
fn inlined_functions_are_lines_of_one_location() {
    let CodeFixture { fixture, inlined: [a, b, c], main, .. } = code();
    // It calls itself from the same place, and is called by itself from another.
    let profile = profile_of(fixture, &[&[main, a, b, c], &[main, a, b, c, a, b, c], &[main, a], &[main, a, b, c]]);
    let file = written(&profile);
    let values: Vec<_> = file.root.sample.iter().map(|sample| (file.stack(sample), sample.value[0])).collect();
    let expected = [("inner+outer+main;main", 2), ("inner+outer+main;inner+outer+main;main", 1), ("main;main", 1)];
    assert_eq!(values, expected.map(|(stack, count)| (stack.to_owned(), count)));
    let sample = &file.root.sample[0];
    let location = file.location(sample.location_id[0]);
    let lines: Vec<_> = location.line.iter().map(|line| (line.line, line.column)).collect();
    assert_eq!(lines, [(10, 2), (20, 2), (30, 2)]);
    assert_eq!(location.address, 0x5555_0010, "the base is at 0x5554f000");
    let recursion = &file.root.sample[1].location_id;
    assert_eq!((recursion[0], recursion[1]), (location.id, location.id));
    assert_eq!(file.root.location.len(), 3, "two at 0x1010, which differ in their lines, and the caller's");
}

#[test]
fn readable_and_mangled_names_differ() {
    let CodeFixture { fixture, inlined: [a, b, c], .. } = code();
    let file = written(&profile_of(fixture, &[&[a, b, c]]));
    let names: Vec<_> = file
        .root
        .function
        .iter()
        .map(|function| (file.text(function.name), file.text(function.system_name), function.start_line))
        .collect();
    assert_eq!(names, [("inner", "", 0), ("outer", "", 0), ("main", "_ZN4main", 3)]);
}

#[test]
fn a_mapping_with_unresolved_addresses_is_written_twice() {
    let CodeFixture { fixture, main, unnamed, unmapped, in_memory, .. } = code();
    let file = written(&profile_of(fixture, &[&[main, unnamed], &[main, unmapped], &[main, in_memory], &[main]]));
    let mappings: Vec<_> = file
        .root
        .mapping
        .iter()
        .map(|row| {
            let flags = [row.has_functions, row.has_filenames, row.has_line_numbers, row.has_inline_frames];
            assert_eq!(flags, [row.has_functions; 4]);
            (file.text(row.filename), row.memory_start, row.memory_limit, row.file_offset, row.has_functions)
        })
        .collect();
    assert_eq!(
        mappings,
        [
            // The program first, once for all processes; then what has no samples too.
            ("/usr/lib/demo", 0x5555_0000, 0x5555_2000, 0x800, true),
            ("/usr/lib/demo", 0x5555_0000, 0x5555_2000, 0x800, false),
            ("/usr/lib/libc.so.6", 0x7000_0000, 0x7000_2000, 0x800, true),
            ("/lib/ghost", 0, 0x6000, 0, false),
            ("[anon]", 0x9999_1000, 0x9999_2000, 0, false),
        ]
    );
    assert_eq!(file.text(file.root.mapping[3].build_id), "00ff");
    let leaves: Vec<_> = file
        .root
        .sample
        .iter()
        .map(|sample| {
            let leaf = file.location(sample.location_id[0]);
            (file.stack(sample), leaf.address, file.mapping_of(leaf).id)
        })
        .collect();
    let expected = [
        ("[demo];main", 0x5555_0fff, 2),
        ("[ghost];main", 0x5000, 4),
        ("[code in memory];main", 0x9999_1234, 5),
        ("main", 0x5555_0020, 1),
    ];
    assert_eq!(leaves, expected.map(|(stack, address, mapping)| (stack.to_owned(), address, mapping)));
}

#[test]
fn the_program_is_first_and_resolved_even_without_names() {
    let CodeFixture { fixture, unnamed, .. } = code();
    let mut fixture = fixture;
    let thread = fixture.thread("main", 1);
    let cut = fixture.stack("[cut: too deep]");
    let stack = fixture.builder.stack(Some(cut), unnamed);
    fixture.sample(thread, 1, Some(stack), Some(1));
    let file = written(&fixture.finish());
    assert_eq!(file.stack(&file.root.sample[0]), "[demo];[cut: too deep]");
    let mapping = |index: usize| file.location(file.root.sample[0].location_id[index]).mapping_id;
    // Whoever looks for names must not look at what is no address.
    assert_eq!((mapping(0), mapping(1)), (2, 1));
    assert!(file.root.mapping[0].has_functions && !file.root.mapping[1].has_functions);
}

#[test]
fn the_kernel_and_what_is_no_code_have_a_line_and_a_mapping() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    fixture
        .samples(thread, &[("main;[kernel] read", 1), ("[cut: why];work", 1), ("[not sampled: end]", 1), ("a+0x1", 1)]);
    let file = written(&fixture.finish());
    let leaf_mapping = |index: usize| {
        let leaf = file.location(file.root.sample[index].location_id[0]);
        file.text(file.mapping_of(leaf).filename)
    };
    assert_eq!(leaf_mapping(0), "[kernel]");
    assert_eq!(leaf_mapping(2), "/usr/lib/demo");
    assert_eq!(leaf_mapping(3), "/usr/lib/libc.so.6");
    assert_eq!(file.stack(&file.root.sample[3]), "[libc.so.6]");
}

#[test]
fn stacks_that_differ_in_what_the_file_does_not_know_are_one() {
    let CodeFixture { mut fixture, inlined: [a, b, c], main, .. } = code();
    // The same code in another category.
    let category = Some(StandardCategory::Jit.id());
    let [other_a, other_b] = [a, b].map(|frame| {
        let row = fixture.builder.tables().frames.get(frame);
        fixture.builder.frame(Frame { category, ..row })
    });
    let file = written(&profile_of(
        fixture,
        &[
            &[main, a, b, c, main],
            &[main, other_a, b, c, main],
            &[main, a, other_b, c, main],
            &[main, a],
            &[main, other_a],
        ],
    ));
    let values: Vec<_> = file.root.sample.iter().map(|sample| (file.stack(sample), sample.value[0])).collect();
    assert_eq!(values, [("main;inner+outer+main;main".to_owned(), 3), ("main;main".to_owned(), 2)]);
}

#[test]
fn samples_that_count_nothing_leave_nothing() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let (main, idle) = (fixture.stack("main"), fixture.stack("main;idle"));
    fixture.sample(thread, 1, Some(main), Some(5));
    fixture.sample(thread, 2, Some(idle), Some(0));
    fixture.builder.thread_mut(thread).samples.weight = Values::Integer(vec![1, 0]);
    fixture.wait(thread, 3, 0, Some(idle), "futex");
    let file = written_with(&fixture.finish(), &WITH_WAITS);
    assert_eq!(file.values().into_keys().collect::<Vec<_>>(), ["main"]);
}

#[test]
fn a_profile_without_libraries_is_of_its_program() {
    let mut builder = ProfileBuilder::new();
    builder.meta_mut().name = "script.js".to_owned();
    let file = written(&builder.finish().expect("an empty profile keeps the rules"));
    assert_eq!(file.text(file.root.mapping[0].filename), "script.js");
    assert_eq!(file.types(), ["samples/count"]);
}

#[test]
fn many_stacks_go_out_in_parts_and_stay_in_order() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    for time in 0..3_000 {
        let stack = fixture.stack(&format!("main;f{}:{};g{time}", time % 7, time % 11 + 1));
        fixture.sample(thread, time, Some(stack), Some(time + 1));
    }
    let file = written(&fixture.finish());
    assert_eq!(file.root.sample.len(), 3_000);
    let cpu: Vec<i64> = file.root.sample.iter().map(|sample| sample.value[1]).collect();
    assert_eq!(cpu, (1..=3_000).collect::<Vec<i64>>());
    assert_eq!(file.stack(&file.root.sample[2_999]), format!("g2999;f{};main", 2_999 % 7));
}
