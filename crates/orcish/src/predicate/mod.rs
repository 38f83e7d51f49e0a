//! Predicates: a condition typed against the columns of a file, and what statistics say of it.
//!
//! ```text
//! Predicate ── bind ──► Condition: no negation left, each leaf "a column's value is in a set"
//!                         │
//!                         ├── judge (statistics, bloom filters) ──► never / maybe / always
//!                         └── arrow::filter ──► which rows
//! ```
//!
//! With negations at the leaves, a leaf is true or it is not: "unknown" and "false" need not be told apart, and
//! what is above the leaves are plain intersections and unions.

mod bind;
mod judge;
mod lookup;
mod ranges;
#[cfg(test)]
mod tests;

pub(crate) use bind::{Domain, Held, Named, bind, bind_names, check_is_value};
pub(crate) use judge::Truth;
pub(crate) use ranges::{Number, Ranges};

use crate::error::Result;

/// A condition on rows.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) root: Node,
}

/// How leaves are put together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Constant(bool),
    /// Index of a leaf.
    Leaf(usize),
    All(Vec<Node>),
    Any(Vec<Node>),
}

/// A test of one column.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    /// Column id.
    pub(crate) column: u32,
    pub(crate) test: Test,
    /// Whether a value may be read as null.
    pub(crate) may_become_null: bool,
    /// As people write it.
    pub(crate) text: String,
}

/// What a leaf tests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    IsNull,
    NotNull,
    /// The value is not null, and in a set.
    In(Set),
}

/// A set of values of a column, in what is read of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Set {
    /// Integers, booleans as 0 and 1, and days.
    Integers(Ranges<i64>),
    /// Timestamps, in ticks of so many nanoseconds.
    Ticks {
        ranges: Ranges<i64>,
        nanoseconds: i64,
    },
    Numbers {
        ranges: Ranges<Number>,
        nan: bool,
    },
    /// Unscaled numbers of a scale.
    Decimals {
        ranges: Ranges<i128>,
        scale: u32,
    },
    /// Strings and binaries; of char columns possibly without the blanks at the end.
    Bytes {
        ranges: Ranges<Vec<u8>>,
        trimmed: bool,
    },
}

impl Condition {
    /// Ids of the columns that it asks, ascending.
    pub(crate) fn columns(&self) -> Vec<u32> {
        let mut columns: Vec<u32> = self.leaves.iter().map(|leaf| leaf.column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// What follows of the whole from what each leaf is, which `leaf` tells with what proves it; leaves that do not
    /// matter any more are not asked.
    pub(crate) fn judge(&self, leaf: &mut Judge<'_>) -> Result<Verdict> {
        let mut causes = Vec::new();
        let truth = self.root.judge(&mut |index| {
            let Some(this) = self.leaves.get(index) else { return Ok(Truth::Maybe) };
            let (truth, proof) = leaf(index, this)?;
            if truth == Truth::Never {
                causes.push((index, proof));
            }
            Ok(truth)
        })?;
        if truth != Truth::Never {
            causes.clear();
        }
        Ok(Verdict { truth, causes })
    }
}

/// Tells what is known of a leaf, given its index, and what proves it.
pub(crate) type Judge<'a> = dyn FnMut(usize, &Leaf) -> Result<(Truth, Proof)> + 'a;

/// What is known of the rows of a stripe or of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) truth: Truth,
    /// Where no row is wanted: leaves that are true of none, and what proves it.
    pub(crate) causes: Vec<(usize, Proof)>,
}

impl Verdict {
    pub(crate) const MAYBE: Self = Verdict { truth: Truth::Maybe, causes: Vec::new() };
}

/// What proves that a test is true of no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Statistics of the file.
    FileStatistics,
    /// Statistics of the stripe.
    StripeStatistics,
    /// Statistics of the row group.
    RowGroupStatistics,
    /// The bloom filter of the row group.
    BloomFilter,
    /// The stripe has no present stream of the column, nor of those that it is in: nothing is null.
    NoPresentStream,
}

impl Node {
    fn judge(&self, leaf: &mut dyn FnMut(usize) -> Result<Truth>) -> Result<Truth> {
        let (parts, worst, best) = match self {
            Node::Constant(true) => return Ok(Truth::Always),
            Node::Constant(false) => return Ok(Truth::Never),
            Node::Leaf(index) => return leaf(*index),
            Node::All(parts) => (parts, Truth::Never, Truth::Always),
            Node::Any(parts) => (parts, Truth::Always, Truth::Never),
        };
        let mut result = best;
        for part in parts {
            let truth = part.judge(leaf)?;
            if truth == worst {
                return Ok(worst);
            }
            if truth == Truth::Maybe {
                result = Truth::Maybe;
            }
        }
        Ok(result)
    }
}
