//! The Thrift structs of the format, with the field ids of `schema.thrift` and `carbondata*.thrift`.
//!
//! Fields that are not needed are skipped.

mod blocklet;
mod chunk;
mod dictionary;
mod encoding;
mod footer;
mod index;
mod min_max;
mod schema;

pub(crate) use blocklet::{BlockletHeader, BlockletInfo3};
#[cfg(test)]
pub(crate) use chunk::DictionaryMeta;
pub(crate) use chunk::{Compression, DataChunk, DataChunk2, DataChunk3, LocalDictionary, Presence};
pub(crate) use dictionary::{DictionaryChunk, DictionaryChunkMeta};
pub(crate) use encoding::{EPOCH_KEY, Encoding, NULL_TEXT};
pub(crate) use footer::{FileFooter, FileFooter3, FileHeader};
pub(crate) use index::{BlockIndex, IndexHeader, MergedIndex};
pub(crate) use min_max::{BlockletIndex, MinMax};
pub(crate) use schema::{ColumnSchema, TableInfo};
