//! Places: locations in canonical form.

use std::ffi::OsString;

use orcish_io::{CanonicalLocation, Location, Surroundings};
use pyo3::prelude::*;

/// A file or folder. Two spellings of one location are one place, but for what one of them leaves out.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Place(CanonicalLocation);

impl Place {
    pub(crate) fn of(location: &Location, around: &Surroundings) -> Self {
        Place(CanonicalLocation::of_location(location, around))
    }
}

#[pymethods]
impl Place {
    /// The place of a path within a file system of another library.
    #[staticmethod]
    fn within_file_system(path: &str) -> Self {
        Place(CanonicalLocation::within_file_system(path))
    }

    /// Whether the place is on the local disk.
    #[getter]
    fn is_local(&self) -> bool {
        self.0.is_local()
    }

    /// The path, without a slash at the end; that of a store begins with the bucket or container.
    #[getter]
    fn path(&self) -> OsString {
        self.0.path()
    }

    /// Whether both are one file or folder, as far as is known.
    fn is_same(&self, other: &Place) -> bool {
        self.0.may_be(&other.0)
    }

    /// Whether this is the folder or something in it, as far as is known.
    fn is_below(&self, folder: &Place) -> bool {
        self.0.may_be_below(&folder.0)
    }
}
