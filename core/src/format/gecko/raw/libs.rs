//! The libraries of a process and which of them an address belongs to.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::value::RawValue;

use super::super::schema::{self, Row, Str};
use super::schema::Lib;
use crate::model::file_name;

/// The libraries of one process in the order of their addresses.
pub(super) struct Libs<'a> {
    libs: Vec<Lib<'a>>,
    /// Their resources; none as long as no address was in them.
    resources: Vec<Cell<Row>>,
}

/// Where an address lies.
pub(super) struct Place<'l, 'a> {
    pub lib: &'l Lib<'a>,
    pub resource: &'l Cell<Row>,
    /// From the beginning of the library's file.
    pub address: u64,
}

impl<'a> Libs<'a> {
    pub(super) fn new(mut libs: Vec<Lib<'a>>) -> Self {
        libs.sort_by_key(|lib| lib.start);
        let resources = vec![Cell::new(Row::NONE); libs.len()];
        Self { libs, resources }
    }

    /// How many do not say which part of their file begins at their start; then it is taken to be the file's begin.
    pub(super) fn without_offset(&self) -> usize {
        self.libs.iter().filter(|lib| lib.offset.is_none()).count()
    }

    /// Where `address` lies: a library takes up [start, end).
    pub(super) fn find(&self, address: u64) -> Option<Place<'_, 'a>> {
        let behind = self.libs.partition_point(|lib| lib.start <= address);
        let at = behind.checked_sub(1)?;
        let lib = Some(&self.libs[at]).filter(|lib| address < lib.end)?;
        let in_file = (address - lib.start).checked_add(lib.offset.unwrap_or(0))?;
        Some(Place { lib, resource: &self.resources[at], address: in_file })
    }
}

/// A library as processed files have it. Version 3 has less, from which the rest is made as later versions do.
pub(super) fn processed<'a>(lib: &Lib<'a>, version: u64, abi: Option<&Str<'a>>) -> schema::Lib<'a> {
    let text = |text: &Option<Str<'a>>| text.clone().unwrap_or_default();
    let mut of_file = schema::Lib {
        arch: Some(text(&lib.arch)),
        name: Some(text(&lib.name)),
        path: Some(text(&lib.path)),
        debug_name: Some(text(&lib.debug_name)),
        debug_path: Some(text(&lib.debug_path)),
        breakpad_id: Some(text(&lib.breakpad_id)),
        code_id: lib.code_id.clone(),
        ..schema::Lib::default()
    };
    if version > 3 {
        return of_file;
    }
    let path = text(&lib.name).0;
    let debug_name = match (&lib.breakpad_id, &lib.pdb_name) {
        (None, Some(name)) => {
            let signature = text(&lib.pdb_signature).0;
            let mut id: String = signature.chars().filter(|character| !"{}-".contains(*character)).collect();
            id.make_ascii_uppercase();
            id.push_str(lib.pdb_age.map_or("", RawValue::get).trim_matches('"'));
            of_file.breakpad_id = Some(Str(id.into()));
            name.0.clone()
        }
        _ => behind_last_slash(&path),
    };
    let name = debug_name.strip_suffix(".pdb").unwrap_or(&debug_name).to_owned();
    let arch = abi.map(|abi| if abi.0 == "x86_64-gcc3" { Str("x86_64".into()) } else { abi.clone() });
    of_file.name = Some(Str(name.into()));
    of_file.debug_name = Some(Str(debug_name));
    of_file.path = Some(Str(path));
    of_file.arch = arch.or(of_file.arch);
    of_file
}

fn behind_last_slash<'a>(path: &Cow<'a, str>) -> Cow<'a, str> {
    match path {
        Cow::Borrowed(path) => Cow::Borrowed(file_name(path)),
        Cow::Owned(path) => Cow::Owned(file_name(path).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn libs(text: &str) -> Libs<'_> {
        Libs::new(serde_json::from_str(text).expect("libraries"))
    }

    #[test]
    fn an_address_belongs_to_the_library_around_it() {
        let text =
            r#"[{"name": "b", "start": 200, "end": 300, "offset": 16}, {"name": "a", "start": 100, "end": 150}]"#;
        let libs = libs(text);
        let find = |address| libs.find(address).map(|place| (place.lib.name.clone().expect("a name").0, place.address));
        for (address, expected) in [
            (99, None),
            (100, Some(("a", 0))),
            (149, Some(("a", 49))),
            (150, None),
            (200, Some(("b", 16))),
            (299, Some(("b", 115))),
            (300, None),
            (u64::MAX, None),
        ] {
            assert_eq!(find(address), expected.map(|(name, address)| (name.into(), address)), "{address}");
        }
        assert_eq!(libs.without_offset(), 1);
    }

    #[test]
    fn an_offset_beyond_all_files_is_no_place() {
        let text = r#"[{"start": 0, "end": 18446744073709551615, "offset": 18446744073709551615}]"#;
        assert!(libs(text).find(7).is_none());
    }

    #[test]
    fn old_libraries_get_names_and_ids() {
        let text = r#"[{"pdbName": "e.pdb", "pdbSignature": "{10ab-02}", "pdbAge": 7, "name": "C:\\e", "start": 0, "end": 1},
            {"breakpadId": "F1", "name": "/usr/lib/libx.so", "start": 2, "end": 3}]"#;
        let libs = libs(text);
        let abi = Str("x86_64-gcc3".into());
        let shown = |address| {
            let lib = processed(libs.find(address).expect("a library").lib, 3, Some(&abi));
            [lib.name, lib.debug_name, lib.path, lib.breakpad_id, lib.arch].map(|text| text.expect("a text").0)
        };
        assert_eq!(shown(0), ["e", "e.pdb", "C:\\e", "10AB027", "x86_64"]);
        assert_eq!(shown(2), ["libx.so", "libx.so", "/usr/lib/libx.so", "F1", "x86_64"]);
    }
}
