//! A workspace as far as it tells whose code is whose: of a build of ours, or of an executable that somebody else built.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::Metadata;
use toml::{Table, Value};

/// Manifests and lock files are text for people; larger files are none.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A workspace and what it is built from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Its directory; code below it is the user's own.
    pub root: PathBuf,
    /// Its packages.
    pub members: Vec<Member>,
    /// All packages of its `Cargo.lock`; none where there is no such file.
    pub locked: Vec<Locked>,
}

/// A package of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub package: String,
    /// Its version, where known.
    pub version: Option<String>,
    /// The names of its crates as symbols have them: libraries, programs, tests.
    pub crates: Vec<String>,
}

/// A package that a workspace is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// Its name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Whether it lies beside the workspace or in it, not in a registry or repository.
    pub is_local: bool,
}

impl Workspace {
    /// The workspace that cargo describes.
    #[must_use]
    pub fn of_metadata(metadata: &Metadata) -> Self {
        let members = metadata.workspace_packages().into_iter().map(|package| Member {
            package: package.name.to_string(),
            version: Some(package.version.to_string()),
            crates: package.targets.iter().map(|target| crate_name(&target.name)).collect(),
        });
        let root = metadata.workspace_root.clone().into_std_path_buf();
        Self { members: members.collect(), locked: locked(&root), root }
    }

    /// The workspace that an executable was built in, by where it lies: below cargo's target directory, or beside the
    /// list of its sources that cargo writes.
    #[must_use]
    pub fn of_executable(executable: &Path) -> Option<Self> {
        let from = first_source(executable).or_else(|| Some(target_directory(executable)?.parent()?.to_path_buf()))?;
        Self::around(&from, executable)
    }

    /// The workspace around the directory `from`, in which `executable` was built.
    #[must_use]
    pub fn around(from: &Path, executable: &Path) -> Option<Self> {
        let package = from.ancestors().find(|directory| directory.join("Cargo.toml").is_file())?;
        // What `cargo install` built is not the user's.
        if package.components().any(|part| part.as_os_str() == "registry" || part.as_os_str() == "checkouts") {
            return None;
        }
        let is_root = |directory: &&Path| manifest(directory).is_some_and(|table| table.contains_key("workspace"));
        let root = package.ancestors().find(is_root).unwrap_or(package).to_path_buf();
        let locked = locked(&root);
        let local = locked.iter().filter(|package| package.is_local);
        let mut members: Vec<Member> = local
            .map(|Locked { package, version, .. }| Member {
                package: package.clone(),
                version: Some(version.clone()),
                crates: vec![crate_name(package)],
            })
            .collect();
        // A program need not be called as its package is.
        let program = crate_name(&program_name(executable)?);
        if !members.iter().any(|member| member.crates.contains(&program)) {
            let name =
                manifest(package).and_then(|table| Some(table.get("package")?.get("name")?.as_str()?.to_owned()));
            match members.iter_mut().find(|member| Some(&member.package) == name.as_ref()) {
                Some(member) => member.crates.push(program),
                None => members.push(Member {
                    package: name.unwrap_or_else(|| program.clone()),
                    version: None,
                    crates: vec![program],
                }),
            }
        }
        Some(Self { root, members, locked })
    }
}

/// The crate that a package's target of this name is in symbols.
#[must_use]
pub fn crate_name(target: &str) -> String {
    target.replace('-', "_")
}

/// A directory's manifest, if it has one that can be read.
pub(crate) fn manifest(directory: &Path) -> Option<Table> {
    read(&directory.join("Cargo.toml"))
}

fn read(path: &Path) -> Option<Table> {
    text_of(path)?.parse().ok()
}

/// A file's text. What is no file is not opened: a pipe would be waited for.
fn text_of(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}

/// The packages of the lock file in `root`. One that is missing or damaged costs versions, nothing else.
fn locked(root: &Path) -> Vec<Locked> {
    let table = read(&root.join("Cargo.lock"));
    let packages = table.as_ref().and_then(|table| table.get("package")?.as_array());
    let text = |package: &Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let read = |package: &Value| {
        let is_local = package.get("source").is_none();
        Some(Locked { package: text(package, "name")?, version: text(package, "version")?, is_local })
    };
    packages.into_iter().flatten().filter_map(read).collect()
}

/// Cargo's target directory around `executable`.
fn target_directory(executable: &Path) -> Option<&Path> {
    let marks =
        |directory: &&Path| ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| directory.join(mark).is_file());
    executable.ancestors().skip(1).find(marks)
}

