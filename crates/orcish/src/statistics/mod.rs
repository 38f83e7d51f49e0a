//! Column statistics of ORC files: what a writer recorded of the values of a column in a file, a stripe or a row group.
//!
//! ```text
//! orc::ColumnStatistics ── from_proto (WriterContext) ──► ColumnStatistics ── merge ──► ColumnStatistics
//! as the writer left it    known faults are taken out     sound
//! ```
//!
//! The result of `from_proto` is sound: no value *that orcish reads* lies outside of the bounds. A doubtful number is
//! `None`, which means unknown and never zero. A writer without known faults is believed to record what the specification
//! says, except for NaN, which the specification does not mention. Specification: ORCv1, "Column Statistics".

mod context;
mod from_proto;
mod merge_proto;
#[cfg(test)]
mod tests;
mod to_proto;

pub use orcish_core::statistics::{Bound, BoundingBox, ColumnStatistics, Decimal, Detail};

pub(crate) use context::WriterContext;
pub(crate) use from_proto::{MAX_OFFSET, from_proto};
pub(crate) use merge_proto::{bytes_beside, merge_proto};
pub(crate) use to_proto::to_proto;
