//! The beginning and the end of data files: of which version they are, and where their footer is.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::{Error, Limits, Result};
use orcish_io::{ReadAt, slice_range};

use super::{Inner, old, v3};
use crate::metadata::format::FileHeader;
use crate::metadata::thrift::Reader;
use crate::tuning;

/// Bytes at the end of a file, which say where the footer begins.
const POINTER: u64 = 8;
/// How files of version 2 begin.
const MAGIC_2: &[u8] = b"CARBONDATAVERSION#ColumnarFormatV2";

/// Reads what a file says of itself, whatever its version is.
pub(super) fn open(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<Inner> {
    let inner = open_version(source, limits)?;
    let blocklets = inner.blocklets.len();
    if blocklets > limits.stripes {
        return Err(Error::over("stripes", format!("{blocklets} blocklets, of {} that are allowed", limits.stripes)));
    }
    let rows = inner.blocklets.iter().fold(0, |sum: u64, blocklet| sum.saturating_add(blocklet.rows));
    if inner.rows != rows {
        return Err(Error::corrupt(format!("a file of {} rows, with {rows} in its blocklets", inner.rows)));
    }
    Ok(inner)
}

/// A number of rows that has to be there.
pub(crate) fn rows_of(rows: Option<i64>) -> Result<u64> {
    let rows = rows.ok_or_else(|| Error::corrupt("a footer that does not say how many rows there are"))?;
    u64::try_from(rows).map_err(|_| Error::corrupt(format!("{rows} rows")))
}

fn open_version(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<Inner> {
    let (size, end) = source.read_suffix(source.first_read().max(POINTER))?;
    let start = range_of(&*source, size, &end, 0..tuning::FIRST_HEADER.wide().min(size))?;
    if start.starts_with(MAGIC_2) {
        return old::open(source, size, &end, limits, 2);
    }
    if !is_header(&start) {
        return old::open(source, size, &end, limits, 1);
    }
    let (header, _) = read_header(&*source, size, start, limits)?;
    v3::open(source, size, &end, &header, limits)
}

/// The header and its length, of which nothing is known before: more is read until it is whole. `bytes` are the first
/// ones of the file.
pub(crate) fn read_header(
    source: &dyn ReadAt,
    size: u64,
    mut bytes: Bytes,
    limits: &Limits,
) -> Result<(FileHeader, u64)> {
    let most = size.min(limits.tail);
    loop {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let mut reader = Reader::new(&bytes, limits);
        match reader.structure::<FileHeader>() {
            Ok(header) => return Ok((header, u64::try_from(reader.position()).unwrap_or(u64::MAX))),
            Err(error) if length >= most || !is_header(&bytes) => return Err(error),
            Err(_) => {
                let range = 0..length.saturating_mul(8).min(most);
                bytes = source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
            }
        }
    }
}

/// Whether bytes begin with a version of 3 and a list of structs.
fn is_header(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15, 6, 0x19, list, ..] if list & 15 == 12)
}

/// The footer, and where it begins.
///
/// # Errors
/// `Corrupt` where the end of the file points to none, `LimitExceeded` for large ones.
pub(crate) fn footer(source: &dyn ReadAt, size: u64, end: &Bytes, limits: &Limits) -> Result<(Bytes, u64)> {
    let pointer = end.last_chunk::<8>().ok_or_else(|| Error::corrupt("the file is too short to have a footer"))?;
    let pointer = i64::from_be_bytes(*pointer);
    let last = size.saturating_sub(POINTER);
    let start = u64::try_from(pointer).ok().filter(|&start| start < last);
    let start = start.ok_or_else(|| Error::corrupt(format!("a footer at byte {pointer} of {size}")))?;
    let length = last - start;
    if length > limits.tail {
        return Err(Error::over("tail", format!("a footer of {length} bytes, of {} that are allowed", limits.tail)));
    }
    Ok((range_of(source, size, end, start..last)?, start))
}

/// Bytes of a file of `size`, whose last ones are `end`.
pub(crate) fn range_of(source: &dyn ReadAt, size: u64, end: &Bytes, range: Range<u64>) -> Result<Bytes> {
    let known = size.saturating_sub(u64::try_from(end.len()).unwrap_or(u64::MAX));
    if range.start >= known {
        let fewer = || Error::new(orcish_core::ErrorKind::Io, "the source gave fewer bytes than were asked for");
        return slice_range(end, known, &range).ok_or_else(fewer);
    }
    Ok(source.read_ranges(&[range])?.pop().unwrap_or_default())
}
