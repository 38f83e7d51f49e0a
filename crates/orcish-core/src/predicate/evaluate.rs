//! Which rows a condition is true for.

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

use super::condition::{Condition, Node, Set, Test};
use super::ranges::{Number, Ranges};
use crate::error::{Error, Result};

/// The rows, of `rows`, for which `condition` is true, given the values of its leaves' columns.
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
        Node::All(parts) => {
            let mut all = BooleanBuffer::new_set(rows);
            for part in parts {
                all = &all & &node(part, condition, rows, values)?;
                if all.count_set_bits() == 0 {
                    break;
                }
            }
            all
        }
        Node::Any(parts) => {
            let mut any = BooleanBuffer::new_unset(rows);
            for part in parts {
                any = &any | &node(part, condition, rows, values)?;
            }
            any
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

/// Bits of those of `values` that are valid and for which `holds` is true.
fn bits<T: Copy>(values: &[T], nulls: Option<&NullBuffer>, holds: impl Fn(T) -> bool) -> BooleanBuffer {
    let word =
        |values: &[T]| values.iter().enumerate().fold(0, |word, (at, &value)| word | u64::from(holds(value)) << at);
    let words: Vec<u64> = values.chunks(64).map(word).collect();
    valid(BooleanBuffer::new(Buffer::from_vec(words), 0, values.len()), nulls)
}

fn valid(bits: BooleanBuffer, nulls: Option<&NullBuffer>) -> BooleanBuffer {
    nulls.map_or(bits.clone(), |nulls| &bits & nulls.inner())
}

fn integers<A: ArrowPrimitiveType<Native: Into<i64>>>(ranges: &Ranges<i64>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_primitive::<A>();
    match ranges.parts() {
        // The end is not the least of all: ranges are not empty.
        [(start, end)] => {
            let (start, last) = (*start, end.map_or(i64::MAX, |end| end.wrapping_sub(1)));
            bits(array.values(), array.nulls(), |value| {
                let value: i64 = value.into();
                (start <= value) & (value <= last)
            })
        }
        _ => bits(array.values(), array.nulls(), |value| {
            let value: i64 = value.into();
            ranges.holds(|bound| *bound <= value)
        }),
    }
}

fn strings<'a>(
    ranges: &Ranges<Vec<u8>>,
    values: impl Iterator<Item = &'a [u8]>,
    rows: usize,
    nulls: Option<&NullBuffer>,
) -> BooleanBuffer {
    let found = match ranges.points(1).as_deref() {
        Some([one]) => collect(values.map(|value| value == one.as_slice()), rows),
        _ => collect(values.map(|value| ranges.holds(|bound| bound.as_slice() <= value)), rows),
    };
    valid(found, nulls)
}

fn collect(rows: impl Iterator<Item = bool>, count: usize) -> BooleanBuffer {
    let mut words = vec![0u64; count.div_ceil(64)];
    let mut rows = rows.fuse();
    for word in &mut words {
        for (at, holds) in rows.by_ref().take(64).enumerate() {
            *word |= u64::from(holds) << at;
        }
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, count)
}

fn texts<T: ByteArrayType>(ranges: &Ranges<Vec<u8>>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_bytes::<T>();
    let first = array.value_offsets().first().map_or(0, |offset| offset.as_usize());
    let data = array.value_data().get(first..).unwrap_or_default();
    // Slots of nulls have values too, empty ones.
    let all = array.offsets().lengths().scan(data, |rest, length| {
        let (value, after) = rest.split_at_checked(length)?;
        *rest = after;
        Some(value)
    });
    strings(ranges, all, array.len(), array.nulls())
}

fn views<T: ByteViewType>(ranges: &Ranges<Vec<u8>>, values: &ArrayRef) -> BooleanBuffer {
    let array = values.as_byte_view::<T>();
    let all = array.iter().map(|value| value.map_or(&[][..], AsRef::as_ref));
    strings(ranges, all, array.len(), array.nulls())
}

