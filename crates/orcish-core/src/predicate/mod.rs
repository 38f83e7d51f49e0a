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
mod batch;
mod bind;
mod bounds;
mod condition;
mod domain;
mod evaluate;
mod judge;
mod place;
mod ranges;
#[cfg(test)]
mod tests;
mod verdict;

pub use altered::Altered;
pub use batch::{BatchFilter, column_is_missing};
pub use bind::{FilterColumn, ValueSource, bind_names};
pub use bounds::{Bound, ColumnBounds};
pub use condition::{Condition, Leaf, Node, Set, Test};
pub use domain::{Domain, domain_of, stored_domain};
pub use evaluate::evaluate;
pub use ranges::{Number, Ranges};
pub use verdict::{Judge, Outcome, Proof, Truth, Verdict};
