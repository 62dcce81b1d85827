//! Tracks of asynchronous work. They are threads of the model that no system had; their ids say so.

use crate::model::{OsId, Thread};

/// The id of the track for spans of a category and an outermost name, as far as it is of one.
pub(super) fn id(category: Option<&str>, name: Option<&str>) -> String {
    match (category, name) {
        (Some(category), Some(name)) => format!("async {category} {name}"),
        (Some(one), None) | (None, Some(one)) => format!("async {one}"),
        (None, None) => "async".to_owned(),
    }
}

/// Whether a thread is such a track.
pub(super) fn is_track(thread: &Thread) -> bool {
    let OsId::Text(id) = &thread.tid else { return false };
    let only_spans = thread.samples.is_empty() && thread.waits.is_empty();
    only_spans && (&**id == "async" || id.starts_with("async "))
}
