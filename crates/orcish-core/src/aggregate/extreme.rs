//! Minimum and maximum of arrays.

use arrow_array::cast::AsArray as _;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray, UInt64Array, downcast_primitive_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::type_names::TypeName;

/// Index of the first minimum or maximum; `None` if all values are null or NaN.
///
/// # Errors
/// `InvalidArgument` for types without order.
pub(super) fn index_of_extreme(array: &ArrayRef, nulls: Option<&NullBuffer>, is_max: bool) -> Result<Option<usize>> {
    let length = array.len();
    Ok(downcast_primitive_array!(
        array => {
            let values = array.values();
            extreme(length, nulls, is_max, |at| values.get(at).copied())
        },
        DataType::Boolean => {
            let values = array.as_boolean();
            extreme(length, nulls, is_max, |at| Some(values.value(at)))
        }
        DataType::Utf8 => bytes(array.as_string::<i32>(), nulls, is_max),
        DataType::LargeUtf8 => bytes(array.as_string::<i64>(), nulls, is_max),
        DataType::Binary => bytes(array.as_binary::<i32>(), nulls, is_max),
        DataType::LargeBinary => bytes(array.as_binary::<i64>(), nulls, is_max),
        DataType::Utf8View => {
            let values = array.as_string_view();
            extreme(length, nulls, is_max, |at| Some(values.value(at).as_bytes()))
        }
        DataType::BinaryView => {
            let values = array.as_binary_view();
            extreme(length, nulls, is_max, |at| Some(values.value(at)))
        }
        DataType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary();
            extreme(length, nulls, is_max, |at| Some(values.value(at)))
        }
        DataType::Null => None,
        kind => return Err(Error::invalid(format!("values of {} have no order", TypeName(kind)))),
    ))
}

fn bytes<T: ByteArrayType>(array: &GenericByteArray<T>, nulls: Option<&NullBuffer>, is_max: bool) -> Option<usize> {
    extreme(array.len(), nulls, is_max, |at| {
        let value: &[u8] = array.value(at).as_ref();
        Some(value)
    })
}

/// Index of the first minimum or maximum of the values of valid slots. A value that does not equal itself is NaN.
fn extreme<V: PartialOrd>(
    length: usize,
    nulls: Option<&NullBuffer>,
    is_max: bool,
    value: impl Fn(usize) -> Option<V>,
) -> Option<usize> {
    let mut best: Option<(usize, V)> = None;
    let mut consider = |at: usize| {
        let Some(value) = value(at) else { return };
        let is_better = match &best {
            Some((_, best)) if is_max => value > *best,
            Some((_, best)) => value < *best,
            #[expect(clippy::eq_op, reason = "false for NaN")]
            None => value == value,
        };
        if is_better {
            best = Some((at, value));
        }
    };
    match nulls {
        Some(nulls) => nulls.valid_indices().for_each(&mut consider),
        None => (0..length).for_each(&mut consider),
    }
    best.map(|(at, _)| at)
}

/// The better one of a value so far and of a value of an array, as an array of one value.
pub(super) fn extreme_of(value: Option<ArrayRef>, array: &ArrayRef, index: usize, is_max: bool) -> Result<ArrayRef> {
    let pick = |array: &ArrayRef, index: usize| {
        let index = UInt64Array::from_value(index as u64, 1);
        take(array, &index, None)
    };
    let fault =
        |error| Error::unsupported(format!("an aggregate of {}", TypeName(array.data_type()))).with_source(error);
    let candidate = pick(array, index).map_err(fault)?;
    let Some(value) = value else { return Ok(candidate) };
    let both = concat(&[&value, &candidate]).map_err(fault)?;
    match index_of_extreme(&both, None, is_max)? {
        Some(1) => Ok(candidate),
        _ => Ok(value),
    }
}
