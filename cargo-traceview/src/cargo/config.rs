//! Cargo's configuration, found and ordered as cargo does it: `--config` on the command line, then environment
//! variables, then `.cargo/config.toml` from the working directory upwards, then the one in `CARGO_HOME`.
//!
//! Cargo has no stable way to ask for it, and we must know it to add a flag without hiding the user's own.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use toml::{Table, Value};

use super::variables::Variables;

/// All sources of configuration.
#[derive(Clone, Debug, Default)]
pub struct CargoConfig {
    /// From `--config`, the strongest first.
    cli: Vec<Layer>,
    variables: Variables,
    /// From files, the strongest first.
    files: Vec<Layer>,
}

/// One file, or one `KEY=VALUE` of the command line.
#[derive(Clone, Debug)]
struct Layer {
    table: Table,
    /// What relative paths in it are relative to.
    root: PathBuf,
}

/// A configuration file that can't be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error("can't read cargo's configuration file {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is no TOML.
    #[error("cargo's configuration in {origin} is not valid")]
    Parse {
        /// The file, or the argument of `--config`.
        origin: String,
        /// What is wrong and where.
        source: Box<toml::de::Error>,
    },
    /// An argument of `--config` that is neither UTF-8 nor the name of a file.
    #[error("--config {} is neither a file nor KEY=VALUE", .0.display())]
    NotText(OsString),
}

impl CargoConfig {
    /// Reads all sources. `typed` are the arguments of `--config`, in the order that they were typed.
    ///
    /// # Errors
    /// When a file can't be read or is not TOML.
    pub fn load(cwd: &Path, typed: &[OsString], variables: Variables) -> Result<Self, ConfigError> {
        let mut cli = Vec::new();
        // The last one typed is the strongest.
        for argument in typed.iter().rev() {
            cli.extend(cli_layers(cwd, argument)?);
        }
        let mut files = Vec::new();
        let mut directories: Vec<PathBuf> = cwd.ancestors().map(|ancestor| ancestor.join(".cargo")).collect();
        directories.extend(cargo_home(&variables));
        let mut seen = HashSet::new();
        for directory in directories {
            let Some(path) = config_file(&directory) else { continue };
            if seen.insert(path.clone()) {
                files.extend(file_layers(&path)?);
            }
        }
        Ok(Self { cli, variables, files })
    }

    /// The variables that this configuration was made with.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// The strongest value of a key that is not a list or table.
    #[must_use]
    pub fn get(&self, key: &[&str]) -> Option<Value> {
        let in_layers = |layers: &[Layer]| layers.iter().find_map(|layer| layer.get(key).cloned());
        in_layers(&self.cli).or_else(|| self.variable(key)).or_else(|| in_layers(&self.files))
    }

    /// All values of a key in files and on the command line, the strongest first; cargo joins them if they are lists.
    pub fn layered<'a>(&'a self, key: &'a [&'a str]) -> impl Iterator<Item = &'a Value> {
        self.layers().filter_map(move |layer| layer.get(key))
    }

    /// All keys of a table, from every file and the command line.
    #[must_use]
    pub fn keys(&self, table: &[&str]) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for layer in self.layers() {
            for key in layer.get(table).and_then(Value::as_table).into_iter().flat_map(Table::keys) {
                if !keys.contains(key) {
                    keys.push(key.clone());
                }
            }
        }
        keys
    }

    /// The strongest value of a key in files and on the command line, with the directory that relative paths in it are
    /// relative to.
    #[must_use]
    pub fn get_with_root(&self, key: &[&str]) -> Option<(&Value, &Path)> {
        self.layers().find_map(|layer| layer.get(key).map(|value| (value, layer.root.as_path())))
    }

    /// The value of the environment variable that stands for a key: `build.target` is `CARGO_BUILD_TARGET`.
    fn variable(&self, key: &[&str]) -> Option<Value> {
        let value = self.variables.get(&variable_name(key))?;
        Some(match (value.parse::<bool>(), value.parse::<i64>()) {
            (Ok(switch), _) => Value::Boolean(switch),
            (_, Ok(number)) => Value::Integer(number),
            _ => Value::String(value.to_owned()),
        })
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.cli.iter().chain(&self.files)
    }
}

impl Layer {
    fn get(&self, key: &[&str]) -> Option<&Value> {
        let (last, tables) = key.split_last()?;
        let table = tables.iter().try_fold(&self.table, |table, name| table.get(*name)?.as_table())?;
        table.get(*last)
    }
}

/// The environment variable that stands for a key.
#[must_use]
pub fn variable_name(key: &[&str]) -> String {
    let mut name = String::from("CARGO");
    for part in key {
        name.push('_');
        name.push_str(&part.to_uppercase().replace(['-', '.'], "_"));
    }
    name
}

/// `CARGO_HOME`, or where it is by default.
fn cargo_home(variables: &Variables) -> Option<PathBuf> {
    let non_empty = |name| variables.get_os(name).filter(|value| !value.is_empty());
    non_empty("CARGO_HOME").map(PathBuf::from).or_else(|| Some(Path::new(non_empty("HOME")?).join(".cargo")))
}

