//! Pages of length-prefixed values: strings, binaries, and other types of old writers.

use arrow_array::ArrayRef;
use orcish_core::Result;

use super::checks::check_rows;
use super::input::PageInput;
use super::inverted_index::reorder;
use super::length_prefixed::{LengthWidth, StringValues, slices};
use super::no_dictionary;
use crate::metadata::schema::CarbonType;

/// Decodes a page of length-prefixed values.
pub(super) fn decode(input: &PageInput<'_>, length_width: LengthWidth) -> Result<ArrayRef> {
    match input.column.carbon_type {
        CarbonType::String | CarbonType::Varchar | CarbonType::Binary => {
            let strings = match (input.inverted_index, length_width) {
                (Some(_), _) => StringValues::of(&reorder(
                    slices(input.data, length_width, input.rows, input.max_bytes)?,
                    input.inverted_index,
                )?)?,
                (None, length_width) => StringValues::read(input.data, input.rows, length_width)?,
            };
            check_rows(strings.len(), input.rows.unwrap_or(strings.len()))?;
            strings.array(&input.column.data_type())
        }
        _ => {
            let slices = slices(input.data, length_width, input.rows, input.max_bytes)?;
            no_dictionary::array(input.column, &reorder(slices, input.inverted_index)?)
        }
    }
}
