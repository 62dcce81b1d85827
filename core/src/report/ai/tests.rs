//! Texts of small profiles.
