//! Which processes and threads of a trace DevTools shows: the renderers of pages, of which it knows the address.

use rustc_hash::{FxHashMap, FxHashSet};

use super::CallTreeError;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::{EventTable, Scalar, TimeForm};
use crate::format::chrome::scan::Value;

/// Events that only DevTools' own recordings have. Without them a trace is of something else, and every process is shown.
const WEB_EVENTS: [&str; 3] = ["TracingStartedInPage", "TracingSessionIdForWorker", "TracingStartedInBrowser"];

/// What DevTools makes of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Standing {
    /// It is of a process that is shown.
    pub is_shown: bool,
    /// It is the one that runs a page.
    pub is_main: bool,
}

/// What DevTools makes of a thread, given by its index in the table.
pub(super) fn standing(table: &EventTable<'_>, thread: u32) -> Result<Standing, CallTreeError> {
    let ids = table.thread_ids()[thread as usize];
    let is_pid: Vec<bool> = table.thread_ids().iter().map(|other| other.pid == ids.pid).collect();
    let (mut is_web, mut is_main) = (false, false);
    let (mut pages, mut worklet) = (Pages::default(), Worklet::default());
    for row in 0..table.len() {
        let Some(name) = table.name[row].map(|name| table.text(name)) else {
            if table.time_form[row] == TimeForm::Number && table.time[row] == 0 {
                continue;
            }
            return Err(CallTreeError::NoName { offset: table.offset[row] });
        };
        is_web = is_web || WEB_EVENTS.contains(&name);
        let args = || Arguments::of(table.args(row).unwrap_or_default());
        let event_thread = table.thread[row];
        match name {
            "thread_name" if is_pid[event_thread as usize] => {
                let thread_name = args().text("name").unwrap_or_default();
                worklet.add_thread(&thread_name);
                // The name of the GPU's thread is handled before names are kept.
                if event_thread == thread && thread_name != "CrGpuMain" {
                    is_main = thread_name == "CrRendererMain";
                }
            }
            "TracingStartedInBrowser" => {
                for frame in args().object("data").list("frames") {
                    if let Value::Object(frame) = frame {
                        let frame = Arguments::of(frame);
                        pages.add(&frame, is_same(table, frame.get("processId"), ids.pid));
                    }
                }
            }
            "FrameCommittedInBrowser" => {
                let frame = args().object("data");
                pages.add(&frame, is_same(table, frame.get("processId"), ids.pid));
            }
            "CommitLoad" => pages.add(&args().object("data"), is_pid[event_thread as usize]),
            "AuctionWorkletRunningInProcess" | "AuctionWorkletDoneWithProcess" => {
                worklet.is_known |= is_same(table, args().object("data").get("pid"), ids.pid);
            }
            _ => {}
        }
    }
    Ok(Standing { is_shown: !is_web || pages.have_address() || worklet.is_whole(), is_main })
}

/// Whether a value of arguments is the id.
fn is_same(table: &EventTable<'_>, value: Option<Value<'_>>, id: Scalar) -> bool {
    match (value, id) {
        (None, Scalar::Missing) => true,
        (Some(Value::Text(text)), Scalar::Text(id)) => text.decode() == table.text(id),
        (Some(Value::Number(number)), Scalar::Integer(id)) => {
            let number = std::str::from_utf8(number).ok().and_then(|text| text.parse::<f64>().ok());
            #[expect(clippy::cast_precision_loss, reason = "JavaScript's numbers are doubles")]
            let is_id = number == Some(id as f64);
            is_id
        }
        (Some(Value::Number(number)), Scalar::Number(id)) => number == table.text(id).as_bytes(),
        _ => false,
    }
}

/// The addresses that a process had, by the frame of the page.
#[derive(Default)]
struct Pages {
    /// In the order in which frames came up, in any process.
    addresses: Vec<Vec<Option<String>>>,
    by_frame: FxHashMap<Option<String>, usize>,
}

