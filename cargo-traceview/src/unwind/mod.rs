//! unwind.
