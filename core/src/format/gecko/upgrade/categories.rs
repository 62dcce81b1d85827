//! Categories of frames and markers.

use rustc_hash::FxHashMap;

use super::super::read::Repairs;
use super::super::schema::{Category, Fields, File, Payload, Row, Str};
use super::functions::is_dom_call;
use super::{strings_of, text, threads_mut};

/// The categories that Firefox had when files began to list them.
pub(in super::super) const USUAL_CATEGORIES: [(&str, &str); 8] = [
    ("Idle", "transparent"),
    ("Other", "grey"),
    ("JavaScript", "yellow"),
    ("Layout", "purple"),
    ("Graphics", "green"),
    ("DOM", "blue"),
    ("GC / CC", "orange"),
    ("Network", "lightblue"),
];
const IDLE: Row = Row(0);
const OTHER: Row = Row(1);
const SCRIPT: Row = Row(2);
const LAYOUT: Row = Row(3);
const GRAPHICS: Row = Row(4);
const DOM: Row = Row(5);
const GARBAGE: Row = Row(6);
const NETWORK: Row = Row(7);

/// What the bits of the first files mean.
const BITS: [(u32, Row); 9] = [
    (1 << 4, OTHER),
    (1 << 5, LAYOUT),
    (1 << 6, SCRIPT),
    (1 << 7, GARBAGE),
    (1 << 8, GARBAGE),
    (1 << 9, NETWORK),
    (1 << 10, GRAPHICS),
    (1 << 11, OTHER),
    (1 << 12, OTHER),
];

/// Functions by which frames without a category are known; up to the first space where that is all there is.
const BY_FUNCTION: [(&str, Row); 16] = [
    ("-[GeckoNSApplication nextEventMatchingMask:untilDate:inMode:dequeue:]", IDLE),
    ("base::MessagePumpDefault::Run(base::MessagePump::Delegate*)", IDLE),
    ("mozilla::widget::WinUtils::WaitForMessage(unsigned long)", IDLE),
    ("PollWrapper(_GPollFD*, unsigned int, int)", IDLE),
    ("mozilla::image::DecodePoolImpl::PopWorkLocked(bool)", IDLE),
    ("nsAppShell::ProcessGeckoEvents", OTHER),
    ("g_main_context_dispatch", OTHER),
    ("nsRefreshDriver::Tick", LAYOUT),
    ("nsLayoutUtils::GetFrameForPoint", LAYOUT),
    ("PresShell::DoFlushPendingNotifications", LAYOUT),
    ("PresShell::DoReflow", LAYOUT),
    ("layout::DoReflow", LAYOUT),
    ("Paint::PresShell::Paint", GRAPHICS),
    ("JS::EvaluateString", SCRIPT),
    ("JS::Compile", SCRIPT),
    ("js::RunScript", SCRIPT),
];

/// 12: categories are a list of the file; before, they were bits. Frames without one are told by their functions.
pub(super) fn replace_categories(file: &mut File<'_>, _repairs: &mut Repairs) {
    let usual = USUAL_CATEGORIES.iter().map(|(name, color)| usual_category(name, color));
    file.meta.get_or_insert_default().categories = Some(usual.collect::<Vec<_>>().into());
    for thread in threads_mut(file) {
        let (Some(frames), Some(functions), Some(strings)) =
            (&mut thread.frame_table, &thread.func_table, &thread.string_array)
        else {
            continue;
        };
        let rows = frames.func.as_ref().map_or(0, Vec::len);
        let categories = frames.category.get_or_insert_default();
        categories.resize(rows, Row::NONE);
        for (function, category) in frames.func.iter().flatten().zip(categories) {
            let function = function.get().map(|row| row as usize);
            let name = function.and_then(|row| functions.name.as_ref()?.get(row));
            let name = name.and_then(|name| text(strings, *name)).unwrap_or_default();
            let is_script = function.and_then(|row| functions.is_js.as_ref()?.get(row)).is_some_and(|flag| flag.0);
            if let Some(known) = by_function(name) {
                *category = known;
            } else if let Some(bit) = category.get() {
                let of_bit = BITS.iter().find(|(known, _)| *known == bit).map_or(OTHER, |(_, category)| *category);
                *category = if !is_script && is_dom_call(name) { DOM } else { of_bit };
            }
        }
    }
}

fn by_function(name: &str) -> Option<Row> {
    let short = name.split(' ').next().unwrap_or(name);
    BY_FUNCTION.iter().find(|(known, _)| *known == name || *known == short).map(|(_, category)| *category)
}

/// A category as those files have it.
pub(in super::super) fn usual_category(name: &'static str, color: &'static str) -> Category<'static> {
    let text = |text: &'static str| Some(Str(text.into()));
    Category {
        name: text(name),
        color: text(color),
        subcategories: Some(vec![text("Other")].into()),
        ..Category::default()
    }
}

/// The categories of markers by their types or names; all others are of "Other".
pub(in super::super) const MARKER_CATEGORIES: [(&str, &str); 18] = [
    ("DOMEvent", "DOM"),
    ("Navigation::DOMComplete", "DOM"),
    ("Navigation::DOMInteractive", "DOM"),
    ("Navigation::Start", "DOM"),
    ("UserTiming", "DOM"),
    ("CC", "GC / CC"),
    ("GCMajor", "GC / CC"),
    ("GCMinor", "GC / CC"),
    ("GCSlice", "GC / CC"),
    ("Paint", "Graphics"),
    ("VsyncTimestamp", "Graphics"),
    ("CompositorScreenshot", "Graphics"),
    ("JS allocation", "JavaScript"),
    ("Styles", "Layout"),
    ("nsRefreshDriver::Tick waiting for paint", "Layout"),
    ("Navigation", "Network"),
    ("Network", "Network"),
    ("Text", "Other"),
];