/// The configuration file in a `.cargo` directory. The name without ending is old, and wins if both are there.
fn config_file(directory: &Path) -> Option<PathBuf> {
    ["config", "config.toml"].iter().map(|name| directory.join(name)).find(|path| path.is_file())
}

fn cli_layers(cwd: &Path, argument: &OsStr) -> Result<Vec<Layer>, ConfigError> {
    let as_path = cwd.join(argument);
    if !argument.is_empty() && as_path.is_file() {
        return file_layers(&as_path);
    }
    let text = argument.to_str().ok_or_else(|| ConfigError::NotText(argument.to_os_string()))?;
    let table = parse(text, || format!("`--config {text}`"))?;
    Ok(vec![Layer { table, root: cwd.to_path_buf() }])
}

/// A file and the files that it includes, the strongest first: itself, then its last include.
fn file_layers(path: &Path) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![(path.to_path_buf(), false)];
    while let Some((path, optional)) = waiting.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if optional && error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(ConfigError::Read { path, source }),
        };
        let table = parse(&text, || path.display().to_string())?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        waiting.extend(includes(&table).into_iter().map(|(name, optional)| (directory.join(name), optional)));
        let root = directory.parent().unwrap_or(directory).to_path_buf();
        layers.push(Layer { table, root });
    }
    Ok(layers)
}

/// The `include` key: a path or a list of paths, each a string or `{ path, optional }`.
fn includes(table: &Table) -> Vec<(String, bool)> {
    let values = match table.get("include") {
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
        None => &[],
    };
    let include = |value: &Value| match value {
        Value::String(path) => Some((path.clone(), false)),
        Value::Table(table) => {
            let optional = table.get("optional").and_then(Value::as_bool).unwrap_or(false);
            Some((table.get("path")?.as_str()?.to_owned(), optional))
        }
        _ => None,
    };
    values.iter().filter_map(include).collect()
}

fn parse(text: &str, origin: impl FnOnce() -> String) -> Result<Table, ConfigError> {
    text.parse().map_err(|source| ConfigError::Parse { origin: origin(), source: Box::new(source) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn integers<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<i64> {
        values.map(|value| value.as_integer().unwrap()).collect()
    }

    #[test]
    fn the_command_line_beats_variables_beat_near_files_beat_far_ones() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        write(top.join("home/config.toml"), "a.k = 1\n[env]\nX = 'x'");
        write(top.join("ws/.cargo/config.toml"), "a.k = 2");
        write(
            top.join("ws/member/.cargo/config"),
            "a.k = 3\ninclude = ['more.toml', { path = 'none', optional = true }]",
        );
        write(top.join("ws/member/.cargo/config.toml"), "a.k = 99");
        write(top.join("ws/member/.cargo/more.toml"), "a.k = 4\na.more = true");
        write(top.join("ws/member/file.toml"), "a.k = 5");
        let variables: Variables = [("CARGO_HOME", top.join("home")), ("CARGO_A_K", "6".into())].into_iter().collect();
        let load = |typed: &[&str], variables: &Variables| {
            let typed: Vec<OsString> = typed.iter().map(OsString::from).collect();
            CargoConfig::load(&top.join("ws/member"), &typed, variables.clone()).unwrap()
        };
        let config = load(&["a.k = 7", "file.toml", "a.k=8"], &variables);
        assert_eq!(integers(config.layered(&["a", "k"])), [8, 5, 7, 3, 4, 2, 1]);
        assert_eq!(config.get(&["a", "k"]), Some(Value::Integer(8)));
        assert_eq!(load(&[], &variables).get(&["a", "k"]), Some(Value::Integer(6)));
        assert_eq!(config.get(&["a", "more"]), Some(Value::Boolean(true)));
        assert_eq!(config.keys(&["a"]), ["k", "more"]);
        let (value, root) = config.get_with_root(&["env", "X"]).unwrap();
        assert_eq!((value.as_str(), root), (Some("x"), top.as_path()));
        assert_eq!(config.get(&["a", "k", "deeper"]), None);
    }

    #[test]
    fn what_is_no_configuration_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let load = |typed: &str| CargoConfig::load(directory.path(), &[typed.into()], Variables::default());
        assert!(matches!(load("a b"), Err(ConfigError::Parse { origin, .. }) if origin == "`--config a b`"));
        let path = directory.path().join(".cargo/config.toml");
        write(path.clone(), "[broken");
        let error = load("a.b=1").unwrap_err();
        assert!(matches!(error, ConfigError::Parse { origin, .. } if origin == path.display().to_string()));
        write(path, "include = 'missing.toml'");
        assert!(matches!(load("a.b=1"), Err(ConfigError::Read { path, .. }) if path.ends_with("missing.toml")));
    }

    #[test]
    fn variables_stand_for_keys() {
        let target = ["target", "x86_64-unknown-linux-gnu", "rustflags"];
        assert_eq!(variable_name(&target), "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS");
    }
}
