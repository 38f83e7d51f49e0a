//! Evaluation of conditions on arrays.

#[cfg(test)]
mod tests;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Date32Type,
    Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, StringViewType, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{Array, ArrayRef, downcast_dictionary_array, new_null_array};
use arrow_buffer::{ArrowNativeType as _, BooleanBuffer, Buffer, NullBuffer, i256};
use arrow_schema::{DataType, TimeUnit};

use super::condition::{Condition, Leaf, Node, Test, ValueSet};
use super::ranges::{NonNan, Ranges};
use crate::cast::plain_values;
use crate::error::{Error, Result};
use crate::pattern::Pattern;
use crate::type_names::TypeName;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// A mask of the rows for which `condition` is true. `passes` returns the mask of a leaf.
///
/// # Errors
/// Errors of `passes`.
pub(super) fn evaluate(
    condition: &Condition,
    rows: usize,
    passes: &dyn Fn(&Leaf) -> Result<BooleanBuffer>,
) -> Result<BooleanBuffer> {
    evaluate_node(&condition.root, condition, rows, passes)
}

fn evaluate_node(
    node: &Node,
    condition: &Condition,
    rows: usize,
    passes: &dyn Fn(&Leaf) -> Result<BooleanBuffer>,
) -> Result<BooleanBuffer> {
    Ok(match node {
        Node::Constant(true) => BooleanBuffer::new_set(rows),
        Node::Constant(false) => BooleanBuffer::new_unset(rows),
        Node::Leaf(index) => passes(condition.leaf(*index)?)?,
        Node::All(operands) => {
            let mut mask = BooleanBuffer::new_set(rows);
            for operand in operands {
                mask = &mask & &evaluate_node(operand, condition, rows, passes)?;
                if mask.count_set_bits() == 0 {
                    break;
                }
            }
            mask
        }
        Node::Any(operands) => {
            let mut mask = BooleanBuffer::new_unset(rows);
            for operand in operands {
                mask = &mask | &evaluate_node(operand, condition, rows, passes)?;
            }
            mask
        }
    })
}

/// A mask of the values of a column for which a test is true. `path` leads from the column to its field: indexes among the
/// fields of structs. The fields of a null struct are null.
///
/// # Errors
/// `InvalidArgument` where the column has no such field, or its values have another type than the set of the test.
pub(super) fn test_field(test: &Test, mut column: ArrayRef, path: &[usize]) -> Result<BooleanBuffer> {
    let mut nulls = None;
    for &at in path {
        let parent = column.as_struct_opt().ok_or_else(missing_column)?;
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        column = parent.columns().get(at).ok_or_else(missing_column)?.clone();
    }
    let mask = test_values(test, &with_null_buffer(column)?)?;
    Ok(match (nulls, test) {
        (None, _) => mask,
        (Some(nulls), Test::IsNull) => &mask | &!nulls.inner(),
        (Some(nulls), Test::NotNull | Test::In(_)) => &mask & nulls.inner(),
    })
}

/// The error for a missing column of a filter.
pub fn missing_column() -> Error {
    Error::invalid("a column of the filter is missing")
}

/// The values of an array whose type has no null buffer, in a type that has one. Other arrays are unchanged.
fn with_null_buffer(array: ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Null => Ok(new_null_array(&DataType::Boolean, array.len())),
        DataType::RunEndEncoded(_, _) => plain_values(&array),
        _ => Ok(array),
    }
}

/// A mask of the values for which a test is true, of an array whose type has a null buffer.
///
/// # Errors
/// `InvalidArgument` where the array has another type than the set of the test.
pub(super) fn test_values(test: &Test, values: &ArrayRef) -> Result<BooleanBuffer> {
    let valid = || values.nulls().map_or_else(|| BooleanBuffer::new_set(values.len()), |nulls| nulls.inner().clone());
    Ok(match test {
        Test::IsNull => !&valid(),
        Test::NotNull => valid(),
        Test::In(set) => in_set(set, values)?,
    })
}

