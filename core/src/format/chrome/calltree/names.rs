//! What an entry is called, where its code is, and what makes it the same as another.

use rustc_hash::FxHashMap;

use super::CallTreeError;
use super::entries::{Entry, What};
use super::profile::CpuProfile;
use super::titles;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::{EventTable, TextId};
use crate::format::chrome::scan::Value;

/// The url of what V8 counts of its own runtime.
const RUNTIME: &str = "native V8Runtime";

/// What entries are of. A CPU profile that is a file of its own has no events.
#[derive(Clone, Copy)]
pub(super) struct Entries<'p, 'a> {
    pub table: Option<&'p EventTable<'a>>,
    pub profile: Option<&'p CpuProfile<'a>>,
}

impl<'a> Entries<'_, 'a> {
    /// The name of an event as it is in the file; calls are called `ProfileCall`.
    pub(super) fn raw_name(&self, what: What) -> &str {
        match what {
            What::Call(_) => "ProfileCall",
            What::Event(row) => self.text(|table| table.name[row as usize]),
        }
    }

    /// The function of a call.
    pub(super) fn function(&self, what: What) -> Option<&str> {
        match (what, self.profile) {
            (What::Call(node), Some(profile)) => Some(&profile.nodes[node as usize].frame.name),
            _ => None,
        }
    }

    /// Whether DevTools shows such entries.
    pub(super) fn is_visible(&self, what: What) -> Result<bool, CallTreeError> {
        let What::Event(row) = what else { return Ok(true) };
        let category = self.category(row)?;
        // Times of the console and of the page itself are shown whatever they are called.
        let is_always = category == "devtools.extension"
            || category.contains("blink.console")
            || category.contains("blink.user_timing");
        Ok(is_always || titles::title(self.raw_name(what)).is_some())
    }

    /// Whether everything before it on the thread has ended.
    pub(super) fn is_top_level(&self, what: What) -> Result<bool, CallTreeError> {
        let What::Event(row) = what else { return Ok(false) };
        let category = self.category(row)?;
        Ok(match self.raw_name(what) {
            "RunTask" => category.contains("disabled-by-default-devtools.timeline"),
            "JSRoot" => category == "toplevel",
            _ => false,
        })
    }

    fn category(&self, row: u32) -> Result<&str, CallTreeError> {
        let Some(table) = self.table else { return Ok("") };
        let category = table.category[row as usize].map(|category| table.text(category));
        category.ok_or(CallTreeError::NoCategory { offset: table.offset[row as usize] })
    }

    /// What DevTools calls the entry.
    pub(super) fn name(&self, what: What) -> String {
        let (What::Event(row), Some(table)) = (what, self.table) else {
            let function = self.function(what).unwrap_or_default();
            return if function.is_empty() { "(anonymous)".to_owned() } else { function.to_owned() };
        };
        if let Some(Value::Word(b"true" | b"false")) = table.value(row as usize, "idle") {
            return "Frame".to_owned();
        }
        let data = || self.args(row).object("data");
        match self.raw_name(what) {
            "EventDispatch" => format!("Event: {}", data().text("type").unwrap_or_else(|| "undefined".to_owned())),
            "WebSocketCreate" => match data().text("url").filter(|url| !url.is_empty()) {
                Some(url) => format!("WebSocket opened: {url}"),
                None => "WebSocket opened".to_owned(),
            },
            "WebSocketDestroy" => "WebSocket closed".to_owned(),
            name => titles::title(name).unwrap_or(name).to_owned(),
        }
    }

    /// Where the code is that the entry is about.
    pub(super) fn url(&self, what: What, images: &Images) -> Option<String> {
        let url = match (what, self.profile) {
            (What::Call(node), Some(profile)) => Some(profile.nodes[node as usize].frame.url.clone().into_owned()),
            (What::Call(_), None) => None,
            (What::Event(row), _) => self.url_of_event(row, images),
        };
        url.filter(|url| !url.is_empty())
    }

    fn url_of_event(&self, row: u32, images: &Images) -> Option<String> {
        let name = self.raw_name(What::Event(row));
        // Decoded is what was painted before.
        let (row, name) = match name {
            "Decode Image" if !self.has_stack(row) => (*images.painted.get(&row)?, "PaintImage"),
            _ => (row, name),
        };
        let args = self.args(row);
        let data = args.object("data");
        let text = |of: &Arguments<'_>, key| match of.get(key) {
            Some(Value::Text(text)) => Some(text.decode().into_owned()),
            _ => None,
        };
        match data.list("stackTrace").first() {
            Some(Value::Object(frame)) => return text(&Arguments::of(frame), "url"),
            Some(_) => return None,
            None => {}
        }
        if name == "ParseHTML" { text(&args.object("beginData"), "url") } else { text(&data, "url") }
    }

    fn has_stack(&self, row: u32) -> bool {
        !self.args(row).object("data").list("stackTrace").is_empty()
    }

    /// Entries next to each other for which this is equal are one.
    pub(super) fn group(&self, entry: &Entry) -> String {
        let row = match (entry.what, self.profile) {
            (What::Event(row), _) => row,
            (What::Call(node), profile) => {
                return profile.map_or_else(String::new, |profile| call_group(profile, node));
            }
        };
        let name = self.raw_name(entry.what);
        let args = self.args(row);
        let data = args.object("data");
        let text = |key| data.text(key).unwrap_or_else(|| "undefined".to_owned());
        let is_instant = self.table.is_some_and(|table| table.phase[row as usize] == b'I');
        match name {
            "TimeStamp" if is_instant && args.get("data").is_some() => format!("{name}:{}", text("name")),
            "ResourceReceivedData" | "ResourceFinish" | "ResourceReceiveResponse" | "SyntheticNetworkRequest" => {
                format!("req:{}", text("requestId"))
            }
            name => name.to_owned(),
        }
    }

    fn args(&self, row: u32) -> Arguments<'a> {
        Arguments::of(self.table.and_then(|table| table.args(row as usize)).unwrap_or_default())
    }

    fn text(&self, of: impl FnOnce(&EventTable<'a>) -> Option<TextId>) -> &str {
        self.table.and_then(|table| of(table).map(|text| table.text(text))).unwrap_or_default()
    }
}

