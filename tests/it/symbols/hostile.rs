//! Programs damaged at random places, in all forms that debug information has: no panic, no hang, no memory beyond reason.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cargo_traceview::image::Image;
use cargo_traceview::symbolize::{SymbolSource, symbolize_image};
use traceview_tests::tools::has_tool;

use super::corpus::{CHANGED, run};

/// Damaged copies of each form.
const COPIES: u64 = 200;
/// Far above what one copy takes, on a busy machine.
const LONG: Duration = Duration::from_secs(5);

#[test]
fn damaged_programs_of_every_form_are_survived() {
    if !["cc", "objcopy", "xz", "dwz"].into_iter().all(has_tool) {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("part.c"), include_str!("sources/part.c")).unwrap();
    let compile = "cc -O2 -fPIC -shared part.c -o";
    let mut forms = vec![("plain-4", format!("{compile} $1 -g -gdwarf-4"))];
    forms.push(("split-4", format!("{compile} $1 -g -gdwarf-4 -gsplit-dwarf")));
    forms.push(("split-5", format!("{compile} $1 -g -gdwarf-5 -gsplit-dwarf")));
    forms.extend(CHANGED.map(|(name, script)| (name, format!("{compile} $1 -g\n{script}"))));
    for (name, script) in forms {
        let program = root.path().join(name);
        run(Command::new("sh").args(["-e", "-c", &script, "sh", name]).current_dir(root.path()));
        let whole = fs::read(&program).unwrap();
        let named = names_of(whole.clone(), &program);
        assert!(named.is_some_and(|names| names > 0), "{name}");
        let mut random = Random(0x5eed_0000 + whole.len() as u64);
        for copy in 0..COPIES {
            let begun = Instant::now();
            names_of(damaged(&whole, copy, &mut random), &program);
            assert!(begun.elapsed() < LONG, "{name}, copy {copy}: {:?}", begun.elapsed());
        }
        // What the debug information is split off into, or shared in.
        for other in [format!("{name}.debug"), format!("{name}.shared"), format!("{name}-part.dwo")] {
            let other = root.path().join(other);
            let Ok(intact) = fs::read(&other) else { continue };
            for copy in 0..COPIES / 4 {
                fs::write(&other, damaged(&intact, copy, &mut random)).unwrap();
                names_of(whole.clone(), &program);
            }
        }
    }
}

/// Number of addresses with a name, if the bytes are an image at all.
fn names_of(bytes: Vec<u8>, path: &Path) -> Option<usize> {
    let image = Arc::new(Image::from_bytes(bytes, path.to_owned()).ok()?);
    let mut svmas = Vec::new();
    for code in image.code().iter().take(8) {
        let step = (code.end.saturating_sub(code.start) / 32).max(1);
        svmas.extend((0..32).map(|index| code.start.saturating_add(step * index)));
    }
    let resolved = symbolize_image(&image, &svmas, &|_| {});
    assert!(resolved.iter().all(|resolved| !resolved.frames.is_empty()), "each address has a frame");
    // One by one, too.
    let source = SymbolSource::load(image);
    let mut symbolizer = source.symbolizer();
    assert!(svmas.iter().all(|&svma| !symbolizer.resolve(svma).frames.is_empty()));
    Some(resolved.iter().filter(|resolved| resolved.named).count())
}

/// A copy cut off, with some bytes changed, with a stretch overwritten, or with a damaged table of sections.
fn damaged(whole: &[u8], kind: u64, random: &mut Random) -> Vec<u8> {
    let mut copy = whole.to_vec();
    match kind % 4 {
        0 => copy.truncate(random.below(whole.len())),
        1 => {
            for _ in 0..=random.below(8) {
                copy[random.below(whole.len())] = random.byte();
            }
        }
        2 => {
            let start = random.below(whole.len());
            let end = (start + 64).min(whole.len());
            copy[start..end].fill(random.byte());
        }
        _ => {
            let table = whole[0x28..0x30].try_into().map(u64::from_le_bytes).unwrap();
            let table = usize::try_from(table).unwrap();
            for _ in 0..4 {
                copy[table + random.below(whole.len() - table)] = random.byte();
            }
        }
    }
    copy
}

/// Xorshift: the same damage in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}
