//! Separate debug files: where distributions put the symbols and debug information that `strip` took out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::image::{BuildId, Image, ImageError};

/// Where distributions install debug files.
const SYSTEM_ROOT: &str = "/usr/lib/debug";

/// Why there is no debug file for an image.
#[derive(Debug, thiserror::Error)]
pub enum NoDebugFile {
    /// The image has neither a build id nor a link.
    #[error("nothing in it says which debug file is its own")]
    NotNamed,
    /// None of the places that it can be at has one.
    #[error("its debug file is not installed")]
    NotInstalled,
    /// There is one, but it does not belong to the image.
    #[error("the debug file {} is of another build", path.display())]
    OtherBuild {
        /// The debug file.
        path: PathBuf,
    },
    /// There is one that can't be used.
    #[error("its debug file cannot be used: {source}")]
    Unusable {
        /// What is wrong with it.
        source: ImageError,
    },
}

/// The debug file of `image`, if one is installed that provably belongs to it.
///
/// Looked up by build id first, then by the name and CRC that the image's `.gnu_debuglink` gives, in the image's
/// directory, in its `.debug` directory, and below `/usr/lib/debug`. A file of another build is passed over: wrong
/// names are worse than none.
#[must_use]
pub fn find(image: &Image) -> Option<Image> {
    search(image).ok()
}

/// As [`find`], for an image without debug information of its own.
pub(super) fn wanted(image: &Image) -> Option<Image> {
    if image.has_debug_info() { None } else { find(image) }
}

/// The one of an image and its debug file whose debug information counts.
pub(super) fn with_dwarf<'a>(image: &'a Image, debug_file: Option<&'a Image>) -> Option<&'a Image> {
    debug_file.into_iter().chain([image]).find(|file| file.has_debug_info())
}

/// What [`find_supplement`] finds for the debug information that counts.
pub(super) fn supplement_of(image: &Image, debug_file: Option<&Image>) -> Option<Image> {
    with_dwarf(image, debug_file).and_then(find_supplement)
}

/// As [`find`], for those who want to tell people why there is none.
///
/// # Errors
/// Says how far the search got, see [`NoDebugFile`].
pub fn search(image: &Image) -> Result<Image, NoDebugFile> {
    search_below(image, Path::new(SYSTEM_ROOT))
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
    // A relative path starts at the file that has the link; an absolute one replaces what it is joined to.
    let named = real_path(debug_file.path()).and_then(|path| Some(path.parent()?.join(name)));
    let candidates = path_of_build_id(&id, root).into_iter().chain(named);
    first_proven(candidates.map(|path| (path, Proof::BuildId(id.clone()))).collect()).ok()
}

fn search_below(image: &Image, root: &Path) -> Result<Image, NoDebugFile> {
    let mut candidates = Vec::new();
    if let Some(id) = image.build_id() {
        candidates.extend(path_of_build_id(id, root).map(|path| (path, Proof::BuildId(id.clone()))));
    }
    if let Some(link) = image.section(".gnu_debuglink") {
        candidates.extend(linked(&link.bytes, image.path(), root));
    }
    first_proven(candidates)
}

/// What a debug file must have to be the right one.
enum Proof {
    BuildId(BuildId),
    Crc(u32),
}

impl Proof {
    fn holds(&self, file: &Image) -> bool {
        match self {
            Proof::BuildId(id) => file.build_id() == Some(id),
            Proof::Crc(crc) => crc32(file.data()) == *crc,
        }
    }
}

fn first_proven(candidates: Vec<(PathBuf, Proof)>) -> Result<Image, NoDebugFile> {
    let mut why = if candidates.is_empty() { NoDebugFile::NotNamed } else { NoDebugFile::NotInstalled };
    for (path, proof) in candidates {
        let reason = match Image::open(&path) {
            Ok(file) if proof.holds(&file) => return Ok(file),
            Ok(_) => NoDebugFile::OtherBuild { path },
            Err(source) if source.is_not_found() => continue,
            Err(source) => NoDebugFile::Unusable { source },
        };
        if matches!(why, NoDebugFile::NotInstalled) {
            why = reason;
        }
    }
    Err(why)
}

fn path_of_build_id(id: &BuildId, root: &Path) -> Option<PathBuf> {
    let hex = id.to_string();
    let (directory, file) = hex.split_at_checked(2)?;
    Some(root.join(".build-id").join(directory).join(format!("{file}.debug")))
}

/// Where the file that a link names can be.
fn linked(link: &[u8], path: &Path, root: &Path) -> Vec<(PathBuf, Proof)> {
    let Some(((name, crc), path)) = parse_debug_link(link).zip(real_path(path)) else { return Vec::new() };
    let Some(directory) = path.parent() else { return Vec::new() };
    let mut candidates = vec![directory.join(name), directory.join(".debug").join(name)];
    candidates.extend(directory.strip_prefix("/").ok().map(|directory| root.join(directory).join(name)));
    candidates.retain(|candidate| !is_same_file(candidate, &path));
    candidates.into_iter().map(|candidate| (candidate, Proof::Crc(crc))).collect()
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

/// The checksum that debug links have.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::{NoDebugFile, crc32, first_proven, linked, parse_debug_link, search_below};
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
        assert!(matches!(search_below(&image, root.path()), Err(NoDebugFile::NotInstalled)));
        fs::write(&path, image.data()).unwrap();
        assert_eq!(search_below(&image, root.path()).unwrap().path(), path);
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        assert!(
            matches!(search_below(&image, root.path()), Err(NoDebugFile::OtherBuild { path: other }) if other == path)
        );
        fs::write(&path, "no image").unwrap();
        assert!(matches!(search_below(&image, root.path()), Err(NoDebugFile::Unusable { .. })));
    }

    #[test]
    fn a_debug_link_is_followed_where_the_crc_fits() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let (program, root) = (place.join("prog"), place.join("root"));
        let content = fs::read(std::env::current_exe().unwrap()).unwrap();
        fs::write(&program, &content[..content.len() - 1]).unwrap();
        let good = link("prog.debug", crc32(&content));
        let found =
            |link: &[u8]| first_proven(linked(link, &program, &root)).ok().map(|image| image.path().to_path_buf());

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
        // The program was deleted while it ran: its directory still counts.
        fs::remove_file(&program).unwrap();
        assert_eq!(found(&good), Some(place.join(".debug/prog.debug")));
        fs::write(&program, &content[..content.len() - 1]).unwrap();
        let own = crc32(&content[..content.len() - 1]);
        assert_eq!(found(&link("prog", own)), None, "a link to the program itself");
        let elsewhere = place.join("elsewhere");
        std::os::unix::fs::symlink(&program, &elsewhere).unwrap();
        let through_link = first_proven(linked(&good, &elsewhere, &root)).unwrap();
        assert_eq!(through_link.path(), place.join(".debug/prog.debug"));
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
