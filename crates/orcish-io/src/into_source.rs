//! Conversion of values that hold a file into sources.

use std::sync::Arc;

use bytes::Bytes;
use orcish_core::Result;

use crate::local::FileSource;
use crate::memory::MemorySource;
use crate::source::ReadAt;

/// Name of an open file in messages: its path is not known.
const OPEN_FILE: &str = "<file>";

/// A value from which a source of bytes is made: an open file, the bytes of a file, or any [`ReadAt`].
///
/// ```
/// use orcish_io::{IntoSource as _, ReadAt as _};
///
/// assert_eq!(b"ORC and more".to_vec().into_source()?.size()?, 12);
/// # Ok::<(), orcish_core::Error>(())
/// ```
pub trait IntoSource {
    /// The source.
    ///
    /// # Errors
    /// `Io` if the value is a file without random access.
    fn into_source(self) -> Result<Arc<dyn ReadAt>>;
}

impl<S: ReadAt + 'static> IntoSource for S {
    fn into_source(self) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(self))
    }
}

impl<S: ReadAt + 'static> IntoSource for Arc<S> {
    fn into_source(self) -> Result<Arc<dyn ReadAt>> {
        Ok(self)
    }
}

impl IntoSource for Arc<dyn ReadAt> {
    fn into_source(self) -> Result<Arc<dyn ReadAt>> {
        Ok(self)
    }
}

impl IntoSource for Bytes {
    fn into_source(self) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(MemorySource::new(self)))
    }
}

impl IntoSource for Vec<u8> {
    fn into_source(self) -> Result<Arc<dyn ReadAt>> {
        Bytes::from(self).into_source()
    }
}

#[expect(clippy::disallowed_types, reason = "the caller has opened the file")]
impl IntoSource for std::fs::File {
    fn into_source(self) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(FileSource::of_file(self, OPEN_FILE)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");

    fn magic(source: impl IntoSource) -> Bytes {
        source.into_source().unwrap().read_ranges(std::slice::from_ref(&(0..3))).unwrap().remove(0)
    }

    #[test]
    #[expect(clippy::disallowed_types, reason = "a caller opens a file")]
    fn all_forms_of_a_file_are_sources() {
        let open = || std::fs::File::open(PATH).unwrap();
        let bytes = Bytes::from(std::fs::read(PATH).unwrap());
        let shared: Arc<dyn ReadAt> = Arc::new(MemorySource::new(bytes.clone()));
        let found = [
            magic(open()),
            magic(bytes.clone()),
            magic(bytes.to_vec()),
            magic(MemorySource::new(bytes.clone())),
            magic(Arc::new(MemorySource::new(bytes))),
            magic(shared),
            magic(FileSource::open(PATH).unwrap()),
        ];
        assert!(found.iter().all(|magic| &magic[..] == b"ORC"));
        let name = open().into_source().unwrap().name().to_owned();
        assert_eq!(name, OPEN_FILE);
    }

    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_types, reason = "a caller opens a folder")]
    fn folders_are_no_sources() {
        let folder = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
        let error = folder.into_source().err().unwrap();
        assert_eq!(error.io_kind(), Some(std::io::ErrorKind::IsADirectory));
    }
}
