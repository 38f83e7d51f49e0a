//! Results of pruning, with their proofs.

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

/// The result of pruning a file, a stripe or a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneResult {
    /// The result for the condition.
    pub truth: Truth,
    /// The result and the proof for each leaf; empty before the first proof.
    pub leaves: Vec<(Truth, Proof)>,
}

/// A function that evaluates a leaf, by its index, on statistics or a bloom filter.
pub type PruneLeaf<'a> = dyn FnMut(usize, &Leaf) -> Result<Truth> + 'a;

impl PruneResult {
    /// The result before any proof.
    pub const MAYBE: Self = PruneResult { truth: Truth::Maybe, leaves: Vec::new() };

    /// Evaluates the leaves whose result is unknown by another proof, unless the result for the condition is known.
    ///
    /// # Errors
    /// Errors of `prune_leaf`.
    pub fn refine(&mut self, condition: &Condition, proof: Proof, prune_leaf: &mut PruneLeaf<'_>) -> Result<()> {
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
    pub fn leaf(&self, leaf: usize) -> Truth {
        self.leaves.get(leaf).map_or(Truth::Maybe, |result| result.0)
    }

    /// If the condition is true for no row: the leaves that prove it, with their proofs.
    pub fn proofs(&self, condition: &Condition) -> Vec<(usize, Proof)> {
        let mut proofs = Vec::new();
        let truth = condition.root.combine(&mut |leaf| {
            let result = self.leaves.get(leaf).filter(|result| result.0 == Truth::Never);
            proofs.extend(result.map(|result| (leaf, result.1)));
            self.leaf(leaf)
        });
        if truth == Truth::Never { proofs } else { Vec::new() }
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

    /// The outcome of a result of pruning.
    pub fn new(result: &PruneResult, condition: &Condition) -> Self {
        let leaf_text = |(leaf, proof): (usize, Proof)| Some((condition.leaves.get(leaf)?.text.clone(), proof));
        match result.truth {
            Truth::Always => Outcome::AllMatch,
            Truth::Maybe => Outcome::Read,
            Truth::Never => Outcome::Skipped(result.proofs(condition).into_iter().filter_map(leaf_text).collect()),
        }
    }
}
