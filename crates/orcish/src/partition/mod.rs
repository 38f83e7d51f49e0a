//! Partition columns: values in names of folders, `…/day=2026-11-21/country=DE/part-0.orc`.
//!
//! * [`hive_partitions`] gives the names and texts of a path, [`partition_folder`] the name of a folder.
//!   [`escape_partition`] and [`unescape_partition`] are Hive's escapes.
//! * [`infer_type`] infers the type of a column from all of its texts.
//! * [`cast_values`] casts values to the type that a table has, and [`equal_folders`] finds the folders of equal values.
//! * [`parse_values`] and [`format_values`] convert between texts and Arrow arrays.
//!
//! Hive and Spark differ in the types that they infer, and in the texts of values: see [`Flavor`].
//!
//! ```
//! use arrow_array::{Date32Array, StringArray};
//! use arrow_schema::DataType;
//! use orcish::partition::{Flavor, ValueFormat, format_values, hive_partitions, infer_type, parse_values};
//!
//! let partitions = hive_partitions("table/day=2026-11-21/part-0.orc");
//! assert_eq!(partitions, [("day".to_owned(), Some("2026-11-21".to_owned()))]);
//! let texts = StringArray::from_iter(partitions.iter().map(|(_, value)| value.as_deref()));
//! assert_eq!(infer_type(texts.iter().flatten(), Flavor::Hive), DataType::Date32);
//! let days = parse_values(&texts, &DataType::Date32, Flavor::Hive)?;
//! assert_eq!(*days, Date32Array::from(vec![20_778]));
//! assert_eq!(format_values(&days, &ValueFormat::default())?, texts);
//! # Ok::<(), orcish::Error>(())
//! ```

mod cast;
mod decimal;
mod duration;
mod equal;
mod flavor;
mod float;
mod format;
mod infer;
mod interval;
mod number;
mod parse;
mod plain;
mod syntax;
#[cfg(test)]
mod tests;
mod time_text;

pub use cast::cast_values;
pub(crate) use cast::is_cast_by_value;
pub use equal::{TextZone, equal_folders};
pub use flavor::{Flavor, ValueFormat};
pub use format::format_values;
pub use infer::infer_type;
pub use interval::{IntervalField, IntervalFields};
pub use orcish_io::{
    NULL_PARTITION, escape_partition, hive_partitions, hive_partitions_below, partition_folder, unescape_partition,
};
pub(crate) use parse::is_partition_type;
pub use parse::parse_values;
pub(crate) use plain::bytes_of_text;
