//! What is recorded of some rows, against the rows.

use std::cmp::Ordering;

use orcish_core::statistics::{Bound, ColumnStatistics, Detail};

use crate::time::NANOS_PER_MILLI;

/// How much is expected of what is recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strictness {
    /// Whether it is a file of ours: all is recorded that can be, and as we would record it.
    pub(super) is_own: bool,
    /// Whether bounds are values of the column, where they are not recorded as cut.
    pub(super) is_exact: bool,
    /// Nanoseconds of the unit in which timestamps were read.
    pub(super) ticks: i128,
    /// Digits after the point of decimals.
    pub(super) scale: u32,
}

/// What of `recorded` is not true of rows with the statistics `own`. What is unknown is not wrong, unless bounds are
/// known to have been recorded: those that cannot be are read as unknown.
pub(super) fn differences(recorded: &ColumnStatistics, own: &ColumnStatistics, strictness: &Strictness) -> Vec<String> {
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
    details(&recorded.detail, own, strictness, &mut differs);
    if strictness.is_own {
        found.extend(missing(recorded, own).map(|what| format!("what is recorded as {what} cannot be")));
    }
    if strictness.is_own && is_bounded(&own.detail) && has_room(&own.detail) && !is_bounded(&recorded.detail) {
        found.push("what is recorded as the least and the greatest value cannot be".to_owned());
    }
    found
}

