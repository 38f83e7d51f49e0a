//! Headers of data files.

use bytes::Bytes;
use orcish_core::{Limits, Result};
use orcish_io::ReadAt;

use crate::metadata::format::FileHeader;
use crate::metadata::thrift::ThriftReader;

/// Reads the header, and returns its length. `bytes` are the first bytes of the file; more are read until the header is
/// complete.
pub(crate) fn read_header(
    source: &dyn ReadAt,
    size: u64,
    mut bytes: Bytes,
    limits: &Limits,
) -> Result<(FileHeader, u64)> {
    let max_bytes = size.min(limits.tail);
    loop {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let mut reader = ThriftReader::new(&bytes, limits);
        match reader.read_struct::<FileHeader>() {
            Ok(header) => return Ok((header, u64::try_from(reader.position()).unwrap_or(u64::MAX))),
            Err(error) if length >= max_bytes || !is_header(&bytes) => return Err(error),
            Err(_) => {
                bytes = source.read_range(0..length.saturating_mul(8).min(max_bytes))?;
            }
        }
    }
}

/// Whether the bytes start with a `FileHeader`: version 3 and a list of structs.
pub(super) fn is_header(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15, 6, 0x19, list, ..] if list & 15 == 12)
}
