//! What statistics prove of a leaf.

use super::altered::Altered;
use super::condition::{Leaf, Set, Test};
use super::ranges::{Number, Ordered, Ranges};
use super::verdict::Truth;
use crate::statistics::{ColumnStatistics, Decimal, Detail};

impl Leaf {
    /// What `statistics` of some `rows` prove. `is_top` says that the column is in no other but the root.
    pub fn judge(&self, statistics: &ColumnStatistics, rows: u64, is_top: bool) -> Truth {
        let has_values = statistics.values != Some(0);
        // Below another column, nulls of that one may not be counted: ORC C++ leaves them to the application.
        let none_null = is_top
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
            Test::In(set) => match set.judge(&statistics.detail, statistics.values, self.altered) {
                Truth::Always if has_nulls => Truth::Maybe,
                truth => truth,
            },
        }
    }
}

impl Set {
    /// What the bounds of values prove of those values.
    fn judge(&self, detail: &Detail, values: Option<u64>, altered: Altered) -> Truth {
        match (self, detail) {
            (Set::Integers(ranges), Detail::Boolean { true_count: Some(trues) }) => {
                let min = values.map(|values| i64::from(*trues >= values));
                bounded(ranges, min, Some(i64::from(*trues > 0)))
            }
            (Set::Integers(ranges), Detail::Integer { min, max, .. }) => bounded(ranges, *min, *max),
            (Set::Integers(ranges), Detail::Date { min, max }) => {
                bounded(ranges, min.map(i64::from), max.map(i64::from))
            }
            (Set::Ticks { ranges, nanoseconds }, detail) => {
                let (min, max) = match detail {
                    Detail::Timestamp { lower_bound, upper_bound, .. } => (*lower_bound, *upper_bound),
                    // Spark's timestamps without zone are integers of microseconds.
                    Detail::Integer { min, max, .. } => {
                        let nanos = |micros: i64| i128::from(micros) * 1000;
                        (min.map(nanos), max.map(nanos))
                    }
                    _ => (None, None),
                };
                let tick = |nanos: i128| clamp(nanos.div_euclid((*nanoseconds).into()));
                bounded(ranges, min.map(tick), max.map(tick))
            }
            (Set::Numbers { ranges, .. }, Detail::Double { min, max, .. }) => {
                // Where both bounds are known, no value is NaN.
                let (Some(min), Some(max)) = (min.and_then(Number::new), max.and_then(Number::new)) else {
                    return Truth::Maybe;
                };
                bounded(ranges, Some(min), Some(max))
            }
            (Set::Decimals { ranges, scale }, Detail::Decimal { min, max, .. }) => {
                // A value of more digits behind the point is rounded when it is read.
                let min = min.as_ref().and_then(|min| Some(rounded(min, *scale)?.0));
                let max = max.as_ref().and_then(|max| Some(rounded(max, *scale)?.1));
                bounded(ranges, min, max)
            }
            (Set::Bytes { ranges, trimmed }, Detail::String { min, max, .. }) => {
                let min = min.as_ref().map(|bound| altered.least(&bound.value));
                let min = min.map(|min| match trimmed {
                    // Without its blanks a value is not below this, as it is not with them.
                    true => min.into_iter().take_while(|&byte| byte > b' ').collect(),
                    false => min,
                });
                bounded(ranges, min, max.as_ref().map(|bound| altered.greatest(&bound.value)))
            }
            _ => Truth::Maybe,
        }
    }
}

/// What follows for values from `min` to `max`, so far as these are known.
fn bounded<T: Ordered>(ranges: &Ranges<T>, min: Option<T>, max: Option<T>) -> Truth {
    if !ranges.meets(min.as_ref(), max.as_ref()) {
        return Truth::Never;
    }
    match min.zip(max) {
        Some((min, max)) if ranges.covers(&min, &max) => Truth::Always,
        _ => Truth::Maybe,
    }
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// The number at a scale, rounded down and rounded up; none where it does not fit.
fn rounded(number: &Decimal, scale: u32) -> Option<(i128, i128)> {
    if let Some(more) = scale.checked_sub(number.scale()) {
        let exact = number.unscaled().checked_mul(10i128.checked_pow(more)?)?;
        return Some((exact, exact));
    }
    let power = 10i128.checked_pow(number.scale() - scale)?;
    let floor = number.unscaled().div_euclid(power);
    let is_cut = number.unscaled().rem_euclid(power) != 0;
    Some((floor, floor + i128::from(is_cut)))
}
