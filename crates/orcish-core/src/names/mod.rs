//! Dotted names of nested fields, and the parts of fields that they select.

mod nearest;
mod resolve;
mod select;

pub use nearest::nearest;
pub use resolve::{NameResolver, TypeTree};
pub use select::{ArrowNames, Choice, choose, field_at, no_value};
