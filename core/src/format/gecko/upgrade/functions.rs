//! Functions, their places, and their symbols.

use super::super::names::RESOURCE_KINDS;
use super::super::read::Repairs;
use super::super::schema::{Address, File, Flag, NativeSymbols, Row, Wide};
use super::{add_text, text, threads_mut};
use crate::model::ResourceKind;

/// 4: scripts are grouped by host; names of script functions no longer hold their places.
pub(super) fn take_locations_from_names(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let strings = thread.string_array.get_or_insert_default();
        if let Some(resources) = &mut thread.resource_table {
            let names = resources.name.get_or_insert_default();
            let kinds = resources.kind.get_or_insert_default();
            let hosts = resources.host.get_or_insert_default();
            hosts.resize(kinds.len(), Row::NONE);
            for row in 0..kinds.len().min(names.len()) {
                let is_url = kinds[row] == kind(ResourceKind::Url);
                let url = text(strings, names[row]).filter(|_| is_url).map(str::to_owned);
                if let Some((origin, host)) = url.as_deref().and_then(origin_and_host) {
                    let (origin, host) = (origin.to_owned(), host.to_owned());
                    kinds[row] = kind(ResourceKind::WebHost);
                    names[row] = add_text(strings, origin);
                    hosts[row] = add_text(strings, host);
                }
            }
        }
        let Some(functions) = &mut thread.func_table else { continue };
        let names = functions.name.get_or_insert_default();
        let (mut files, mut lines) = (vec![Row::NONE; names.len()], vec![Row::NONE; names.len()]);
        for row in 0..names.len() {
            let is_script = functions.is_js.as_ref().and_then(|column| column.get(row)).is_some_and(|flag| flag.0);
            let name = text(strings, names[row]).filter(|_| is_script).map(str::to_owned);
            if let Some((name, file, line)) = name.as_deref().and_then(split_location) {
                let file = file.rsplit(" -> ").next().unwrap_or(file);
                names[row] = add_text(strings, if name.is_empty() { file } else { name }.to_owned());
                files[row] = add_text(strings, file.to_owned());
                lines[row] = Row(line);
            }
        }
        functions.file_name = Some(files);
        functions.line_number = Some(lines);
    }
}

fn kind(kind: ResourceKind) -> Row {
    let word = RESOURCE_KINDS.iter().find(|(known, _)| *known == kind).map(|(_, word)| *word);
    word.map_or(Row::NONE, |word| Row(word.into()))
}

/// `scheme://host` and `host` of an address in the web.
fn origin_and_host(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())?;
    Some((&url[..url.len() - rest.len() + host.len()], host))
}

/// Name, file and line of `name (file:line)` or `file:line`.
fn split_location(name: &str) -> Option<(&str, &str, u32)> {
    let file_and_line = |text: &'_ str| {
        let (file, line) = text.rsplit_once(':')?;
        Some((file.len(), line.parse::<u32>().ok().filter(|line| *line < Row::BAD.0)?))
    };
    let in_brackets = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    if let Some((function, place)) = in_brackets
        && let Some((file, line)) = file_and_line(place)
    {
        return Some((function, &place[..file], line));
    }
    file_and_line(name).map(|(file, line)| ("", &name[..file], line))
}

/// 17: native functions that scripts call, or that call scripts, are marked.
pub(super) fn find_script_entries(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let strings = thread.string_array.get_or_insert_default();
        let Some(functions) = &mut thread.func_table else { continue };
        let names = functions.name.get_or_insert_default();
        let mut relevant = Vec::with_capacity(names.len());
        for name in names {
            let entry = text(strings, *name).and_then(|name| name.strip_prefix("AutoEntryScript ")).map(str::to_owned);
            relevant.push(Flag(entry.is_some() || text(strings, *name).is_some_and(is_dom_call)));
            if let Some(reason) = entry {
                *name = add_text(strings, reason);
            }
        }
        functions.relevant_for_js = Some(relevant);
    }
}

/// Whether a label is of a call into the DOM: `Node.appendChild`, `get Element.scrollTop`, `Foo constructor`.
pub(in super::super) fn is_dom_call(label: &str) -> bool {
    let word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let call = label.strip_prefix("get ").or_else(|| label.strip_prefix("set ")).unwrap_or(label);
    let parts = call.split_once('.').or_else(|| call.split_once(' ').filter(|(_, what)| *what == "constructor"));
    parts.is_some_and(|(object, member)| word(object) && word(member))
}

