//! Checks of decoded values.

use arrow_buffer::NullBuffer;
use orcish_core::{Error, Result};

use super::integer::Integer;

/// Checks that a page has one value for each row.
pub(crate) fn check_rows(num_values: usize, rows: usize) -> Result<()> {
    if num_values != rows {
        return Err(Error::corrupt(format!("a page of {num_values} values for {rows} rows")));
    }
    Ok(())
}

/// Checks the values that are not null. The error names the row of the first value for which `fault` has a message.
pub(super) fn check<T: Copy>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    fault: impl Fn(T) -> Result<(), String>,
) -> Result<()> {
    for (row, &value) in values.iter().enumerate() {
        if nulls.is_none_or(|nulls| row < nulls.len() && nulls.is_valid(row)) {
            fault(value).map_err(|message| Error::corrupt(message).at_row(u64::try_from(row).unwrap_or(u64::MAX)))?;
        }
    }
    Ok(())
}

/// Checks that the integer type holds the values that are not null.
pub(super) fn check_integers<T: Integer>(values: &[i64], nulls: Option<&NullBuffer>) -> Result<()> {
    check(values, nulls, |value| {
        let fits = T::narrow(value).widen() == value;
        fits.then_some(()).ok_or_else(|| format!("the number {value} is too large for the column"))
    })
}

/// The error for arrays whose parts do not fit together.
pub(crate) fn invalid_array(error: arrow_schema::ArrowError) -> Error {
    Error::corrupt("values that are no array").with_source(error)
}
