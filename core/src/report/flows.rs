//! Flows as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::number::{count, format_duration};
use super::style::{Style, printable};
use super::table::{Name, TableRow, write_table};
use crate::analysis::{FlowList, Times, flow_anchor_start, flow_arrival, flow_hops, flow_place};
use crate::model::{FlowAnchor, FlowMember, MarkerTiming, OsId, Profile, StringId, TRACE_START};

/// More stations of a chain are not written out.
const MOST_STATIONS: usize = 12;

/// Writes how long flows take: by name, from place to place, and the slowest ones; `most` rows of each.
///
/// # Errors
/// Those of `out`.
pub fn write_flows(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    list: &FlowList,
    most: usize,
    style: Style,
) -> fmt::Result {
    let hops: usize = list.hops.iter().map(|row| row.times.count).sum();
    match profile.flows.len() {
        0 => writeln!(out, "the profile has no flows")?,
        _ => writeln!(out, "{} with {}", count(list.chains.len() as u64, "flow"), count(hops as u64, "hop"))?,
    }
    let named = list.by_name.iter().map(|row| (row.times, text(profile, row.name)));
    write_times(out, ("flows", "flow"), named.collect(), most, style)?;
    let hop = |row: &crate::analysis::HopTimes| {
        let [name, from, to] = [row.name, row.from, row.to].map(|id| text(profile, id));
        (row.times, format!("{from} → {to} ({name})"))
    };
    write_times(out, ("hops", "from → to (flow)"), list.hops.iter().map(hop).collect(), most, style)?;
    if !list.chains.is_empty() {
        writeln!(out)?;
        let header = TableRow {
            numbers: vec!["time".to_owned()],
            name: Name::plain("slowest flows"),
            after: String::new(),
            dim: false,
        };
        let row = |chain: &crate::analysis::Chain| TableRow {
            numbers: vec![format_duration(chain.duration)],
            name: Name::plain(path(profile, profile.flows.members_of(chain.flow))),
            after: String::new(),
            dim: false,
        };
        let rows: Vec<TableRow> = list.chains.iter().take(most).map(row).collect();
        write_table(out, &header, &rows, style)?;
    }
    for (code, count) in unbound(profile) {
        writeln!(out, "{count} not in a flow: {}", message(profile, code))?;
    }
    Ok(())
}

fn write_times(
    out: &mut dyn fmt::Write,
    (things, title): (&str, &str),
    rows: Vec<(Times, String)>,
    most: usize,
    style: Style,
) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let left_out = rows.len().saturating_sub(most);
    let plain = |name: &str, numbers: Vec<String>| TableRow {
        numbers,
        name: Name::plain(name),
        after: String::new(),
        dim: false,
    };
    let header = plain(title, [things, "p50", "p99", "max"].map(str::to_owned).to_vec());
    let row = |(times, name): (Times, String)| {
        let [p50, p99, max] = [times.p50, times.p99, times.max].map(format_duration);
        plain(&name, vec![times.count.to_string(), p50, p99, max])
    };
    let rows: Vec<TableRow> = rows.into_iter().take(most).map(row).collect();
    write_table(out, &header, &rows, style)?;
    if left_out > 0 { writeln!(out, "and {left_out} more") } else { Ok(()) }
}

/// The stations of a flow, each with how long after the one that its arrow leaves it came: the one before, or else that one is
/// written again, as of one start that has several ends.
fn path(profile: &Profile, members: &[FlowMember]) -> String {
    let station = |member: &FlowMember| {
        let thread = &profile.threads[member.thread.index()];
        format!("{} [{}]", text(profile, flow_place(profile, member)), text(profile, thread.name))
    };
    let mut path = members.first().map(station).unwrap_or_default();
    let mut last = members.first();
    for (from, to) in flow_hops(members).take(MOST_STATIONS) {
        if !last.is_some_and(|last| std::ptr::eq(last, from)) {
            write!(path, ", {}", station(from)).expect("a String takes any text");
        }
        last = Some(to);
        let time = format_duration(flow_arrival(profile, to) - from.time);
        write!(path, " →{time}→ {}", station(to)).expect("a String takes any text");
    }
    if members.len() > MOST_STATIONS + 1 {
        path.push_str(" → …");
    }
    path
}

