//! Casts of Arrow arrays: to types that hold their values, to types that are asked for, to logical types, and to structs with
//! fewer or more fields.

mod column_cast;
mod convert;
mod encoded;
mod entries;
mod exact;
mod list;
mod mismatch;
mod plain;
mod prune;
mod restore;

pub use column_cast::{ColumnCast, SchemaMapping, cast_columns};
pub use convert::{cast, converts};
pub use entries::map_entries;
pub use exact::{ExactCast, Offsets, Zones, date_text, timestamp_text};
pub use mismatch::{check_array_size, fixed_width};
pub use plain::plain_values;
pub use prune::prune_fields;
pub use restore::restore;
