//! Encodings of pages, and the stored forms of null.

use orcish_core::Result;

use crate::metadata::thrift::FieldValue;

/// Null in pages, dictionaries and bounds of strings (`MEMBER_DEFAULT_VAL`).
pub(crate) const NULL_TEXT: &[u8; 8] = b"@NU#LL$!";

/// The surrogate key of 1970-01-01 in the direct dictionary of dates.
pub(crate) const EPOCH_KEY: i32 = i32::MAX >> 1;

/// The Thrift enum `Encoding`, in the order of its numbers.
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
    /// A number that is not known.
    Unknown(i32),
}

impl Encoding {
    pub(super) fn read(value: &mut FieldValue<'_, '_>) -> Result<Self> {
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
