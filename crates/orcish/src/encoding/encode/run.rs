//! Headers and bit-packed values of runs of integer run length encoding, version 2.

use super::bitpack::pack;
use crate::encoding::run::MAX_RUN;

/// The sub-encoding of a run with a two-byte header: the two highest bits of the header.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Direct = 1,
    PatchedBase = 2,
    Delta = 3,
}

/// Maps up to [`MAX_RUN`] values, and appends the results bit-packed with `width` bits; `None` where there are more values.
#[inline(always)]
pub(super) fn pack_mapped(values: &[i64], width: u32, out: &mut Vec<u8>, map: impl Fn(&i64) -> u64) -> Option<()> {
    let mut mapped = [0; MAX_RUN];
    mapped.iter_mut().zip(values).for_each(|(to, value)| *to = map(value));
    pack(mapped.get(..values.len())?, width, out);
    Some(())
}

/// Appends a two-byte header: the sub-encoding, the code of the width, and the number of values minus one.
pub(super) fn write_header(kind: Kind, width_code: u8, count: usize, out: &mut Vec<u8>) {
    let [low, high, ..] = (count - 1).to_le_bytes();
    out.extend([(kind as u8) << 6 | width_code << 1 | high, low]);
}
