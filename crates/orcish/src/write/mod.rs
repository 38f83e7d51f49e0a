//! Writing ORC files (in the making).
//!
//! ```text
//! batches ── rows of a row group ── column writers ──► OutStream: chunks, positions ──► stripe ──► tail
//!                                        │ statistics, bloom filters, index entries
//! ```
//!
//! - A column writer gathers the values of one row group, and encodes them at its end in one go: runs end with row
//!   groups, so that positions are those of chunks and bytes, with no values of a run before them. What that costs is a
//!   broken run a row group, of some ten thousand values.
//! - Bits of present streams do not end with row groups below lists: the bits of a part byte stay for the next one, whose
//!   position says how many there are.
//! - Strings keep their entries for the whole stripe, as a dictionary may hold; what is written is decided when the
//!   stripe ends, or before, once it is clear that a dictionary does not pay.
//! - A stripe ends when its streams and what is gathered take the bytes that it may have. Columns encode side by side.

mod stream;
