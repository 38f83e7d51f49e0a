//! Comparison of recorded statistics with statistics that are computed from the rows.

use std::cmp::Ordering;

use orcish_core::statistics::{Bound, ColumnStatistics, Detail};

use crate::time::NANOS_PER_MILLI;

/// What the writer of a file is expected to record.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompareOptions {
    /// Whether orcish wrote the file: all statistics that can be recorded are, and equal the computed statistics.
    pub(super) is_orcish: bool,
    /// Whether bounds that are not recorded as truncated are values of the column. Otherwise they may be wider.
    pub(super) exact_bounds: bool,
    /// Nanoseconds of the unit in which timestamps were read.
    pub(super) timestamp_unit_nanos: i128,
    /// Scale of decimals.
    pub(super) scale: u32,
}

/// Compares recorded with computed statistics. Returns a message for each difference. Unknown statistics are no
/// difference, except in files of orcish, where statistics that no rows can have are read as unknown.
pub(super) fn compare_statistics(
    recorded: &ColumnStatistics,
    computed: &ColumnStatistics,
    options: &CompareOptions,
) -> Vec<String> {
    let mut messages = Vec::new();
    let mut differs = |what: &str, recorded: String, computed: String| {
        messages.push(format!("{what} is recorded as {recorded}, and is {computed}"));
    };
    if let (Some(recorded), Some(computed)) = (recorded.values, computed.values)
        && recorded != computed
    {
        differs("the number of values", recorded.to_string(), computed.to_string());
    }
    if let (Some(recorded), Some(computed)) = (recorded.has_null, computed.has_null)
        && recorded != computed
    {
        differs("whether there is a null", recorded.to_string(), computed.to_string());
    }
    compare_details(&recorded.detail, computed, options, &mut differs);
    if options.is_orcish {
        let missing = missing_count_or_sum(recorded, computed);
        messages.extend(missing.map(|what| format!("what is recorded as {what} cannot be")));
        let can_have_bounds = has_bounds(&computed.detail) && bounds_fit(&computed.detail);
        if can_have_bounds && !has_bounds(&recorded.detail) {
            messages.push("what is recorded as the least and the greatest value cannot be".to_owned());
        }
    }
    messages
}

/// The name of a count or sum that orcish records, and that is read as unknown because no rows can have it.
fn missing_count_or_sum(recorded: &ColumnStatistics, computed: &ColumnStatistics) -> Option<&'static str> {
    let values = computed.values?;
    if recorded.values.is_none() {
        return Some("the number of values");
    }
    let missing = match (&recorded.detail, &computed.detail) {
        (Detail::Integer { sum: None, .. }, Detail::Integer { min: Some(min), max: Some(max), sum: Some(_) }) => {
            let max_sum = u128::from(min.unsigned_abs().max(max.unsigned_abs())) * u128::from(values);
            // Where the sum of absolute values can overflow, a partial sum may have overflowed.
            i64::try_from(max_sum).is_ok().then_some("the sum")
        }
        (Detail::Boolean { true_count: None }, Detail::Boolean { true_count: Some(_) }) => {
            Some("the number of true values")
        }
        (Detail::String { total_length: None, .. }, Detail::String { total_length: Some(_), .. }) => {
            Some("the length of all text")
        }
        (Detail::Binary { total_length: None }, Detail::Binary { total_length: Some(_) }) => {
            Some("the length of all values")
        }
        _ => None,
    };
    missing.filter(|_| values > 0)
}

/// Whether there is a minimum and a maximum. Readers ignore both if the sum is NaN.
fn has_bounds(detail: &Detail) -> bool {
    match detail {
        Detail::Integer { min, max, .. } => min.is_some() && max.is_some(),
        Detail::Double { min, max, sum } => min.is_some() && max.is_some() && sum.is_some_and(|sum| !sum.is_nan()),
        Detail::String { min, max, .. } => min.is_some() && max.is_some(),
        Detail::Decimal { min, max, .. } => min.is_some() && max.is_some(),
        Detail::Date { min, max } => min.is_some() && max.is_some(),
        Detail::Timestamp { lower_bound, upper_bound, .. } => lower_bound.is_some() && upper_bound.is_some(),
        Detail::Collection { min_children, max_children, .. } => min_children.is_some() && max_children.is_some(),
        Detail::None | Detail::Boolean { .. } | Detail::Binary { .. } | Detail::Geospatial { .. } => false,
    }
}

