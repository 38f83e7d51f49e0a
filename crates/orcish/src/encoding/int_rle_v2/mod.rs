//! Runs of integer run length encoding, version 2 (ORCv1). The two highest bits of the header are the sub-encoding.

mod delta;
mod direct;
mod patched_base;
mod run;
mod short_repeat;
mod small;

use orcish_core::error::Result;

use super::cpu::InstructionSet;
use super::run::{MAX_RUN, RunDecoder};
use crate::source::values_end;
use run::RunReader;

/// Runs of version 2.
pub(super) struct Runs<const SIGNED: bool>;

impl<const SIGNED: bool> RunDecoder for Runs<SIGNED> {
    /// A patched base run of 512 values of 64 bits with 31 patches of 64 bits.
    const MAX_RUN_BYTES: usize = 4 + 8 + 8 * MAX_RUN + 8 * 31;

    #[inline(always)]
    fn decode<'a>(bytes: &'a [u8], out: Option<&mut [i64; MAX_RUN]>) -> Result<(usize, &'a [u8])> {
        let (&header, rest) = bytes.split_first().ok_or_else(values_end)?;
        let mut run = RunReader { rest };
        let length = match header >> 6 {
            0 => short_repeat::decode::<SIGNED>(header, &mut run, out),
            1 => direct::decode::<SIGNED>(header, &mut run, out),
            2 => patched_base::decode(header, &mut run, out),
            _ => delta::decode::<SIGNED>(header, &mut run, out),
        }?;
        Ok((length, run.rest))
    }

    #[inline(always)]
    fn decode_small<'a>(instructions: impl InstructionSet, bytes: &'a [u8], out: &mut [i64]) -> (usize, &'a [u8]) {
        small::decode::<SIGNED>(instructions, bytes, out)
    }
}
