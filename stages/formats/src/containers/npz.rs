//! An archive of numpy arrays (`.npz`), by the names of its arrays; a zip that holds one such
//! file.
//!
//! never     unpacks an array that is not asked for
use super::{
    npy::{
        self, Array, Origin,
        array_parts::{ArrayParts, ValueOrder},
    },
    zip::ZipArchive,
};
use crate::read_error::{Read, ReadError};
use std::path::{Path, PathBuf};

/// The arrays of GNNAdvisor's files; the first two are no other's.
const PAIRS: [&str; 3] = ["src_li", "dst_li", "num_nodes"];

/// The arrays of an adjacency in compressed rows.
const COMPRESSED: [&str; 4] = ["adj_indptr", "adj_indices", "adj_data", "adj_shape"];

/// An archive of arrays.
pub struct Npz {
    pub(crate) path: PathBuf,
    archive: ZipArchive,
}

/// What the names of the arrays say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Two lists of ends.
    Pairs,
    /// An adjacency in compressed rows, attributes and labels beside it.
    Compressed,
    /// Edges in rows, features, labels and masks.
    Masked,
    /// One sparse matrix.
    Scipy,
}

impl Npz {
    /// Reads the names of an archive, or of the one archive in it.
    pub fn open(path: &Path) -> Read<Npz> {
        let archive = ZipArchive::open(path)?;
        let names: Vec<&str> = archive.names().collect();
        let inner = match names[..] {
            [only] if only.ends_with(".npz") => Some(only.to_owned()),
            _ => None,
        };
        let Some(inner) = inner else { return Ok(Npz { path: path.to_path_buf(), archive }) };
        let path = archive.path_of(&inner);
        let archive = ZipArchive::from_bytes(&path, archive.read(&inner)?)?;
        Ok(Npz { path, archive })
    }

    /// Names of the arrays, ascending.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.names().filter_map(|name| name.strip_suffix(".npy"))
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.archive.bytes_of(&format!("{name}.npy")).is_some()
    }

    /// The array of this name.
    pub fn array(&self, name: &str) -> Read<Array> {
        let member = format!("{name}.npy");
        npy::parse(Origin::new(&self.path, Some(name)), self.archive.read(&member)?)
    }

    /// The array of this name, part by part.
    pub fn parts(&self, name: &str) -> Read<ArrayParts<'_>> {
        self.parts_in(name, ValueOrder::Rows)
    }

    /// The same in this order.
    pub fn parts_in(&self, name: &str, order: ValueOrder) -> Read<ArrayParts<'_>> {
        ArrayParts::open_member(
            &self.archive,
            &format!("{name}.npy"),
            Origin::new(&self.path, Some(name)),
            order,
        )
    }

    /// The array of this name, if there is one.
    pub fn array_if(&self, name: &str) -> Read<Option<Array>> {
        self.has(name).then(|| self.array(name)).transpose()
    }

    /// An error about the archive.
    pub fn error(&self, what: impl Into<String>) -> ReadError {
        ReadError::new(&self.path, what)
    }

    /// Whether it is one sparse matrix of scipy.
    pub fn is_scipy(&self) -> bool {
        self.family() == Some(Family::Scipy)
    }

    /// The error of an archive that has some arrays of a family that no other has, and lacks
    /// others.
    pub(crate) fn lacking(&self) -> Option<Box<ReadError>> {
        let begun = |family: &&[&str]| {
            family[..2].iter().any(|name| self.has(name))
                && family.iter().any(|name| !self.has(name))
        };
        let family = [&PAIRS[..], &COMPRESSED]
            .into_iter()
            .find(begun)
            .filter(|_| self.family().is_none())?;
        let lacks: Vec<String> =
            family.iter().filter(|name| !self.has(name)).map(|name| format!("`{name}`")).collect();
        let names: Vec<&str> = self.names().take(20).collect();
        let error = self
            .error(format!("this .npz lacks {}", lacks.join(" and ")))
            .expected(family.join(", "), names.join(", "));
        Some(Box::new(error.hint(format!(
            "write all of them:  numpy.savez(FILE, {})",
            family.iter().map(|name| format!("{name}=...")).collect::<Vec<_>>().join(", ")
        ))))
    }

    pub(crate) fn family(&self) -> Option<Family> {
        let all = |names: &[&str]| names.iter().all(|name| self.has(name));
        if all(&PAIRS) {
            Some(Family::Pairs)
        } else if all(&COMPRESSED) {
            Some(Family::Compressed)
        } else if all(&["node_features", "edges"]) {
            Some(Family::Masked)
        } else if all(&["data", "shape", "indices", "indptr"])
            || all(&["data", "shape", "row", "col"])
        {
            Some(Family::Scipy)
        } else {
            None
        }
    }
}