/// Whether the bounds can be recorded: bounds of timestamps are 64-bit milliseconds.
fn bounds_fit(detail: &Detail) -> bool {
    let fits = |nanos: &i128| i64::try_from(nanos.div_euclid(NANOS_PER_MILLI)).is_ok();
    match detail {
        Detail::Timestamp { lower_bound, upper_bound, .. } => lower_bound.iter().chain(upper_bound).all(fits),
        _ => true,
    }
}

/// Compares the statistics of the type of a column.
fn compare_details(
    recorded: &Detail,
    computed: &ColumnStatistics,
    options: &CompareOptions,
    differs: &mut impl FnMut(&str, String, String),
) {
    use Detail as D;
    let exact_bounds = options.exact_bounds;
    match (recorded, &computed.detail) {
        (D::Integer { min, max, sum }, D::Integer { min: computed_min, max: computed_max, sum: computed_sum }) => {
            compare_bounds((min, max), (computed_min, computed_max), exact_bounds, differs);
            compare_equal("the sum", sum, computed_sum, differs);
        }
        (D::Double { min, max, sum }, D::Double { min: computed_min, max: computed_max, sum: computed_sum }) => {
            compare_bounds((min, max), (computed_min, computed_max), exact_bounds, differs);
            let has_bounds = min.is_some() || max.is_some();
            if computed_sum.is_some_and(f64::is_nan) {
                if has_bounds {
                    differs("that there is no NaN", "so".to_owned(), "not so".to_owned());
                } else if options.is_orcish && sum.is_none() {
                    // Readers take a sum that is not NaN as a sign that there is no NaN.
                    differs("the sum", "unknown".to_owned(), "NaN".to_owned());
                }
            } else if let (Some(sum), Some(computed_sum)) = (sum, computed_sum)
                && !is_rounding_difference(*sum, *computed_sum, (computed.values, computed_min, computed_max))
            {
                differs("the sum", format!("{sum:?}"), format!("{computed_sum:?}"));
            }
        }
        (
            D::String { min, max, total_length },
            D::String { min: computed_min, max: computed_max, total_length: computed_length },
        ) => {
            compare_string_bound(min.as_ref(), computed_min.as_ref(), options, Ordering::Greater, differs);
            compare_string_bound(max.as_ref(), computed_max.as_ref(), options, Ordering::Less, differs);
            compare_equal("the length of all text", total_length, computed_length, differs);
        }
        (D::Boolean { true_count }, D::Boolean { true_count: computed }) => {
            compare_equal("the number of true values", true_count, computed, differs);
        }
        (D::Decimal { min, max, sum }, D::Decimal { min: computed_min, max: computed_max, sum: computed_sum }) => {
            // Values with more digits than the scale of their type are rounded by the reader.
            let is_rounded = min.iter().chain(max).any(|bound| bound.scale() > options.scale);
            compare_bounds((min, max), (computed_min, computed_max), exact_bounds && !is_rounded, differs);
            compare_equal("the sum", sum, computed_sum, differs);
        }
        (D::Date { min, max }, D::Date { min: computed_min, max: computed_max }) => {
            compare_bounds((min, max), (computed_min, computed_max), exact_bounds, differs);
        }
        (
            D::Timestamp { min, max, lower_bound, upper_bound },
            D::Timestamp {
                min: computed_min,
                max: computed_max,
                lower_bound: computed_lower,
                upper_bound: computed_upper,
            },
        ) => {
            let truncate = |bound: &Option<i128>| bound.map(|nanos| nanos.div_euclid(options.timestamp_unit_nanos));
            let recorded_bounds = (&truncate(lower_bound), &truncate(upper_bound));
            compare_bounds(recorded_bounds, (&truncate(computed_lower), &truncate(computed_upper)), false, differs);
            // Other writers truncate minimum and maximum, or use another time zone.
            if options.is_orcish {
                let recorded_bounds = (&truncate(min), &truncate(max));
                compare_bounds(recorded_bounds, (&truncate(computed_min), &truncate(computed_max)), true, differs);
            }
        }
        (D::Binary { total_length }, D::Binary { total_length: computed }) => {
            compare_equal("the length of all values", total_length, computed, differs);
        }
        (
            D::Collection { min_children, max_children, total_children },
            D::Collection { min_children: computed_min, max_children: computed_max, total_children: computed_total },
        ) => {
            compare_bounds((min_children, max_children), (computed_min, computed_max), exact_bounds, differs);
            compare_equal("the number of all elements", total_children, computed_total, differs);
        }
        _ => {}
    }
}

