//! What is recorded of some rows, against the rows.

use crate::statistics::{Bound, ColumnStatistics, Detail};

/// Timestamps are read to the microsecond.
const NANOS: i128 = 1_000;

/// What of `recorded` is not true of rows with the statistics `own`. What is unknown is not wrong, unless bounds are
/// known to have been recorded: those that cannot be are read as unknown.
pub(super) fn differences(recorded: &ColumnStatistics, own: &ColumnStatistics, has_bounds: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut differs = |what: &str, recorded: String, own: String| {
        found.push(format!("{what} is recorded as {recorded}, and is {own}"));
    };
    if let (Some(recorded), Some(own)) = (recorded.values, own.values)
        && recorded != own
    {
        differs("the number of values", recorded.to_string(), own.to_string());
    }
    if let (Some(recorded), Some(own)) = (recorded.has_null, own.has_null)
        && recorded != own
    {
        differs("whether there is a null", recorded.to_string(), own.to_string());
    }
    details(&recorded.detail, &own.detail, &mut differs);
    if has_bounds && is_bounded(&own.detail) && !is_bounded(&recorded.detail) {
        found.push("what is recorded as the least and the greatest value cannot be".to_owned());
    }
    found
}

/// Whether there are both bounds. Where there is a NaN, readers are told that there are none.
fn is_bounded(detail: &Detail) -> bool {
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

fn details(recorded: &Detail, own: &Detail, differs: &mut impl FnMut(&str, String, String)) {
    use Detail as D;
    match (recorded, own) {
        (D::Integer { min, max, sum }, D::Integer { min: own_min, max: own_max, sum: own_sum }) => {
            bounds(min, max, own_min, own_max, differs);
            equal("the sum", sum, own_sum, differs);
        }
        // Sums depend on the order of their parts.
        (D::Double { min, max, .. }, D::Double { min: own_min, max: own_max, sum: own_sum }) => {
            bounds(min, max, own_min, own_max, differs);
            let has_bounds = min.is_some() || max.is_some();
            if has_bounds && own_sum.is_some_and(f64::is_nan) {
                differs("that there is no NaN", "so".to_owned(), "not so".to_owned());
            }
        }
        (D::String { min, max, total_length }, D::String { min: own_min, max: own_max, total_length: own_length }) => {
            let value = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.value.clone());
            // Where ours are cut, they say less than what is recorded may.
            let exact =
                |bound: &Option<Bound>| bound.as_ref().filter(|bound| bound.exact).map(|bound| bound.value.clone());
            bounds(&value(min), &value(max), &exact(own_min), &exact(own_max), differs);
            equal("the length of all text", total_length, own_length, differs);
        }
        (D::Boolean { true_count }, D::Boolean { true_count: own }) => {
            equal("the number of true values", true_count, own, differs);
        }
        (D::Decimal { min, max, sum }, D::Decimal { min: own_min, max: own_max, sum: own_sum }) => {
            bounds(min, max, own_min, own_max, differs);
            equal("the sum", sum, own_sum, differs);
        }
        (D::Date { min, max }, D::Date { min: own_min, max: own_max }) => bounds(min, max, own_min, own_max, differs),
        (
            D::Timestamp { lower_bound, upper_bound, .. },
            D::Timestamp { lower_bound: own_lower, upper_bound: own_upper, .. },
        ) => {
            let cut = |bound: &Option<i128>| bound.map(|nanos| nanos.div_euclid(NANOS));
            bounds(&cut(lower_bound), &cut(upper_bound), &cut(own_lower), &cut(own_upper), differs);
        }
        (D::Binary { total_length }, D::Binary { total_length: own }) => {
            equal("the length of all values", total_length, own, differs);
        }
        (
            D::Collection { min_children, max_children, total_children },
            D::Collection { min_children: own_min, max_children: own_max, total_children: own_total },
        ) => {
            bounds(min_children, max_children, own_min, own_max, differs);
            equal("the number of all elements", total_children, own_total, differs);
        }
        _ => {}
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    recorded: &Option<T>,
    own: &Option<T>,
    differs: &mut impl FnMut(&str, String, String),
) {
    if let (Some(recorded), Some(own)) = (recorded, own)
        && recorded != own
    {
        differs(what, format!("{recorded:?}"), format!("{own:?}"));
    }
}

fn bounds<T: PartialOrd + std::fmt::Debug>(
    min: &Option<T>,
    max: &Option<T>,
    own_min: &Option<T>,
    own_max: &Option<T>,
    differs: &mut impl FnMut(&str, String, String),
) {
    if let (Some(recorded), Some(own)) = (min, own_min)
        && recorded > own
    {
        differs("the least value", format!("{recorded:?}"), format!("{own:?}"));
    }
    if let (Some(recorded), Some(own)) = (max, own_max)
        && recorded < own
    {
        differs("the greatest value", format!("{recorded:?}"), format!("{own:?}"));
    }
}