/// A mask of the valid values for which `is_match` is true.
fn mask_of<T: Copy>(values: &[T], nulls: Option<&NullBuffer>, is_match: impl Fn(T) -> bool) -> BooleanBuffer {
    let word =
        |values: &[T]| values.iter().enumerate().fold(0, |word, (at, &value)| word | u64::from(is_match(value)) << at);
    let words: Vec<u64> = values.chunks(64).map(word).collect();
    without_nulls(BooleanBuffer::new(Buffer::from_vec(words), 0, values.len()), nulls)
}

fn without_nulls(mask: BooleanBuffer, nulls: Option<&NullBuffer>) -> BooleanBuffer {
    nulls.map_or(mask.clone(), |nulls| &mask & nulls.inner())
}

fn integers<A: ArrowPrimitiveType<Native: Into<i64>>>(ranges: &Ranges<i64>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_primitive::<A>();
    match ranges.as_slice() {
        // The range is not empty, so the end is not `i64::MIN`.
        [(start, end)] => {
            let (start, last) = (*start, end.map_or(i64::MAX, |end| end.wrapping_sub(1)));
            mask_of(array.values(), array.nulls(), |value| {
                let value: i64 = value.into();
                (start <= value) & (value <= last)
            })
        }
        _ => mask_of(array.values(), array.nulls(), |value| {
            let value: i64 = value.into();
            ranges.contains(|bound| *bound <= value)
        }),
    }
}

/// Whether numbers are in `ranges`. Ranges of decimals of negative scale are of whole numbers.
fn decimals<A: ArrowPrimitiveType>(
    ranges: &Ranges<i128>,
    values: &ArrayRef,
    scale: i8,
    widen: impl Fn(A::Native) -> i256,
) -> BooleanBuffer {
    let array = values.as_primitive::<A>();
    let factor = i256::from_i128(10).checked_pow(u32::from(scale.min(0).unsigned_abs())).unwrap_or(i256::MAX);
    mask_of(array.values(), array.nulls(), |value| {
        let value = widen(value);
        // Numbers that overflow are beyond all bounds.
        let limit = if value.is_negative() { i256::MIN } else { i256::MAX };
        let value = value.checked_mul(factor).unwrap_or(limit);
        ranges.contains(|bound| i256::from_i128(*bound) <= value)
    })
}

/// A set of strings or binary values.
#[derive(Clone, Copy)]
enum BytesSet<'a> {
    Ranges(&'a Ranges<Vec<u8>>),
    Matching { pattern: &'a Pattern, positive: bool },
}

fn strings<'a>(
    set: BytesSet<'_>,
    values: impl Iterator<Item = &'a [u8]>,
    rows: usize,
    nulls: Option<&NullBuffer>,
) -> BooleanBuffer {
    let mask = match set {
        BytesSet::Matching { pattern, positive } => {
            mask_of_bits(values.map(|value| pattern.is_match(value) == positive), rows)
        }
        BytesSet::Ranges(ranges) => match ranges.values(1).as_deref() {
            Some([single]) => mask_of_bits(values.map(|value| value == single.as_slice()), rows),
            _ => mask_of_bits(values.map(|value| ranges.contains(|bound| bound.as_slice() <= value)), rows),
        },
    };
    without_nulls(mask, nulls)
}

/// The mask of `count` bits.
fn mask_of_bits(bits: impl Iterator<Item = bool>, count: usize) -> BooleanBuffer {
    let mut words = vec![0u64; count.div_ceil(64)];
    let mut bits = bits.fuse();
    for word in &mut words {
        for (at, bit) in bits.by_ref().take(64).enumerate() {
            *word |= u64::from(bit) << at;
        }
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, count)
}

