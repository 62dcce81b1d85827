//! Symbol names to what people wrote in their source.
//!
//! Three schemes are known: Rust's v0 (`_R…`), Rust's legacy one (`_ZN…17h<16 hex digits>E`) and C++ (`_Z…`). A name
//! that fits none of them, or only nearly, is shown as it is: a raw name can be looked up, a wrong one misleads.
//! Names come from files that may be damaged, so input and output are bounded and no failure is more than a raw name.

use std::borrow::Cow;
use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

use super::readable::readable;

/// Longer symbols are not demangled. The longest seen in real programs (deeply combined futures) are some ten KiB.
const MAX_INPUT: usize = 64 * 1024;
/// Longer names are cut, with `…` at the end.
const MAX_OUTPUT: usize = 16 * 1024;
/// Nesting that the C++ demangler follows, in parsing and in printing; both recurse.
const CPP_RECURSION_LIMIT: u32 = 128;

/// What names of linkage stubs end in.
const STUB: &str = "@plt";

/// The readable form of a symbol's name: without hash and compiler-made suffixes, at most 16 KiB.
///
/// ```
/// use cargo_traceview::symbolize::demangle::demangle;
///
/// assert_eq!(demangle("_ZN4core3fmt5write17h0123456789abcdefE.llvm.1234"), "core::fmt::write");
/// assert_eq!(demangle("_Z3addii"), "add(int, int)");
/// assert_eq!(demangle("malloc"), "malloc");
/// ```
#[must_use]
pub fn demangle(raw: &str) -> Cow<'_, str> {
    // A stub of the linkage table, named by the symbol table's reader.
    if let Some(function) = raw.strip_suffix(STUB) {
        return Cow::Owned(format!("{}{STUB}", demangle(function.trim_end_matches(STUB))));
    }
    if raw.len() <= MAX_INPUT
        && let Some(demangled) = demangle_rust(raw).or_else(|| demangle_cpp(raw))
    {
        return Cow::Owned(demangled);
    }
    let name = without_version(raw);
    if name.len() <= MAX_OUTPUT { Cow::Borrowed(name) } else { Cow::Owned(cut(name)) }
}

/// Whether a name is mangled by one of the known schemes, which means that it carries the full path of the function.
#[must_use]
pub fn is_mangled(raw: &str) -> bool {
    raw.len() <= MAX_INPUT && (raw.starts_with("_R") || raw.starts_with("_Z"))
}

/// Whether a name is mangled as Rust does it, by either scheme; what only looks like it, as names of C and C++ can, is not.
#[must_use]
pub fn is_rust(raw: &str) -> bool {
    let raw = raw.strip_suffix(STUB).unwrap_or(raw);
    raw.len() <= MAX_INPUT && rust_parts(raw).is_some_and(|(symbol, _)| rustc_demangle::try_demangle(symbol).is_ok())
}

/// The crate that *defines* a function, from its v0 name; for an `impl` that is the crate the `impl` stands in, which
/// the demangled name doesn't tell. `None` for other names, and for default methods of traits.
#[must_use]
pub fn defining_crate(raw: &str) -> Option<&str> {
    let mut rest = raw.strip_prefix("_R")?;
    loop {
        let (tag, after) = rest.split_at_checked(1)?;
        rest = match tag {
            // A path within a path, after its namespace; a path before its generic arguments; an impl's own path.
            "N" => after.split_at_checked(1)?.1,
            "I" => after,
            "M" | "X" => without_disambiguator(after),
            "C" => return identifier(without_disambiguator(after)),
            _ => return None,
        };
    }
}

/// What may be a Rust symbol, and what the compiler put behind it.
fn rust_parts(raw: &str) -> Option<(&str, &str)> {
    let raw = without_version(raw);
    let end = if raw.starts_with("_R") {
        raw.find(['.', '$']).unwrap_or(raw.len())
    } else {
        // The legacy scheme is C++'s with a hash as last segment; without it, it is C++.
        legacy_end(raw)?
    };
    Some(raw.split_at(end))
}

/// A Rust symbol's name, or `None` if it is not one.
fn demangle_rust(raw: &str) -> Option<String> {
    let (symbol, suffix) = rust_parts(raw)?;
    let demangled = rustc_demangle::try_demangle(symbol).ok()?;
    let name = bounded(suffix, |text| write!(text, "{demangled:#}"))?;
    let readable = readable(&name);
    Some(if readable.len() <= MAX_OUTPUT { readable } else { name })
}

