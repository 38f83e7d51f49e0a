//! Files in memory.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use orcish_core::Result;

use crate::sink::Sink;
use crate::source::{ReadAt, checked_length};
use crate::version::FileVersion;

/// A source whose bytes are in memory.
#[derive(Debug, Clone)]
pub struct MemorySource {
    bytes: Bytes,
    name: String,
}

impl MemorySource {
    /// Creates a source of the bytes of a whole file.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        MemorySource { bytes: bytes.into(), name: "<memory>".to_owned() }
    }

    /// Sets the name of the source in messages.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        MemorySource { name: name.into(), ..self }
    }
}

impl ReadAt for MemorySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = |range: &Range<u64>| {
            let length = checked_length(range, self.bytes.len() as u64)?;
            let start = usize::try_from(range.start).unwrap_or(usize::MAX);
            Ok(self.bytes.slice(start..start + length))
        };
        ranges.iter().map(read).collect()
    }

    fn version(&self) -> Result<Option<FileVersion>> {
        Ok(Some(FileVersion::of_size(self.bytes.len() as u64)))
    }
}

/// A sink that writes to memory.
///
/// ```
/// use orcish_io::{MemorySink, Sink as _};
///
/// let result = MemorySink::new();
/// let mut sink = result.clone();
/// sink.write(b"bytes")?;
/// assert_eq!(result.take(), None);
/// sink.finish()?;
/// assert_eq!(result.take(), Some(b"bytes".to_vec()));
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemorySink {
    buffer: Vec<u8>,
    finished: Arc<Mutex<Option<Vec<u8>>>>,
}

impl MemorySink {
    /// Creates an empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the bytes of the finished file; `None` if the sink is not finished, or the bytes have been taken. All
    /// clones of a sink share the finished file.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Sink for MemorySink {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.buffer);
        *self.finished.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
        Ok(())
    }
}
