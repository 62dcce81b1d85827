//! Colours by package, for profiles that do not say whose code is whose: one colour for all of it would tell nothing.

use traceview_core::analysis::FunctionFacts;
use traceview_core::model::{CategoryId, Color, FunctionId, Profile, StandardCategory};

/// Colours with a hue: grey is what is not known.
const HUES: [Color; 10] = [
    Color::Blue,
    Color::Green,
    Color::Orange,
    Color::Yellow,
    Color::Purple,
    Color::LightBlue,
    Color::LightRed,
    Color::Brown,
    Color::Magenta,
    Color::Red,
];

/// By function the colour of its package, the same in each run; `None` where categories tell functions apart.
pub(crate) fn package_colors(profile: &Profile, facts: &FunctionFacts) -> Option<Vec<Color>> {
    let functions = || (0..profile.functions.len()).map(FunctionId::new);
    let mut categories = functions().map(|function| facts.category(function));
    let first = categories.next()?;
    if says_whose(profile, first) || categories.any(|category| category != first) {
        return None;
    }
    Some(functions().map(|function| package(profile, facts, function).map_or(Color::Grey, color)).collect())
}

/// Whether a category says whose code it has.
fn says_whose(profile: &Profile, category: Option<CategoryId>) -> bool {
    let Some(category) = category else { return false };
    let name = profile.string(profile.categories[category.index()].name);
    StandardCategory::ALL.into_iter().any(|it| it != StandardCategory::Other && it.name() == name)
}

/// What a function is part of: its crate, or what stands before its own name, or else its library.
fn package<'a>(profile: &'a Profile, facts: &FunctionFacts, function: FunctionId) -> Option<&'a str> {
    if let Some(origin) = profile.functions.origin[function.index()] {
        return Some(profile.string(profile.crates[origin.index()].name));
    }
    let name = profile.string(profile.functions.name[function.index()]);
    let of_library = || Some(profile.string(profile.libraries[facts.library(function)?.index()].name));
    package_in(name).or_else(of_library)
}

/// `std` of `<std::fs::File as Read>::read`, `net/http` of `net/http.(*Server).Serve`, `java` of `java.util.List.get`.
fn package_in(name: &str) -> Option<&str> {
    let name = name.trim_start_matches(['<', '&', '[', '(']);
    let path = &name[..name.find(['<', '(', '[', '{', ' ']).unwrap_or(name.len())];
    if let Some((package, _)) = path.split_once("::") {
        return Some(package).filter(|it| !it.is_empty());
    }
    let file = path.rfind('/').map_or(0, |slash| slash + 1);
    let dot = file + path[file..].find('.')?;
    Some(&path[..dot]).filter(|it| !it.is_empty())
}

/// The colour of a package, by its name.
fn color(package: &str) -> Color {
    // FNV-1a, 64 bits: it is the same in each version and on each machine.
    let hash = package
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let most = u64::try_from(HUES.len()).expect("a small number");
    HUES[usize::try_from((hash >> 32) % most).expect("a small number")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestProfile, document, profiles};

    #[test]
    fn packages_are_found_in_names_of_several_languages() {
        for (name, package) in [
            ("memchr::memmem::find", Some("memchr")),
            ("<std::fs::File as std::io::Read>::read", Some("std")),
            ("<&mut alloc::vec::Vec<T>>::push", None),
            ("net/http.(*Server).Serve", Some("net/http")),
            ("cmd/compile/internal/ssa.applyRewrite[go.shape.int]", Some("cmd/compile/internal/ssa")),
            ("runtime.main", Some("runtime")),
            ("java.util.HashMap.get", Some("java")),
            ("tensorflow::Executor::Run(int)", Some("tensorflow")),
            ("malloc", None),
            ("0x1098eb", None),
            ("::x", None),
            (".plt", None),
            ("", None),
        ] {
            assert_eq!(package_in(name), package, "{name}");
        }
    }

    #[test]
    fn categories_come_first_where_they_tell_functions_apart() {
        let colors = |profile: Profile| {
            let document = document(profile);
            package_colors(&document.profile, &document.facts)
        };
        assert_eq!(colors(profiles::functions()), None);
        assert_eq!(colors(TestProfile::new().finish()), None, "there is no function");
    }
}