fn demangle_cpp(raw: &str) -> Option<String> {
    if !raw.starts_with("_Z") {
        return None;
    }
    let raw = without_version(raw);
    let (symbol, suffix) = raw.split_at(raw.find('.').unwrap_or(raw.len()));
    let parse = ParseOptions::default().recursion_limit(CPP_RECURSION_LIMIT);
    let (parsed, rest) = BorrowedSymbol::with_tail_and_options(symbol.as_bytes(), &parse).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let options = DemangleOptions::default().recursion_limit(CPP_RECURSION_LIMIT);
    bounded(suffix, |text| parsed.structured_demangle(text, &options)).map(without_empty_packs)
}

/// An empty pack of template or function arguments leaves the comma before or behind it.
fn without_empty_packs(name: String) -> String {
    const LEFTOVERS: [(&str, &str); 4] = [(", >", ">"), (", )", ")"), ("<, ", "<"), ("(, ", "(")];
    LEFTOVERS.into_iter().fold(
        name,
        |name, (comma, without)| {
            if name.contains(comma) { name.replace(comma, without) } else { name }
        },
    )
}

/// Runs a demangler on a text of limited size. Reaching the limit cuts the name, any other error gives none.
fn bounded(suffix: &str, print: impl FnOnce(&mut Bounded) -> fmt::Result) -> Option<String> {
    let mut out = Bounded { text: String::new(), full: false };
    let printed = print(&mut out);
    if out.full {
        out.text.push('…');
        return Some(out.text);
    }
    printed.ok()?;
    if !is_compiler_suffix(suffix) {
        out.text.push_str(suffix);
    }
    // The v0 demangler reports some damage inside its text instead of failing.
    if out.text.is_empty() || out.text.contains("{invalid syntax}") || out.text.contains("{recursion limit reached}") {
        return None;
    }
    Some(out.text)
}

/// Where a legacy Rust symbol ends: behind its hash `17h<16 hex digits>E`.
fn legacy_end(raw: &str) -> Option<usize> {
    /// Length of `17h`, the digits and `E`.
    const HASH: usize = 20;
    if !raw.starts_with("_ZN") {
        return None;
    }
    let start = raw.rfind("17h")?;
    let hash = raw.as_bytes().get(start..start + HASH)?;
    let digits = hash[3..19].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let ends = matches!(raw.as_bytes().get(start + HASH), None | Some(b'.' | b'$'));
    (digits && hash[19] == b'E' && ends).then_some(start + HASH)
}

/// Suffixes that compilers add to pieces and copies of a function. What remains is the function in the source.
fn is_compiler_suffix(suffix: &str) -> bool {
    const KINDS: [&str; 12] = [
        "llvm",
        "cold",
        "isra",
        "part",
        "constprop",
        "lto_priv",
        "localalias",
        "warm",
        "hot",
        "unlikely",
        "specialized",
        "__uniq",
    ];
    suffix.is_empty()
        || suffix.strip_prefix('.').is_some_and(|words| {
            words.split('.').all(|word| {
                KINDS.contains(&word) || word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F' | b'@'))
            })
        })
}

/// `name@@VERSION` and `name@VERSION` of versioned C symbols without the version.
fn without_version(raw: &str) -> &str {
    match raw.find('@') {
        Some(at) if at > 0 => &raw[..at],
        _ => raw,
    }
}

fn cut(name: &str) -> String {
    let mut text = Bounded { text: String::new(), full: false };
    // The error of a full text is the expected outcome.
    let _ = text.write_str(name);
    text.text.push('…');
    text.text
}

/// Skips `s<base 62>_`.
fn without_disambiguator(mangled: &str) -> &str {
    let skip = mangled.strip_prefix('s').and_then(|rest| rest.find('_').map(|end| &rest[end + 1..]));
    skip.unwrap_or(mangled)
}

/// Reads `<decimal length>_?<bytes>`; names in Punycode (`u…`) are left alone.
fn identifier(mangled: &str) -> Option<&str> {
    let digits = mangled.bytes().take_while(u8::is_ascii_digit).count();
    let (len, rest) = mangled.split_at(digits);
    let rest = rest.strip_prefix('_').unwrap_or(rest);
    rest.get(..len.parse().ok()?)
}

