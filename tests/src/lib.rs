//! Shared by the end-to-end tests.