/// Whether two sums differ by no more than the rounding of additions in another order.
fn is_rounding_difference(a: f64, b: f64, (values, min, max): (Option<u64>, &Option<f64>, &Option<f64>)) -> bool {
    let (Some(values), Some(min), Some(max)) = (values, min, max) else { return true };
    #[expect(clippy::cast_precision_loss, reason = "a bound of an error")]
    let count = values as f64;
    // A partial sum is at most `max_sum`. The rounding error of an addition is half a unit in the last place.
    let max_sum = min.abs().max(max.abs()) * count;
    if max_sum.is_infinite() {
        return min.is_finite() && max.is_finite() || a == b;
    }
    (a - b).abs() <= max_sum * count * f64::EPSILON
}

fn compare_equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    recorded: &Option<T>,
    computed: &Option<T>,
    differs: &mut impl FnMut(&str, String, String),
) {
    if let (Some(recorded), Some(computed)) = (recorded, computed)
        && recorded != computed
    {
        differs(what, format!("{recorded:?}"), format!("{computed:?}"));
    }
}

const MIN_NAME: &str = "the least value";
const MAX_NAME: &str = "the greatest value";

type Bounds<'a, T> = (&'a Option<T>, &'a Option<T>);

/// Compares minimum and maximum. Bounds that are not exact may be wider than the computed bounds.
fn compare_bounds<T: PartialOrd + std::fmt::Debug>(
    (min, max): Bounds<'_, T>,
    (computed_min, computed_max): Bounds<'_, T>,
    exact_bounds: bool,
    differs: &mut impl FnMut(&str, String, String),
) {
    let mut compare = |what: &str, recorded: &Option<T>, computed: &Option<T>, wrong: Ordering| {
        if let (Some(recorded), Some(computed)) = (recorded, computed)
            && match recorded.partial_cmp(computed) {
                Some(Ordering::Equal) => false,
                order => exact_bounds || order == Some(wrong),
            }
        {
            differs(what, format!("{recorded:?}"), format!("{computed:?}"));
        }
    };
    compare(MIN_NAME, min, computed_min, Ordering::Greater);
    compare(MAX_NAME, max, computed_max, Ordering::Less);
}

/// Compares a bound of strings. `wrong` is the order of a recorded bound that excludes the computed one. The value of a
/// truncated bound is not known.
fn compare_string_bound(
    recorded: Option<&Bound>,
    computed: Option<&Bound>,
    options: &CompareOptions,
    wrong: Ordering,
    differs: &mut impl FnMut(&str, String, String),
) {
    let (Some(recorded), Some(computed)) = (recorded, computed) else { return };
    let order = recorded.value.cmp(&computed.value);
    let is_wrong = match (recorded.exact, computed.exact) {
        (true, true) => order != Ordering::Equal && (options.exact_bounds || order == wrong),
        (false, true) => order == wrong,
        // The computed bound lies outside of all values, so that an exact bound cannot lie beyond it.
        (true, false) => options.exact_bounds && order == wrong.reverse(),
        // orcish truncates both bounds to the same length. Other writers may keep more or fewer bytes.
        (false, false) => options.is_orcish && order == wrong,
    };
    if is_wrong {
        let what = if wrong == Ordering::Greater { MIN_NAME } else { MAX_NAME };
        differs(what, format!("{:?}", recorded.value), format!("{:?}", computed.value));
    }
}

#[cfg(test)]
mod tests;
