//! Evaluation of conditions on arrays.

#[cfg(test)]
mod tests;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Date32Type,
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType,
    LargeUtf8Type, StringViewType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, Utf8Type,
};
use arrow_array::{Array, ArrayRef, downcast_dictionary_array};
use arrow_buffer::{ArrowNativeType as _, BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};

use super::condition::{Condition, Node, Test, ValueSet};
use super::ranges::{NonNan, Ranges};
use crate::error::{Error, Result};

/// A mask of the rows for which `condition` is true. `values` returns the array of the column of a leaf by the index of the
/// leaf.
///
/// # Errors
/// Errors of `values`, `InvalidArgument` where an array has another type.
pub fn evaluate(
    condition: &Condition,
    rows: usize,
    values: &dyn Fn(usize) -> Result<ArrayRef>,
) -> Result<BooleanBuffer> {
    node(&condition.root, condition, rows, values)
}

fn node(
    this: &Node,
    condition: &Condition,
    rows: usize,
    values: &dyn Fn(usize) -> Result<ArrayRef>,
) -> Result<BooleanBuffer> {
    Ok(match this {
        Node::Constant(true) => BooleanBuffer::new_set(rows),
        Node::Constant(false) => BooleanBuffer::new_unset(rows),
        Node::Leaf(index) => {
            let leaf = condition.leaves.get(*index).ok_or_else(|| Error::invalid("a leaf is missing"))?;
            test(&leaf.test, &values(*index)?)?
        }
        Node::All(operands) => {
            let mut mask = BooleanBuffer::new_set(rows);
            for operand in operands {
                mask = &mask & &node(operand, condition, rows, values)?;
                if mask.count_set_bits() == 0 {
                    break;
                }
            }
            mask
        }
        Node::Any(operands) => {
            let mut mask = BooleanBuffer::new_unset(rows);
            for operand in operands {
                mask = &mask | &node(operand, condition, rows, values)?;
            }
            mask
        }
    })
}

fn test(test: &Test, values: &ArrayRef) -> Result<BooleanBuffer> {
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

fn strings<'a>(
    ranges: &Ranges<Vec<u8>>,
    values: impl Iterator<Item = &'a [u8]>,
    rows: usize,
    nulls: Option<&NullBuffer>,
) -> BooleanBuffer {
    let mask = match ranges.values(1).as_deref() {
        Some([single]) => collect(values.map(|value| value == single.as_slice()), rows),
        _ => collect(values.map(|value| ranges.contains(|bound| bound.as_slice() <= value)), rows),
    };
    without_nulls(mask, nulls)
}

fn collect(mask_of: impl Iterator<Item = bool>, count: usize) -> BooleanBuffer {
    let mut words = vec![0u64; count.div_ceil(64)];
    let mut mask_of = mask_of.fuse();
    for word in &mut words {
        for (at, bit) in mask_of.by_ref().take(64).enumerate() {
            *word |= u64::from(bit) << at;
        }
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, count)
}

fn byte_arrays<T: ByteArrayType>(ranges: &Ranges<Vec<u8>>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_bytes::<T>();
    let first = array.value_offsets().first().map_or(0, |offset| offset.as_usize());
    let data = array.value_data().get(first..).unwrap_or_default();
    // Null slots have values, too.
    let values = array.offsets().lengths().scan(data, |rest, length| {
        let (value, after) = rest.split_at_checked(length)?;
        *rest = after;
        Some(value)
    });
    strings(ranges, values, array.len(), array.nulls())
}

fn views<T: ByteViewType>(ranges: &Ranges<Vec<u8>>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_byte_view::<T>();
    let values = array.iter().map(|value| value.map_or(&[][..], AsRef::as_ref));
    strings(ranges, values, array.len(), array.nulls())
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
        (ValueSet::Decimals { ranges, .. }, DataType::Decimal128(_, _)) => {
            let array = values.as_primitive::<Decimal128Type>();
            mask_of(array.values(), array.nulls(), |value| ranges.contains(|bound| *bound <= value))
        }
        (ValueSet::Bytes { ranges, .. }, DataType::Utf8) => byte_arrays::<Utf8Type>(ranges, values),
        (ValueSet::Bytes { ranges, .. }, DataType::LargeUtf8) => byte_arrays::<LargeUtf8Type>(ranges, values),
        (ValueSet::Bytes { ranges, .. }, DataType::Binary) => byte_arrays::<BinaryType>(ranges, values),
        (ValueSet::Bytes { ranges, .. }, DataType::LargeBinary) => byte_arrays::<LargeBinaryType>(ranges, values),
        (ValueSet::Bytes { ranges, .. }, DataType::Utf8View) => views::<StringViewType>(ranges, values),
        (ValueSet::Bytes { ranges, .. }, DataType::BinaryView) => views::<BinaryViewType>(ranges, values),
        (_, DataType::Dictionary(_, _)) => {
            let values = values.as_ref();
            downcast_dictionary_array!(
                values => dictionary_in_set(set, values)?,
                _ => return Err(Error::invalid("a dictionary without keys"))
            )
        }
        (set, kind) => return Err(Error::invalid(format!("values of type {kind} cannot be looked up in {set:?}"))),
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
