//! Call trees of small traces, and of deep ones.

use super::{CallTreeError, CallTreeQuery, CallTreeSource, EventChoice, ThreadChoice, call_tree};
use crate::format::chrome::events::EventTable;

/// Deeper than a stack of threads would be for recursion.
const DEPTH: usize = 100_000;

fn thread() -> ThreadChoice {
    ThreadChoice { pid: "1".to_owned(), tid: "1".to_owned() }
}

fn event(time: f64, name: &str, nth: usize) -> CallTreeQuery {
    CallTreeQuery::Event(EventChoice { thread: thread(), time, name: name.to_owned(), nth })
}

fn range(start: f64, end: f64) -> CallTreeQuery {
    CallTreeQuery::Range { thread: thread(), start, end }
}

/// A trace with `events` of thread 1 on a page's main thread. Quotes are written as `'`.
fn trace(events: &str) -> String {
    let name = "{'name':'thread_name','ph':'M','pid':1,'tid':1,'args':{'name':'CrRendererMain'}}";
    let events =
        events.replace("{@", "{'pid':1,'tid':1,'name':").replace("{X", "{'ph':'X','cat':'c','pid':1,'tid':1,'name':");
    format!("[{name},{events}]").replace('\'', "\"")
}

/// The lines of the nodes.
fn lines(trace: &str, query: &CallTreeQuery) -> Result<Vec<String>, CallTreeError> {
    let table = EventTable::read(trace.as_bytes()).unwrap();
    let tree = call_tree(CallTreeSource::Trace(&table), query)?;
    let text = tree.compressed();
    let (_, nodes) = text.split_once("# Call tree:\n").unwrap();
    Ok(nodes.lines().skip(1).map(str::to_owned).collect())
}

fn refusal(trace: &str, query: &CallTreeQuery) -> String {
    let error = lines(trace, query).unwrap_err();
    assert!(error.is_no_answer(), "{error}");
    error.to_string()
}

#[test]
fn events_of_the_same_name_are_one_node_and_in_a_range_each_is_one() {
    let text = trace(
        "{X'RunTask','ts':0,'dur':9000},{X'Layout','ts':1000,'dur':2000},{X'Layout','ts':4000,'dur':2000},
        {X'Paint','ts':4500,'dur':500},{X'Paint','ts':7000,'dur':40},{X'hidden','ts':8000,'dur':500}",
    );
    let merged = ["1;Task;9;5;;2;S", "2;Layout;4;3.5;;3", "3;Paint;0.5;0.5;;"];
    // The root has the first event too, but the compressed text asks for the event.
    assert_eq!(lines(&text, &event(0.0, "RunTask", 0)).unwrap(), merged);
    let table = EventTable::read(text.as_bytes()).unwrap();
    let tree = call_tree(CallTreeSource::Trace(&table), &event(0.0, "RunTask", 0)).unwrap();
    assert!(!tree.serialize().contains("Selected"), "and the long one for the node");
    // What only touches the end is in.
    let each = ["1;Task;6;2;;2-5", "2;Layout;2;2;;", "3;Layout;2;1.5;;5", "4;Paint;;;;", "5;Paint;0.5;0.5;;"];
    assert_eq!(lines(&text, &range(1000.0, 7000.0)).unwrap(), each);
}

