//! Integration tests in one binary. Their files are in `tests/data`.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_in_result,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "clippy.toml allows these in test functions only, not in their helpers"
)]

mod bombs;
mod clock;
mod codegen;
mod constructors;
mod corrupt;
mod damage;
mod data;
mod defaults;
mod examples;
mod features;
mod golden;
mod io_filter;
mod io_log;
mod layers;
mod odd;
mod seek;
mod structured;
mod tail;
