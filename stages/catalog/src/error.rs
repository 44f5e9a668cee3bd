//! error: errors of the catalogue, each with what a user can do.
//!
//! promises  what is wrong, where, and, where there is a remedy, a hint that can be pasted
//! never     carries a type of another crate
use std::fmt;

/// What is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// One line: what is wrong, expected against found.
    pub what: String,
    /// A path, a path with line and column, or a URL.
    pub place: Option<String>,
    /// Further lines.
    pub detail: Option<String>,
    /// What to type or change.
    pub hint: Option<String>,
    /// Whether the disk is full.
    pub disk_full: bool,
}

impl CatalogError {
    /// An error without a place.
    pub fn new(what: impl Into<String>) -> Self {
        CatalogError { what: what.into(), place: None, detail: None, hint: None, disk_full: false }
    }

    /// Adds the place: a path, a path with line and column, or a URL.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// What to type or change.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(place) = &self.place {
            write!(f, "\n  --> {place}")?;
        }
        if let Some(detail) = &self.detail {
            write!(f, "\n{detail}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CatalogError {}