/// A count or a sum that files of ours have recorded, and that is read as unknown: no rows can have it.
fn missing(recorded: &ColumnStatistics, own: &ColumnStatistics) -> Option<&'static str> {
    let values = own.values?;
    if recorded.values.is_none() {
        return Some("the number of values");
    }
    let of_detail = match (&recorded.detail, &own.detail) {
        (Detail::Integer { sum: None, .. }, Detail::Integer { min: Some(min), max: Some(max), sum: Some(_) }) => {
            let most = u128::from(min.unsigned_abs().max(max.unsigned_abs())) * u128::from(values);
            // Beyond, it may have left 64 bits on the way, in the order in which the values were added.
            i64::try_from(most).is_ok().then_some("the sum")
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
    of_detail.filter(|_| values > 0)
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

/// Whether bounds can be recorded: those of timestamps are 64 bits of milliseconds.
fn has_room(detail: &Detail) -> bool {
    let fits = |nanos: &i128| i64::try_from(nanos.div_euclid(NANOS_PER_MILLI)).is_ok();
    match detail {
        Detail::Timestamp { lower_bound, upper_bound, .. } => lower_bound.iter().chain(upper_bound).all(fits),
        _ => true,
    }
}

fn details(
    recorded: &Detail,
    own: &ColumnStatistics,
    strictness: &Strictness,
    differs: &mut impl FnMut(&str, String, String),
) {
    use Detail as D;
    let is_exact = strictness.is_exact;
    match (recorded, &own.detail) {
        (D::Integer { min, max, sum }, D::Integer { min: own_min, max: own_max, sum: own_sum }) => {
            bounds((min, max), (own_min, own_max), is_exact, differs);
            equal("the sum", sum, own_sum, differs);
        }
        (D::Double { min, max, sum }, D::Double { min: own_min, max: own_max, sum: own_sum }) => {
            bounds((min, max), (own_min, own_max), is_exact, differs);
            let has_bounds = min.is_some() || max.is_some();
            if own_sum.is_some_and(f64::is_nan) {
                if has_bounds {
                    differs("that there is no NaN", "so".to_owned(), "not so".to_owned());
                } else if strictness.is_own && sum.is_none() {
                    // Other readers take that for the sign that there is none.
                    differs("the sum", "unknown".to_owned(), "NaN".to_owned());
                }
            } else if let (Some(sum), Some(own_sum)) = (sum, own_sum)
                && !is_near(*sum, *own_sum, (own.values, own_min, own_max))
            {
                differs("the sum", format!("{sum:?}"), format!("{own_sum:?}"));
            }
        }
        (D::String { min, max, total_length }, D::String { min: own_min, max: own_max, total_length: own_length }) => {
            text(min.as_ref(), own_min.as_ref(), strictness, Ordering::Greater, differs);
            text(max.as_ref(), own_max.as_ref(), strictness, Ordering::Less, differs);
            equal("the length of all text", total_length, own_length, differs);
        }
        (D::Boolean { true_count }, D::Boolean { true_count: own }) => {
            equal("the number of true values", true_count, own, differs);
        }
        (D::Decimal { min, max, sum }, D::Decimal { min: own_min, max: own_max, sum: own_sum }) => {
            // Decimals that have more digits than their type are rounded when they are read.
            let is_rounded = min.iter().chain(max).any(|bound| bound.scale() > strictness.scale);
            bounds((min, max), (own_min, own_max), is_exact && !is_rounded, differs);
            equal("the sum", sum, own_sum, differs);
        }
        (D::Date { min, max }, D::Date { min: own_min, max: own_max }) => {
            bounds((min, max), (own_min, own_max), is_exact, differs);
        }
        (
            D::Timestamp { min, max, lower_bound, upper_bound },
            D::Timestamp { min: own_min, max: own_max, lower_bound: own_lower, upper_bound: own_upper },
        ) => {
            let cut = |bound: &Option<i128>| bound.map(|nanos| nanos.div_euclid(strictness.ticks));
            bounds((&cut(lower_bound), &cut(upper_bound)), (&cut(own_lower), &cut(own_upper)), false, differs);
            // Others cut them off, or have another zone.
            if strictness.is_own {
                bounds((&cut(min), &cut(max)), (&cut(own_min), &cut(own_max)), true, differs);
            }
        }
        (D::Binary { total_length }, D::Binary { total_length: own }) => {
            equal("the length of all values", total_length, own, differs);
        }
        (
            D::Collection { min_children, max_children, total_children },
            D::Collection { min_children: own_min, max_children: own_max, total_children: own_total },
        ) => {
            bounds((min_children, max_children), (own_min, own_max), is_exact, differs);
            equal("the number of all elements", total_children, own_total, differs);
        }
        _ => {}
    }
}

/// Whether two sums of the same numbers differ by no more than by the order in which these were added.
fn is_near(a: f64, b: f64, (values, min, max): (Option<u64>, &Option<f64>, &Option<f64>)) -> bool {
    let (Some(values), Some(min), Some(max)) = (values, min, max) else { return true };
    #[expect(clippy::cast_precision_loss, reason = "a bound of an error")]
    let count = values as f64;
    // What all of them may be together; an addition is off by half the last place of what it gives.
    let most = min.abs().max(max.abs()) * count;
    if most.is_infinite() {
        return min.is_finite() && max.is_finite() || a == b;
    }
    (a - b).abs() <= most * count * f64::EPSILON
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

const LEAST: &str = "the least value";
const GREATEST: &str = "the greatest value";

type Bounds<'a, T> = (&'a Option<T>, &'a Option<T>);

/// Compares bounds: those of the values, or around them where they need not be `exact`.
fn bounds<T: PartialOrd + std::fmt::Debug>(
    (min, max): Bounds<'_, T>,
    (own_min, own_max): Bounds<'_, T>,
    is_exact: bool,
    differs: &mut impl FnMut(&str, String, String),
) {
    let mut bound = |what: &str, recorded: &Option<T>, own: &Option<T>, wrong: Ordering| {
        if let (Some(recorded), Some(own)) = (recorded, own)
            && match recorded.partial_cmp(own) {
                Some(Ordering::Equal) => false,
                order => is_exact || order == Some(wrong),
            }
        {
            differs(what, format!("{recorded:?}"), format!("{own:?}"));
        }
    };
    bound(LEAST, min, own_min, Ordering::Greater);
    bound(GREATEST, max, own_max, Ordering::Less);
}

/// Compares a bound of text, which is `wrong` if it compares so to the value that it bounds. Of a bound that is cut, the
/// value is not known.
fn text(
    recorded: Option<&Bound>,
    own: Option<&Bound>,
    Strictness { is_own, is_exact, .. }: &Strictness,
    wrong: Ordering,
    differs: &mut impl FnMut(&str, String, String),
) {
    let (Some(recorded), Some(own)) = (recorded, own) else { return };
    let order = recorded.value.cmp(&own.value);
    let is_wrong = match (recorded.exact, own.exact) {
        (true, true) => order != Ordering::Equal && (*is_exact || order == wrong),
        (false, true) => order == wrong,
        // The value is beyond ours, on the side of all the others.
        (true, false) => *is_exact && order == wrong.reverse(),
        // Ours are cut alike; of others, either may be the longer part.
        (false, false) => *is_own && order == wrong,
    };
    if is_wrong {
        let what = if wrong == Ordering::Greater { LEAST } else { GREATEST };
        differs(what, format!("{:?}", recorded.value), format!("{:?}", own.value));
    }
}

#[cfg(test)]
mod tests;