fn in_set(set: &Set, values: &ArrayRef) -> Result<BooleanBuffer> {
    let kind = values.data_type();
    Ok(match (set, kind) {
        (Set::Integers(ranges), DataType::Int8) => integers::<Int8Type>(ranges, values),
        (Set::Integers(ranges), DataType::Int16) => integers::<Int16Type>(ranges, values),
        (Set::Integers(ranges), DataType::Int32) => integers::<Int32Type>(ranges, values),
        (Set::Integers(ranges), DataType::Int64) => integers::<Int64Type>(ranges, values),
        (Set::Integers(ranges), DataType::UInt8) => integers::<UInt8Type>(ranges, values),
        (Set::Integers(ranges), DataType::UInt16) => integers::<UInt16Type>(ranges, values),
        (Set::Integers(ranges), DataType::UInt32) => integers::<UInt32Type>(ranges, values),
        (Set::Integers(ranges), DataType::Date32) => integers::<Date32Type>(ranges, values),
        (Set::Integers(ranges), DataType::Boolean) => {
            let array = values.as_boolean();
            let holds = |value: i64| ranges.holds(|bound| *bound <= value);
            let found = match (holds(1), holds(0)) {
                (true, true) => BooleanBuffer::new_set(array.len()),
                (true, false) => array.values().clone(),
                (false, true) => !array.values(),
                (false, false) => BooleanBuffer::new_unset(array.len()),
            };
            valid(found, array.nulls())
        }
        (Set::Ticks { ranges, .. }, DataType::Timestamp(unit, _)) => match unit {
            TimeUnit::Second => integers::<TimestampSecondType>(ranges, values),
            TimeUnit::Millisecond => integers::<TimestampMillisecondType>(ranges, values),
            TimeUnit::Microsecond => integers::<TimestampMicrosecondType>(ranges, values),
            TimeUnit::Nanosecond => integers::<TimestampNanosecondType>(ranges, values),
        },
        (Set::Numbers { ranges, nan }, DataType::Float32) => {
            let array = values.as_primitive::<Float32Type>();
            bits(array.values(), array.nulls(), |value| holds(ranges, *nan, value.into()))
        }
        (Set::Numbers { ranges, nan }, DataType::Float64) => {
            let array = values.as_primitive::<Float64Type>();
            bits(array.values(), array.nulls(), |value| holds(ranges, *nan, value))
        }
        (Set::Decimals { ranges, .. }, DataType::Decimal128(_, _)) => {
            let array = values.as_primitive::<Decimal128Type>();
            bits(array.values(), array.nulls(), |value| ranges.holds(|bound| *bound <= value))
        }
        (Set::Bytes { ranges, .. }, DataType::Utf8) => texts::<Utf8Type>(ranges, values),
        (Set::Bytes { ranges, .. }, DataType::LargeUtf8) => texts::<LargeUtf8Type>(ranges, values),
        (Set::Bytes { ranges, .. }, DataType::Binary) => texts::<BinaryType>(ranges, values),
        (Set::Bytes { ranges, .. }, DataType::LargeBinary) => texts::<LargeBinaryType>(ranges, values),
        (Set::Bytes { ranges, .. }, DataType::Utf8View) => views::<StringViewType>(ranges, values),
        (Set::Bytes { ranges, .. }, DataType::BinaryView) => views::<BinaryViewType>(ranges, values),
        (_, DataType::Dictionary(_, _)) => {
            let values = values.as_ref();
            downcast_dictionary_array!(
                values => of_dictionary(set, values)?,
                _ => return Err(Error::invalid("a dictionary without keys"))
            )
        }
        (set, kind) => return Err(Error::invalid(format!("values of type {kind} cannot be looked up in {set:?}"))),
    })
}

fn of_dictionary<K: ArrowDictionaryKeyType>(
    set: &Set,
    array: &arrow_array::DictionaryArray<K>,
) -> Result<BooleanBuffer> {
    let found = in_set(set, array.values())?;
    let holds = |key: K::Native| {
        let key = key.as_usize();
        key < found.len() && found.value(key)
    };
    Ok(bits(array.keys().values(), array.nulls(), holds))
}

fn holds(ranges: &Ranges<Number>, nan: bool, value: f64) -> bool {
    if value.is_nan() { nan } else { ranges.holds(|bound| bound.get() <= value) }
}
