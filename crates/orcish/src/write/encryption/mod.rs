//! Encryption of columns of a file that is written: what is encrypted with which key, what readers without a key see, and what
//! the footer says of both.
//!
//! A column that is encrypted has two writers: one of the values, whose streams are encrypted when the stripe is assembled, and
//! one of their masks. Statistics and indexes of both are kept apart.

mod mask;
mod options;
mod plan;
mod tail;

pub use mask::Mask;
pub use options::ColumnEncryption;

pub(super) use mask::ColumnMask;
pub(super) use plan::EncryptionPlan;
pub(super) use tail::VariantStatistics;
