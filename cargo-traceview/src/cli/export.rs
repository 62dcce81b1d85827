//! What `export` will write, and where: the typed flags checked against each other and the world.

use std::path::{Path, PathBuf};

use traceview_core::format::{Target, WriteOptions};

use super::args::{ExportArgs, ExportFormat};
use super::output::{self, OutputError};
use super::picture::{PictureKind, PicturePlan};
use super::plan::STANDARD_STREAM;

/// One export, with all defaults filled in.
#[derive(Debug)]
pub struct ExportPlan {
    /// What to write.
    pub what: ExportTarget,
    /// The file, absolute; `None` for stdout.
    pub path: Option<PathBuf>,
}

/// What to write.
#[derive(Debug)]
pub enum ExportTarget {
    /// A file of another tool, with what goes into it.
    File(Target, WriteOptions),
    /// A picture.
    Picture(PictureKind, PicturePlan),
}

impl ExportPlan {
    /// Decides what to write, and tries whether that will be possible.
    ///
    /// # Errors
    /// When nothing says which format to write, the flags contradict each other, or the file can't be written.
    pub fn resolve(args: &ExportArgs, cwd: &Path, stdout_is_terminal: bool) -> Result<Self, OutputError> {
        let output = args.output.as_deref().filter(|output| *output != Path::new(STANDARD_STREAM));
        if let Some(output) = output {
            output::check_no_directory(output, cwd)?;
        }
        let what = match target(args.format, output)? {
            Kind::File(target) => {
                ExportTarget::File(target, WriteOptions { off_cpu: args.off_cpu, ..WriteOptions::default() })
            }
            Kind::Picture(kind) => ExportTarget::Picture(kind, PicturePlan::from(&args.picture)),
        };
        if output.is_none() && stdout_is_terminal && what.is_binary() {
            return Err(OutputError::Terminal(what.title()));
        }
        Ok(Self { what, path: output.map(|output| output::writable_path(output, cwd)).transpose()? })
    }
}

impl ExportTarget {
    fn title(&self) -> &'static str {
        match self {
            Self::File(target, _) => target.format.title,
            Self::Picture(kind, _) => kind.title(),
        }
    }

    fn is_binary(&self) -> bool {
        match self {
            // Every format is compressed in its usual form.
            Self::File(target, _) => target.gzip,
            Self::Picture(kind, _) => *kind == PictureKind::Png,
        }
    }
}

/// An [`ExportTarget`] before its options are known.
enum Kind {
    File(Target),
    Picture(PictureKind),
}

impl Kind {
    fn of(format: ExportFormat) -> Self {
        match format {
            ExportFormat::File(format) => Self::File(format.target()),
            ExportFormat::Picture(kind) => Self::Picture(kind),
        }
    }

    fn by_ending(output: &Path) -> Option<Self> {
        let name = output.file_name()?.to_str()?;
        let ends = |kind: &PictureKind| name.strip_suffix(kind.extension()).is_some_and(|stem| !stem.is_empty());
        let picture = PictureKind::ALL.into_iter().find(ends).map(Self::Picture);
        picture.or_else(|| output::target_of(output).map(Self::File))
    }

    fn title(&self) -> &'static str {
        match self {
            Self::File(target) => target.format.title,
            Self::Picture(kind) => kind.title(),
        }
    }
}

/// What flag and ending say. A format that was asked for can go into a file whose ending says nothing.
fn target(format: Option<ExportFormat>, output: Option<&Path>) -> Result<Kind, OutputError> {
    let by_ending = output.and_then(Kind::by_ending);
    match (format.map(Kind::of), by_ending, output) {
        (Some(asked), Some(ending), Some(output)) if asked.title() != ending.title() => {
            let (ending, format) = (ending.title(), asked.title());
            Err(OutputError::OtherEnding { path: output.to_path_buf(), ending, format })
        }
        (_, Some(target), _) => Ok(target),
        (Some(asked), None, _) => Ok(asked),
        (None, None, Some(output)) => Err(OutputError::UnknownExportEnding(output.to_path_buf())),
        (None, None, None) => Err(OutputError::NoFormat),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::args::{Cli, Command};
    use crate::exit_code::ExitCode;

    fn resolve(flags: &str, terminal: bool) -> Result<ExportPlan, OutputError> {
        let words = format!("cargo-traceview export {flags}");
        let words = words.split_whitespace().map(OsString::from);
        let Command::Export(args) = Cli::parse_args(words).unwrap().into_command() else { panic!("not export") };
        ExportPlan::resolve(&args, &std::env::temp_dir(), terminal)
    }

    #[test]
    fn ending_and_flag_choose_the_format() {
        for (flags, format, gzip, to_file) in [
            ("-o a.pb.gz", "pprof", true, true),
            ("-o a.json", "firefox", false, true),
            ("-o a.trace.json", "chrome", false, true),
            ("-o a.trace.json.gz", "chrome", true, true),
            ("--format firefox -o a.json", "firefox", false, true),
            ("--format pprof -o a.out", "pprof", true, true),
            ("--format pprof", "pprof", true, false),
            ("--format firefox -o -", "firefox", true, false),
        ] {
            let plan = resolve(flags, false).expect(flags);
            let ExportTarget::File(target, _) = &plan.what else { panic!("{flags}: a picture") };
            let found = (target.format.name, target.gzip, plan.path.is_some());
            assert_eq!(found, (format, gzip, to_file), "{flags}");
        }
        let plan = resolve("-o a.pb.gz --off-cpu", true).unwrap();
        assert!(matches!(plan.what, ExportTarget::File(_, WriteOptions { off_cpu: true, .. })));
    }

    #[test]
    fn pictures_are_chosen_in_the_same_way() {
        for (flags, kind) in [
            ("-o a.svg", PictureKind::Svg),
            ("-o a.png --scale 2", PictureKind::Png),
            ("--format svg", PictureKind::Svg),
            ("--format png -o a.out", PictureKind::Png),
        ] {
            let plan = resolve(flags, false).expect(flags);
            assert!(matches!(plan.what, ExportTarget::Picture(found, _) if found == kind), "{flags}");
        }
        assert!(resolve("--format svg", true).is_ok(), "text");
        assert!(resolve("--format png", true).is_err());
        assert!(resolve("--format png -o a.svg", true).is_err());
    }

    #[test]
    fn what_cannot_be_is_refused_before_anything_is_read() {
        let refused = |flags: &str| {
            let error = resolve(flags, true).expect_err(flags);
            assert_eq!(error.exit_code(), ExitCode::Usage, "{flags}");
            error.to_string()
        };
        assert!(refused("").contains("ends in .json.gz or .json or .pb.gz or "));
        assert!(refused("--format pprof").contains("won't write pprof data to a terminal"));
        assert!(refused("--format pprof -o -").contains("to a terminal"));
        assert!(refused("-o a.txt").contains("can't tell the format of `a.txt`"));
        let other = refused("--format pprof -o a.json");
        assert!(
            other.contains("`a.json` is named like a Firefox Profiler file, but pprof is to be written"),
            "{other}"
        );
        assert!(refused("-o /").contains("is a directory"));
        assert!(refused("-o no/such/a.json").contains("does not exist"));
    }
}