#[test]
fn where_devtools_has_no_answer_the_reason_is_given() {
    let text = trace(
        "{X'RunTask','ts':0,'dur':9000},{X'Layout','ts':1000,'dur':1000},{X'Layout','ts':2000,'dur':1000},
        {X'Paint','ts':8000,'dur':2000},{X'x','ts':10,'dur':5},{'ph':'X','name':'y','pid':1,'tid':2,'ts':1,'dur':1}",
    );
    let refused = |time, name, nth| refusal(&text, &event(time, name, nth));
    let none = "1 events on the thread are called `Layout` and begin at 1000 µs, so there is no number 1";
    assert_eq!(refused(1000.0, "Layout", 1), none);
    assert_eq!(refused(10.0, "x", 0), "DevTools does not show events that are called `x`");
    assert!(refused(8000.0, "Paint", 0).contains("begins inside another and ends behind it"));
    assert!(refused(2000.0, "Layout", 0).contains("in one node with another of the same name before it"));
    let other = |pid: &str, tid: &str| {
        let thread = ThreadChoice { pid: pid.to_owned(), tid: tid.to_owned() };
        let event = EventChoice { thread, time: 1.0, name: "y".to_owned(), nth: 0 };
        refusal(&text, &CallTreeQuery::Event(event))
    };
    assert_eq!(other("1", "2"), "thread 2 of process 1 is not the main thread of a page (`CrRendererMain`)");
    assert_eq!(other("7", "1"), "no event has pid 7 and tid 1");
    let no_category = trace("{X'a','ts':0},{@'Layout','ph':'X','ts':0,'dur':9}");
    let at = no_category.find(r#"{"pid":1,"tid":1,"name":"Layout""#).unwrap();
    let expected = format!("byte {at}: the event has no category, and DevTools fails at it");
    assert_eq!(refusal(&no_category, &range(0.0, 1.0)), expected);
    let no_name = trace("{'ph':'E','pid':1,'tid':1,'ts':9}");
    let at = no_name.find(r#"{"ph":"E""#).unwrap();
    assert!(refusal(&no_name, &range(0.0, 1.0)).starts_with(&format!("byte {at}: the event has no name")));
    let web = trace("{@'TracingStartedInPage','ph':'I','ts':0}");
    assert!(refusal(&web, &range(0.0, 1.0)).starts_with("DevTools shows no thread of process 1"));
    assert_eq!(
        refusal(&trace("{@'a','ph':'b','ts':0}"), &range(0.0, 1.0)),
        "DevTools shows nothing on thread 1 of process 1"
    );
}

#[test]
fn of_threads_that_read_the_same_the_one_with_entries_is_meant() {
    let text = trace("{'ph':'X','cat':'c','pid':'1','tid':1,'name':'Layout','ts':0,'dur':9}");
    assert_eq!(lines(&text, &range(0.0, 9.0)).unwrap(), ["1;Layout;0;0;;"]);
}

#[test]
fn names_and_addresses_are_what_devtools_shows() {
    let text = trace(
        "{X'RunTask','ts':0,'dur':9000},
        {X'EventDispatch','ts':0,'dur':1000,'args':{'data':{'type':'click'}}},
        {X'ParseHTML','ts':1000,'dur':1000,'args':{'beginData':{'url':'p'},'data':{'url':'q'}}},
        {X'WebSocketCreate','ts':2000,'dur':1000,'args':{'data':{'url':'ws','stackTrace':[{'url':'s'},{'url':'t'}]}}},
        {X'WebSocketDestroy','ts':3000,'dur':1000},
        {@'any','ph':'X','cat':'a,blink.console','ts':4000,'dur':1000},
        {X'PaintImage','ts':5000,'dur':1,'args':{'data':{'url':'image'}}},{X'Decode Image','ts':5500,'dur':500}",
    );
    let expected = [
        "1;Task;9;3.5;;2-8",
        "2;Event: click;1;1;;",
        "3;Parse HTML;1;1;0;",
        "4;WebSocket opened: ws;1;1;1;",
        "5;WebSocket closed;1;1;;",
        "6;any;1;1;;",
        "7;Image decode;0.5;0.5;2;",
    ];
    assert_eq!(lines(&text, &range(0.0, 9000.0)).unwrap(), expected);
}

/// A profile of thread 1 from time 0: nodes, samples and what is between these.
fn pieces(nodes: &str, samples: &str, deltas: &str, more: &str) -> String {
    format!(
        "{{@'Profile','ph':'P','id':'0x1','ts':0}},{{'name':'ProfileChunk','ph':'P','id':'0x1','ts':9,'pid':1,'tid':5,
        'args':{{'data':{{'timeDeltas':[{deltas}],'cpuProfile':{{'nodes':[{nodes}],'samples':[{samples}]{more}}}}}}}}}"
    )
}

const NODES: &str =
    "{'id':1,'callFrame':{'functionName':'(root)'}},{'id':2,'parent':1,'callFrame':{'functionName':'(program)'}},
    {'id':3,'parent':1,'callFrame':{'functionName':'(garbage collector)'}},
    {'id':4,'parent':1,'callFrame':{'functionName':'a','url':'u','scriptId':7}},
    {'id':5,'parent':4,'callFrame':{'functionName':'','scriptId':7}},
    {'id':6,'parent':5,'callFrame':{'functionName':'Runtime','url':'native V8Runtime'}}";

