//! Conditions: predicates that are bound to columns.

use std::sync::Arc;

use super::ranges::{NonNan, Ranges};
use super::text_conversion::TextConversion;
use crate::error::{OrInternal as _, Result};
use crate::pattern::Pattern;

/// A predicate that is bound to columns: conjunctions and disjunctions of tests of single columns.
#[derive(Debug, Clone)]
pub struct Condition {
    pub(super) leaves: Vec<Leaf>,
    pub(super) root: Node,
}

/// A node of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// True or false for all rows.
    Constant(bool),
    /// The leaf at this index of [`Condition::leaves`].
    Leaf(usize),
    /// Conjunction.
    All(Vec<Node>),
    /// Disjunction.
    Any(Vec<Node>),
}

/// A leaf of a condition: a test of a column.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// Column id; `None` for the number of the row.
    pub column: Option<u32>,
    /// The test.
    pub test: Test,
    /// Whether a stored value can be read as null.
    pub may_become_null: bool,
    /// How text is converted when it is read.
    pub conversion: TextConversion,
    /// Whether values are timestamps in UTC.
    pub is_instant: bool,
    /// The leaf as text.
    pub text: String,
}

/// The test of a leaf.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The value is null.
    IsNull,
    /// The value is not null.
    NotNull,
    /// The value is not null, and in a set.
    In(Arc<ValueSet>),
}

/// A set of values of a column, as they are read.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueSet {
    /// Integers, booleans as 0 and 1, and dates as days.
    Integers(Ranges<i64>),
    /// Timestamps.
    Ticks {
        /// The timestamps in their unit.
        ranges: Ranges<i64>,
        /// Nanoseconds of the unit.
        nanoseconds: i64,
        /// The timestamps in nanoseconds, where values may have digits below the unit. Values are evaluated in the unit:
        /// those with such digits are errors where they matter.
        exact: Option<Ranges<i128>>,
    },
    /// Floating point numbers.
    Floats {
        /// The numbers without NaN.
        ranges: Ranges<NonNan>,
        /// Whether NaN is in the set.
        nan: bool,
    },
    /// Decimals.
    Decimals {
        /// The unscaled values.
        ranges: Ranges<i128>,
        /// The scale.
        scale: u32,
    },
    /// Strings and binary values.
    Bytes {
        /// The values as bytes, in lexicographic order.
        ranges: Ranges<Vec<u8>>,
        /// Whether trailing blanks of the values are trimmed.
        trimmed: bool,
    },
    /// Strings and binary values that match a pattern.
    Matching {
        /// The pattern.
        pattern: Pattern,
        /// Whether it is the set of the values that match, or of those that do not.
        positive: bool,
        /// Whether trailing blanks of the values are trimmed.
        trimmed: bool,
    },
}

impl Condition {
    /// The leaves, in the order in which the nodes above them are evaluated.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The value of the condition if it is the same for all rows, independent of their values.
    pub fn constant(&self) -> Option<bool> {
        match self.root {
            Node::Constant(value) => Some(value),
            Node::Leaf(_) | Node::All(_) | Node::Any(_) => None,
        }
    }

    /// Ids of the columns of the condition, ascending. Row numbers are no column.
    pub fn columns(&self) -> Vec<u32> {
        let mut columns: Vec<u32> = self.leaves.iter().filter_map(|leaf| leaf.column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether a leaf is a test of the number of the row.
    pub fn has_row_numbers(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.column.is_none())
    }

    /// The leaf of a node.
    pub(super) fn leaf(&self, index: usize) -> Result<&Leaf> {
        self.leaves.get(index).or_internal("a node of a condition has no leaf")
    }
}

impl ValueSet {
    /// The set, or its complement if not `positive`.
    pub(super) fn complement_unless(self, positive: bool) -> Self {
        if positive { self } else { self.complement() }
    }

    fn complement(&self) -> Self {
        match self {
            ValueSet::Integers(ranges) => ValueSet::Integers(ranges.complement()),
            ValueSet::Ticks { ranges, nanoseconds, exact } => ValueSet::Ticks {
                ranges: ranges.complement(),
                nanoseconds: *nanoseconds,
                exact: exact.as_ref().map(Ranges::complement),
            },
            ValueSet::Floats { ranges, nan } => ValueSet::Floats { ranges: ranges.complement(), nan: !nan },
            ValueSet::Decimals { ranges, scale } => ValueSet::Decimals { ranges: ranges.complement(), scale: *scale },
            ValueSet::Bytes { ranges, trimmed } => ValueSet::Bytes { ranges: ranges.complement(), trimmed: *trimmed },
            ValueSet::Matching { pattern, positive, trimmed } => {
                ValueSet::Matching { pattern: pattern.clone(), positive: !positive, trimmed: *trimmed }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            ValueSet::Integers(ranges) => ranges.is_empty(),
            ValueSet::Ticks { ranges, exact, .. } => exact.as_ref().map_or(ranges.is_empty(), Ranges::is_empty),
            ValueSet::Floats { ranges, nan } => ranges.is_empty() && !nan,
            ValueSet::Decimals { ranges, .. } => ranges.is_empty(),
            ValueSet::Bytes { ranges, .. } => ranges.is_empty(),
            ValueSet::Matching { .. } => false,
        }
    }

    /// The union of sets of one variant that has ranges; `None` without sets.
    pub(super) fn union(sets: Vec<ValueSet>) -> Option<ValueSet> {
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
            ValueSet::Matching { .. } => return None,
            ValueSet::Integers(_) => ValueSet::Integers(ranges!(ValueSet::Integers(ranges) => ranges)),
            ValueSet::Ticks { nanoseconds, .. } => {
                let exact = sets.iter().map(|set| match set {
                    ValueSet::Ticks { exact, .. } => exact.clone(),
                    _ => None,
                });
                let exact = exact.collect::<Option<Vec<_>>>().map(Ranges::union);
                ValueSet::Ticks { ranges: ranges!(ValueSet::Ticks { ranges, .. } => ranges), nanoseconds, exact }
            }
            ValueSet::Floats { .. } => {
                ValueSet::Floats { ranges: ranges!(ValueSet::Floats { ranges, .. } => ranges), nan: false }
            }
            ValueSet::Decimals { scale, .. } => {
                ValueSet::Decimals { ranges: ranges!(ValueSet::Decimals { ranges, .. } => ranges), scale }
            }
            ValueSet::Bytes { trimmed, .. } => {
                ValueSet::Bytes { ranges: ranges!(ValueSet::Bytes { ranges, .. } => ranges), trimmed }
            }
        })
    }
}