impl Pages {
    /// `is_here`: the frame is in the process.
    fn add(&mut self, frame: &Arguments<'_>, is_here: bool) {
        let next = self.addresses.len();
        let index = *self.by_frame.entry(frame.text("frame")).or_insert(next);
        if index == next {
            self.addresses.push(Vec::new());
        }
        let address = frame.text("url");
        if is_here && self.addresses[index].last() != Some(&address) {
            self.addresses[index].push(address);
        }
    }

    /// Whether the process has an address: that of its first page that is not empty.
    fn have_address(&self) -> bool {
        let mut found: Option<&str> = None;
        for address in self.addresses.iter().flatten() {
            if found.is_none_or(|address| address == "about:blank") {
                found = address.as_deref().filter(|address| is_address(address));
            }
        }
        found.is_some()
    }
}

/// Whether a browser would take the text for an address that is complete.
fn is_address(text: &str) -> bool {
    let text = text.trim_matches(|character: char| character <= ' ');
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme {
        return false;
    }
    if !matches!(&*scheme.to_ascii_lowercase(), "http" | "https" | "ws" | "wss" | "ftp") {
        return true;
    }
    let authority = rest.trim_start_matches(['/', '\\']).split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    let is_port = port.is_empty() || port.parse::<u16>().is_ok();
    !name.is_empty() && is_port && !name.contains([' ', '<', '>', '^', '|', '%'])
}

/// What tells that a process runs a worklet of an ad auction.
#[derive(Default)]
struct Worklet {
    names: FxHashSet<&'static str>,
    is_known: bool,
}

impl Worklet {
    const THREADS: [&str; 2] = ["auction_worklet.CrUtilityMain", "AuctionV8HelperThread"];

    fn add_thread(&mut self, name: &str) {
        self.names.extend(Self::THREADS.into_iter().filter(|known| *known == name));
    }

    fn is_whole(&self) -> bool {
        self.is_known && self.names.len() == Self::THREADS.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(events: &str) -> Standing {
        let table = EventTable::read(events.as_bytes()).unwrap();
        standing(&table, 0).unwrap()
    }

    #[test]
    fn renderers_with_an_address_are_shown() {
        let thread = r#"{"name":"thread_name","ph":"M","pid":7,"tid":1,"args":{"name":"CrRendererMain"}}"#;
        let started = |frames: &str| {
            format!(
                r#"{{"name":"TracingStartedInBrowser","ph":"I","pid":1,"tid":1,"args":{{"data":{{"frames":[{frames}]}}}}}}"#
            )
        };
        let is_shown = |frames: &str| of(&format!("[{thread},{}]", started(frames))).is_shown;
        assert_eq!(of(&format!("[{thread}]")), Standing { is_shown: true, is_main: true }, "no trace of the web");
        assert!(!is_shown(""));
        assert!(is_shown(r#"{"frame":"A","processId":7,"url":"https://a.b/c"}"#));
        assert!(is_shown(r#"{"frame":"A","processId":7,"url":"about:blank"}"#));
        assert!(!is_shown(r#"{"frame":"A","processId":8,"url":"https://a.b/c"}"#), "another process");
        assert!(!is_shown(r#"{"frame":"A","processId":7,"url":"a.b/c"}"#));
        let both = r#"{"frame":"A","processId":7,"url":"about:blank"},{"frame":"B","processId":7,"url":""}"#;
        assert!(!is_shown(both), "the second takes the place of an empty page");
        let committed = r#"{"name":"CommitLoad","ph":"X","pid":7,"tid":1,"args":{"data":{"frame":"A","url":"a:b"}}}"#;
        assert!(of(&format!("[{thread},{},{committed}]", started(""))).is_shown);
    }

    #[test]
    fn addresses_are_complete() {
        for address in
            ["http://a", "https:a.b:80/x y", "chrome-extension://x/", "about:blank", "http://u@[::1]/", "blob:x"]
        {
            assert!(is_address(address), "{address}");
        }
        for text in ["", "undefined", "/a", "http://", "http://a:b/", "http://a b/", "1a:b", "http://a:70000"] {
            assert!(!is_address(text), "{text}");
        }
    }
}
