//! Sets of ordered values, as ranges.

/// An ordered type with a minimum, and a successor of each value.
pub trait Ordered: Ord + Clone {
    /// The minimum.
    fn min_value() -> Self;
    /// The successor; `None` for the maximum.
    fn next(&self) -> Option<Self>;
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Ordered for $t {
            fn min_value() -> Self {
                <$t>::MIN
            }
            fn next(&self) -> Option<Self> {
                self.checked_add(1)
            }
        }
    )*};
}
integer!(i64, i128);

impl Ordered for Vec<u8> {
    fn min_value() -> Self {
        Vec::new()
    }

    fn next(&self) -> Option<Self> {
        Some([self, &[0][..]].concat())
    }
}

/// A double that is not NaN, with a single zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NonNan(f64);

impl NonNan {
    /// The number; `None` for NaN.
    pub fn new(value: f64) -> Option<Self> {
        // -0.0 + 0.0 is 0.0.
        (!value.is_nan()).then_some(NonNan(value + 0.0))
    }

    /// The double.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Eq for NonNan {}

impl Ord for NonNan {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for NonNan {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ordered for NonNan {
    fn min_value() -> Self {
        NonNan(f64::NEG_INFINITY)
    }

    fn next(&self) -> Option<Self> {
        (self.0 < f64::INFINITY).then(|| NonNan(self.0.next_up() + 0.0))
    }
}

/// A set of values: half-open ranges, ascending and not adjacent. The last range can be unbounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges<T>(Vec<(T, Option<T>)>);

impl<T: Ordered> Ranges<T> {
    /// The empty set.
    pub fn none() -> Self {
        Ranges(Vec::new())
    }

    /// All values.
    pub fn all() -> Self {
        Ranges(vec![(T::min_value(), None)])
    }

    /// A single value.
    pub fn single(value: T) -> Self {
        let end = value.next();
        Ranges(vec![(value, end)])
    }

    /// All values before `end`.
    pub fn before(end: T) -> Self {
        if end == T::min_value() { Self::none() } else { Ranges(vec![(T::min_value(), Some(end))]) }
    }

    /// All values up to `last`.
    pub fn up_to(last: &T) -> Self {
        last.next().map_or_else(Self::all, Self::before)
    }

    /// All values from `start` on.
    pub fn from(start: T) -> Self {
        Ranges(vec![(start, None)])
    }

    /// All values after `value`.
    pub fn after(value: &T) -> Self {
        value.next().map_or_else(Self::none, Self::from)
    }

    /// The values from `start` up to, but not including `end`.
    pub fn between(start: T, end: Option<T>) -> Self {
        if end.as_ref().is_some_and(|end| *end <= start) { Self::none() } else { Ranges(vec![(start, end)]) }
    }

    /// The union of sets.
    pub fn union(sets: impl IntoIterator<Item = Self>) -> Self {
        let mut ranges: Vec<_> = sets.into_iter().flat_map(|set| set.0).collect();
        ranges.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut merged: Vec<(T, Option<T>)> = Vec::new();
        for (start, end) in ranges {
            match merged.last_mut() {
                Some((_, None)) => break,
                Some((_, last)) if last.as_ref().is_some_and(|last| start <= *last) => {
                    if end.is_none() || *last < end {
                        *last = end;
                    }
                }
                _ => merged.push((start, end)),
            }
        }
        Ranges(merged)
    }

