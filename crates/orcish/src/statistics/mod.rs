//! Column statistics of ORC files, stripes and row groups (ORCv1, Column Statistics).
//!
//! ```text
//! orc::ColumnStatistics ── from_proto (WriterContext) ──► ColumnStatistics ── merge ──► ColumnStatistics
//! as recorded              without known faults           sound
//! ```
//!
//! The result of `from_proto` is sound: no value *that orcish reads* lies outside of the bounds. A doubtful number is
//! `None`, which means unknown and never zero. Statistics of a writer without known faults are trusted, except for NaN,
//! which the specification does not mention.

mod context;
mod from_proto;
mod merge_proto;
#[cfg(test)]
mod tests;
mod to_proto;

pub use orcish_core::statistics::{Bound, BoundingBox, ColumnStatistics, Decimal, Detail};

pub(crate) use context::WriterContext;
pub(crate) use from_proto::{MAX_UTC_OFFSET, from_proto};
pub(crate) use merge_proto::{heap_size, merge_proto};
pub(crate) use to_proto::to_proto;
