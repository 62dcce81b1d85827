//! What the strings that describe frames say: an address, a function in a library, a place in a script, or just a name.

/// A frame's location, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location<'a> {
    /// `0x7f00`. Without a number if there is more behind `0x` than an address.
    Address(Option<u64>),
    /// `function (in library)`, with an offset or a source line behind it that is not used.
    Native { function: &'a str, library: &'a str },
    /// `function (url:line:column)[source]`; the code outside of functions is without name.
    Script(Script<'a>),
    /// Anything else: a label.
    Label,
}

/// A place in a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Script<'a> {
    pub function: &'a str,
    pub url: &'a str,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// A row of the process' sources.
    pub source: Option<usize>,
}

/// The site of a script.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Origin<'a> {
    /// Scheme, host and port.
    pub origin: String,
    pub host: &'a str,
}

impl<'a> Location<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if let Some(digits) = text.strip_prefix("0x") {
            // `from_str_radix` would take a sign.
            let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            return Self::Address(u64::from_str_radix(digits, 16).ok().filter(|_| is_number));
        }
        native(text).or_else(|| script(text)).unwrap_or(Self::Label)
    }
}

fn native(text: &str) -> Option<Location<'_>> {
    in_library(without_offset(text)).or_else(|| with_line(text))
}

/// `function (in library)`.
fn in_library(text: &str) -> Option<Location<'_>> {
    let (function, library) = text.strip_suffix(')')?.rsplit_once(" (in ")?;
    (!library.contains(')')).then(|| Location::Native { function: clean(function), library })
}

/// Without ` + 12` behind it.
fn without_offset(text: &str) -> &str {
    let head = text.trim_end_matches(|character: char| character.is_ascii_digit());
    if head.len() == text.len() { text } else { head.strip_suffix(" + ").unwrap_or(text) }
}

/// `function (in library) (file:line)`.
fn with_line(text: &str) -> Option<Location<'_>> {
    let last_colon = text.strip_suffix(')')?.rfind(':')?;
    let mut close = None;
    let mut searched = text.len();
    // The last that fits; each part of the text is searched once for the bracket that follows it.
    for (at, _) in text.rmatch_indices(" (in ") {
        let name = at + " (in ".len();
        close = text[name..searched].find(')').map(|offset| name + offset).or(close);
        searched = name;
        if let Some(close) = close
            && text[close + 1..].starts_with(" (")
            && last_colon > close + " (".len()
        {
            return Some(Location::Native { function: clean(&text[..at]), library: &text[name..close] });
        }
    }
    None
}

fn clean(function: &str) -> &str {
    function.strip_prefix("non-virtual thunk to ").unwrap_or(function)
}

fn script(text: &str) -> Option<Location<'_>> {
    let (place, source) = with_source(text);
    let in_brackets = place.strip_suffix(')');
    // The last bracket belongs to the place, unless the URL would be empty.
    let named = in_brackets.and_then(|text| {
        text.rmatch_indices(" (").take(2).find_map(|(at, bracket)| {
            let (url, line, column) = url_and_numbers(&text[at + bracket.len()..], source.is_some())?;
            Some((&text[..at], url, line, column))
        })
    });
    let found = named.or_else(|| {
        let (url, line, column) = url_and_numbers(place, source.is_some())?;
        Some(("", url, line, column))
    });
    let (function, url, line, column) = found?;
    // Scripts that load scripts are chained; the last is meant.
    let url = url.rsplit_once(" -> ").map_or(url, |(_, last)| last);
    Some(Location::Script(Script { function, url, line, column, source }))
}

/// Splits `[5]` off.
fn with_source(text: &str) -> (&str, Option<usize>) {
    let split = || {
        let (place, number) = text.strip_suffix(']')?.rsplit_once('[')?;
        Some((place, digits(number)?.parse().ok()?))
    };
    split().map_or((text, None), |(place, source)| (place, Some(source)))
}

/// `url:line:column` or `url:line`. Numbers too large for a line are none.
fn url_and_numbers(text: &str, may_be_without_url: bool) -> Option<(&str, Option<u32>, Option<u32>)> {
    let (before, last) = text.rsplit_once(':')?;
    let last = digits(last)?;
    let both = before.rsplit_once(':').and_then(|(url, line)| Some((url, digits(line)?)));
    let (url, line, column) = match both {
        Some((url, line)) if may_be_without_url || !url.is_empty() => (url, line, Some(last)),
        _ => (before, last, None),
    };
    let number = |text: &str| text.parse().ok();
    (may_be_without_url || !url.is_empty()).then(|| (url, number(line), column.and_then(number)))
}

fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// The site of a script from the web or an extension; `None` for all others.
pub(super) fn origin(url: &str) -> Option<Origin<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match &*scheme {
        "http" => ":80",
        "https" => ":443",
        "moz-extension" => ":",
        _ => return None,
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.strip_suffix(default_port).unwrap_or(host);
    (!host.is_empty()).then(|| Origin { origin: format!("{scheme}://{}", host.to_ascii_lowercase()), host })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script_of(function: &'static str, url: &'static str, line: u32, column: Option<u32>) -> Location<'static> {
        Location::Script(Script { function, url, line: Some(line), column, source: None })
    }

    #[test]
    fn addresses_are_hexadecimal() {
        for (text, address) in [
            ("0x100000f84", Some(0x1_0000_0f84)),
            ("0xFFFFFFFFFFFFFFFF", Some(u64::MAX)),
            ("0x1ffffffffffffffff", None),
            ("0x", None),
            ("0x+7", None),
            ("0x12 (in x)", None),
        ] {
            assert_eq!(Location::of(text), Location::Address(address), "{text}");
        }
    }

    #[test]
    fn functions_name_their_library() {
        for (text, function, library) in [
            ("f(int) (in XUL)", "f(int)", "XUL"),
            ("f (in XUL) + 1234", "f", "XUL"),
            ("f (in XUL) (a.cpp:12)", "f", "XUL"),
            ("non-virtual thunk to a::f() (in my lib)", "a::f()", "my lib"),
            ("a (in b) (in c) (d:1)", "a (in b)", "c"),
            ("a (in ) (x:1)", "a", ""),
        ] {
            assert_eq!(Location::of(text), Location::Native { function, library }, "{text}");
        }
        for text in ["(root)", "f (in XUL", "f (in XUL) + ", "f (in XUL)x", "Startup::XRE_Main", "", "é (in"] {
            assert_eq!(Location::of(text), Location::Label, "{text}");
        }
    }

    #[test]
    fn scripts_give_url_line_and_column() {
        for (text, expected) in [
            ("f (chrome://blargh:34:35)", script_of("f", "chrome://blargh", 34, Some(35))),
            ("f (chrome://blargh:34)", script_of("f", "chrome://blargh", 34, None)),
            ("a (b) (http://x/:1:2)", script_of("a (b)", "http://x/", 1, Some(2))),
            ("http://x/y.js:7", script_of("", "http://x/y.js", 7, None)),
            ("g (a.js -> b.js:7:1)", script_of("g", "b.js", 7, Some(1))),
            ("g (a:1:2:3)", script_of("g", "a:1", 2, Some(3))),
            ("g (:5:6)", script_of("g", ":5", 6, None)),
        ] {
            assert_eq!(Location::of(text), expected, "{text}");
        }
        let with_source = Script { function: "g", url: "", line: Some(5), column: Some(6), source: Some(2) };
        assert_eq!(Location::of("g (:5:6)[2]"), Location::Script(with_source));
        let too_far = Script { function: "", url: "a", line: None, column: Some(6), source: None };
        assert_eq!(Location::of("a:99999999999:6"), Location::Script(too_far));
        assert_eq!(Location::of("set Element.x"), Location::Label);
    }

    #[test]
    fn only_sites_have_an_origin() {
        let of = |url| origin(url).map(|found| (found.origin, found.host.to_owned()));
        assert_eq!(of("HTTPS://me@X.org:443/a?b"), Some(("https://x.org".into(), "X.org".into())));
        assert_eq!(of("http://x.org:8080"), Some(("http://x.org:8080".into(), "x.org:8080".into())));
        assert_eq!(of("moz-extension://ab-cd/x.js"), Some(("moz-extension://ab-cd".into(), "ab-cd".into())));
        for url in ["chrome://blargh", "self-hosted", "http:///x", "resource://gre/a.js"] {
            assert_eq!(of(url), None, "{url}");
        }
    }

    #[test]
    fn long_hostile_locations_take_linear_time() {
        for part in [" (in ", " (in x) ", " (", ":1", "[1]", ")"] {
            let text = format!("{}:)", part.repeat(200_000));
            Location::of(&text);
        }
    }
}
