//! Pages: the values of one column in some rows, from bytes to an array of Arrow.
//!
//! ```text
//! bytes ── decompressed ──┬─ numbers ─────────────────────────────┐
//!                         ├─ keys ── runs undone ── dictionary ───┤── order of rows ── nulls ──► array
//!                         └─ lengths and texts ───────────────────┘
//! ```

pub(crate) mod arrays;
pub(crate) mod bits;
pub(crate) mod decimals;
pub(crate) mod dictionary;
mod java;
pub(crate) mod local;
mod measure;
pub(crate) mod meta;
pub(crate) mod nested;
pub(crate) mod numbers;
pub(crate) mod order;
mod overflow;
pub(crate) mod packed;
mod runs;
#[cfg(test)]
mod tests;
pub(crate) mod texts;
pub(crate) mod values;

use std::sync::Arc;

use arrow_array::ArrayRef;
use local::LocalDictionary;
use meta::{PageMeta, Store};
use orcish_core::{Error, Result};
use texts::Prefix;

use crate::metadata::format::Encoding;
use crate::metadata::schema::{Column, Kind};

/// The dictionary of a column that all files of a table share: an array of the column's type, with the value of key k
/// at k. Those of keys 0 and 1 are null.
pub(crate) type Dictionaries = Arc<dyn Fn(&Column) -> Result<ArrayRef> + Send + Sync>;

/// A page, decompressed.
pub(crate) struct PageInput<'a> {
    pub(crate) column: &'a Column,
    /// None within other columns: as many as the data has.
    pub(crate) rows: Option<usize>,
    pub(crate) encoders: &'a [Encoding],
    pub(crate) meta: Option<&'a PageMeta>,
    /// The meta as it is stored, which measures up to 1.1 have in other forms.
    pub(crate) raw_meta: &'a [u8],
    pub(crate) data: &'a [u8],
    /// Which stored value each row has, where they are in another order: see [`order::inverse`].
    pub(crate) order: Option<&'a [u32]>,
    /// How often each stored key is repeated.
    pub(crate) runs: Option<&'a [u32]>,
    /// A bit for each null, as `java.util.BitSet` has them: by rows, those behind the last one left out.
    pub(crate) nulls: &'a [u8],
    pub(crate) dictionary: Option<&'a LocalDictionary>,
    /// Bytes of a key of a global or direct dictionary.
    pub(crate) key_width: usize,
    pub(crate) dictionaries: Option<&'a Dictionaries>,
    /// Most bytes that an array may have.
    pub(crate) most: usize,
}

#[cfg(test)]
impl<'a> PageInput<'a> {
    /// A page of values in the order of their rows, for tests: without nulls and dictionaries.
    pub(crate) fn sample(column: &'a Column, rows: usize, encoders: &'a [Encoding], data: &'a [u8]) -> Self {
        PageInput {
            column,
            rows: Some(rows),
            encoders,
            meta: None,
            raw_meta: &[],
            data,
            order: None,
            runs: None,
            nulls: &[],
            dictionary: None,
            key_width: 4,
            dictionaries: None,
            most: 1 << 20,
        }
    }
}

/// The values of a page of a column that has none within it.
///
/// # Errors
/// `Corrupt` where the bytes are no such values, `Unsupported` for encodings that are not known.
pub(crate) fn decode(input: &PageInput<'_>) -> Result<ArrayRef> {
    match (input.encoders.first(), input.meta) {
        (Some(&encoder), Some(meta)) if has_meta(encoder) => with_meta(input, encoder, meta),
        (Some(&encoder), None) if has_meta(encoder) => {
            Err(Error::corrupt(format!("a page of encoding {encoder:?} without its meta")))
        }
        (Some(Encoding::Delta), _) => measure::decode(input),
        _ if input.encoders.contains(&Encoding::Dictionary) => keys(input),
        _ => plain(input),
    }
}

/// Whether pages that begin with this encoding say more in a meta.
pub(crate) fn has_meta(encoder: Encoding) -> bool {
    matches!(
        encoder,
        Encoding::DirectCompress
            | Encoding::AdaptiveIntegral
            | Encoding::AdaptiveDeltaIntegral
            | Encoding::AdaptiveFloating
            | Encoding::AdaptiveDeltaFloating
            | Encoding::RleIntegral
            | Encoding::BoolByte
    )
}

fn with_meta(input: &PageInput<'_>, encoder: Encoding, meta: &PageMeta) -> Result<ArrayRef> {
    let is_counted = meta.store == Store::Decimal && meta.precision < 0;
    if is_counted {
        return texts::decode(input, Prefix::Int);
    }
    if meta.store != Store::Bytes {
        return numbers::decode(input, encoder, meta);
    }
    if let Some(dictionary) = input.dictionary {
        return dictionary.decode(input);
    }
    let is_int = input.encoders.contains(&Encoding::IntLengthComplexChild);
    texts::decode(input, if is_int { Prefix::Int } else { Prefix::Short })
}

/// Pages of keys of dictionaries that are not in the chunk.
fn keys(input: &PageInput<'_>) -> Result<ArrayRef> {
    keyed(input.column, &packed::keys_of(input, input.key_width)?, input.dictionaries)
}

/// The values of keys of a direct dictionary, or of one of the table.
pub(crate) fn keyed(column: &Column, keys: &[u32], dictionaries: Option<&Dictionaries>) -> Result<ArrayRef> {
    match column.kind {
        Kind::Date => arrays::dates(keys),
        // The other direct dictionary is of times, in files of 1.x.
        Kind::Timestamp if !column.has_global_dictionary() => arrays::times(keys),
        _ => {
            let dictionaries = dictionaries.ok_or_else(|| {
                Error::unsupported("the column has a dictionary in the table's folder, which was not looked for")
            })?;
            arrays::take_keys(&dictionaries(column)?, keys)
        }
    }
}

/// Pages without a meta: keys of the chunk's dictionary, or each value behind its length.
fn plain(input: &PageInput<'_>) -> Result<ArrayRef> {
    if let Some(dictionary) = input.dictionary {
        return dictionary.decode(input);
    }
    let is_long = input.encoders.contains(&Encoding::DirectCompressVarchar);
    texts::decode(input, if is_long { Prefix::Int } else { Prefix::Short })
}

/// That a page has as many values as rows.
pub(crate) fn check_rows(found: usize, rows: usize) -> Result<()> {
    if found != rows {
        return Err(Error::corrupt(format!("a page of {found} values for {rows} rows")));
    }
    Ok(())
}
