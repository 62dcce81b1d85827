//! What is kept comes back, and only where it belongs.

use super::{Key, NameCache, Stored, file};
use crate::image::Image;
use crate::symbolize::{Request, Resolved, symbolize_image, symbolize_images};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

fn own_image() -> Arc<Image> {
    Arc::new(Image::open(&std::env::current_exe().unwrap()).unwrap())
}

/// A copy of this program with bytes of one section changed.
fn changed(section: &str, change: impl FnOnce(&mut [u8])) -> Arc<Image> {
    let image = own_image();
    let bytes = image.section(section).unwrap().bytes;
    let offset = bytes.as_ptr() as usize - image.data().as_ptr() as usize;
    let mut copy = image.data().to_vec();
    change(&mut copy[offset..offset + bytes.len()]);
    Arc::new(Image::from_bytes(copy, image.path().to_path_buf()).unwrap())
}

fn svmas(step: usize) -> Vec<u64> {
    own_image().code().iter().cloned().flatten().step_by(step).take(300).collect()
}

fn with_cache(cache: &NameCache, image: &Arc<Image>, svmas: &[u64]) -> Vec<Resolved> {
    let request = Request { image: Arc::clone(image), svmas: svmas.to_vec() };
    symbolize_images(&[request], Some(cache), &|done, total| assert!(done <= total)).remove(0).resolved
}

fn files(cache: &NameCache) -> Vec<PathBuf> {
    let entries = fs::read_dir(&cache.directory);
    entries.map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
}

/// Names that nothing but the cache can give.
fn renamed(mut names: Vec<Resolved>) -> Vec<Resolved> {
    for frame in names.iter_mut().flat_map(|resolved| &mut resolved.frames) {
        frame.name = format!("kept {}", frame.name).into();
    }
    for resolved in &mut names {
        resolved.named = true;
    }
    names
}

fn keep(cache: &NameCache, key: &Key, svmas: &[u64], names: &[Resolved]) {
    let rows: Vec<(u64, &Resolved)> = svmas.iter().copied().zip(names).collect();
    cache.write(key, &rows);
}

#[test]
fn names_come_back_with_those_found_later() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().join("a/b"));
    let (image, few, more) = (own_image(), svmas(9001), svmas(4001));
    // Outside of all code: an address without a name.
    let few = [few, vec![1 << 60]].concat();
    assert_eq!(with_cache(&cache, &image, &few), symbolize_image(&image, &few, &|_| {}));
    assert_eq!(files(&cache).len(), 1);
    assert_eq!(with_cache(&cache, &image, &more), symbolize_image(&image, &more, &|_| {}));
    let stored = cache.read(&Key::new(&image, None).unwrap()).unwrap();
    for (svma, resolved) in
        few.iter().chain(&more).zip(symbolize_image(&image, &[few.clone(), more.clone()].concat(), &|_| {}))
    {
        let unnamed = resolved.frames[0].name.to_string();
        assert_eq!(stored.find(*svma, || unnamed), Some(resolved), "{svma:#x}");
    }
    assert!(stored.find(1, String::new).is_none());
    assert_eq!(files(&cache).len(), 1);
}

#[test]
fn leftovers_under_the_names_of_new_files_are_in_nobodys_way() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    // As from a process that had our number before us, or that has it elsewhere and still writes.
    let others = (0..2000).map(|count| directory.path().join(format!("{}-{count}.new.names", std::process::id())));
    let others: Vec<PathBuf> = others.collect();
    for other in &others {
        fs::write(other, "half").unwrap();
    }
    let (image, svmas) = (own_image(), svmas(9001));
    let names = symbolize_image(&image, &svmas, &|_| {});
    let key = Key::new(&image, None).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| keep(&cache, &key, &svmas, &names));
        }
    });
    assert!(cache.read(&key).is_some());
    assert!(others.iter().all(|other| fs::read(other).unwrap() == b"half"));
    assert_eq!(files(&cache).len(), others.len() + 1);
}

