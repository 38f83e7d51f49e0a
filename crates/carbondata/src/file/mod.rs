//! Data files: their metadata and their column chunks.
//!
//! ```text
//! header │ blocklet 0: chunk of column 0, chunk of column 1, … │ blocklet 1 │ … │ footer │ offset of the footer
//!                      └─ chunk header │ page 0 │ page 1 │ …
//! ```

mod blocklet;
mod chunk;
mod chunk_location;
mod chunk_reader;
mod data_file;
mod footer;
mod header;
mod index_check;
#[cfg(test)]
mod json_eq;
mod metadata;
mod open;
mod read_cost;
#[cfg(test)]
mod tests;
mod v1_v2;
#[cfg(test)]
mod v1_v2_tests;
mod v3;

pub(crate) use blocklet::BlockletData;
pub(crate) use data_file::DataFile;
pub(crate) use header::read_header;
pub(crate) use metadata::first_chunks;
