//! Texts of `perf script`, read.
