//! Casts of Arrow arrays: to wider types, to logical types, and to structs with fewer or more fields.

mod column_cast;
mod encoded;
mod entries;
mod list;
mod mismatch;
mod plain;
mod prune;
mod restore;
mod widen;

pub use column_cast::{ColumnCast, SchemaMapping, cast_columns};
pub use entries::map_entries;
pub use mismatch::check_array_size;
pub use plain::plain_values;
pub use prune::prune_fields;
pub use restore::restore;
pub use widen::{cast, is_text_or_dictionary, widen, widens};