/// Flows as JSON: `{flows:[[{name,cat,ph,ts,pid,tid},…],…], unbound:{reason:count}, by_name:[{name,count,p50,p99,max}],
/// hops:[{name,from,to,count,p50,p99,max}]}`. Flows are in order of their starts, the lists in the order of the text; `ts` is in µs as in the file; times are in
/// ns. A member that is bound to nothing but its thread has no name.
pub fn flows_json(profile: &Profile, list: &FlowList) -> String {
    let mut out = String::from("{\"flows\":[");
    let mut rows: Vec<usize> = list.chains.iter().map(|chain| chain.flow).collect();
    rows.sort_unstable();
    let start = trace_start(profile);
    for (flow, at) in rows.into_iter().zip(0..) {
        out.push_str(if at == 0 { "\n[" } else { ",\n[" });
        for (member, at) in profile.flows.members_of(flow).iter().zip(0..) {
            out.push_str(if at == 0 { "" } else { "," });
            write_member(profile, member, start, &mut out);
        }
        out.push(']');
    }
    out.push_str("],\n\"unbound\":");
    out.push_str(&serde_json::json!(unbound(profile)).to_string());
    let times_of = times_json(profile, list);
    out.push_str(&times_of);
    out.push_str("}\n");
    out
}

/// The lists of times of [`flows_json`], with a comma before them.
fn times_json(profile: &Profile, list: &FlowList) -> String {
    let times = |names: &[(&str, StringId)], times: Times| {
        let names = names.iter().map(|(key, id)| ((*key).to_owned(), profile.string(*id).into()));
        let numbers = [("p50", times.p50.0), ("p99", times.p99.0), ("max", times.max.0)];
        let numbers = numbers.into_iter().map(|(key, number)| (key.to_owned(), number.into()));
        let count = ("count".to_owned(), times.count.into());
        serde_json::Value::Object(names.chain([count]).chain(numbers).collect())
    };
    let by_name: Vec<_> = list.by_name.iter().map(|row| times(&[("name", row.name)], row.times)).collect();
    let hop =
        |row: &crate::analysis::HopTimes| times(&[("name", row.name), ("from", row.from), ("to", row.to)], row.times);
    let hops: Vec<_> = list.hops.iter().map(hop).collect();
    format!(",\n\"by_name\":{},\n\"hops\":{}", serde_json::Value::from(by_name), serde_json::Value::from(hops))
}

fn write_member(profile: &Profile, member: &FlowMember, start: i64, out: &mut String) {
    let thread = &profile.threads[member.thread.index()];
    let (name, category, phase) = match member.anchor {
        FlowAnchor::Slice(slice) => {
            let row = thread.slices.get(slice.index());
            (Some(row.name), Some(row.category), if row.incomplete { "B" } else { "X" })
        }
        FlowAnchor::Marker(marker) => {
            let row = thread.markers.get(marker.index());
            let phase = match row.timing {
                MarkerTiming::Instant(_) => "i",
                MarkerTiming::Interval(..) => "X",
                MarkerTiming::Start(_) => "B",
                MarkerTiming::End(_) => "E",
            };
            (Some(row.name), Some(row.category), phase)
        }
        FlowAnchor::Thread => (None, None, "P"),
    };
    let quoted = |text: Option<&str>| serde_json::Value::from(text).to_string();
    let name = quoted(name.map(|name| profile.string(name)));
    let category = quoted(category.map(|id| profile.string(profile.categories[id.index()].name)));
    let id = |id: &OsId| match id {
        OsId::Number(number) => number.to_string(),
        OsId::Text(text) => quoted(Some(text)),
    };
    let (pid, tid) = (id(&profile.processes[thread.process.index()].pid), id(&thread.tid));
    let time = micros(i128::from(flow_anchor_start(profile, member).0) + i128::from(start));
    write!(out, "{{\"name\":{name},\"cat\":{category},\"ph\":\"{phase}\",\"ts\":{time},\"pid\":{pid},\"tid\":{tid}}}")
        .expect("a String takes any text");
}

/// The time that the profile's zero has in its file, in ns.
fn trace_start(profile: &Profile) -> i64 {
    let fact = profile.meta.extra.iter().find(|(name, _)| name == TRACE_START);
    let Some((_, text)) = fact else { return 0 };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{fraction:0<3}").parse().unwrap_or(0)
}

