//! Encodings of pages, and the stored forms of null.

use orcish_core::Result;

use crate::metadata::thrift::Value;

/// What null is in pages, dictionaries and bounds of texts.
pub(crate) const NULL_TEXT: &[u8; 8] = b"@NU#LL$!";

/// The key of the first of January 1970, of dates, which have a direct dictionary.
pub(crate) const EPOCH_KEY: i32 = i32::MAX >> 1;

/// `Encoding`: how values were made into bytes, in the order of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Dictionary,
    Delta,
    Rle,
    InvertedIndex,
    BitPacked,
    DirectDictionary,
    DirectCompress,
    AdaptiveIntegral,
    AdaptiveDeltaIntegral,
    RleIntegral,
    DirectString,
    AdaptiveFloating,
    BoolByte,
    AdaptiveDeltaFloating,
    DirectCompressVarchar,
    IntLengthComplexChild,
    /// One that the format did not have when this was written.
    Unknown(i32),
}

impl Encoding {
    pub(super) fn read(value: &mut Value<'_, '_>) -> Result<Self> {
        const KNOWN: [Encoding; 16] = [
            Encoding::Dictionary,
            Encoding::Delta,
            Encoding::Rle,
            Encoding::InvertedIndex,
            Encoding::BitPacked,
            Encoding::DirectDictionary,
            Encoding::DirectCompress,
            Encoding::AdaptiveIntegral,
            Encoding::AdaptiveDeltaIntegral,
            Encoding::RleIntegral,
            Encoding::DirectString,
            Encoding::AdaptiveFloating,
            Encoding::BoolByte,
            Encoding::AdaptiveDeltaFloating,
            Encoding::DirectCompressVarchar,
            Encoding::IntLengthComplexChild,
        ];
        let code = value.i32()?;
        let known = usize::try_from(code).ok().and_then(|code| KNOWN.get(code));
        Ok(known.copied().unwrap_or(Encoding::Unknown(code)))
    }
}
