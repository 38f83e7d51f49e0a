//! Structure-aware mutation of files: changes messages of the tail, of stripe footers and of indexes, and decompressed
//! bytes of streams. The changed file is assembled with correct lengths.
//!
//! The fuzz targets and `tests/rust/structured.rs` use this module.

mod change;
pub mod layout;
mod random;
pub mod wire;

pub use random::Random;

/// Parses and assembles a file. `None` if `bytes` are not a file.
#[allow(dead_code, reason = "only tests use it")]
pub fn copy(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    Some(layout::assemble(&layout::parse(bytes)?, random))
}

/// A file like `bytes`, with a few changes. `None` if `bytes` are not a file.
pub fn mutate(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut file = layout::parse(bytes)?;
    for _ in 0..[1, 1, 2, 3, 6][random.below(5)] {
        change::file(&mut file, random);
    }
    let mut bytes = layout::assemble(&file, random);
    // Changes of bytes also make wrong lengths.
    if random.below(8) == 0 {
        change::bytes(&mut bytes, random);
    }
    Some(bytes)
}
