//! Files that are in memory.

use std::ops::Range;

use bytes::Bytes;
use orcish_core::Result;

use crate::source::{ReadAt, within};

/// A file that is in memory as a whole.
#[derive(Debug, Clone)]
pub struct MemorySource {
    bytes: Bytes,
    name: String,
}

impl MemorySource {
    /// The bytes of a whole file.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        MemorySource { bytes: bytes.into(), name: "<memory>".to_owned() }
    }

    /// The same under another name for messages.
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
            let length = within(range, self.bytes.len() as u64)?;
            let start = usize::try_from(range.start).unwrap_or(usize::MAX);
            Ok(self.bytes.slice(start..start + length))
        };
        ranges.iter().map(read).collect()
    }
}
