//! Writing ORC files.
//!
//! ```text
//! batches ── pieces of row groups ── columns, side by side ──► OutStream: chunks, positions ──► stripe ──► tail ──► Sink
//!                                      │ statistics, bloom filters, index entries
//! ```
//!
//! - A column writer gathers the values of one row group, and encodes them at its end in one go: runs end with row
//!   groups, so that positions are those of chunks and bytes, with no values of a run before them. What that costs is a
//!   broken run a row group, of some ten thousand values.
//! - Bits do not end with row groups below lists: those of a part byte are counted in the position of the next one.
//! - Strings keep their entries for the whole stripe, as a dictionary may hold; what is written is decided when the
//!   stripe ends, or before, once it is clear that a dictionary does not pay.
//! - A stripe ends when its streams, as stored, have the bytes that it may have. Columns encode side by side.

mod bits;
mod blocks;
mod bytes_of;
mod check;
mod column;
mod compressors;
mod encode;
mod fault;
mod file;
mod merge;
mod metadata;
mod options;
mod plan;
mod selected;
mod stream;
mod streams;
mod stripe;
mod tail;
#[cfg(test)]
mod tests;
mod types;
mod verify;

pub use check::Finding;
pub use file::{FileWriter, Written};
pub use merge::merge;
pub use options::*;
