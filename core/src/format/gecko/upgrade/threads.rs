//! Threads, libraries, counters.

use serde_json::value::RawValue;

use super::super::read::Repairs;
use super::super::schema::{Counter, File, Flag, Id, Markers, SampleGroup, Str};
use super::threads_mut;

/// 1: markers stand in order of time, and threads name their processes' kinds.
pub(super) fn sort_markers_and_name_processes(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        if let Some(markers) = &mut thread.markers {
            sort_markers(markers);
        }
        if thread.process_type.is_none() {
            match thread.name.as_ref().map(|name| &*name.0) {
                Some("Content") => {
                    thread.process_type = json("\"tab\"");
                    thread.name = Some(Str("GeckoMain".into()));
                }
                Some("Plugin") => thread.process_type = json("\"plugin\""),
                _ => {}
            }
        }
    }
}

/// Puts markers of an old version in order of their times.
pub(super) fn sort_markers(markers: &mut Markers<'_>) {
    let Some(times) = markers.time.take() else { return };
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|left, right| times[*left].0.total_cmp(&times[*right].0));
    if let Some(names) = &mut markers.name {
        *names = order.iter().map(|row| names.get(*row).copied().unwrap_or_default()).collect();
    }
    if let Some(data) = &mut markers.data {
        *data = order.iter().map(|row| data.get_mut(*row).map(std::mem::take).unwrap_or_default()).collect();
    }
    markers.time = Some(order.into_iter().map(|row| times[row]).collect());
}

fn json(text: &'static str) -> Option<&'static RawValue> {
    serde_json::from_str(text).ok()
}

/// 2: libraries give path and name apart.
pub(super) fn name_debug_files(file: &mut File<'_>, _repairs: &mut Repairs) {
    let arch = file.meta.as_ref().and_then(|meta| meta.abi.clone());
    let arch = arch.map(|abi| if abi.0 == "x86_64-gcc3" { Str("x86_64".into()) } else { abi });
    for lib in threads_mut(file).flat_map(|thread| thread.libs.iter_mut().flatten()) {
        if lib.debug_name.is_none() {
            lib.debug_name = lib.pdb_name.take();
            lib.path = lib.name.take();
            lib.name = lib.debug_name.clone().map(|Str(name)| {
                let stem = name.strip_suffix(".pdb").map(str::to_owned);
                Str(stem.map_or(name, Into::into))
            });
            lib.arch.clone_from(&arch);
        }
    }
}

/// 14: processes have an id, made up if need be.
pub(super) fn name_processes_without_id(file: &mut File<'_>, _repairs: &mut Repairs) {
    for (index, thread) in threads_mut(file).enumerate() {
        if thread.pid == Id::Missing {
            thread.pid = Id::Text(format!("Unknown Process {}", index + 1));
        }
    }
}

/// 26 and 48: the samples of a counter stood in a group, then in a list of groups.
pub(super) fn ungroup_counters(file: &mut File<'_>, repairs: &mut Repairs) {
    for (index, counter) in file.counters.iter_mut().flatten().enumerate() {
        if counter.samples.is_none()
            && let Some(groups) = counter.sample_groups.take()
        {
            let groups = groups.get();
            let list = serde_json::from_str::<Vec<SampleGroup<'_>>>(groups).ok();
            let list = list.or_else(|| serde_json::from_str(groups).ok().map(|group| vec![group]));
            let more = list.as_ref().map_or(0, |list| list.len().saturating_sub(1)) as u64;
            let message = "of several groups of samples of a counter the first is read";
            repairs.count("counter-groups", message, more, || format!("counters[{index}].sampleGroups"));
            take_first(counter, list.unwrap_or_default());
        }
    }
}

fn take_first<'a>(counter: &mut Counter<'a>, groups: Vec<SampleGroup<'a>>) {
    counter.samples = groups.into_iter().next().and_then(|group| group.samples);
}

/// 37: the main thread of a Java machine has the name that tools go by.
pub(super) fn rename_java_thread(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        if thread.name.as_ref().is_some_and(|name| name.0 == "Java Main Thread") {
            thread.name = Some(Str("AndroidUI (JVM)".into()));
        }
    }
}

/// 46: main threads are marked; before, name and ids told.
pub(super) fn find_main_threads(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let by_name = thread.name.as_ref().is_some_and(|name| name.0 == "GeckoMain");
        let by_id = match (&thread.pid, &thread.tid) {
            // A name that was made up, for a process of which no more is known.
            (Id::Text(_), _) => true,
            (Id::Number(pid), Id::Text(tid)) => pid.to_string() == *tid,
            _ => false,
        };
        thread.is_main_thread = Some(Flag(by_name || by_id));
    }
}