    /// The complement.
    pub fn complement(&self) -> Self {
        let mut gaps = Vec::new();
        let mut start = Some(T::min_value());
        for (from, to) in &self.0 {
            if let Some(start) = start.take().filter(|start| start < from) {
                gaps.push((start, Some(from.clone())));
            }
            start.clone_from(to);
        }
        gaps.extend(start.map(|start| (start, None)));
        Ranges(gaps)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges as inclusive start and exclusive end. The end is `None` for an unbounded range.
    pub fn as_slice(&self) -> &[(T, Option<T>)] {
        &self.0
    }

    /// Whether the set contains a value. `is_at_or_after` compares the value with a bound: whether it is equal or greater.
    #[inline]
    pub fn contains(&self, is_at_or_after: impl Fn(&T) -> bool) -> bool {
        let end = self.0.partition_point(|(start, _)| is_at_or_after(start));
        let range = end.checked_sub(1).and_then(|at| self.0.get(at));
        range.is_some_and(|(_, end)| end.as_ref().is_none_or(|end| !is_at_or_after(end)))
    }

    /// Whether the set contains any value from `min` to `max`. A bound is `None` where it is unknown.
    pub fn intersects(&self, min: Option<&T>, max: Option<&T>) -> bool {
        // The first range that ends behind `min`.
        let at = min.map_or(0, |min| self.0.partition_point(|(_, end)| end.as_ref().is_some_and(|end| end <= min)));
        self.0.get(at).is_some_and(|(start, _)| max.is_none_or(|max| start <= max))
    }

    /// Whether the set contains all values from `min` to `max`.
    pub fn contains_range(&self, min: &T, max: &T) -> bool {
        // The last range that starts at or before `min`.
        let end = self.0.partition_point(|(start, _)| start <= min);
        let range = end.checked_sub(1).and_then(|at| self.0.get(at));
        range.is_some_and(|(_, end)| end.as_ref().is_none_or(|end| max < end))
    }

    /// All values of the set; `None` where they are more than `max`.
    pub fn values(&self, max: usize) -> Option<Vec<T>> {
        let mut values = Vec::new();
        for (start, end) in &self.0 {
            let end = end.as_ref()?;
            let mut value = start.clone();
            while value < *end {
                if values.len() == max {
                    return None;
                }
                let next = value.next()?;
                values.push(std::mem::replace(&mut value, next));
            }
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sets() -> impl Strategy<Value = Ranges<i64>> {
        let part = prop_oneof![
            (-20..20i64, 0..6i64).prop_map(|(start, n)| Ranges::between(start, Some(start + n))),
            (-20..20i64).prop_map(Ranges::single),
            (-20..20i64).prop_map(Ranges::before),
            (-20..20i64).prop_map(Ranges::from),
            (-20..20i64).prop_map(|v| Ranges::up_to(&v)),
            (-20..20i64).prop_map(|v| Ranges::after(&v)),
        ];
        prop::collection::vec(part, 0..6).prop_map(Ranges::union)
    }

    fn has(set: &Ranges<i64>, value: i64) -> bool {
        set.contains(|bound| *bound <= value)
    }

    proptest! {
        #[test]
        fn set_operations_agree_with_their_values(a in sets(), b in sets(), min in -25..25i64, length in 0..10i64) {
            let both = Ranges::union([a.clone(), b.clone()]);
            let rest = a.complement();
            for value in -30..30 {
                prop_assert_eq!(has(&both, value), has(&a, value) || has(&b, value));
                prop_assert_eq!(has(&rest, value), !has(&a, value));
            }
            prop_assert_eq!(&rest.complement(), &a);
            let max = min + length;
            prop_assert_eq!(a.intersects(Some(&min), Some(&max)), (min..=max).any(|v| has(&a, v)));
            prop_assert_eq!(a.contains_range(&min, &max), (min..=max).all(|v| has(&a, v)));
            prop_assert_eq!(a.intersects(None, Some(&max)), has(&a, i64::MIN) || (-25..=max).any(|v| has(&a, v)));
            if let Some(points) = a.values(1000) {
                prop_assert_eq!(points, (-40..40).filter(|&v| has(&a, v)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn floats_have_successors() {
        let zero = NonNan::new(-0.0).unwrap();
        assert_eq!(zero.get().to_bits(), 0);
        let set = Ranges::after(&zero);
        assert!(!set.contains(|bound| bound.get() <= 0.0) && set.contains(|bound| bound.get() <= f64::MIN_POSITIVE));
        let min_value = NonNan::new(-f64::from_bits(1)).unwrap();
        assert_eq!(min_value.next(), Some(zero));
        assert_eq!(NonNan::new(f64::INFINITY).unwrap().next(), None);
        assert!(NonNan::new(f64::NAN).is_none());
        let strings = Ranges::single(b"a".to_vec());
        assert_eq!(strings.values(9), Some(vec![b"a".to_vec()]));
        assert!(!strings.contains(|bound| bound.as_slice() <= b"a\0".as_slice()));
    }
}
