//! Headers of runs of integer run length encoding, version 2.

/// The sub-encoding of a run with a two-byte header: the two highest bits of the header.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Direct = 1,
    PatchedBase = 2,
    Delta = 3,
}

/// Appends a two-byte header: the sub-encoding, the code of the width, and the number of values minus one.
pub(super) fn write_header(kind: Kind, width_code: u8, count: usize, out: &mut Vec<u8>) {
    let [low, high, ..] = (count - 1).to_le_bytes();
    out.extend([(kind as u8) << 6 | width_code << 1 | high, low]);
}
