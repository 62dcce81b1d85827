//! report (filled in by the next commits).