/// A text that takes at most [`MAX_OUTPUT`] bytes.
struct Bounded {
    text: String,
    full: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = MAX_OUTPUT - self.text.len();
        if part.len() <= room {
            self.text.push_str(part);
            return Ok(());
        }
        let end = (0..=room).rev().find(|&end| part.is_char_boundary(end)).unwrap_or(0);
        self.text.push_str(&part[..end]);
        self.full = true;
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_INPUT, MAX_OUTPUT, defining_crate, demangle};
    use std::time::{Duration, Instant};

    #[test]
    fn names_of_all_schemes() {
        let table = [
            // Rust, legacy
            ("_ZN3std2rt10lang_start17h0123456789abcdefE", "std::rt::lang_start"),
            ("_ZN1MIiJEE2goEl", "M<int>::go(long)"),
            ("_ZN1MIiJlEE2goEl", "M<int, long>::go(long)"),
            ("_ZN3foo3bar28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "foo::bar::{closure}"),
            (
                "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
                "<alloc::string::String as core::fmt::Debug>::fmt",
            ),
            ("_ZN3foo3bar17h0123456789abcdefE.llvm.1234567890", "foo::bar"),
            ("_ZN3foo3bar17h0123456789abcdefE.llvm.0A1B@@2", "foo::bar"),
            ("_ZN3foo3bar17h0123456789abcdefE.cold", "foo::bar"),
            ("_ZN3foo3bar17h0123456789abcdefE.part.0.llvm.77", "foo::bar"),
            ("_ZN3foo3bar17h0123456789abcdefE.odd_one", "foo::bar.odd_one"),
            ("_ZN3foo3BAR17h0123456789abcdefE$tlv$init", "foo::BAR$tlv$init"),
            ("_ZN3foo3bar17h0123456789abcdefE@@VERS_1", "foo::bar"),
            ("_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h6f6f8ab4b0d8c6dfE", "alloc::vec::Vec<T>::push"),
            (
                "_ZN4core3ptr94drop_in_place$LT$alloc..vec..Vec$LT$alloc..boxed..Box$LT$u8$C$alloc..alloc..Global$GT$$GT$$GT$17h0123456789abcdefE",
                "core::ptr::drop_in_place<alloc::vec::Vec<alloc::boxed::Box<u8>>>",
            ),
            (
                "_ZN5names7handler28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.1234",
                "names::handler::{closure}",
            ),
            // Rust, v0
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_RNCNvCs1234_7mycrate3foo0B3_", "mycrate::foo::{closure#0}"),
            ("_RNvCs1234_7mycrate3foo.llvm.8531", "mycrate::foo"),
            ("_RNvCs1234_7mycrate3foo.cold.1", "mycrate::foo"),
            ("_RINvCs1234_7mycrate3foolE", "mycrate::foo<i32>"),
            // C++
            ("_Z3foov", "foo()"),
            ("_ZN3foo3barEi", "foo::bar(int)"),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)"),
            ("_ZN3foo3barEi.isra.0.cold", "foo::bar(int)"),
            ("_ZN3foo17handler_of_eventsE", "foo::handler_of_events"),
            ("_ZNSt18condition_variable10notify_oneEv@@GLIBCXX_3.4.11", "std::condition_variable::notify_one()"),
            ("_ZN9__gnu_cxx18__exchange_and_addEPVii@GLIBCXX_3.4", "__gnu_cxx::__exchange_and_add(int volatile*, int)"),
            ("_ZN3foo3barEi.constprop.0.part.0", "foo::bar(int)"),
            ("_ZTV3foo", "{vtable(foo)}"),
            // neither
            ("main", "main"),
            ("", ""),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("_ZN", "_ZN"),
            ("_Znot_really", "_Znot_really"),
            ("_RTLD_next", "_RTLD_next"),
            ("_ROOT", "_ROOT"),
            ("_ZN3foo17h0123456789abcdeXE_tail", "_ZN3foo17h0123456789abcdeXE_tail"),
            ("größe", "größe"),
        ];
        for (raw, expected) in table {
            assert_eq!(demangle(raw), expected, "{raw}");
        }
    }

    /// Each of these has hurt some demangler: none may take long, overflow the stack or grow without bound.
    #[test]
    fn hostile_names_stay_bounded() {
        let nested_refs = format!("_RMC0{}l", "R".repeat(60_000));
        // Each backref repeats all before it: the output doubles with each.
        let mut doubling = String::from("_RMC0TllE");
        for _ in 0..200 {
            doubling = format!("_RMC0T{}B5_B5_E", &doubling[5..]);
        }
        let mut cpp_doubling = String::from("_Z1fSt4pairIiiE");
        for index in 0..30 {
            cpp_doubling
                .push_str(&format!("St4pairIS{0}_S{0}_E", if index == 0 { String::new() } else { index.to_string() }));
        }
        let names = [
            "a".repeat(1 << 20),
            format!("_ZN{}E", "1a".repeat(1 << 19)),
            format!("_R{}", "N".repeat(1 << 20)),
            format!("_ZN{}17h0123456789abcdefE", "1a".repeat(30_000)),
            nested_refs,
            doubling,
            cpp_doubling,
            format!("_Z1f{}i", "P".repeat(60_000)),
            format!("_Z{}", "N".repeat(60_000)),
            format!("_Z1fI{}E", "XnE".repeat(20_000)),
            format!("_ZN{}17h0123456789abcdefE", u64::MAX),
            "é".repeat(MAX_OUTPUT),
        ];
        let start = Instant::now();
        for name in &names {
            let demangled = demangle(name);
            assert!(demangled.len() <= MAX_OUTPUT.max(MAX_INPUT) + '…'.len_utf8(), "{} bytes", demangled.len());
        }
        assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    }

    #[test]
    fn long_names_are_cut_visibly() {
        let long = format!("_ZN{}17h0123456789abcdefE", "1a".repeat(20_000));
        let demangled = demangle(&long);
        assert!(demangled.starts_with("a::a::") && demangled.ends_with('…') && demangled.len() <= MAX_OUTPUT + 3);
    }

    #[test]
    fn every_prefix_and_every_damaged_byte_is_survived() {
        let name = "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE";
        for end in 0..name.len() {
            assert!(!demangle(&name[..end]).contains("{invalid"), "{}", &name[..end]);
            for byte in [b'_', b'0', b'9', b'E', b'B', b'$', b'.', b'z'] {
                let mut damaged = name.as_bytes().to_vec();
                damaged[end] = byte;
                let damaged = String::from_utf8(damaged).unwrap();
                assert!(!demangle(&damaged).contains("{invalid"), "{damaged}");
            }
        }
    }

    /// Real names of all schemes with bytes changed, left out, doubled: none may panic, hang or grow without bound.
    #[test]
    fn damaged_real_names_are_survived() {
        const NAMES: [&str; 8] = [
            "_ZN4core3ptr102drop_in_place$LT$tracing..instrument..Instrumented$LT$names..leaf..$u7b$$u7b$closure$u7d$$u7d$$GT$$GT$17hdfa25f8a97b302a1E.llvm.12414375881550424372",
            "_ZN45_$LT$$RF$T$u20$as$u20$core..fmt..UpperHex$GT$3fmt17h0123456789abcdefE",
            "_RNvMs_NtCslNYArtu3iFV_5alloc3vecINtB4_3VecNtNtNtNtNtCsdweMoVaqffg_5tokio7runtime9scheduler12multi_thread6worker6RemoteE16into_boxed_sliceBO_",
            "_RNCNvCsicCM1VL8XBj_5names7handler0B3_.llvm.5157715488870413450",
            "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
            "_ZNSt6vectorIiSaIiEE9push_backEOi",
            "_ZNSt4pairINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES5_EC2IS5_S5_TnNSt9enable_ifIXaaclsr5_PCCPE22_MoveConstructiblePairIT_T0_EEclsr5_PCCPE30_ImplicitlyMoveConvertiblePairIS9_SA_EEEbE4typeELb1EEEOS9_OSA_",
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm@@GLIBCXX_3.4.21",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let start = Instant::now();
        for round in 0..8_000 {
            let mut name = NAMES[round % NAMES.len()].as_bytes().to_vec();
            for _ in 0..=random(4) {
                let (at, other) = (random(name.len()), NAMES[random(NAMES.len())].as_bytes());
                match random(4) {
                    0 => name[at] = other[random(other.len())],
                    1 => drop(name.drain(at..(at + random(9)).min(name.len()))),
                    2 => drop(name.splice(at..at, other[..random(other.len())].to_vec())),
                    _ => name.truncate(at + 1),
                }
                name.push(b'E');
            }
            let name = String::from_utf8(name).unwrap();
            let demangled = demangle(&name);
            assert!(demangled.len() <= MAX_OUTPUT + '…'.len_utf8() && !demangled.contains("{invalid"), "{name}");
        }
        assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    }

    #[test]
    fn crates_of_v0_names() {
        assert_eq!(defining_crate("_RNvCs1234_7mycrate3foo"), Some("mycrate"));
        assert_eq!(defining_crate("_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE"), Some("std"));
        // `impl my::Trait for alloc::vec::Vec<..>`, written in crate `my`.
        assert_eq!(defining_crate("_RNvXs_C2myNtNtC5alloc3vec3VecNtB4_5Trait1f"), Some("my"));
        assert_eq!(defining_crate("_RNvYNtC2my1TNtC4core5Clone5clone"), None);
        assert_eq!(defining_crate("_ZN3foo3bar17h0123456789abcdefE"), None);
        assert_eq!(defining_crate("_RNvC99foo"), None);
    }
}
