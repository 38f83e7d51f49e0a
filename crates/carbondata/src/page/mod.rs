//! Pages: the values of one column in consecutive rows, decoded into Arrow arrays.
//!
//! ```text
//! bytes ── decompress ──┬─ numbers ────────────────────────────────────────┐
//!                       ├─ dictionary keys ── expand runs ── look up ──────┤── inverted index ── nulls ──► array
//!                       └─ length-prefixed values ─────────────────────────┘
//! ```

mod arrays;
mod bit_packed;
mod checks;
mod decimals;
mod decode;
mod delta;
mod dictionary_keys;
mod encoder_meta;
mod global_dictionary;
mod input;
mod integer;
mod inverted_index;
mod java_serialization;
mod length_prefixed;
mod local_dictionary;
mod nested;
mod no_dictionary;
mod nulls;
mod numbers;
mod rle_integral;
mod strings;
#[cfg(test)]
mod tests;
mod truncated_lengths;
mod value_encoder_meta;

pub(crate) use arrays::{doubles, integers};
pub(crate) use bit_packed::{bit_packed_row_ids, bit_packed_runs};
pub(crate) use decode::{decode, decode_keys, has_meta};
pub(crate) use encoder_meta::{EncoderMeta, StoreDataType};
pub(crate) use global_dictionary::{Dictionaries, global_dictionaries};
pub(crate) use input::PageInput;
pub(crate) use inverted_index::{inverse, stored_ids, stored_runs};
pub(crate) use length_prefixed::StringValues;
pub(crate) use local_dictionary::{KEY_WIDTH, LocalDictionary};
pub(crate) use nested::{ListOffsets, arrays as lists, maps, struct_rows, structs};
pub(crate) use no_dictionary::array as no_dictionary_array;
pub(crate) use nulls::NULL_KEY;
