//! What is known of a condition without looking at the rows, and what proves it.

use super::condition::{Condition, Leaf, Node};
use crate::error::Result;

/// For how many of some rows a condition is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// For none.
    Never,
    /// Unknown.
    Maybe,
    /// For all.
    Always,
}

/// The name of the knowledge that proves that a test is true of no row, such as `stripe statistics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Proof(&'static str);

impl Proof {
    /// The proof of this name. Each format has its own.
    pub const fn new(name: &'static str) -> Self {
        Proof(name)
    }

    /// The name, in plain words.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// What is known of the rows of a stripe or of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What is known of the condition.
    pub truth: Truth,
    /// What is known of each leaf, and what proves it; empty where nothing is.
    pub leaves: Vec<(Truth, Proof)>,
}

/// Tells for how many rows a leaf, which has this index, is true.
pub type Judge<'a> = dyn FnMut(usize, &Leaf) -> Result<Truth> + 'a;

impl Verdict {
    /// Nothing is known.
    pub const MAYBE: Self = Verdict { truth: Truth::Maybe, leaves: Vec::new() };

    /// Adds what `proof`, which `judge` asks, says of the leaves of which nothing is known, where that matters.
    pub fn refine(&mut self, condition: &Condition, proof: Proof, judge: &mut Judge<'_>) -> Result<()> {
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
    pub fn leaf(&self, leaf: usize) -> Truth {
        self.leaves.get(leaf).map_or(Truth::Maybe, |known| known.0)
    }

    /// Where no row is wanted: leaves that are true of none, so far as they matter, and what proves it.
    pub fn causes(&self, condition: &Condition) -> Vec<(usize, Proof)> {
        let mut causes = Vec::new();
        let truth = condition.root.judge(&mut |leaf| {
            let known = self.leaves.get(leaf).filter(|known| known.0 == Truth::Never);
            causes.extend(known.map(|known| (leaf, known.1)));
            self.leaf(leaf)
        });
        if truth == Truth::Never { causes } else { Vec::new() }
    }
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

/// What becomes of the rows of a stripe or of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All of them are wanted: the filter is not evaluated.
    AllWanted,
    /// They are read to find those that are wanted.
    Read,
    /// None is wanted. These tests, as people write them, are true of none of them, and this proves it.
    Skipped(Vec<(String, Proof)>),
}

impl Outcome {
    /// Whether none of the rows is wanted.
    pub fn is_skipped(&self) -> bool {
        matches!(self, Outcome::Skipped(_))
    }

    /// What becomes of rows of which this is known.
    pub fn of(verdict: &Verdict, condition: &Condition) -> Self {
        let cause = |(leaf, proof): (usize, Proof)| Some((condition.leaves.get(leaf)?.text.clone(), proof));
        match verdict.truth {
            Truth::Always => Outcome::AllWanted,
            Truth::Maybe => Outcome::Read,
            Truth::Never => Outcome::Skipped(verdict.causes(condition).into_iter().filter_map(cause).collect()),
        }
    }
}
