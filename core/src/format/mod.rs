//! format (filled in by the next commits).