#[test]
fn what_is_kept_is_not_looked_up_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    let (image, svmas) = (own_image(), svmas(9001));
    let kept = renamed(symbolize_image(&image, &svmas, &|_| {}));
    keep(&cache, &Key::new(&image, None).unwrap(), &svmas, &kept);
    assert_eq!(with_cache(&cache, &image, &svmas), kept);
    // In any order, and more than once.
    let backwards: Vec<u64> = svmas.iter().rev().chain(&svmas).copied().collect();
    let kept: Vec<Resolved> = kept.iter().rev().chain(&kept).cloned().collect();
    assert_eq!(with_cache(&cache, &image, &backwards), kept);
}

#[test]
fn another_build_gets_none_of_the_names() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    let (image, svmas) = (own_image(), svmas(9001));
    let key = Key::new(&image, None).unwrap();
    keep(&cache, &key, &svmas, &renamed(symbolize_image(&image, &svmas, &|_| {})));
    let code = changed(".text", |bytes| bytes.fill(0x90));
    let id = changed(".note.gnu.build-id", |bytes| *bytes.last_mut().unwrap() ^= 1);
    for other in [&code, &id] {
        let other_key = Key::new(other, None).unwrap();
        assert_ne!(cache.path(&other_key), cache.path(&key));
        let right = symbolize_image(other, &svmas, &|_| {});
        assert_eq!(with_cache(&cache, other, &svmas), right);
        // Nor if someone puts the file in its place.
        fs::copy(cache.path(&key), cache.path(&other_key)).unwrap();
        assert_eq!(with_cache(&cache, other, &svmas), right);
        assert!(cache.read(&other_key).is_some(), "the foreign file was replaced");
    }
    let with_debug_file = Key::new(&image, [&*code]).unwrap();
    let with_supplement = Key::new(&image, [&*code, &*id]).unwrap();
    assert!(with_debug_file != key && with_supplement != with_debug_file);
    // With a build id set by hand, and no difference where it is looked for.
    let path = directory.path().join("built again");
    fs::write(&path, image.data()).unwrap();
    let built = |second| {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        Key::new(&Image::open(&path).unwrap(), None).unwrap()
    };
    assert_eq!(built(1), built(1));
    assert_ne!(cache.path(&built(1)), cache.path(&built(2)));
}

#[test]
fn an_image_without_build_id_is_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    let image = changed(".note.gnu.build-id", |bytes| bytes.fill(0));
    assert!(image.build_id().is_none());
    let svmas = svmas(9001);
    assert_eq!(with_cache(&cache, &image, &svmas), symbolize_image(&image, &svmas, &|_| {}));
    assert_eq!(files(&cache), Vec::<PathBuf>::new());
}

#[test]
fn damage_is_as_good_as_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    let (image, svmas) = (own_image(), svmas(90_001));
    let right = with_cache(&cache, &image, &svmas);
    let key = Key::new(&image, None).unwrap();
    let path = cache.path(&key);
    let whole = fs::read(&path).unwrap();
    for len in (0..whole.len()).step_by(whole.len() / 50) {
        assert!(Stored::parse(whole[..len].to_vec(), &key).is_none(), "cut to {len} bytes");
        let mut flipped = whole.clone();
        flipped[len] ^= 0x40;
        assert!(Stored::parse(flipped.clone(), &key).is_none(), "byte {len}");
        // Damage that keeps the checksum: no panic, and no more than is there.
        let content = flipped.len() - 4;
        let checksum = crate::symbolize::debug_file::crc32(&flipped[..content]);
        flipped[content..].copy_from_slice(&checksum.to_le_bytes());
        if let Some(stored) = Stored::parse(flipped, &key) {
            assert!(stored.all().count() <= svmas.len());
        }
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(with_cache(&cache, &image, &svmas), right);
    assert_eq!(fs::read(&path).unwrap().len(), whole.len(), "replaced");
    // A cache that can't be written costs nothing but time.
    let nowhere = NameCache::at(path.join("below a file"));
    assert_eq!(with_cache(&nowhere, &image, &svmas), right);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    let (image, svmas) = (own_image(), svmas(90_001));
    let right = symbolize_image(&image, &svmas, &|_| {});
    let path = cache.path(&Key::new(&image, None).unwrap());
    // A device without an end, and a pipe that nobody writes to.
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert_eq!(with_cache(&cache, &image, &svmas), right);
    assert!(fs::symlink_metadata(&path).unwrap().is_file(), "replaced");
    fs::remove_file(&path).unwrap();
    if std::process::Command::new("mkfifo").arg(&path).status().is_ok_and(|status| status.success()) {
        assert_eq!(with_cache(&cache, &image, &svmas), right);
    }
}

