//! Dotted names of nested fields, and the parts of fields that they select.

mod column_name;
mod nearest;
mod resolve;
mod select;
#[cfg(test)]
mod tests;

pub use column_name::ColumnName;
pub use nearest::{MAX_SHOWN, nearest, shortened, unknown_column};
pub use resolve::{NameResolver, TypeTree};
pub use select::{ArrowNames, Selection, field_at, not_one_value_per_row, select};
