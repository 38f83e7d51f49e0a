//! Decoder of pages of strings and binaries, and of other types that old writers stored as bytes.

use arrow_array::ArrayRef;
use orcish_core::Result;

use super::checks::check_rows;
use super::input::PageInput;
use super::inverted_index::reorder;
use super::length_prefixed::{Prefix, Texts, slices};
use super::no_dictionary;
use crate::metadata::schema::Kind;

/// The values of a page of texts, or of other types in the bytes that old writers gave them.
pub(super) fn decode(input: &PageInput<'_>, prefix: Prefix) -> Result<ArrayRef> {
    match input.column.kind {
        Kind::String | Kind::Varchar | Kind::Binary => {
            let texts = match (input.order, prefix) {
                (Some(_), _) => Texts::of(&reorder(slices(input.data, prefix, input.rows, input.most)?, input.order))?,
                (None, prefix) => Texts::read(input.data, input.rows, prefix)?,
            };
            check_rows(texts.len(), input.rows.unwrap_or(texts.len()))?;
            texts.array(&input.column.data_type())
        }
        _ => {
            let slices = slices(input.data, prefix, input.rows, input.most)?;
            no_dictionary::array(input.column, &reorder(slices, input.order))
        }
    }
}
