//! Stderr while a window is made: graphics drivers write there what they could not load, also when all is well in the
//! end. What it means for the window is told in a sentence of ours.

use std::env;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use crate::sampler::ptrace::sys;

/// Who sets one of these wants to read what drivers write.
const DEBUG_VARIABLES: [&str; 3] = ["LIBGL_DEBUG", "EGL_LOG_LEVEL", "MESA_DEBUG"];

/// Stderr goes nowhere until this is dropped.
#[derive(Debug)]
pub(super) struct QuietStderr {
    before: Option<OwnedFd>,
}

impl QuietStderr {
    /// From now on. Where that can't be, stderr stays as it is.
    pub(super) fn begin() -> Self {
        let wanted = DEBUG_VARIABLES.iter().any(|name| env::var_os(name).is_some());
        Self { before: if wanted { None } else { redirect().ok() } }
    }
}

impl Drop for QuietStderr {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            // The kernel has nothing to refuse here.
            let _restored = sys::redirect_stderr(before.as_fd());
        }
    }
}

fn redirect() -> io::Result<OwnedFd> {
    let before = io::stderr().as_fd().try_clone_to_owned()?;
    let nowhere = File::options().write(true).open("/dev/null")?;
    sys::redirect_stderr(nowhere.as_fd())?;
    Ok(before)
}
