//! Separate debug files: where distributions put the symbols and debug information that `strip` took out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::image::{BuildId, Image};

/// Where distributions install debug files.
const SYSTEM_ROOT: &str = "/usr/lib/debug";

/// The debug file of `image`, if one is installed that provably belongs to it.
///
/// Looked up by build id first, then by the name and CRC that the image's `.gnu_debuglink` gives, in the image's
/// directory, in its `.debug` directory, and below `/usr/lib/debug`. A file of another build is passed over: wrong
/// names are worse than none.
#[must_use]
pub fn find(image: &Image) -> Option<Image> {
    find_below(image, Path::new(SYSTEM_ROOT))
}

/// The file that `dwz` moved what several debug files share to, named by the `.gnu_debugaltlink` of one of them. Only the
/// file with the build id that the link states.
#[must_use]
pub fn find_supplement(debug_file: &Image) -> Option<Image> {
    find_supplement_below(debug_file, Path::new(SYSTEM_ROOT))
}

fn find_supplement_below(debug_file: &Image, root: &Path) -> Option<Image> {
    let link = debug_file.section(".gnu_debugaltlink")?;
    let end = link.bytes.iter().position(|&byte| byte == 0)?;
    let name = Path::new(OsStr::from_bytes(&link.bytes[..end]));
    let id = BuildId::new(&link.bytes[end + 1..])?;
    by_build_id(&id, root).or_else(|| {
        // A relative path starts at the file that has the link; an absolute one replaces what it is joined to.
        let path = real_path(debug_file.path())?.parent()?.join(name);
        Image::open(&path).ok().filter(|file| file.build_id() == Some(&id))
    })
}

fn find_below(image: &Image, root: &Path) -> Option<Image> {
    image.build_id().and_then(|id| by_build_id(id, root)).or_else(|| {
        let link = image.section(".gnu_debuglink")?;
        by_debug_link(&link.bytes, image.path(), root)
    })
}

fn by_build_id(id: &BuildId, root: &Path) -> Option<Image> {
    let hex = id.to_string();
    let (directory, file) = hex.split_at_checked(2)?;
    let file = Image::open(&root.join(".build-id").join(directory).join(format!("{file}.debug"))).ok()?;
    (file.build_id() == Some(id)).then_some(file)
}

fn by_debug_link(link: &[u8], path: &Path, root: &Path) -> Option<Image> {
    let (name, crc) = parse_debug_link(link)?;
    let path = real_path(path)?;
    let directory = path.parent()?;
    let below_root = root.join(directory.strip_prefix("/").ok()?);
    let candidates = [directory.join(name), directory.join(".debug").join(name), below_root.join(name)];
    candidates.into_iter().filter(|candidate| !is_same_file(candidate, &path)).find_map(|candidate| {
        let file = Image::open(&candidate).ok()?;
        (crc32(file.data()) == crc).then_some(file)
    })
}

/// The file's place with all symbolic links followed. A program that was deleted or replaced still has its directory.
fn real_path(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?)))
}

/// Parses name, padding to four bytes, and CRC.
fn parse_debug_link(section: &[u8]) -> Option<(&str, u32)> {
    let end = section.iter().position(|&byte| byte == 0)?;
    let name = std::str::from_utf8(&section[..end]).ok()?;
    // A name, not a path: where to look is not the file's to say.
    if name.contains('/') || matches!(name, "" | "." | "..") {
        return None;
    }
    let crc = section.get((end + 1).next_multiple_of(4)..)?.first_chunk::<4>()?;
    Some((name, u32::from_le_bytes(*crc)))
}

/// Whether both are one file: a link can name the very file it stands in.
fn is_same_file(candidate: &Path, path: &Path) -> bool {
    match (fs::metadata(candidate), fs::metadata(path)) {
        (Ok(candidate), Ok(path)) => candidate.dev() == path.dev() && candidate.ino() == path.ino(),
        _ => false,
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::{by_debug_link, crc32, find_below, parse_debug_link};
    use crate::image::Image;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn libc() -> Image {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let path = maps.split_whitespace().find(|field| field.contains("libc.so")).unwrap();
        Image::open(Path::new(path)).unwrap()
    }

    fn link(name: &str, crc: u32) -> Vec<u8> {
        let mut section = name.as_bytes().to_vec();
        section.push(0);
        section.resize(section.len().next_multiple_of(4), 0);
        section.extend_from_slice(&crc.to_le_bytes());
        section
    }

    #[test]
    fn a_debug_file_is_found_by_build_id_and_only_its_own() {
        let image = libc();
        let root = tempfile::tempdir().unwrap();
        let hex = image.build_id().unwrap().to_string();
        let directory = root.path().join(".build-id").join(&hex[..2]);
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(format!("{}.debug", &hex[2..]));
        assert!(find_below(&image, root.path()).is_none());
        fs::write(&path, image.data()).unwrap();
        assert_eq!(find_below(&image, root.path()).unwrap().path(), path);
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        assert!(find_below(&image, root.path()).is_none(), "a file of another build");
    }

    #[test]
    fn a_debug_link_is_followed_where_the_crc_fits() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let (program, root) = (place.join("prog"), place.join("root"));
        let content = fs::read(std::env::current_exe().unwrap()).unwrap();
        fs::write(&program, &content[..content.len() - 1]).unwrap();
        let good = link("prog.debug", crc32(&content));
        let found = |link: &[u8]| by_debug_link(link, &program, &root).map(|image| image.path().to_path_buf());

        let below_root = root.join(place.strip_prefix("/").unwrap());
        for directory in [below_root, place.join(".debug"), place.clone()] {
            fs::create_dir_all(&directory).unwrap();
            let path: PathBuf = directory.join("prog.debug");
            fs::write(&path, &content).unwrap();
            assert_eq!(found(&good), Some(path.clone()));
            assert_eq!(found(&link("prog.debug", crc32(&content) ^ 1)), None, "wrong CRC");
        }
        // The nearest one is of another build: the search goes on.
        fs::write(place.join("prog.debug"), b"\x7fELF").unwrap();
        assert_eq!(found(&good), Some(place.join(".debug/prog.debug")));
        let own = crc32(&content[..content.len() - 1]);
        assert_eq!(found(&link("prog", own)), None, "a link to the program itself");
    }

    #[test]
    fn damaged_links_are_none() {
        assert_eq!(parse_debug_link(&link("a.debug", 7)), Some(("a.debug", 7)));
        for damaged in
            [&b""[..], b"a.debug", b"a\0\0\0\x01\x02", b"\0\0\0\0aaaa", b"../a\0\0\0\0aaaa", b"\xff\0\0\0aaaa"]
        {
            assert_eq!(parse_debug_link(damaged), None, "{damaged:?}");
        }
    }
}