fn byte_arrays<T: ByteArrayType>(set: BytesSet<'_>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_bytes::<T>();
    #[expect(clippy::indexing_slicing, reason = "there is one offset more than there are values")]
    let (_, mut rest) = array.value_data().split_at(array.offsets()[0].as_usize());
    // Null slots have values, too.
    let values = array.offsets().lengths().map(|length| {
        let (value, behind) = rest.split_at(length);
        rest = behind;
        value
    });
    strings(set, values, array.len(), array.nulls())
}

fn views<T: ByteViewType>(set: BytesSet<'_>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_byte_view::<T>();
    let values = array.iter().map(|value| value.map_or(&[][..], AsRef::as_ref));
    strings(set, values, array.len(), array.nulls())
}

fn in_set(set: &ValueSet, values: &ArrayRef) -> Result<BooleanBuffer> {
    let kind = values.data_type();
    Ok(match (set, kind) {
        (ValueSet::Integers(ranges), DataType::Int8) => integers::<Int8Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::Int16) => integers::<Int16Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::Int32) => integers::<Int32Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::Int64) => integers::<Int64Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::UInt8) => integers::<UInt8Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::UInt16) => integers::<UInt16Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::UInt32) => integers::<UInt32Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::Date32) => integers::<Date32Type>(ranges, values),
        (ValueSet::Integers(ranges), DataType::Boolean) => {
            let array = values.as_boolean();
            let contains = |value: i64| ranges.contains(|bound| *bound <= value);
            let mask = match (contains(1), contains(0)) {
                (true, true) => BooleanBuffer::new_set(array.len()),
                (true, false) => array.values().clone(),
                (false, true) => !array.values(),
                (false, false) => BooleanBuffer::new_unset(array.len()),
            };
            without_nulls(mask, array.nulls())
        }
        (ValueSet::Ticks { ranges, .. }, DataType::Timestamp(unit, _)) => match unit {
            TimeUnit::Second => integers::<TimestampSecondType>(ranges, values),
            TimeUnit::Millisecond => integers::<TimestampMillisecondType>(ranges, values),
            TimeUnit::Microsecond => integers::<TimestampMicrosecondType>(ranges, values),
            TimeUnit::Nanosecond => integers::<TimestampNanosecondType>(ranges, values),
        },
        (ValueSet::Floats { ranges, nan }, DataType::Float32) => {
            let array = values.as_primitive::<Float32Type>();
            mask_of(array.values(), array.nulls(), |value| contains_float(ranges, *nan, value.into()))
        }
        (ValueSet::Floats { ranges, nan }, DataType::Float64) => {
            let array = values.as_primitive::<Float64Type>();
            mask_of(array.values(), array.nulls(), |value| contains_float(ranges, *nan, value))
        }
        (ValueSet::Integers(ranges), DataType::Date64) => {
            let array = values.as_primitive::<Date64Type>();
            mask_of(array.values(), array.nulls(), |value| {
                let day = value.div_euclid(MILLIS_PER_DAY);
                ranges.contains(|bound| *bound <= day)
            })
        }
        (ValueSet::Integers(ranges), DataType::Time32(TimeUnit::Second)) => {
            integers::<Time32SecondType>(ranges, values)
        }
        (ValueSet::Integers(ranges), DataType::Time32(_)) => integers::<Time32MillisecondType>(ranges, values),
        (ValueSet::Integers(ranges), DataType::Time64(TimeUnit::Microsecond)) => {
            integers::<Time64MicrosecondType>(ranges, values)
        }
        (ValueSet::Integers(ranges), DataType::Time64(_)) => integers::<Time64NanosecondType>(ranges, values),
        (ValueSet::Integers(ranges), DataType::Duration(unit)) => match unit {
            TimeUnit::Second => integers::<DurationSecondType>(ranges, values),
            TimeUnit::Millisecond => integers::<DurationMillisecondType>(ranges, values),
            TimeUnit::Microsecond => integers::<DurationMicrosecondType>(ranges, values),
            TimeUnit::Nanosecond => integers::<DurationNanosecondType>(ranges, values),
        },
        (ValueSet::Floats { ranges, nan }, DataType::Float16) => {
            let array = values.as_primitive::<Float16Type>();
            mask_of(array.values(), array.nulls(), |value| contains_float(ranges, *nan, value.into()))
        }
        (ValueSet::Decimals { ranges, .. }, DataType::Decimal128(_, 0..)) => {
            let array = values.as_primitive::<Decimal128Type>();
            mask_of(array.values(), array.nulls(), |value| ranges.contains(|bound| *bound <= value))
        }
        (ValueSet::Decimals { ranges, .. }, DataType::Decimal128(_, scale)) => {
            decimals::<Decimal128Type>(ranges, values, *scale, i256::from_i128)
        }
        (ValueSet::Decimals { ranges, .. }, DataType::Decimal32(_, scale)) => {
            decimals::<Decimal32Type>(ranges, values, *scale, |value| i256::from_i128(value.into()))
        }
        (ValueSet::Decimals { ranges, .. }, DataType::Decimal64(_, scale)) => {
            decimals::<Decimal64Type>(ranges, values, *scale, |value| i256::from_i128(value.into()))
        }
        (ValueSet::Decimals { ranges, .. }, DataType::Decimal256(_, scale)) => {
            decimals::<Decimal256Type>(ranges, values, *scale, |value| value)
        }
        (ValueSet::Decimals { ranges, .. }, DataType::UInt64) => {
            decimals::<UInt64Type>(ranges, values, 0, |value| i256::from_i128(value.into()))
        }
        (_, DataType::Dictionary(_, _)) => {
            let values = values.as_ref();
            downcast_dictionary_array!(
                values => dictionary_in_set(set, values)?,
                _ => return Err(Error::internal("a dictionary has keys of no type of keys"))
            )
        }
        (ValueSet::Bytes { ranges, .. }, _) => bytes_in_set(BytesSet::Ranges(ranges), set, values)?,
        (ValueSet::Matching { pattern, positive, .. }, _) => {
            bytes_in_set(BytesSet::Matching { pattern, positive: *positive }, set, values)?
        }
        (set, kind) => return Err(other_type(set, kind)),
    })
}

