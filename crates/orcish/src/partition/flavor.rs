//! The two sets of rules of partition columns.

use super::interval::IntervalFields;

/// Whose rules types and texts of partition columns follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Flavor {
    /// The rules of this library for tables of Hive.
    ///
    /// * Inferred types are 64-bit integers, dates and text. Numbers with leading zeros are text.
    /// * Floats have the shortest text of their value as a 64-bit float, with an exponent below 1e-4 and from 1e16:
    ///   `0.5`, `1e-05`, `1e+16`. Decimals have an exponent below 1e-6: `1E-8`.
    /// * Fractions of seconds have six digits, or nine if they are finer. Instants have the offset of the zone of their
    ///   type: `2026-01-31 12:00:00.500000+01:00`.
    #[default]
    Hive,
    /// The rules of Apache Spark.
    ///
    /// * Inferred types are 32-bit and 64-bit integers, decimals, 64-bit floats, dates, instants and text.
    /// * Texts are those of casts to text: `1.0E-5`, `0.00000001`, `2026-01-31 12:00:00.5`,
    ///   `INTERVAL '1 02:03:04' DAY TO SECOND`.
    Spark,
}

/// How values become texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValueFormat {
    /// Whose rules apply.
    pub flavor: Flavor,
    /// The time zone in which [`Flavor::Spark`] shows instants; any id that
    /// [`WriterZone::parse_reader_zone`](crate::time::WriterZone::parse_reader_zone) knows. `None` takes the zone of their type.
    pub timezone: Option<String>,
    /// The fields that [`Flavor::Spark`] shows of durations.
    pub interval: IntervalFields,
}
