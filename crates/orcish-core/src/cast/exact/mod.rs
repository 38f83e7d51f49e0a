//! Casts that keep all values: a value that the new type does not have is an error.
//!
//! | values | types that have them |
//! |---|---|
//! | booleans, integers, floating point numbers, decimals | each other, where the numbers are equal. `true` is 1 |
//! | floating point numbers that are not whole | decimals with the shortest digits of the number, and back |
//! | 32-bit integers | dates and times of 32 bits, as the number of units; 64-bit integers likewise |
//! | dates | timestamps at midnight, and back |
//! | times, timestamps, durations | other units; a time zone changes no instant |
//! | texts | all other values that are not nested, where the text is one of the value, with all its digits |
//! | all values that are not nested | texts |
//! | lists of any layout, maps, structs, dictionaries, run ends | other layouts, with values that are cast |

mod fault;
mod leaf;
mod nested;
mod number;
mod text;
mod time;
mod value;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, StringArray, new_null_array};
use arrow_schema::DataType;

use self::fault::{Fault, Outcome, unsupported};
use self::nested::{Columns, laid_out};
use super::plain::plain_values;
use crate::error::{OrInternal as _, Result};
use crate::types::item_of;

pub use self::time::{Offsets, Zones, date_text, timestamp_text};

/// A cast that keeps all values.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "functions have no text")]
pub struct ExactCast<'a> {
    /// The time zones of timestamps that become texts.
    pub zones: Zones<'a>,
    /// Whether structs may get fields, which are null.
    pub adds_fields: bool,
}

impl ExactCast<'_> {
    /// The array with the type `target`.
    ///
    /// # Errors
    /// `InvalidArgument` where a value is not one of the type, with its row, or where fields of a struct are lost or new.
    /// `Unsupported` where there is no such cast, or a time zone is not known. `LimitExceeded` where the array has more
    /// values than the type counts.
    pub fn apply(self, array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
        self.column(array, target).map_err(Fault::into_error)
    }

    /// ISO 8601 texts of dates, times and timestamps, without zeros at the end of fractions. Instants are of UTC, and end
    /// in `Z`. Texts of other values are those of the cast.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn iso_texts(self, array: &ArrayRef) -> Result<StringArray> {
        let array = plain_values(array)?;
        let texts = leaf::texts(&array, value::Style::Iso, self.zones).map_err(Fault::into_error)?;
        Ok(texts.as_string::<i32>().clone())
    }

    fn column(self, array: &ArrayRef, target: &DataType) -> Outcome<ArrayRef> {
        use DataType as D;
        let own = array.data_type();
        let column = |array: &ArrayRef, target: &DataType| self.column(array, target);
        let columns = Columns { column: &column, zones: self.zones, adds_fields: self.adds_fields };
        match (own, target) {
            _ if own == target => Ok(array.clone()),
            (D::Null, _) => Ok(new_null_array(target, array.len())),
            (D::Dictionary(own, _), D::Dictionary(keys, values)) if own == keys => {
                let dictionary = array.as_any_dictionary_opt().or_internal("a dictionary array has no dictionary")?;
                match self.column(dictionary.values(), values) {
                    Ok(values) => Ok(dictionary.with_values(values)),
                    // No row may have the value that is the fault.
                    Err(_) => laid_out(&self.column(&plain_values(array)?, values)?, target),
                }
            }
            (D::Dictionary(_, _) | D::RunEndEncoded(_, _), _) => self.column(&plain_values(array)?, target),
            (_, D::Dictionary(_, values)) => laid_out(&self.column(array, values)?, target),
            (_, D::RunEndEncoded(_, values)) => laid_out(&self.column(array, values.data_type())?, target),
            (D::Struct(_), D::Struct(fields)) => nested::structs(columns, array.as_struct(), fields, target),
            (D::Struct(_), D::Union(variants, mode)) => {
                nested::union_of_structs(columns, array.as_struct(), variants, *mode, target)
            }
            (D::Map(_, _), D::Map(entries, is_sorted)) => nested::maps(columns, array.as_map(), entries, *is_sorted),
            (own, _) if item_of(target).is_some() && (item_of(own).is_some() || matches!(own, D::Map(_, _))) => {
                nested::lists(columns, array, target)
            }
            (own, target) if own.is_nested() || target.is_nested() => Err(unsupported(own, target)),
            _ => leaf::leaf(array, target, self.zones),
        }
    }
}

#[cfg(test)]
mod tests;