/// Microseconds with no more digits than it takes.
fn micros(nanos: i128) -> String {
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let text = format!("{sign}{}.{:03}", nanos / 1000, nanos % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How many phases are in no flow, by the reason.
fn unbound(profile: &Profile) -> BTreeMap<&str, u64> {
    let of_flows = profile.meta.warnings.iter().filter(|warning| warning.code.starts_with("flow-"));
    of_flows.map(|warning| (&*warning.code, warning.count)).collect()
}

fn message<'a>(profile: &'a Profile, code: &str) -> &'a str {
    profile.meta.warnings.iter().find(|warning| warning.code == code).map_or("", |warning| &*warning.message)
}

fn text(profile: &Profile, id: StringId) -> String {
    printable(profile.string(id)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Selection, flows};
    use crate::format::chrome;

    const TRACE: &str = r#"[{"name":"main","ph":"M","pid":1,"tid":1},
        {"name":"A","cat":"c","ph":"X","ts":1000000000000000.5,"dur":10,"pid":1,"tid":1},
        {"name":"B","cat":"d","ph":"B","ts":1000000000000030.625,"pid":1,"tid":"two"},
        {"name":"post","ph":"s","ts":1000000000000005,"pid":1,"tid":1,"id":1},
        {"name":"post","ph":"f","ts":1000000000000020,"pid":1,"tid":"two","id":1},
        {"name":"post","ph":"f","ts":1000000000000020,"pid":1,"tid":"two","id":2}]"#;

    #[test]
    fn text_has_times_by_name_by_hop_and_the_slowest() {
        let profile = chrome::read(TRACE.as_bytes()).unwrap();
        let mut text = String::new();
        write_flows(&mut text, &profile, &flows(&profile, &Selection::default(), None), 20, Style::default()).unwrap();
        let expected = "\
1 flow with 1 hop

flows      p50      p99      max  flow
    1  25.6 µs  25.6 µs  25.6 µs  post

hops      p50      p99      max  from → to (flow)
   1  25.6 µs  25.6 µs  25.6 µs  A → B (post)

   time  slowest flows
25.6 µs  A [thread 1] →25.6 µs→ B [thread two]
1 not in a flow: steps and ends of flows that did not start are in no flow
";
        assert_eq!(text, expected);
    }

    #[test]
    fn several_ends_of_one_start_are_each_reached_from_it() {
        let trace = r#"[{"name":"A","ph":"X","ts":0,"dur":5,"pid":1,"tid":1},
            {"name":"B","ph":"X","ts":10,"dur":5,"pid":1,"tid":2},{"name":"C","ph":"X","ts":20,"dur":5,"pid":1,"tid":2},
            {"name":"post","ph":"s","ts":0,"pid":1,"tid":1,"id":1},
            {"name":"post","ph":"f","bp":"e","ts":10,"pid":1,"tid":2,"id":1},
            {"name":"post","ph":"f","bp":"e","ts":20,"pid":1,"tid":2,"id":1}]"#;
        let profile = chrome::read(trace.as_bytes()).unwrap();
        assert_eq!(profile.flows.len(), 1);
        assert_eq!(
            path(&profile, profile.flows.members_of(0)),
            "A [thread 1] →10.0 µs→ B [thread 2], A [thread 1] →20.0 µs→ C [thread 2]"
        );
    }

    #[test]
    fn json_has_the_bound_events_with_the_times_of_the_file() {
        let profile = chrome::read(TRACE.as_bytes()).unwrap();
        let json = flows_json(&profile, &flows(&profile, &Selection::default(), None));
        let expected = r#"{"flows":[
[{"name":"A","cat":"c","ph":"X","ts":1000000000000000.5,"pid":1,"tid":1},{"name":"B","cat":"d","ph":"B","ts":1000000000000030.625,"pid":1,"tid":"two"}]],
"unbound":{"flow-no-start":1},
"by_name":[{"count":1,"max":25625,"name":"post","p50":25625,"p99":25625}],
"hops":[{"count":1,"from":"A","max":25625,"name":"post","p50":25625,"p99":25625,"to":"B"}]}
"#;
        assert_eq!(json, expected);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["flows"][0][1]["tid"], "two");
    }

    #[test]
    fn microseconds_have_the_digits_they_need() {
        for (nanos, text) in [(0, "0"), (1_500, "1.5"), (-1, "-0.001"), (10_000, "10"), (1_234_567, "1234.567")] {
            assert_eq!(micros(nanos), text);
        }
    }
}
