//! Results of pruning, with their proofs.

use std::collections::BTreeSet;

use super::condition::{Condition, Leaf, Node};
use crate::error::Result;

/// Whether a condition is true for some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It is true for no row.
    Never,
    /// Unknown.
    Maybe,
    /// It is true for all rows.
    Always,
}

/// The name of a proof that a leaf is true for no row, such as `stripe statistics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Proof(&'static str);

impl Proof {
    /// A proof with a name. Each format has its own proofs.
    pub const fn new(name: &'static str) -> Self {
        Proof(name)
    }

    /// The name for users.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// What is known of a condition for the rows of a file, a stripe or a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruning {
    truth: Truth,
    /// The result and the proof of each leaf; empty before the first proof.
    leaves: Vec<(Truth, Proof)>,
}

impl Pruning {
    /// The result before any proof.
    pub const UNKNOWN: Self = Pruning { truth: Truth::Maybe, leaves: Vec::new() };

    /// Whether the condition is true for some rows.
    pub fn truth(&self) -> Truth {
        self.truth
    }

    /// Evaluates the leaves whose result is unknown by another proof, unless the result for the condition is known.
    /// `prune_leaf` evaluates a leaf, which it is also given the index of, on statistics or a bloom filter.
    ///
    /// # Errors
    /// Errors of `prune_leaf`.
    pub fn refine(
        &mut self,
        condition: &Condition,
        proof: Proof,
        mut prune_leaf: impl FnMut(usize, &Leaf) -> Result<Truth>,
    ) -> Result<()> {
        if self.truth != Truth::Maybe {
            return Ok(());
        }
        self.leaves.resize(condition.leaves.len(), (Truth::Maybe, proof));
        for (index, (leaf, result)) in condition.leaves.iter().zip(&mut self.leaves).enumerate() {
            if result.0 == Truth::Maybe {
                *result = (prune_leaf(index, leaf)?, proof);
            }
        }
        self.truth = condition.root.combine(&mut |leaf| self.leaf(leaf));
        Ok(())
    }

    /// The result for a leaf.
    pub fn leaf(&self, index: usize) -> Truth {
        // No leaf has a result before the first proof.
        self.leaves.get(index).map_or(Truth::Maybe, |(truth, _)| *truth)
    }

    /// Bytes of the result.
    pub fn size(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.leaves[..])
    }

    /// How the rows are read. Rows for which the condition is never true have the leaves that prove it as the reason.
    pub fn outcome(&self, condition: &Condition) -> Outcome {
        match self.truth {
            Truth::Always => Outcome::AllMatch,
            Truth::Maybe => Outcome::Read,
            Truth::Never => {
                let mut used = BTreeSet::new();
                condition.root.combine(&mut |leaf| {
                    used.insert(leaf);
                    self.leaf(leaf)
                });
                let leaves = condition.leaves.iter().zip(&self.leaves).enumerate();
                let proofs = leaves.filter(|(index, (_, (truth, _)))| *truth == Truth::Never && used.contains(index));
                Outcome::Skipped(proofs.map(|(_, (leaf, (_, proof)))| (leaf.text.clone(), *proof)).collect())
            }
        }
    }
}

impl Node {
    /// Combines the results of the leaves, with short-circuit evaluation.
    fn combine(&self, leaf: &mut dyn FnMut(usize) -> Truth) -> Truth {
        let (operands, absorbing, neutral) = match self {
            Node::Constant(true) => return Truth::Always,
            Node::Constant(false) => return Truth::Never,
            Node::Leaf(index) => return leaf(*index),
            Node::All(operands) => (operands, Truth::Never, Truth::Always),
            Node::Any(operands) => (operands, Truth::Always, Truth::Never),
        };
        let mut result = neutral;
        for operand in operands {
            let truth = operand.combine(leaf);
            if truth == absorbing {
                return absorbing;
            }
            if truth == Truth::Maybe {
                result = Truth::Maybe;
            }
        }
        result
    }
}

/// How the rows of a stripe or a row group are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All rows match the filter, which is not evaluated.
    AllMatch,
    /// The filter is evaluated on the rows.
    Read,
    /// No row matches the filter. The leaves, as text, and the proofs are the reason.
    Skipped(Vec<(String, Proof)>),
}

impl Outcome {
    /// Whether no row is read.
    pub fn is_skipped(&self) -> bool {
        matches!(self, Outcome::Skipped(_))
    }
}
