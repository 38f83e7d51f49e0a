//! Estimates of the number of distinct values: HyperLogLog of 64-bit hashes, with Ertl's improved estimator (O. Ertl, "New
//! cardinality estimation algorithms for HyperLogLog sketches", 2017), which needs no tables and no thresholds.
//!
//! A sketch does not depend on the order, the batches and the Arrow types of its values.

mod sketch;
mod values;

pub use sketch::HyperLogLog;
