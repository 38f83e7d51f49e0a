//! Files that are changed as what they are: messages of the tail, of stripe footers and of indexes, and bytes of streams
//! within their chunks. What is changed is put together again with the lengths that it has then.
//!
//! Used by the fuzz targets and by `tests/rust/structured.rs`.

mod change;
pub mod layout;
mod random;
pub mod wire;

pub use random::Random;

/// The file in `bytes`, taken apart and put together again; none where `bytes` are no file.
#[allow(dead_code, reason = "a test of this module asks")]
pub fn copy(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    Some(layout::put_together(&layout::take_apart(bytes)?, random))
}

/// A file like `bytes`, with a few changes; none where `bytes` are no file.
pub fn mutate(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut file = layout::take_apart(bytes)?;
    for _ in 0..[1, 1, 2, 3, 6][random.below(5)] {
        change::file(&mut file, random);
    }
    let mut bytes = layout::put_together(&file, random);
    // Lengths that are no longer right, and all else that no message says.
    if random.below(8) == 0 {
        change::bytes(&mut bytes, random);
    }
    Some(bytes)
}
