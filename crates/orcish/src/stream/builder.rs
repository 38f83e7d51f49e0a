//! The builder of streams of files in an `ObjectStore`.

use std::sync::Arc;

use orcish_core::error::Result;
use orcish_core::limits::Limits;
use orcish_io::object_store::ObjectStore;
use orcish_io::object_store::path::Path;
use orcish_io::{ObjectSource, StorageOptions};

use super::batches::OrcRecordBatchStream;
use super::cancel::{CancelOnDrop, unblocked};
use crate::options::ReadOptions;
use crate::read::{OrcFile, ReaderBuilder};

/// Builds a stream of the batches of a file in an `ObjectStore`, see [`stream`](super). The other methods are those of
/// [`OrcReaderBuilder`](crate::OrcReaderBuilder).
pub type OrcRecordBatchStreamBuilder = ReaderBuilder<AsyncReader>;

/// What a builder makes: a stream of batches.
#[derive(Debug)]
pub struct AsyncReader {
    cancel: CancelOnDrop,
}

impl ReaderBuilder<AsyncReader> {
    /// Reads the tail of the object at a path.
    ///
    /// # Errors
    /// `Io` if the object cannot be read; as [`OrcFile::try_new`].
    pub async fn try_new(store: Arc<dyn ObjectStore>, path: impl Into<Path>) -> Result<Self> {
        Self::try_new_with_options(store, path, Limits::default(), &StorageOptions::default()).await
    }

    /// As [`try_new`](Self::try_new), with limits of the tail and of the reader, and with the storage options of requests, whose keys
    /// begin with `orcish.`
    ///
    /// # Errors
    /// As [`try_new`](Self::try_new); `InvalidArgument` for other storage options, as the store is made already.
    pub async fn try_new_with_options(
        store: Arc<dyn ObjectStore>,
        path: impl Into<Path>,
        limits: Limits,
        storage: &StorageOptions,
    ) -> Result<Self> {
        let cancel = CancelOnDrop::default();
        let check = cancel.check(storage.cancel_check().cloned());
        let source = ObjectSource::of_store(store, path.into(), &storage.clone().with_cancel_check(check.clone()))?;
        let options = ReadOptions::default().with_limits(limits.clone());
        let file = unblocked(move || OrcFile::try_new(Arc::new(source), &limits)).await?;
        Ok(Self::of_parts(file.with_cancel_check(check), options, AsyncReader { cancel }))
    }

    /// The stream. Stripe statistics may be read for a filter.
    ///
    /// # Errors
    /// As [`OrcFile::read`].
    pub async fn build(self) -> Result<OrcRecordBatchStream> {
        let (file, options, AsyncReader { cancel }) = self.into_parts();
        let reader = unblocked(move || file.read(options)).await?;
        Ok(OrcRecordBatchStream::with_cancel(reader.schema(), reader, cancel))
    }
}
