//! Predicates bound to columns, pruning by statistics, and evaluation on arrays.
//!
//! ```text
//! Predicate ── bind ──► Condition without negations, each leaf: "the value of a column is in a set"
//!                         │
//!                         ├── prune (statistics, bloom filters) ──► never / maybe / always
//!                         └── evaluate (arrays) ──► mask of the rows
//! ```
//!
//! Negations are moved into the leaves. A leaf without negation does not need to distinguish "unknown" from "false", and the
//! nodes above the leaves are intersections and unions of rows.

mod batch;
mod bind;
mod bounds;
mod condition;
mod domain;
mod evaluate;
mod literal_position;
mod prune;
mod pruning;
mod ranges;
#[cfg(test)]
mod tests;
mod text_conversion;

pub use batch::{BatchFilter, ResolvePath};
pub use bind::{Constant, FilterColumn, ValueSource, bind_names, conjuncts};
pub use bounds::{Bound, ColumnBounds};
pub use condition::{Condition, Leaf, Test, ValueSet};
pub use domain::{Domain, stored_domain};
pub use evaluate::missing_column;
pub use pruning::{Outcome, Proof, Pruning, Truth};
pub use ranges::{NonNan, Ranges};
pub use text_conversion::TextConversion;
