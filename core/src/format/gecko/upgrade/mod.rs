//! Older versions brought to the newest, one step after the other, each as small as what it changes for the model.
//!
//! Steps without a function only move or rename what the reader finds in either place, give defaults that are what the
//! reader takes for missing columns, or say what tools may write from then on:
//!
//! | versions | |
//! |---|---|
//! | 3, 5, 7, 13–15, 20, 23, 27, 40, 42, 43, 45 | columns and keys that come with a default, or go |
//! | 26, 48 | one function: samples of counters were in groups |
//! | 29, 58, 61, 66, 70 | the same under another name (weight, source, source ids, prefixes, libraries): the reader knows both |
//! | 41, 56, 60 | tables that threads share from then on: the model has one of each anyway |
//! | 49–51, 57, 64, 65, 67, 68 | new ways to write something |
//! | 62, 63 | how counters are drawn, which the reader derives where it is not said |
//! | 69 | another view for network markers, which tools add when they read what is written here |

mod addresses;
mod categories;
mod functions;
mod garbage_collection;
mod payloads;
mod phases;
mod schemas;
mod threads;

pub(super) use categories::{MARKER_CATEGORIES, USUAL_CATEGORIES, usual_category};
pub(super) use functions::is_dom_call;

use std::borrow::Cow;

use super::read::Repairs;
use super::schema::{Fields, File, Payload, Row, Str, Strings, Thread};

type Step = for<'a> fn(&mut File<'a>, &mut Repairs);

/// The steps by the version that they lead to, ascending.
const STEPS: &[(u32, Step)] = &[
    (1, threads::sort_markers_and_name_processes),
    (2, threads::name_debug_files),
    (4, functions::take_locations_from_names),
    (6, payloads::rename_type_of_dom_events),
    (8, payloads::shift_time_stamps),
    (9, garbage_collection::rename_fields),
    (10, payloads::stacks_to_causes),
    (11, phases::dom_events_to_pairs),
    (12, categories::replace_categories),
    (14, threads::name_processes_without_id),
    (16, payloads::type_by_name),
    (17, functions::find_script_entries),
    (18, functions::take_columns_from_files),
    (19, payloads::shift_network_times),
    (21, payloads::stacks_to_causes),
    (22, payloads::disk_io_to_file_io),
    (24, categories::guess_marker_categories),
    (25, payloads::number_windows),
    (26, threads::ungroup_counters),
    (28, categories::guess_marker_categories),
    (30, phases::times_to_phases),
    (31, phases::moments_of_tracing),
    (32, phases::latency_of_dom_events),
    (33, schemas::add_usual_schemas),
    (34, payloads::shift_causes),
    (35, payloads::rename_tabs),
    (36, functions::symbols_of_functions),
    (37, threads::rename_java_thread),
    (38, addresses::return_addresses_to_calls),
    (44, schemas::add_shown_fields),
    (46, threads::find_main_threads),
    (47, payloads::other_pids_to_text),
    (48, threads::ungroup_counters),
    (52, schemas::add_tracing_schemas),
    (53, categories::of_stacks_to_frames),
    (54, categories::implementations_to_subcategories),
    (55, schemas::split_static_fields),
    (59, payloads::list_windows),
];

/// Brings a file of version `from` to the newest.
pub(super) fn upgrade(file: &mut File<'_>, from: u32, repairs: &mut Repairs) {
    if from < 30 {
        for (index, thread) in threads_mut(file).enumerate() {
            cut_markers(thread, index, repairs);
        }
    }
    for (_, step) in STEPS.iter().filter(|(version, _)| *version > from) {
        step(file, repairs);
    }
}

/// Brings what became of a raw file of version `from` up to its time: what raw and processed files changed alike.
pub(super) fn upgrade_raw(file: &mut File<'_>, from: u64, repairs: &mut Repairs) {
    let steps: [(u64, Step); 4] = [
        (17, payloads::number_windows),
        (22, schemas::add_usual_schemas),
        (23, payloads::rename_tabs),
        (26, schemas::add_shown_fields),
    ];
    for (_, step) in steps.iter().filter(|(version, _)| *version > from) {
        step(file, repairs);
    }
}

/// Cuts what is behind the length that a table of markers says, as long as steps add to it.
fn cut_markers(thread: &mut Thread<'_>, index: usize, repairs: &mut Repairs) {
    let Some(markers) = &mut thread.markers else { return };
    let Some(length) = markers.length.take().and_then(|length| length.0) else { return };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let columns = [
        markers.name.as_mut().map(|column| cut(column, length)),
        markers.time.as_mut().map(|column| cut(column, length)),
        markers.data.as_mut().map(|column| cut(column, length)),
        markers.category.as_mut().map(|column| cut(column, length)),
    ];
    if columns.contains(&Some(true)) {
        repairs.wrong_length(|| format!("threads[{index}].markers.length"));
    }
}

fn cut<T>(column: &mut Vec<T>, length: usize) -> bool {
    let is_longer = column.len() > length;
    column.truncate(length);
    is_longer
}

/// All threads.
fn threads_mut<'f, 'a>(file: &'f mut File<'a>) -> impl Iterator<Item = &'f mut Thread<'a>> {
    file.threads.iter_mut().flatten()
}

/// All data of markers that can hold `word`, as fields.
fn fields_with<'f, 'a>(thread: &'f mut Thread<'a>, word: &'static str) -> impl Iterator<Item = &'f mut Fields<'a>> {
    let data = thread.markers.iter_mut().flat_map(|markers| markers.data.iter_mut().flatten());
    data.filter(move |data| data.may_hold(word)).filter_map(Payload::fields_mut)
}

/// A string of a thread's own table.
fn text<'t>(strings: &'t [Option<Str<'_>>], row: Row) -> Option<&'t str> {
    row.get().and_then(|row| strings.get(row as usize)).map(|text| text.as_ref().map_or("", |text| &text.0))
}

/// The strings of a thread's own table.
fn strings_of<'t, 'a>(table: &'t Option<Strings<'a>>) -> &'t [Option<Str<'a>>] {
    table.as_ref().map_or(&[], |strings| strings)
}

/// Adds a string to a thread's own table.
fn add_text<'a>(strings: &mut Vec<Option<Str<'a>>>, text: impl Into<Cow<'a, str>>) -> Row {
    let row = u32::try_from(strings.len()).map_or(Row::BAD, Row);
    strings.push(Some(Str(text.into())));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_order() {
        assert!(STEPS.is_sorted_by_key(|(version, _)| *version));
    }
}