/// The directory of the first source in the `.d` file that cargo writes beside an executable, in the syntax of make.
fn first_source(executable: &Path) -> Option<PathBuf> {
    let mut name = executable.file_name()?.to_os_string();
    name.push(".d");
    let path = executable.with_file_name(name);
    let text = text_of(&path)?;
    let (_, sources) = text.lines().next()?.split_once(": ")?;
    // A space in a path is escaped.
    let mut source = String::new();
    for word in sources.split(' ') {
        source.push_str(word.strip_suffix('\\').unwrap_or(word));
        if !word.ends_with('\\') {
            break;
        }
        source.push(' ');
    }
    let source = PathBuf::from(source);
    // A path may be relative to what the project's configuration says.
    if source.is_absolute() { Some(source.parent()?.to_path_buf()) } else { None }
}

/// An executable's name without the hash that cargo gives to tests.
fn program_name(executable: &Path) -> Option<String> {
    let name = executable.file_name()?.to_str()?;
    let without_hash =
        name.rsplit_once('-').filter(|(_, hash)| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    Some(without_hash.map_or(name, |(name, _)| name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A workspace of `my-tool` (with the program `tool`) and `my-lib`, which depends on two versions of `rand`.
    fn workspace(root: &Path) {
        write(&root.join("Cargo.toml"), "[workspace]\nmembers = [\"tool\", \"lib\"]\n");
        write(&root.join("tool/Cargo.toml"), "[package]\nname = \"my-tool\"\nversion = \"0.3.0\"\n");
        let lock = "version = 4\n\
            [[package]]\nname = \"my-lib\"\nversion = \"0.1.0\"\n\
            [[package]]\nname = \"my-tool\"\nversion = \"0.3.0\"\n\
            [[package]]\nname = \"rand\"\nversion = \"0.8.5\"\nsource = \"registry\"\n";
        write(&root.join("Cargo.lock"), lock);
        write(&root.join("tool/src/main.rs"), "fn main() {}\n");
    }

    fn members(workspace: &Workspace) -> Vec<(&str, Vec<&str>)> {
        workspace
            .members
            .iter()
            .map(|member| (member.package.as_str(), member.crates.iter().map(String::as_str).collect()))
            .collect()
    }

    #[test]
    fn an_executable_in_a_target_directory() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("project");
        workspace(&root);
        write(&root.join("target/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55");
        for (program, crates) in [
            ("target/release/my-lib", [("my-lib", vec!["my_lib"]), ("my-tool", vec!["my_tool"])]),
            ("target/debug/deps/my_tool-0123456789abcdef", [("my-lib", vec!["my_lib"]), ("my-tool", vec!["my_tool"])]),
        ] {
            let found = Workspace::of_executable(&root.join(program)).unwrap();
            assert_eq!((&found.root, members(&found)), (&root, crates.to_vec()), "{program}");
            assert_eq!(found.locked.len(), 3);
        }
        let elsewhere = directory.path().join("elsewhere/tool");
        assert_eq!(Workspace::of_executable(&elsewhere), None);
        assert_eq!(Workspace::around(&root, &elsewhere).map(|found| found.root), Some(root));
    }

    #[test]
    fn an_executable_in_a_target_directory_elsewhere() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("a project");
        workspace(&root);
        let program = directory.path().join("shared/release/tool");
        let source = root.join("tool/src/main.rs").display().to_string().replace(' ', "\\ ");
        write(&program.with_file_name("tool.d"), &format!("{}: {source} /other.rs\n", program.display()));
        let found = Workspace::of_executable(&program).unwrap();
        assert_eq!(found.root, root);
        assert_eq!(members(&found), [("my-lib", vec!["my_lib"]), ("my-tool", vec!["my_tool", "tool"])]);
    }

    #[test]
    fn what_cargo_installs_is_not_the_users() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("registry/src/index/rg-1.0.0");
        workspace(&root);
        write(&root.join("target/CACHEDIR.TAG"), "");
        assert_eq!(Workspace::of_executable(&root.join("target/release/rg")), None);
    }

    #[test]
    fn damaged_files_cost_versions_only() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        workspace(root);
        write(&root.join("target/.rustc_info.json"), "{}");
        write(&root.join("Cargo.lock"), "[[package]\nname = 3");
        write(&root.join("target/release/tool.d"), "nonsense");
        let found = Workspace::of_executable(&root.join("target/release/tool")).unwrap();
        assert_eq!(found.root, root);
        assert_eq!((members(&found), found.locked.len()), (vec![("tool", vec!["tool"])], 0));
    }
}
