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

mod altered;
mod bind;
mod judge;
mod lookup;
mod ranges;
#[cfg(test)]
mod tests;

pub(crate) use altered::Altered;
pub(crate) use bind::{Domain, Held, Named, bind, bind_names, check_is_value};
pub(crate) use judge::Truth;
pub(crate) use ranges::{Number, Ranges};

use std::sync::Arc;

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
    /// How text is altered as it is read.
    pub(crate) altered: Altered,
    /// Whether values are timestamps in UTC.
    pub(crate) is_instant: bool,
    /// As people write it.
    pub(crate) text: String,
}

/// What a leaf tests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    IsNull,
    NotNull,
    /// The value is not null, and in a set.
    In(Arc<Set>),
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
}

/// What is known of the rows of a stripe or of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) truth: Truth,
    /// What is known of each leaf, and what proves it; empty where nothing is.
    pub(crate) leaves: Vec<(Truth, Proof)>,
}

/// Tells for how many rows a leaf, which has this index, is true.
pub(crate) type Judge<'a> = dyn FnMut(usize, &Leaf) -> Result<Truth> + 'a;

impl Verdict {
    pub(crate) const MAYBE: Self = Verdict { truth: Truth::Maybe, leaves: Vec::new() };

    /// Adds what `proof`, which `judge` asks, says of the leaves of which nothing is known, where that matters.
    pub(crate) fn refine(&mut self, condition: &Condition, proof: Proof, judge: &mut Judge<'_>) -> Result<()> {
        if self.truth != Truth::Maybe {
            return Ok(());
        }
        self.leaves.resize(condition.leaves.len(), (Truth::Maybe, proof));
        for (index, (leaf, known)) in condition.leaves.iter().zip(&mut self.leaves).enumerate() {
            if known.0 == Truth::Maybe {
                *known = (judge(index, leaf)?, proof);
            }
        }
        self.truth = condition.root.judge(&mut |leaf| self.leaf(leaf));
        Ok(())
    }

    /// What is known of a leaf.
    pub(crate) fn leaf(&self, leaf: usize) -> Truth {
        self.leaves.get(leaf).map_or(Truth::Maybe, |known| known.0)
    }

    /// Where no row is wanted: leaves that are true of none, so far as they matter, and what proves it.
    pub(crate) fn causes(&self, condition: &Condition) -> Vec<(usize, Proof)> {
        let mut causes = Vec::new();
        let truth = condition.root.judge(&mut |leaf| {
            let known = self.leaves.get(leaf).filter(|known| known.0 == Truth::Never);
            causes.extend(known.map(|known| (leaf, known.1)));
            self.leaf(leaf)
        });
        if truth == Truth::Never { causes } else { Vec::new() }
    }
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
    /// The index of the blocklet, of a CarbonData file.
    BlockletIndex,
    /// Bounds of the page, of a CarbonData file.
    PageStatistics,
}

impl Node {
    /// What follows from what each leaf is; leaves that do not matter any more are not asked.
    fn judge(&self, leaf: &mut dyn FnMut(usize) -> Truth) -> Truth {
        let (parts, worst, best) = match self {
            Node::Constant(true) => return Truth::Always,
            Node::Constant(false) => return Truth::Never,
            Node::Leaf(index) => return leaf(*index),
            Node::All(parts) => (parts, Truth::Never, Truth::Always),
            Node::Any(parts) => (parts, Truth::Always, Truth::Never),
        };
        let mut result = best;
        for part in parts {
            let truth = part.judge(leaf);
            if truth == worst {
                return worst;
            }
            if truth == Truth::Maybe {
                result = Truth::Maybe;
            }
        }
        result
    }
}
