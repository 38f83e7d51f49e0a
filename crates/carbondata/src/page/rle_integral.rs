//! The encoding `RLE_INTEGRAL`: repeated values and literal runs. Writers since 1.2 are not known to use it.

use orcish_core::{Error, Result};

use super::encoder_meta::StoreDataType;
use crate::bytes::ByteReader;

/// Expands runs to little-endian elements.
///
/// # Errors
/// `Corrupt` where the runs have more values than the page has rows.
pub(super) fn unpack(
    data: &[u8],
    store: StoreDataType,
    rows: Option<usize>,
    page_size: Option<i32>,
) -> Result<Vec<u8>> {
    let width = match store {
        StoreDataType::Byte | StoreDataType::Short | StoreDataType::Int | StoreDataType::Long => {
            store.width().unwrap_or(1)
        }
        store => return Err(Error::unsupported(format!("runs of {store:?}"))),
    };
    let rows = rows.or_else(|| usize::try_from(page_size?).ok());
    let rows = rows.ok_or_else(|| Error::corrupt("runs of a page without a number of rows"))?;
    let max_bytes = rows.saturating_mul(width);
    let mut bytes = ByteReader::new(data);
    let mut all: Vec<u8> = Vec::new();
    while all.len() < max_bytes && !bytes.is_empty() {
        let header = bytes.u16()?;
        let count = usize::from(header & 0x7fff);
        let (num_values, repeated) = if header & 0x8000 == 0 { (1, count) } else { (count, 1) };
        if all.len() + count * width > max_bytes {
            return Err(Error::corrupt(format!("runs of more than {rows} rows")));
        }
        let values: Vec<u8> =
            bytes.take(num_values * width)?.chunks_exact(width).flat_map(|value| value.iter().rev().copied()).collect();
        all.extend(values.iter().cycle().take(values.len() * repeated));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_literals() {
        let data = [0, 2, 0, 5, 0x80, 2, 1, 0, 0xff, 0xff];
        let unpacked = unpack(&data, StoreDataType::Short, Some(4), None).unwrap();
        assert_eq!(unpacked, [5, 0, 5, 0, 0, 1, 0xff, 0xff]);
        assert!(unpack(&data, StoreDataType::Short, Some(3), None).is_err());
        assert!(unpack(&data, StoreDataType::Double, Some(4), None).is_err());
    }
}
