//! How many distinct values there are, about: HyperLogLog of 64-bit hashes, with Ertl's improved estimator (O. Ertl, "New
//! cardinality estimation algorithms for HyperLogLog sketches", 2017), which needs no tables and no thresholds.
//!
//! A sketch is the same whatever order, batches and Arrow types its values come in.

mod sketch;

mod values;

pub use sketch::Distinct;