/// 24 and 28: markers have categories; where they have none it is guessed.
pub(super) fn guess_marker_categories(file: &mut File<'_>, _repairs: &mut Repairs) {
    let is_missing = |column: &Option<Vec<Row>>| column.as_ref().is_none_or(|column| column.contains(&Row::NONE));
    let has_any = threads_mut(file).any(|thread| {
        thread.markers.as_ref().is_some_and(|markers| is_missing(&markers.category) && markers.name.is_some())
    });
    if !has_any {
        return;
    }
    let categories = file.meta.get_or_insert_default().categories.get_or_insert_default();
    let mut rows = FxHashMap::default();
    for (name, color) in USUAL_CATEGORIES {
        let known = |category: &Category<'_>| category.name.as_ref().is_some_and(|known| known.0 == name);
        let row = categories.iter().position(known).unwrap_or_else(|| {
            categories.0.push(usual_category(name, color));
            categories.len() - 1
        });
        rows.insert(name, u32::try_from(row).map_or(Row::BAD, Row));
    }
    for thread in threads_mut(file) {
        let (Some(markers), Some(strings)) = (&mut thread.markers, &thread.string_array) else { continue };
        let names = markers.name.as_deref().unwrap_or_default();
        let categories = markers.category.get_or_insert_default();
        categories.resize(names.len().max(categories.len()), Row::NONE);
        for (row, category) in categories.iter_mut().enumerate().filter(|(_, category)| **category == Row::NONE) {
            let data = markers.data.as_ref().and_then(|data| data.get(row)).and_then(Payload::fields);
            let by_type = data.and_then(|fields| kind_of(&fields));
            let name = names.get(row).and_then(|name| text(strings, *name)).unwrap_or_default();
            let key = by_type.as_deref().unwrap_or(name);
            let of_key =
                MARKER_CATEGORIES.iter().find(|(known, _)| *known == key).map_or("Other", |(_, category)| *category);
            *category = rows.get(of_key).copied().unwrap_or_default();
        }
    }
}

/// The type of a marker, or what a tracing marker is of.
fn kind_of(fields: &Fields<'_>) -> Option<String> {
    match fields.str("type")? {
        kind if kind == "tracing" => Some(fields.str("category").unwrap_or_default()),
        kind => Some(kind),
    }
}

/// 53: stacks have no categories of their own any more. Some tools wrote none for frames.
pub(super) fn of_stacks_to_frames(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let (Some(stacks), Some(frames)) = (&mut thread.stack_table, &mut thread.frame_table) else { continue };
        let categories = stacks.category.take().unwrap_or_default();
        let subcategories = stacks.subcategory.take().unwrap_or_default();
        if frames.category.is_some() {
            continue;
        }
        let rows = frames.func.as_ref().map_or(0, Vec::len);
        let (mut of_frames, mut sub_of_frames) = (vec![Row::NONE; rows], vec![Row::NONE; rows]);
        for (stack, frame) in stacks.frame.iter().flatten().enumerate() {
            if let Some(frame) = frame.get().map(|row| row as usize).filter(|row| *row < rows) {
                of_frames[frame] = categories.get(stack).copied().unwrap_or_default();
                sub_of_frames[frame] = subcategories.get(stack).copied().unwrap_or_default();
            }
        }
        (frames.category, frames.subcategory) = (Some(of_frames), Some(sub_of_frames));
    }
}

/// 54: how a script frame was compiled is its subcategory. Before, files without subcategories had it in a column.
pub(super) fn implementations_to_subcategories(file: &mut File<'_>, _repairs: &mut Repairs) {
    let Some(categories) = file.meta.as_mut().and_then(|meta| meta.categories.as_mut()) else { return };
    let has_others = |category: &Category<'_>| category.subcategories.as_ref().is_some_and(|names| names.len() > 1);
    let is_script = |category: &Category<'_>| category.name.as_ref().is_some_and(|name| name.0 == "JavaScript");
    let script = categories.iter().position(is_script);
    let script = script.filter(|_| !categories.iter().any(has_others));
    let mut rows: FxHashMap<String, Row> = FxHashMap::default();
    for thread in file.threads.iter_mut().flatten() {
        let Some(frames) = &mut thread.frame_table else { continue };
        let (Some(script), Some(column)) = (script, frames.implementation.take()) else { continue };
        let strings = strings_of(&thread.string_array);
        let count = column.len();
        let (of_frames, sub_of_frames) =
            (frames.category.get_or_insert_default(), frames.subcategory.get_or_insert_default());
        of_frames.resize(count.max(of_frames.len()), Row::NONE);
        sub_of_frames.resize(count.max(sub_of_frames.len()), Row::NONE);
        for (frame, name) in column.into_iter().enumerate() {
            let Some(name) = text(strings, name) else { continue };
            let names = categories[script].subcategories.get_or_insert_with(|| vec![Some(Str("Other".into()))].into());
            let row = *rows.entry(name.to_owned()).or_insert_with(|| {
                names.push(Some(Str(format!("JIT ({name})").into())));
                u32::try_from(names.len() - 1).map_or(Row::BAD, Row)
            });
            of_frames[frame] = u32::try_from(script).map_or(Row::BAD, Row);
            sub_of_frames[frame] = row;
        }
    }
}
