//! A condition: a predicate that is bound to columns.

use std::sync::Arc;

use super::altered::Altered;
use super::ranges::{Number, Ranges};

/// A condition on rows: tests of single columns, joined by `and` and `or`.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The tests.
    pub leaves: Vec<Leaf>,
    /// How the tests are joined.
    pub root: Node,
}

/// A part of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// The same for each row.
    Constant(bool),
    /// The test at this index of [`Condition::leaves`].
    Leaf(usize),
    /// All parts are true.
    All(Vec<Node>),
    /// A part is true.
    Any(Vec<Node>),
}

/// A test of one column.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// Column id.
    pub column: u32,
    /// The test.
    pub test: Test,
    /// Whether a value may be read as null.
    pub may_become_null: bool,
    /// How text is altered as it is read.
    pub altered: Altered,
    /// Whether values are timestamps in UTC.
    pub is_instant: bool,
    /// As people write it.
    pub text: String,
}

/// What a leaf tests.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The value is null.
    IsNull,
    /// The value is not null.
    NotNull,
    /// The value is not null, and in a set.
    In(Arc<Set>),
}

/// A set of values of a column, in what is read of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Set {
    /// Integers, booleans as 0 and 1, and days.
    Integers(Ranges<i64>),
    /// Timestamps.
    Ticks {
        /// The timestamps in ticks.
        ranges: Ranges<i64>,
        /// Nanoseconds of a tick.
        nanoseconds: i64,
    },
    /// Floating point numbers.
    Numbers {
        /// The numbers that are not NaN.
        ranges: Ranges<Number>,
        /// Whether NaN is in the set.
        nan: bool,
    },
    /// Decimals.
    Decimals {
        /// The unscaled numbers.
        ranges: Ranges<i128>,
        /// Digits behind the point.
        scale: u32,
    },
    /// Strings and binary values.
    Bytes {
        /// The values as bytes, in the order of their bytes.
        ranges: Ranges<Vec<u8>>,
        /// Whether the blanks at the end of values were cut off.
        trimmed: bool,
    },
}

impl Condition {
    /// Ids of the columns that it asks, ascending.
    pub fn columns(&self) -> Vec<u32> {
        let mut columns: Vec<u32> = self.leaves.iter().map(|leaf| leaf.column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Set {
    /// The set, or if not `positive` all other values.
    pub(super) fn signed(self, positive: bool) -> Self {
        if positive { self } else { self.complement() }
    }

    fn complement(&self) -> Self {
        match self {
            Set::Integers(ranges) => Set::Integers(ranges.complement()),
            Set::Ticks { ranges, nanoseconds } => Set::Ticks { ranges: ranges.complement(), nanoseconds: *nanoseconds },
            Set::Numbers { ranges, nan } => Set::Numbers { ranges: ranges.complement(), nan: !nan },
            Set::Decimals { ranges, scale } => Set::Decimals { ranges: ranges.complement(), scale: *scale },
            Set::Bytes { ranges, trimmed } => Set::Bytes { ranges: ranges.complement(), trimmed: *trimmed },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Set::Integers(ranges) | Set::Ticks { ranges, .. } => ranges.is_empty(),
            Set::Numbers { ranges, nan } => ranges.is_empty() && !nan,
            Set::Decimals { ranges, .. } => ranges.is_empty(),
            Set::Bytes { ranges, .. } => ranges.is_empty(),
        }
    }

    /// What is in any of the sets, which are of one kind; none of none.
    pub(super) fn union(sets: Vec<Set>) -> Option<Set> {
        let first = sets.first()?.clone();
        macro_rules! ranges {
            ($variant:pat => $ranges:ident) => {
                Ranges::union(sets.into_iter().filter_map(|set| match set {
                    $variant => Some($ranges),
                    _ => None,
                }))
            };
        }
        Some(match first {
            Set::Integers(_) => Set::Integers(ranges!(Set::Integers(ranges) => ranges)),
            Set::Ticks { nanoseconds, .. } => {
                Set::Ticks { ranges: ranges!(Set::Ticks { ranges, .. } => ranges), nanoseconds }
            }
            Set::Numbers { .. } => Set::Numbers { ranges: ranges!(Set::Numbers { ranges, .. } => ranges), nan: false },
            Set::Decimals { scale, .. } => {
                Set::Decimals { ranges: ranges!(Set::Decimals { ranges, .. } => ranges), scale }
            }
            Set::Bytes { trimmed, .. } => Set::Bytes { ranges: ranges!(Set::Bytes { ranges, .. } => ranges), trimmed },
        })
    }
}
