//! Sets of ordered values, as ranges.

/// A value of an ordered type that has a least value, and a next one for each.
pub trait Ordered: Ord + Clone {
    /// The least value.
    fn least() -> Self;
    /// The next value; none after the greatest.
    fn next(&self) -> Option<Self>;
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Ordered for $t {
            fn least() -> Self {
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
    fn least() -> Self {
        Vec::new()
    }

    fn next(&self) -> Option<Self> {
        Some([self, &[0][..]].concat())
    }
}

/// A floating point number that is not NaN, and whose zero has no sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(f64);

impl Number {
    /// The number; `None` for NaN.
    pub fn new(value: f64) -> Option<Self> {
        // -0.0 + 0.0 is 0.0.
        (!value.is_nan()).then_some(Number(value + 0.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Eq for Number {}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ordered for Number {
    fn least() -> Self {
        Number(f64::NEG_INFINITY)
    }

    fn next(&self) -> Option<Self> {
        (self.0 < f64::INFINITY).then(|| Number(self.0.next_up() + 0.0))
    }
}

/// A set of values: ranges that ascend and do not touch, each from a value to before another, or to the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges<T>(Vec<(T, Option<T>)>);

impl<T: Ordered> Ranges<T> {
    /// No value.
    pub fn none() -> Self {
        Ranges(Vec::new())
    }

    /// All values.
    pub fn all() -> Self {
        Ranges(vec![(T::least(), None)])
    }

    /// One value.
    pub fn of(value: T) -> Self {
        let end = value.next();
        Ranges(vec![(value, end)])
    }

    /// All values before `end`.
    pub fn before(end: T) -> Self {
        if end == T::least() { Self::none() } else { Ranges(vec![(T::least(), Some(end))]) }
    }

    /// All values up to `last`.
    pub fn up_to(last: &T) -> Self {
        last.next().map_or_else(Self::all, Self::before)
    }

    /// `start` and all values after it.
    pub fn from(start: T) -> Self {
        Ranges(vec![(start, None)])
    }

    /// All values after `value`.
    pub fn after(value: &T) -> Self {
        value.next().map_or_else(Self::none, Self::from)
    }

    /// From `start` to before `end`.
    pub fn between(start: T, end: Option<T>) -> Self {
        if end.as_ref().is_some_and(|end| *end <= start) { Self::none() } else { Ranges(vec![(start, end)]) }
    }

    /// What is in any of them.
    pub fn union(sets: impl IntoIterator<Item = Self>) -> Self {
        let mut parts: Vec<_> = sets.into_iter().flat_map(|set| set.0).collect();
        parts.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut joined: Vec<(T, Option<T>)> = Vec::new();
        for (start, end) in parts {
            match joined.last_mut() {
                Some((_, None)) => break,
                Some((_, Some(last))) if start <= *last => match end {
                    Some(end) if end <= *last => {}
                    end => joined.last_mut().into_iter().for_each(|part| part.1.clone_from(&end)),
                },
                _ => joined.push((start, end)),
            }
        }
        Ranges(joined)
    }

    /// What is not in it.
    pub fn complement(&self) -> Self {
        let mut gaps = Vec::new();
        let mut start = Some(T::least());
        for (from, to) in &self.0 {
            if let Some(start) = start.take().filter(|start| start < from) {
                gaps.push((start, Some(from.clone())));
            }
            start.clone_from(to);
        }
        gaps.extend(start.map(|start| (start, None)));
        Ranges(gaps)
    }

    /// Whether no value is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, each from a value to before another.
    pub fn parts(&self) -> &[(T, Option<T>)] {
        &self.0
    }

    /// Whether a value is in it, by how values compare with those here.
    #[inline]
    pub fn holds(&self, is_after: impl Fn(&T) -> bool) -> bool {
        // `is_after(bound)`: whether the value is at the bound or after it.
        let before = self.0.partition_point(|(start, _)| is_after(start));
        let part = before.checked_sub(1).and_then(|at| self.0.get(at));
        part.is_some_and(|(_, end)| end.as_ref().is_none_or(|end| !is_after(end)))
    }

    /// Whether a value from `min` to `max` may be in it; a bound that is not known is none.
    pub fn meets(&self, min: Option<&T>, max: Option<&T>) -> bool {
        // The first range that does not end before the least value.
        let at = min.map_or(0, |min| self.0.partition_point(|(_, end)| end.as_ref().is_some_and(|end| end <= min)));
        self.0.get(at).is_some_and(|(start, _)| max.is_none_or(|max| start <= max))
    }

    /// Whether all values from `min` to `max` are in it.
    pub fn covers(&self, min: &T, max: &T) -> bool {
        // The last range that begins no later.
        let before = self.0.partition_point(|(start, _)| start <= min);
        let part = before.checked_sub(1).and_then(|at| self.0.get(at));
        part.is_some_and(|(_, end)| end.as_ref().is_none_or(|end| max < end))
    }

    /// The values, if they are no more than `most`, each a range of its own or one next to another.
    pub fn points(&self, most: usize) -> Option<Vec<T>> {
        let mut points = Vec::new();
        for (start, end) in &self.0 {
            let end = end.as_ref()?;
            let mut value = start.clone();
            while value < *end {
                if points.len() == most {
                    return None;
                }
                let next = value.next()?;
                points.push(std::mem::replace(&mut value, next));
            }
        }
        Some(points)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sets() -> impl Strategy<Value = Ranges<i64>> {
        let part = prop_oneof![
            (-20..20i64, 0..6i64).prop_map(|(start, n)| Ranges::between(start, Some(start + n))),
            (-20..20i64).prop_map(Ranges::of),
            (-20..20i64).prop_map(Ranges::before),
            (-20..20i64).prop_map(Ranges::from),
            (-20..20i64).prop_map(|v| Ranges::up_to(&v)),
            (-20..20i64).prop_map(|v| Ranges::after(&v)),
        ];
        prop::collection::vec(part, 0..6).prop_map(Ranges::union)
    }

    fn has(set: &Ranges<i64>, value: i64) -> bool {
        set.holds(|bound| *bound <= value)
    }

    proptest! {
        #[test]
        fn sets_are_what_their_values_are(a in sets(), b in sets(), min in -25..25i64, length in 0..10i64) {
            let both = Ranges::union([a.clone(), b.clone()]);
            let rest = a.complement();
            for value in -30..30 {
                prop_assert_eq!(has(&both, value), has(&a, value) || has(&b, value));
                prop_assert_eq!(has(&rest, value), !has(&a, value));
            }
            prop_assert_eq!(&rest.complement(), &a);
            let max = min + length;
            prop_assert_eq!(a.meets(Some(&min), Some(&max)), (min..=max).any(|v| has(&a, v)));
            prop_assert_eq!(a.covers(&min, &max), (min..=max).all(|v| has(&a, v)));
            prop_assert_eq!(a.meets(None, Some(&max)), has(&a, i64::MIN) || (-25..=max).any(|v| has(&a, v)));
            if let Some(points) = a.points(1000) {
                prop_assert_eq!(points, (-40..40).filter(|&v| has(&a, v)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn numbers_have_neighbours() {
        let zero = Number::new(-0.0).unwrap();
        assert_eq!(zero.get().to_bits(), 0);
        let set = Ranges::after(&zero);
        assert!(!set.holds(|bound| bound.get() <= 0.0) && set.holds(|bound| bound.get() <= f64::MIN_POSITIVE));
        let least = Number::new(-f64::from_bits(1)).unwrap();
        assert_eq!(least.next(), Some(zero));
        assert_eq!(Number::new(f64::INFINITY).unwrap().next(), None);
        assert!(Number::new(f64::NAN).is_none());
        let strings = Ranges::of(b"a".to_vec());
        assert_eq!(strings.points(9), Some(vec![b"a".to_vec()]));
        assert!(!strings.holds(|bound| bound.as_slice() <= b"a\0".as_slice()));
    }
}
