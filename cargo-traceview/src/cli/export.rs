//! What `export` will write, and where: the typed flags checked against each other and the world.

use std::path::{Path, PathBuf};

use traceview_core::format::{Target, WriteOptions};

use super::args::{ExportArgs, ExportFormat};
use super::output::{self, OutputError};
use super::plan::STANDARD_STREAM;

/// One export, with all defaults filled in.
#[derive(Debug)]
pub struct ExportPlan {
    /// What to write.
    pub target: Target,
    /// What goes into it.
    pub options: WriteOptions,
    /// The file, absolute; `None` for stdout.
    pub path: Option<PathBuf>,
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
        let target = target(args.format, output)?;
        // Every format is compressed in its usual form.
        if output.is_none() && stdout_is_terminal && target.gzip {
            return Err(OutputError::Terminal(target.format));
        }
        Ok(Self {
            target,
            options: WriteOptions { off_cpu: args.off_cpu },
            path: output.map(|output| output::writable_path(output, cwd)).transpose()?,
        })
    }
}

/// What flag and ending say. A format that was asked for can go into a file whose ending says nothing.
fn target(format: Option<ExportFormat>, output: Option<&Path>) -> Result<Target, OutputError> {
    let by_ending = output.and_then(output::target_of);
    match (format, by_ending, output) {
        (Some(ExportFormat::File(format)), Some(target), Some(output)) if target.format.name != format.name => {
            Err(OutputError::OtherEnding { path: output.to_path_buf(), ending: target.format, format })
        }
        (_, Some(target), _) => Ok(target),
        (Some(ExportFormat::File(format)), None, _) => Ok(format.target()),
        (None, None, Some(output)) => Err(OutputError::UnknownEnding(output.to_path_buf())),
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
            ("--format firefox -o a.json", "firefox", false, true),
            ("--format pprof -o a.out", "pprof", true, true),
            ("--format pprof", "pprof", true, false),
            ("--format firefox -o -", "firefox", true, false),
        ] {
            let plan = resolve(flags, false).expect(flags);
            let found = (plan.target.format.name, plan.target.gzip, plan.path.is_some());
            assert_eq!(found, (format, gzip, to_file), "{flags}");
        }
        assert!(resolve("-o a.pb.gz --off-cpu", true).unwrap().options.off_cpu);
    }

    #[test]
    fn what_cannot_be_is_refused_before_anything_is_read() {
        let refused = |flags: &str| {
            let error = resolve(flags, true).expect_err(flags);
            assert_eq!(error.exit_code(), ExitCode::Usage, "{flags}");
            error.to_string()
        };
        assert!(refused("").contains("ends in .json.gz or .json or .pb.gz"));
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
