//! Pruning by statistics.

use std::ops::Range;

use super::condition::{Condition, Leaf, Test, ValueSet};
use super::pruning::{Proof, Pruning, Truth};
use super::ranges::{NonNan, Ordered, Ranges};
use super::text_conversion::TextConversion;
use crate::error::Result;
use crate::statistics::{ColumnStatistics, Decimal, Detail, successor};

impl Leaf {
    /// Evaluates the leaf on the statistics of `rows` rows. `is_root_column` states that the column is a child of the root.
    pub fn prune(&self, statistics: &ColumnStatistics, rows: u64, is_root_column: bool) -> Truth {
        let has_values = statistics.values != Some(0);
        // The nulls of an ancestor may not be counted for the column: ORC C++ relies on the application.
        let none_null = is_root_column
            && match statistics.values {
                Some(values) => values >= rows,
                None => statistics.has_null == Some(false),
            };
        let has_nulls = !none_null || self.may_become_null;
        match &self.test {
            _ if rows == 0 => Truth::Never,
            Test::IsNull if !has_nulls => Truth::Never,
            Test::IsNull if !has_values => Truth::Always,
            Test::NotNull | Test::In(_) if !has_values => Truth::Never,
            Test::NotNull if !has_nulls => Truth::Always,
            Test::IsNull | Test::NotNull => Truth::Maybe,
            Test::In(set) => match set.prune(&statistics.detail, statistics.values, self.conversion) {
                Truth::Always if has_nulls => Truth::Maybe,
                truth => truth,
            },
        }
    }
}

impl Condition {
    /// Refines what is known of consecutive rows by their numbers, if the condition has tests of them.
    ///
    /// # Errors
    /// As [`Pruning::refine`].
    pub fn prune_row_numbers(&self, pruning: &mut Pruning, rows: &Range<u64>, proof: Proof) -> Result<()> {
        if !self.has_row_numbers() {
            return Ok(());
        }
        // Numbers beyond 64 bits are unknown bounds.
        let number = |row: u64| i64::try_from(row).ok();
        let (min, max) = (number(rows.start), rows.end.checked_sub(1).and_then(number));
        let count = rows.end.saturating_sub(rows.start);
        let statistics = ColumnStatistics {
            values: Some(count),
            has_null: Some(false),
            detail: Detail::Integer { min, max, sum: None },
            ..ColumnStatistics::UNKNOWN
        };
        pruning.refine(self, proof, |_, leaf| match leaf.column {
            None => Ok(leaf.prune(&statistics, count, true)),
            Some(_) => Ok(Truth::Maybe),
        })
    }
}

impl ValueSet {
    /// Evaluates whether the non-null values are in the set, by their bounds.
    fn prune(&self, detail: &Detail, values: Option<u64>, conversion: TextConversion) -> Truth {
        match (self, detail) {
            (ValueSet::Integers(ranges), Detail::Boolean { true_count: Some(trues) }) => {
                let min = values.map(|values| i64::from(*trues >= values));
                bounded(ranges, min, Some(i64::from(*trues > 0)))
            }
            (ValueSet::Integers(ranges), Detail::Integer { min, max, .. }) => bounded(ranges, *min, *max),
            (ValueSet::Integers(ranges), Detail::Date { min, max }) => {
                bounded(ranges, min.map(i64::from), max.map(i64::from))
            }
            (ValueSet::Ticks { ranges, nanoseconds, exact }, detail) => {
                let (min, max) = match detail {
                    Detail::Timestamp { lower_bound, upper_bound, .. } => (*lower_bound, *upper_bound),
                    // Spark's timestamps without time zone are integers in microseconds.
                    Detail::Integer { min, max, .. } => {
                        let nanos = |micros: i64| i128::from(micros) * 1000;
                        (min.map(nanos), max.map(nanos))
                    }
                    _ => (None, None),
                };
                if let Some(exact) = exact {
                    return bounded(exact, min, max);
                }
                let tick = |nanos: i128| clamp(nanos.div_euclid((*nanoseconds).into()));
                bounded(ranges, min.map(tick), max.map(tick))
            }
            (ValueSet::Floats { ranges, .. }, Detail::Double { min, max, .. }) => {
                // If both bounds are known, no value is NaN.
                let (Some(min), Some(max)) = (min.and_then(NonNan::new), max.and_then(NonNan::new)) else {
                    return Truth::Maybe;
                };
                bounded(ranges, Some(min), Some(max))
            }
            (ValueSet::Decimals { ranges, scale }, Detail::Decimal { min, max, .. }) => {
                // A value with a greater scale is rounded when it is read.
                let min = min.as_ref().and_then(|min| Some(rounded(min, *scale)?.0));
                let max = max.as_ref().and_then(|max| Some(rounded(max, *scale)?.1));
                bounded(ranges, min, max)
            }
            (ValueSet::Bytes { ranges, trimmed }, detail) => {
                let (min, max) = bytes_bounds(detail, *trimmed, conversion);
                bounded(ranges, min, max)
            }
            (ValueSet::Matching { pattern, positive: true, trimmed }, detail) => {
                let (min, max) = bytes_bounds(detail, *trimmed, conversion);
                let prefix = pattern.prefix().as_bytes();
                let ranges = Ranges::between(prefix.to_vec(), successor(prefix));
                if ranges.intersects(min.as_ref(), max.as_ref()) { Truth::Maybe } else { Truth::Never }
            }
            _ => Truth::Maybe,
        }
    }
}

/// Bounds of strings and binary values as they are read.
fn bytes_bounds(detail: &Detail, trimmed: bool, conversion: TextConversion) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let Detail::String { min, max, .. } = detail else { return (None, None) };
    let min = min.as_ref().map(|bound| conversion.lower_bound(&bound.value));
    // The prefix without bytes up to the blank is a lower bound of trimmed and padded values.
    let min = min.map(|min| if trimmed { min.into_iter().take_while(|&byte| byte > b' ').collect() } else { min });
    (min, max.as_ref().map(|bound| conversion.upper_bound(&bound.value)))
}

/// Evaluates whether values from `min` to `max` are in `ranges`. Bounds are `None` where they are unknown.
fn bounded<T: Ordered>(ranges: &Ranges<T>, min: Option<T>, max: Option<T>) -> Truth {
    if !ranges.intersects(min.as_ref(), max.as_ref()) {
        return Truth::Never;
    }
    match min.zip(max) {
        Some((min, max)) if ranges.contains_range(&min, &max) => Truth::Always,
        _ => Truth::Maybe,
    }
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// The unscaled values of a number at a scale, rounded down and rounded up; `None` where they do not fit.
fn rounded(number: &Decimal, scale: u32) -> Option<(i128, i128)> {
    if let Some(more) = scale.checked_sub(number.scale()) {
        let exact = number.unscaled().checked_mul(10i128.checked_pow(more)?)?;
        return Some((exact, exact));
    }
    let power = 10i128.checked_pow(number.scale() - scale)?;
    let floor = number.unscaled().div_euclid(power);
    let has_remainder = number.unscaled().rem_euclid(power) != 0;
    Some((floor, floor + i128::from(has_remainder)))
}
