//! Headers and packed values of runs of integer run length encoding, version 2.

use super::bitpack::pack;
use crate::encoding::run::MAX_RUN;

/// The two bits at the front of a run.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Direct = 1,
    PatchedBase = 2,
    Delta = 3,
}

/// Appends what is to be stored of each of up to [`MAX_RUN`] values, in fields of `width` bits.
#[inline(always)]
pub(super) fn pack_each(values: &[i64], width: u32, out: &mut Vec<u8>, field: impl Fn(&i64) -> u64) {
    let mut fields = [0; MAX_RUN];
    fields.iter_mut().zip(values).for_each(|(to, value)| *to = field(value));
    pack(fields.get(..values.len()).unwrap_or_default(), width, out);
}

/// The two bytes that begin all runs but short repeats: kind, code of the width, count of values minus one.
pub(super) fn write_header(kind: Kind, code: u8, count: usize, out: &mut Vec<u8>) {
    let [low, high, ..] = (count - 1).to_le_bytes();
    out.extend([(kind as u8) << 6 | code << 1 | high, low]);
}
