//! JSON documents as Arrow arrays. The crate arrow-json parses them; what it would change, cut or pass over is an error.

mod blocks;
mod decoders;
mod error;
mod maps;
mod numbers;
mod rows;
mod tape;
mod types;
mod unions;

pub(crate) use rows::read_json;
pub(crate) use types::JsonTypes;
