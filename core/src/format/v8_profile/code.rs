//! Functions of scripts and of V8 itself.

use crate::model::{
    Frame, FrameId, Function, FunctionId, FunctionKind, ProfileBuilder, Resource, ResourceKind, Source,
    StandardCategory,
};

/// A function as V8 describes it. Lines and columns count from 0; those of what is no script are negative.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::format) struct CallFrame<'a> {
    pub name: &'a str,
    pub url: &'a str,
    pub line: Option<i64>,
    pub column: Option<i64>,
}

/// What a node runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code {
    pub function: FunctionId,
    /// At no known line.
    pub frame: FrameId,
    pub is_idle: bool,
}

/// Adds what `call` describes.
pub(super) fn add(builder: &mut ProfileBuilder, call: &CallFrame<'_>) -> Code {
    let one_based = |number: Option<i64>| number.and_then(|number| u32::try_from(number.checked_add(1)?).ok());
    let (line, column) = (one_based(call.line), one_based(call.column));
    let (line, column) = (line.filter(|line| *line > 0), column.filter(|column| *column > 0));
    let is_idle = call.name == "(idle)" && call.url.is_empty();
    let is_script = !call.url.is_empty() || line.is_some();
    let name = builder.string(if call.name.is_empty() { "(anonymous)" } else { call.name });
    let mut function = Function { line, column, ..Function::named(name) };
    if is_script {
        function.kind = FunctionKind::Script;
    }
    if !call.url.is_empty() {
        let path = builder.string(call.url);
        function.source = Some(builder.source(Source::at(path)));
        let row = match host(call.url) {
            Some(host) => {
                let host = builder.string(host);
                Resource { name: host, kind: ResourceKind::WebHost, library: None, host: Some(host) }
            }
            None => Resource { name: path, kind: ResourceKind::Url, library: None, host: None },
        };
        function.resource = Some(builder.resource(row));
    }
    let function = builder.function(function);
    let category = Some(category(call, is_script).id());
    let frame = builder.frame(Frame { category, ..Frame::of(function) });
    Code { function, frame, is_idle }
}

/// Whose code it is: `node:` is the runtime's library, what lies in `node_modules` and extensions is a dependency, other
/// scripts are the user's. Functions without a script are built into the engine.
fn category(call: &CallFrame<'_>, is_script: bool) -> StandardCategory {
    const LIBRARY: [&str; 3] = ["node:", "internal/", "native "];
    const FOREIGN: [&str; 2] = ["chrome-extension://", "extensions::"];
    let url = call.url;
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| url.starts_with(prefix));
    match call.name {
        "(idle)" if !is_script => StandardCategory::Idle,
        "(root)" | "(program)" if !is_script => StandardCategory::Other,
        _ if !is_script => StandardCategory::System,
        _ if starts(&LIBRARY) => StandardCategory::Std,
        _ if starts(&FOREIGN) || url.contains("/node_modules/") || url.contains("\\node_modules\\") => {
            StandardCategory::Dependency
        }
        _ => StandardCategory::Workspace,
    }
}

/// The host of a web address.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_code_it_is_follows_from_the_url() {
        let category = |name, url| category(&CallFrame { name, url, ..CallFrame::default() }, !url.is_empty());
        assert_eq!(category("(idle)", ""), StandardCategory::Idle);
        assert_eq!(category("(program)", ""), StandardCategory::Other);
        assert_eq!(category("(garbage collector)", ""), StandardCategory::System);
        assert_eq!(category("compileFunction", ""), StandardCategory::System);
        assert_eq!(category("readFileSync", "node:fs"), StandardCategory::Std);
        assert_eq!(category("f", "file:///home/me/app/node_modules/left-pad/index.js"), StandardCategory::Dependency);
        assert_eq!(category("f", "C:\\app\\node_modules\\x.js"), StandardCategory::Dependency);
        assert_eq!(category("f", "file:///home/me/app/index.js"), StandardCategory::Workspace);
        assert_eq!(
            category("(idle)", "https://example.org/a.js"),
            StandardCategory::Workspace,
            "a name like any other"
        );
    }

    #[test]
    fn lines_count_from_one_and_builtins_have_none() {
        let mut builder = ProfileBuilder::with_standard_categories();
        let script = CallFrame { name: "", url: "https://example.org:80/a.js?b", line: Some(0), column: Some(9) };
        let native = CallFrame { name: "compile", url: "", line: Some(-1), column: Some(-1) };
        let large = CallFrame { name: "large", url: "a.js", line: Some(i64::MAX), column: Some(1 << 40) };
        let [script, native, large] = [script, native, large].map(|call| add(&mut builder, &call).function);
        let profile = builder.finish().expect("a valid profile");
        let function = profile.functions.get(script);
        assert_eq!(profile.string(function.name), "(anonymous)");
        assert_eq!((function.line, function.column, function.kind), (Some(1), Some(10), FunctionKind::Script));
        let resource = &profile.resources[function.resource.expect("a host").index()];
        assert_eq!((profile.string(resource.name), resource.kind), ("example.org:80", ResourceKind::WebHost));
        let function = profile.functions.get(native);
        assert_eq!((function.line, function.column, function.kind), (None, None, FunctionKind::Native));
        assert_eq!((function.source, function.resource), (None, None));
        assert_eq!(profile.functions.get(large).line, None);
    }
}
