//! Surrogate keys: big-endian integers of one to four bytes.

use orcish_core::{Error, Result};

use super::checks::check_rows;
use super::input::PageInput;
use super::inverted_index::{reorder, repeat};

/// Reads the keys of a page, one for each row.
pub(crate) fn read_keys(input: &PageInput<'_>, width: usize) -> Result<Vec<u32>> {
    let keys = keys(input.data, width)?;
    let rows = input.rows.unwrap_or(keys.len());
    let keys = match input.runs {
        Some(runs) => repeat(&keys, runs, rows)?,
        None => keys,
    };
    check_rows(keys.len(), rows)?;
    reorder(keys, input.inverted_index)
}

/// Decodes keys of `width` bytes.
pub(crate) fn keys(bytes: &[u8], width: usize) -> Result<Vec<u32>> {
    match width {
        1 => Ok(bytes.iter().map(|&byte| byte.into()).collect()),
        2 => each(bytes, |&[a, b]| u32::from_be_bytes([0, 0, a, b])),
        3 => each(bytes, |&[a, b, c]| u32::from_be_bytes([0, a, b, c])),
        4 => each(bytes, |&bytes| u32::from_be_bytes(bytes)),
        width => Err(Error::corrupt(format!("keys of {width} bytes"))),
    }
}

fn each<const N: usize>(bytes: &[u8], key: impl Fn(&[u8; N]) -> u32) -> Result<Vec<u32>> {
    let (keys, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(Error::corrupt(format!("keys of {N} bytes end within one")));
    }
    Ok(keys.iter().map(key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_widths() {
        assert_eq!(keys(&[1, 0xff], 1).unwrap(), [1, 255]);
        assert_eq!(keys(&[1, 0xff], 2).unwrap(), [511]);
        assert_eq!(keys(&[0, 0, 1, 1, 0, 0], 3).unwrap(), [1, 65536]);
        assert_eq!(keys(&[0, 0, 1, 0], 4).unwrap(), [256]);
        assert!(keys(&[0, 0], 3).is_err() && keys(&[], 5).is_err());
    }
}
