//! Runs of integer run length encoding.

use orcish_core::error::Result;

use super::cpu::InstructionSet;

/// Maximum number of values of a run, of version 1 and version 2.
pub(crate) const MAX_RUN: usize = 512;

/// A version of the encoding, for signed (zigzag) or unsigned values.
pub(super) trait RunDecoder {
    /// Maximum number of bytes of a run.
    const MAX_RUN_BYTES: usize;

    /// Decodes the run at the front of `bytes` into the front of `out`; returns the number of values and the bytes behind the
    /// run. Without `out` the run is skipped: its headers and its length in bytes are checked, most of its values are not.
    fn decode<'a>(bytes: &'a [u8], out: Option<&mut [i64; MAX_RUN]>) -> Result<(usize, &'a [u8])>;

    /// Decodes the runs at the front of `bytes` that have a few narrow values, while `out` has room for a run of the maximum
    /// length. Returns the number of values and the bytes behind the runs. Such runs are decoded without a branch on their kind, which
    /// would take most of the time of a short run.
    #[inline(always)]
    fn decode_small<'a>(_instructions: impl InstructionSet, bytes: &'a [u8], _out: &mut [i64]) -> (usize, &'a [u8]) {
        (0, bytes)
    }
}
