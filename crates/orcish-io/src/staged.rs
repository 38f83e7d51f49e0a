//! Staged files: the value that identifies a staged file, and its serialization.

use std::sync::{Arc, Mutex, PoisonError};

use orcish_core::{Error, Result};
use prost::Message as _;

use crate::location::display_name;
use crate::proto;
pub use crate::proto::UploadedParts;
pub(crate) use crate::proto::staged_file::Data;

/// A completely written file that is not visible yet. Any process can publish it with
/// [`complete_upload`](crate::complete_upload), or remove it with [`abort_upload`](crate::abort_upload).
/// [`to_bytes`](Self::to_bytes) serializes it for another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFile {
    /// The location of the file after publication: an absolute path, or a URL without credentials.
    pub location: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The number of rows; 0 unless the writer has set it.
    pub rows: u64,
    /// The number of stripes; 0 unless the writer has set it.
    pub stripes: u64,
    /// The staged bytes.
    data: Data,
}

impl StagedFile {
    pub(crate) fn new(location: String, bytes: u64, data: Data) -> Self {
        StagedFile { location, bytes, rows: 0, stripes: 0, data }
    }

    /// A staged file of the local file system or of HDFS, whose bytes are at `path`, a path or a URL.
    pub fn at_path(location: String, bytes: u64, path: String) -> Self {
        StagedFile::new(location, bytes, Data::Path(path))
    }

    /// A staged file of an object store, whose bytes are in an upload.
    pub fn of_upload(location: String, bytes: u64, upload: UploadedParts) -> Self {
        StagedFile::new(location, bytes, Data::Parts(upload))
    }

    /// The path of the staged bytes on the local file system, or their URL on HDFS.
    pub fn temporary_path(&self) -> Option<&str> {
        match &self.data {
            Data::Path(path) => Some(path),
            Data::Parts(_) => None,
        }
    }

    /// The upload with the staged bytes, in an object store.
    pub fn upload(&self) -> Option<&UploadedParts> {
        match &self.data {
            Data::Path(_) => None,
            Data::Parts(upload) => Some(upload),
        }
    }

    pub(crate) fn data(&self) -> &Data {
        &self.data
    }

    /// Serializes the value. The result has some hundred bytes, and about 40 bytes for each part of a multipart upload.
    pub fn to_bytes(&self) -> Vec<u8> {
        let StagedFile { location, bytes, rows, stripes, data } = self.clone();
        proto::StagedFile { location, bytes, rows, stripes, data: Some(data) }.encode_to_vec()
    }

    /// Deserializes the result of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// `InvalidArgument` if the bytes are not a serialized staged file.
    pub fn from_bytes(token: &[u8]) -> Result<Self> {
        let invalid = || Error::invalid("this is no token of a file that has been written and not published");
        let proto::StagedFile { location, bytes, rows, stripes, data } =
            proto::StagedFile::decode(token).map_err(|error| invalid().with_source(error))?;
        let data = data.filter(|_| !location.is_empty()).ok_or_else(invalid)?;
        Ok(StagedFile { location, bytes, rows, stripes, data })
    }

    /// The error for a staged file of another location.
    pub(crate) fn wrong_location(&self, location: &str) -> Error {
        Error::invalid(format!("the file was written for {}", self.location)).in_file(&display_name(location))
    }
}

/// What the end of a remote file does.
#[cfg(feature = "object-store")]
pub(crate) enum Publication {
    /// The file becomes visible under its name.
    Immediate { overwrite: bool },
    /// The slot receives a staged file.
    Staged(Staging),
}

/// A slot that receives the staged file when its sink is finished. Clones share the slot.
#[derive(Debug, Clone, Default)]
pub struct Staging(Arc<Mutex<Option<StagedFile>>>);

impl Staging {
    /// Takes the staged file; `None` before [`Sink::finish`](crate::Sink::finish), and after the first call.
    pub fn take(&self) -> Option<StagedFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn put(&self, file: StagedFile) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }
}
