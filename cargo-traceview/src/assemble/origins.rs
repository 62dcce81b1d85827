//! Whose code each frame is, with the versions of crates as far as any frame of the recording tells them.
//!
//! A function's name tells its crate but not the version, the path of its source tells both. Both kinds of frames are
//! there of one crate where only some of its code has debug information.

use rustc_hash::FxHashMap;

use crate::cargo::workspace::crate_name;
use crate::symbolize::{Category, CrateId, Origin, OriginRules, Resolved};
use crate::unwind::{ImageIndex, Recording};

/// The origins of all frames.
pub(super) struct Origins {
    distinct: Vec<Origin>,
    /// For each image, for each of its addresses, for each function there.
    of_image: Vec<Vec<Vec<u32>>>,
}

impl Origins {
    /// Judges all frames of `names`: for each image its addresses with their functions.
    pub(super) fn new(recording: &Recording, names: &[Vec<(u64, Resolved)>], rules: &OriginRules) -> Self {
        let mut indices: FxHashMap<Origin, u32> = FxHashMap::default();
        let mut distinct: Vec<Origin> = Vec::new();
        let mut index_of = |origin: Origin| {
            *indices.entry(origin).or_insert_with_key(|origin| {
                distinct.push(origin.clone());
                u32::try_from(distinct.len() - 1).expect("crates are few")
            })
        };
        let of_image = names
            .iter()
            .zip(&recording.images)
            .map(|(names, loaded)| {
                let of_address = |(_, resolved): &(u64, Resolved)| {
                    resolved.frames.iter().map(|frame| index_of(rules.classify(frame, &loaded.path))).collect()
                };
                names.iter().map(of_address).collect()
            })
            .collect();
        complete(&mut distinct, |name| rules.has_several(name));
        Origins { distinct, of_image }
    }

    /// The origin of the function at a depth of inlining, at an address given by its row.
    pub(super) fn at(&self, image: ImageIndex, row: usize, depth: usize) -> &Origin {
        &self.distinct[self.of_image[image][row][depth] as usize]
    }
}

/// Gives a crate that was told by name the version that it has elsewhere, where there is but one that it can be.
fn complete(origins: &mut [Origin], has_several: impl Fn(&str) -> bool) {
    let mut versions: FxHashMap<String, Vec<Origin>> = FxHashMap::default();
    for origin in origins.iter() {
        if let Some(CrateId { name, version: Some(_) }) = &origin.crate_id {
            versions.entry(crate_name(name)).or_default().push(origin.clone());
        }
    }
    for origin in origins {
        let Some(CrateId { name, version: None }) = &origin.crate_id else { continue };
        let name = crate_name(name);
        // What the lock file has in several versions can be one that was not seen.
        let Some(known) = versions.get(&name).filter(|_| !has_several(&name)) else { continue };
        // The standard library has copies of its own of what programs depend on, too.
        let mut fitting =
            known.iter().filter(|known| origin.category == Category::Other || known.category == origin.category);
        if let Some(only) = fitting.next()
            && fitting.next().is_none()
        {
            *origin = only.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::complete;
    use crate::symbolize::{Category, CrateId, Origin};

    fn origin(category: Category, name: &str, version: Option<&str>) -> Origin {
        let crate_id = CrateId { name: name.to_owned(), version: version.map(str::to_owned) };
        Origin { category, crate_id: Some(crate_id) }
    }

    #[test]
    fn a_crate_has_the_version_that_it_has_elsewhere() {
        use Category::{Dependency, Other, Std, Workspace};
        let mut origins = vec![
            origin(Std, "gimli", None),
            origin(Std, "gimli", Some("0.32.3")),
            // The program's own is another one.
            origin(Dependency, "gimli", Some("0.33.0")),
            origin(Other, "gimli", None),
            origin(Std, "hashbrown", None),
            origin(Dependency, "hashbrown", Some("0.15.0")),
            origin(Other, "serde_json", None),
            origin(Dependency, "serde-json", Some("1.0.9")),
            origin(Dependency, "rand", None),
            origin(Dependency, "rand", Some("0.8.5")),
            origin(Dependency, "syn", None),
            origin(Dependency, "syn", Some("1.0.0")),
            origin(Dependency, "syn", Some("2.0.0")),
            origin(Workspace, "mine", None),
            Origin { category: Other, crate_id: None },
        ];
        let before = origins.clone();
        complete(&mut origins, |name| name == "rand");
        let changed: Vec<(usize, Origin)> =
            (0..).zip(&before).zip(&origins).filter(|((_, a), b)| a != b).map(|((i, _), b)| (i, b.clone())).collect();
        let expected =
            [(0, origin(Std, "gimli", Some("0.32.3"))), (6, origin(Dependency, "serde-json", Some("1.0.9")))];
        assert_eq!(changed, expected);
    }
}
