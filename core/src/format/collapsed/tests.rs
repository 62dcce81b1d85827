//! The reader and the writer together.
