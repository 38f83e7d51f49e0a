//! Writing ORC files.
//!
//! ```text
//! batches ── slices of row groups ── column writers, in parallel ──► OutStream ──► stripe ──► tail ──► Sink
//!                                      │                              chunks, positions
//!                                      └ statistics, bloom filters, row index
//! ```
//!
//! - A column writer buffers few values and encodes them run by run. Runs end with row groups. The positions of the row
//!   index therefore consist of chunk and byte offsets, and the number of values to skip in a run is 0. The price is one
//!   shortened run in each row group of some ten thousand values.
//! - Present and boolean streams of nested columns do not end on byte boundaries. The position of a row group has the
//!   number of bits to skip in its first byte.
//! - Strings stay in memory as dictionary entries. The encoding of a stripe is chosen when the stripe ends, or earlier,
//!   once a dictionary is known to be too large.
//! - A stripe ends when its stored streams have reached the stripe size. Threads encode columns in parallel, and compress
//!   their chunks in parallel afterwards.

mod append_error;
mod array_size;
mod blocks;
mod boolean_stream;
mod check;
mod column;
mod compressors;
mod deferred;
mod encode;
mod encryption;
mod file;
mod merge;
mod metadata;
mod options;
mod options_of_file;
mod out_stream;
mod plan;
mod recover;
mod rle_stream;
mod selection;
mod stored_schema;
mod stream_options;
mod stripe;
mod tail;
#[cfg(test)]
mod tests;
mod types;
mod verify;
mod writer;

pub(crate) use array_size::array_size;
pub use check::Finding;
pub use encryption::{ColumnEncryption, Mask};
pub use file::{FileWriter, Written};
pub use merge::merge;
pub use options::*;
pub use recover::{Lost, Recovery};
pub(crate) use stored_schema::unwritten_file;
pub use stored_schema::{are_inferred, stored_schema};
pub use writer::OrcWriter;