fn call_group(profile: &CpuProfile<'_>, node: u32) -> String {
    let frame = &profile.nodes[node as usize].frame;
    let name = match &*frame.name {
        name if frame.url != RUNTIME => name,
        name if name.starts_with("Parse") => "Parse",
        name if name.starts_with("Compile") || name.starts_with("Recompile") => "Compile",
        _ => "null",
    };
    let location = if frame.script.is_empty() { &frame.url } else { &frame.script };
    format!("f:{name}@{location}")
}

/// Which image was painted last before each was decoded.
#[derive(Default)]
pub(super) struct Images {
    painted: FxHashMap<u32, u32>,
}

impl Images {
    /// Of all events `Decode Image`, in the order of the file.
    pub(super) fn of(table: &EventTable<'_>) -> Self {
        let mut painted: FxHashMap<u32, u32> = FxHashMap::default();
        let mut last_paint: FxHashMap<u32, u32> = FxHashMap::default();
        let mut last_reference: FxHashMap<u32, String> = FxHashMap::default();
        let mut by_reference: FxHashMap<String, u32> = FxHashMap::default();
        for (row, at) in (0..table.len()).zip(0_u32..) {
            let Some(name) = table.name[row].map(|name| table.text(name)) else { continue };
            let thread = table.thread[row];
            let reference = || Arguments::of(table.args(row).unwrap_or_default()).text("LazyPixelRef");
            match name {
                "PaintImage" => drop(last_paint.insert(thread, at)),
                "Decode LazyPixelRef" => {
                    if let Some(reference) = reference() {
                        last_reference.insert(thread, reference);
                    }
                }
                "Draw LazyPixelRef" => {
                    if let (Some(reference), Some(paint)) = (reference(), last_paint.get(&thread)) {
                        by_reference.insert(reference, *paint);
                    }
                }
                "Decode Image" => {
                    let by_reference = || last_reference.get(&thread).and_then(|reference| by_reference.get(reference));
                    if let Some(paint) = last_paint.get(&thread).or_else(by_reference) {
                        painted.insert(at, *paint);
                    }
                }
                _ => {}
            }
        }
        Self { painted }
    }
}
