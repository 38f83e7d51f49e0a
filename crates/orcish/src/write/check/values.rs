//! Comparison of the rows of arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use arrow_select::take::take;
use orcish_core::types::{item_of, with_item};

/// The first row that differs. If one array is longer, its first additional row differs.
pub(in crate::write) fn differing_row(a: &ArrayRef, b: &ArrayRef) -> Option<usize> {
    if a.len() != b.len() {
        return Some(a.len().min(b.len()));
    }
    let (a, b) = (comparable_data(a), comparable_data(b));
    if a == b {
        return None;
    }
    // Binary search for the first difference.
    let (mut start, mut length) = (0, a.len());
    while length > 1 {
        let half = length / 2;
        if a.slice(start, half) == b.slice(start, half) {
            (start, length) = (start + half, length - half);
        } else {
            length = half;
        }
    }
    Some(start)
}

/// The first row of `array` that differs from the row of the concatenated `slices`.
pub(super) fn differing_row_of_slices(array: &ArrayRef, slices: &[ArrayRef]) -> Option<usize> {
    if let [slice] = slices {
        return differing_row(array, slice);
    }
    let mut offset = 0;
    for slice in slices {
        let length = slice.len().min(array.len() - offset);
        if let Some(row) = differing_row(&array.slice(offset, length), slice) {
            return Some(offset + row);
        }
        offset += length;
    }
    (offset < array.len()).then_some(offset)
}

/// The data of an array with decoded dictionaries, so that null keys and keys of null values are equal. An array whose
/// dictionaries cannot be decoded is compared as it is.
fn comparable_data(array: &ArrayRef) -> ArrayData {
    let data = array.to_data();
    decode_dictionaries(data.clone()).unwrap_or(data)
}

fn has_dictionary(data_type: &DataType) -> bool {
    let has = |field: &FieldRef| has_dictionary(field.data_type());
    match data_type {
        DataType::Dictionary(_, _) => true,
        DataType::Struct(fields) => fields.iter().any(has),
        DataType::Map(entries, _) => has(entries),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has(field)),
        DataType::RunEndEncoded(_, values) => has(values),
        list => item_of(list).is_some_and(has),
    }
}

/// Decodes dictionaries at any depth.
fn decode_dictionaries(data: ArrayData) -> Result<ArrayData, ArrowError> {
    if !has_dictionary(data.data_type()) {
        return Ok(data);
    }
    if let DataType::Dictionary(_, _) = data.data_type() {
        let array = make_array(data);
        let dictionary = array.as_any_dictionary();
        return decode_dictionaries(take(dictionary.values(), dictionary.keys(), None)?.to_data());
    }
    let children = data.child_data().iter().cloned().map(decode_dictionaries).collect::<Result<Vec<_>, _>>()?;
    let mut types = children.iter().map(|child| child.data_type().clone());
    let mut with_child_type = |field: &FieldRef| -> FieldRef {
        let data_type = types.next().unwrap_or_else(|| field.data_type().clone());
        Arc::new(Field::clone(field).with_data_type(data_type).with_nullable(true))
    };
    let data_type = match data.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_child_type).collect()),
        // Unlike map keys, fields of list elements may be null.
        DataType::Map(entries, _) => DataType::List(with_child_type(entries)),
        DataType::Union(fields, mode) => {
            let fields = fields.iter().map(|(id, field)| (id, with_child_type(field)));
            DataType::Union(fields.collect(), *mode)
        }
        DataType::RunEndEncoded(ends, values) => {
            let _ = with_child_type(ends);
            DataType::RunEndEncoded(ends.clone(), with_child_type(values))
        }
        list => item_of(list).map_or_else(|| list.clone(), |item| with_item(list, with_child_type(item))),
    };
    data.into_builder().data_type(data_type).child_data(children).build()
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{DictionaryArray, Int8Array, MapArray, StringArray, StructArray};
    use arrow_buffer::OffsetBuffer;

    use super::*;

    /// A map array with dictionary values. The value of the second entry is null, by a null key or by the key of a
    /// null.
    fn map_with_dictionary(is_null_key: bool) -> ArrayRef {
        let keys = Int8Array::from(if is_null_key { vec![Some(0), None] } else { vec![Some(0), Some(1)] });
        let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        let values: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, values));
        let names: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
        let fields =
            vec![Field::new("key", DataType::Utf8, false), Field::new("value", values.data_type().clone(), true)];
        let entries = StructArray::new(fields.into(), vec![names, values], None);
        let field = Field::new("entries", entries.data_type().clone(), false);
        Arc::new(MapArray::new(Arc::new(field), OffsetBuffer::from_lengths([1, 1]), entries, None, false))
    }

    #[test]
    fn first_differing_row() {
        const ROWS: i8 = 11;
        let rows = |changed: &[i8]| -> ArrayRef {
            Arc::new((0..ROWS).map(|row| Some(if changed.contains(&row) { -1 } else { row })).collect::<Int8Array>())
        };
        let all = rows(&[]);
        assert_eq!(differing_row(&all, &rows(&[])), None);
        for first in 0..ROWS {
            for second in first..ROWS {
                let other = rows(&[first, second]);
                let expected = usize::try_from(first).ok();
                assert_eq!(differing_row(&all, &other), expected);
                for cut in 0..=other.len() {
                    let slices = [other.slice(0, cut), other.slice(cut, other.len() - cut)];
                    assert_eq!(differing_row_of_slices(&all, &slices), expected);
                }
            }
        }
    }

    #[test]
    fn dictionary_nulls_in_maps_are_equal() {
        let (a, b) = (map_with_dictionary(true), map_with_dictionary(false));
        decode_dictionaries(a.to_data()).unwrap();
        assert_eq!(differing_row(&a, &b), None);
        assert_eq!(differing_row(&a, &a.slice(0, 1)), Some(1));
        assert_eq!(differing_row_of_slices(&a, &[b.slice(0, 1), b.slice(1, 1)]), None);
        assert_eq!(differing_row_of_slices(&a, &[b.slice(0, 1)]), Some(1));
        assert_eq!(differing_row_of_slices(&a, &[b.slice(1, 1), b.slice(0, 1)]), Some(0));
    }
}
