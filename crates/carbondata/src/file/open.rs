//! Opens data files of any version.

use std::sync::Arc;

use orcish_core::{Error, Limits, Result};
use orcish_io::ReadAt;

use super::footer::{FOOTER_OFFSET_LEN, read_range};
use super::header::{is_header, read_header};
use super::metadata::FileMetadata;
use super::{v1_v2, v3};
use crate::tuning;

/// The first bytes of files of version 2.
const MAGIC_V2: &[u8] = b"CARBONDATAVERSION#ColumnarFormatV2";

/// Reads and checks the metadata of a data file.
pub(super) fn open(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<FileMetadata> {
    let metadata = open_version(source, limits)?;
    let blocklets = metadata.blocklets.len();
    if blocklets > limits.stripes {
        return Err(Error::over("stripes", format!("{blocklets} blocklets, of {} that are allowed", limits.stripes)));
    }
    let rows = metadata.blocklets.iter().fold(0, |sum: u64, blocklet| sum.saturating_add(blocklet.rows));
    if metadata.rows != rows {
        return Err(Error::corrupt(format!("a file of {} rows, with {rows} in its blocklets", metadata.rows)));
    }
    Ok(metadata)
}

fn open_version(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<FileMetadata> {
    let (size, end) = source.read_suffix(source.first_read().max(FOOTER_OFFSET_LEN))?;
    let start = read_range(&*source, size, &end, 0..tuning::HEADER_READ_BYTES.wide().min(size))?;
    if start.starts_with(MAGIC_V2) {
        return v1_v2::open(source, size, &end, limits, 2);
    }
    if !is_header(&start) {
        return v1_v2::open(source, size, &end, limits, 1);
    }
    let (header, _) = read_header(&*source, size, start, limits)?;
    v3::open(source, size, &end, &header, limits)
}