#[test]
fn samples_become_calls_inside_the_events_that_run_javascript() {
    let task = "{X'RunTask','ts':0,'dur':9000},{X'FunctionCall','ts':500,'dur':6000}";
    // In a; in what it calls (the runtime is not shown); in the collector, on top of that; in a again; outside.
    let profile = pieces(NODES, "4,6,3,4,2", "1000,1000,1000,1000,1000", "");
    let found = lines(&trace(&format!("{task},{profile}")), &event(1000.0, "ProfileCall", 0)).unwrap();
    let expected = ["1;Task;4;;;2", "2;Function call;4;;;3", "3;a;4;2;0;4;S", "4;(anonymous);2;2;;"];
    assert_eq!(found, expected);
    let found = lines(&trace(&format!("{task},{profile}")), &event(2000.0, "ProfileCall", 0)).unwrap();
    assert_eq!(found.last().unwrap(), "4;(anonymous);2;2;;;S");
    // A gap of one sample is none.
    let profile = pieces(NODES, "4,2,4,2", "1000,1000,1000,1000", "");
    let found = lines(&trace(&format!("{task},{profile}")), &event(1000.0, "a", 0)).unwrap();
    assert_eq!(found.last().unwrap(), "3;a;3;3;0;;S");
    // An event says where it was.
    let layout = "{X'Layout','ts':3000,'dur':1000,'args':{'beginData':{'sampleTraceId':12}}}";
    let profile = pieces(NODES, "4", "1000", ",'trace_ids':{'12':5}");
    let found = lines(&trace(&format!("{task},{layout},{profile}")), &range(0.0, 9000.0)).unwrap();
    let expected =
        ["1;Task;9;3;;2", "2;Function call;6;0.5;;3", "3;a;5.5;2;0;4", "4;(anonymous);3.5;2.5;;5", "5;Layout;1;1;;"];
    assert_eq!(found, expected);
}

#[test]
fn a_profile_of_its_own_has_all_its_calls() {
    let nodes = NODES.replace("'parent':1,", "").replace("'parent':4,", "").replace("'parent':5,", "");
    let nodes =
        nodes.replacen("'id':1,", "'id':1,'children':[2,3,4],", 1).replacen("'id':4,", "'id':4,'children':[5],", 1);
    let text = format!(
        "{{'startTime':0,'endTime':9000,'nodes':[{nodes}],'samples':[2,4,3,5],'timeDeltas':[1000,1000,1000,1000]}}"
    );
    let text = text.replace('\'', "\"");
    let source = CallTreeSource::CpuProfile(text.as_bytes());
    let tree = call_tree(source, &event(2000.0, "a", 0)).unwrap().compressed();
    let (_, nodes) = tree.split_once("# Call tree:\n\n").unwrap();
    assert_eq!(nodes, "1;(program);;;;\n2;a;3;1;0;3-5;S\n3;(garbage collector);1;1;;\n4;(anonymous);1;1;;");
    assert!(matches!(call_tree(source, &range(0.0, 1.0)), Err(CallTreeError::NoRanges)));
    let old = CallTreeSource::CpuProfile(br#"{"head":{},"startTime":1}"#);
    assert!(!call_tree(old, &event(0.0, "a", 0)).unwrap_err().is_no_answer());
}

#[test]
fn nodes_that_are_their_own_ancestors_are_left_out() {
    let nodes =
        "{'id':1,'children':[2,2,9],'callFrame':{}},{'id':2,'children':[1,2,3],'callFrame':{'functionName':'a'}},
        {'id':3,'children':[2],'callFrame':{'functionName':'b'}}";
    let text = format!("{{'nodes':[{nodes}],'samples':[3,9,2],'timeDeltas':[1,1,1]}}").replace('\'', "\"");
    let tree = call_tree(CallTreeSource::CpuProfile(text.as_bytes()), &event(1.0, "b", 0)).unwrap();
    assert_eq!(tree.serialize().matches("\nNode: ").count(), 2);
}

#[test]
fn stacks_of_a_hundred_thousand_calls_take_no_stack() {
    let node = |at: usize| format!("{{'id':{at},'parent':{},'callFrame':{{'functionName':'f{at}'}}}}", at - 1);
    let nodes: Vec<String> = (2..DEPTH + 2).map(node).collect();
    let nodes = format!("{{'id':1,'callFrame':{{}}}},{}", nodes.join(","));
    let samples = format!("{0},1,{0}", DEPTH + 1);
    let text = trace(&pieces(&nodes, &samples, "1000,1000,1000", ""));
    assert_eq!(lines(&trace("{X'FunctionCall','ts':0,'dur':9000}"), &range(0.0, 9000.0)).unwrap().len(), 1);
    let text = text.replacen('[', &trace("{X'FunctionCall','ts':0,'dur':9000}").replace(']', ","), 1);
    let found = lines(&text, &range(0.0, 9000.0)).unwrap();
    assert_eq!(found.len(), 2 * DEPTH + 1);
    let nodes = nodes.replace("'parent'", "'not'");
    let nodes: Vec<String> =
        nodes.split("'callFrame'").zip(2..).map(|(part, child)| format!("{part}'children':[{child}],")).collect();
    let nodes = nodes.join("'callFrame'");
    let nodes = nodes.strip_suffix(&format!("'children':[{}],", DEPTH + 3)).unwrap();
    let text = format!("{{'nodes':[{nodes}],'samples':[{samples}],'timeDeltas':[1,1,1]}}").replace('\'', "\"");
    let tree = call_tree(CallTreeSource::CpuProfile(text.as_bytes()), &event(1.0, "f2", 0)).unwrap();
    assert_eq!(tree.serialize().matches("\nNode: ").count(), DEPTH);
}