fn other_type(set: &ValueSet, kind: &DataType) -> Error {
    Error::invalid(format!("values of type {} cannot be looked up in {set:?}", TypeName(kind)))
}

/// A mask of the valid strings or binary values in a set, which is that of `of` for messages.
fn bytes_in_set(set: BytesSet<'_>, of: &ValueSet, values: &ArrayRef) -> Result<BooleanBuffer> {
    Ok(match values.data_type() {
        DataType::Utf8 => byte_arrays::<Utf8Type>(set, values),
        DataType::LargeUtf8 => byte_arrays::<LargeUtf8Type>(set, values),
        DataType::Binary => byte_arrays::<BinaryType>(set, values),
        DataType::LargeBinary => byte_arrays::<LargeBinaryType>(set, values),
        DataType::Utf8View => views::<StringViewType>(set, values),
        DataType::BinaryView => views::<BinaryViewType>(set, values),
        DataType::FixedSizeBinary(_) => {
            let array = values.as_fixed_size_binary();
            // Null slots have values, too.
            let bytes = (0..array.len()).map(|at| array.value(at));
            strings(set, bytes, array.len(), array.nulls())
        }
        kind => return Err(other_type(of, kind)),
    })
}

fn dictionary_in_set<K: ArrowDictionaryKeyType>(
    set: &ValueSet,
    array: &arrow_array::DictionaryArray<K>,
) -> Result<BooleanBuffer> {
    let mask = in_set(set, array.values())?;
    let is_match = |key: K::Native| {
        let key = key.as_usize();
        key < mask.len() && mask.value(key)
    };
    Ok(mask_of(array.keys().values(), array.nulls(), is_match))
}

fn contains_float(ranges: &Ranges<NonNan>, nan: bool, value: f64) -> bool {
    if value.is_nan() { nan } else { ranges.contains(|bound| bound.get() <= value) }
}