#[test]
fn nothing_is_made_in_the_home_of_another_user() {
    let directory = tempfile::tempdir().unwrap();
    let (image, svmas) = (own_image(), svmas(90_001));
    let home = directory.path().join("home");
    fs::create_dir(&home).unwrap();
    if std::os::unix::fs::chown(&home, Some(12_345), None).is_err() {
        println!("skipped: only root can give a directory away");
        return;
    }
    let cache = NameCache::locate(None, Some(home.as_os_str())).unwrap();
    assert_eq!(with_cache(&cache, &image, &svmas), symbolize_image(&image, &svmas, &|_| {}));
    assert!(!home.join(".cache").exists());
    // Where there is one already, it is used.
    fs::create_dir_all(&cache.directory).unwrap();
    with_cache(&cache, &image, &svmas);
    assert_eq!(files(&cache).len(), 1);
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    let (image, svmas) = (own_image(), svmas(9001));
    let names = symbolize_image(&image, &svmas, &|_| {});
    let rows: Vec<(u64, &Resolved)> = svmas.iter().copied().zip(&names).collect();
    let [old, used, new] = [0x11, 0x22, 0x33]
        .map(|byte| changed(".text", |bytes| bytes.fill(byte)))
        .map(|image| Key::new(&image, None).unwrap());
    let len = file::encode(&old, &rows).unwrap().len() as u64;
    let cache = cache.with_max_bytes(len * 5 / 2);
    for (key, hours) in [(&old, 1), (&used, 2)] {
        cache.write(key, &rows);
        let then = SystemTime::now() - Duration::from_secs(3600 * hours);
        fs::File::open(cache.path(key)).unwrap().set_modified(then).unwrap();
    }
    assert!(cache.read(&used).is_some());
    let foreign = directory.path().join("not ours");
    fs::write(&foreign, "x").unwrap();
    cache.write(&new, &rows);
    assert!(cache.read(&old).is_none() && cache.read(&used).is_some() && cache.read(&new).is_some());
    assert!(foreign.exists());
    let tiny = cache.with_max_bytes(len / 2);
    tiny.write(&old, &rows);
    assert!(tiny.read(&old).is_none(), "one that is too large by itself is not written");
}

#[test]
fn readers_see_whole_files_while_others_write() {
    let directory = tempfile::tempdir().unwrap();
    let cache = NameCache::at(directory.path().to_path_buf());
    let (image, svmas) = (own_image(), svmas(9001));
    let names = symbolize_image(&image, &svmas, &|_| {});
    let key = Key::new(&image, None).unwrap();
    keep(&cache, &key, &svmas, &names);
    thread::scope(|scope| {
        for count in [10, 100, 300] {
            let (cache, key, svmas, names) = (&cache, &key, &svmas, &names);
            scope.spawn(move || (0..20).for_each(|_| keep(cache, key, &svmas[..count], &names[..count])));
        }
        for _ in 0..200 {
            let stored = cache.read(&key).expect("there is a whole file at any time");
            assert!([10, 100, 300].contains(&stored.all().count()));
        }
    });
    assert_eq!(files(&cache).len(), 1, "no temporary files are left");
}

#[test]
fn the_place_is_the_users() {
    let at = |xdg: Option<&str>, home: Option<&str>| {
        NameCache::locate(xdg.map(AsRef::as_ref), home.map(AsRef::as_ref)).map(|cache| cache.directory)
    };
    assert_eq!(at(Some("/c"), Some("/h")), Some("/c/traceview/names".into()));
    assert_eq!(at(Some("relative"), Some("/h")), Some("/h/.cache/traceview/names".into()));
    assert_eq!(at(None, None), None);
}