/// 18: where functions had columns, line and column had moved one place on.
pub(super) fn take_columns_from_files(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let strings = thread.string_array.get_or_insert_default();
        let Some(functions) = &mut thread.func_table else { continue };
        let (Some(files), Some(lines)) = (&mut functions.file_name, &mut functions.line_number) else { continue };
        let rows = files.len().min(lines.len());
        let mut columns = vec![Row::NONE; rows];
        for row in 0..rows {
            let is_script = functions.is_js.as_ref().and_then(|column| column.get(row)).is_some_and(|flag| flag.0);
            let file = text(strings, files[row]).filter(|_| is_script).map(str::to_owned);
            let Some((file, line)) = file.as_deref().and_then(|file| file.rsplit_once(':')) else { continue };
            if let Some(line) = line.parse::<u32>().ok().filter(|line| *line < Row::BAD.0) {
                columns[row] = lines[row];
                lines[row] = Row(line);
                files[row] = add_text(strings, file.to_owned());
            }
        }
        functions.column_number = Some(columns);
    }
}

/// 36: symbols have a table; before, a function of a library was its symbol.
pub(super) fn symbols_of_functions(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let (Some(functions), Some(resources)) = (&mut thread.func_table, &thread.resource_table) else { continue };
        let addresses = functions.address.take().unwrap_or_default();
        let mut symbols: (Vec<Row>, Vec<Wide>, Vec<Row>) = Default::default();
        let mut of_function = Vec::with_capacity(addresses.len());
        for (row, resource) in functions.resource.iter().flatten().enumerate() {
            let resource = resource.get().map(|row| row as usize);
            let entry = |column: &Option<Vec<Row>>| resource.and_then(|row| column.as_ref()?.get(row).copied());
            let is_library = entry(&resources.kind) == Some(kind(ResourceKind::Library));
            let library = entry(&resources.lib).filter(|lib| is_library && *lib != Row::NONE);
            let address = addresses.get(row).copied().filter(|address| address.0 >= 0);
            of_function.push(match (library, address) {
                (Some(library), Some(Address(address))) => {
                    symbols.0.push(library);
                    symbols.1.push(Wide(u64::try_from(address).ok()));
                    symbols
                        .2
                        .push(functions.name.as_ref().and_then(|names| names.get(row)).copied().unwrap_or_default());
                    u32::try_from(symbols.0.len() - 1).map_or(Row::BAD, Row)
                }
                // Without an address there is no symbol to speak of.
                _ => Row::NONE,
            });
        }
        if let Some(frames) = &mut thread.frame_table {
            let symbol = |function: &Row| function.get().and_then(|row| of_function.get(row as usize)).copied();
            let column = frames.func.iter().flatten().map(|function| symbol(function).unwrap_or_default());
            frames.native_symbol = Some(column.collect());
        }
        let length = Some(Wide(Some(symbols.0.len() as u64)));
        thread.native_symbols = Some(NativeSymbols {
            lib_index: Some(symbols.0),
            address: Some(symbols.1),
            name: Some(symbols.2),
            length,
            ..NativeSymbols::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_from_names() {
        assert_eq!(split_location("frob (chrome://x:34)"), Some(("frob", "chrome://x", 34)));
        assert_eq!(split_location("a (b) (http://x/y.js:1)"), Some(("a (b)", "http://x/y.js", 1)));
        assert_eq!(split_location("resource://x.js:7"), Some(("", "resource://x.js", 7)));
        assert_eq!(split_location("plain"), None);
        assert_eq!(split_location("f (x:y)"), None);
    }

    #[test]
    fn hosts_are_told_from_addresses() {
        assert_eq!(origin_and_host("https://a.b:80/c?d"), Some(("https://a.b:80", "a.b:80")));
        assert_eq!(origin_and_host("chrome://browser/x.js"), None);
        assert_eq!(origin_and_host("http://"), None);
    }

    #[test]
    fn calls_into_the_dom_are_known_by_their_form() {
        for label in ["Node.appendChild", "get Element.scrollTop", "set CSS2Properties.height", "Foo constructor"] {
            assert!(is_dom_call(label), "{label}");
        }
        for label in ["Startup::XRE_Main", "a.b.c", "js::RunScript", "get x", "", "."] {
            assert!(!is_dom_call(label), "{label}");
        }
    }
}
