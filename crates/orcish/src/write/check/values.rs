//! Whether rows are the same.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use arrow_select::take::take;
use orcish_core::types::{item_of, with_item};

/// The first row that is another one; the number of rows of the shorter where one has more.
pub(in crate::write) fn differing_row(a: &ArrayRef, b: &ArrayRef) -> Option<usize> {
    if a.len() != b.len() {
        return Some(a.len().min(b.len()));
    }
    let (a, b) = (unpacked(a), unpacked(b));
    if a == b {
        return None;
    }
    // By halves.
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

/// The first row of `array` that is another one in `parts`, which are as long together.
pub(super) fn differing_row_of(array: &ArrayRef, parts: &[ArrayRef]) -> Option<usize> {
    if let [one] = parts {
        return differing_row(array, one);
    }
    let mut at = 0;
    for part in parts {
        let length = part.len().min(array.len() - at);
        if let Some(row) = differing_row(&array.slice(at, length), part) {
            return Some(at + row);
        }
        at += length;
    }
    (at < array.len()).then_some(at)
}

/// The data of an array without dictionaries, of which null entries are nulls like any other; as they are where that
/// cannot be had.
fn unpacked(array: &ArrayRef) -> ArrayData {
    let data = array.to_data();
    without_dictionaries(data.clone()).unwrap_or(data)
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

/// Values in place of references to them, at any depth.
fn without_dictionaries(data: ArrayData) -> Result<ArrayData, ArrowError> {
    if !has_dictionary(data.data_type()) {
        return Ok(data);
    }
    if let DataType::Dictionary(_, _) = data.data_type() {
        let array = make_array(data);
        let dictionary = array.as_any_dictionary();
        return without_dictionaries(take(dictionary.values(), dictionary.keys(), None)?.to_data());
    }
    let children = data.child_data().iter().cloned().map(without_dictionaries).collect::<Result<Vec<_>, _>>()?;
    let mut types = children.iter().map(|child| child.data_type().clone());
    let mut renewed = |field: &FieldRef| -> FieldRef {
        let own = types.next().unwrap_or_else(|| field.data_type().clone());
        Arc::new(Field::clone(field).with_data_type(own).with_nullable(true))
    };
    let data_type = match data.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(renewed).collect()),
        // Their entries as a list, whose keys may be null.
        DataType::Map(entries, _) => DataType::List(renewed(entries)),
        DataType::Union(fields, mode) => {
            let fields = fields.iter().map(|(id, field)| (id, renewed(field)));
            DataType::Union(fields.collect(), *mode)
        }
        DataType::RunEndEncoded(ends, values) => {
            let _ = renewed(ends);
            DataType::RunEndEncoded(ends.clone(), renewed(values))
        }
        list => item_of(list).map_or_else(|| list.clone(), |item| with_item(list, renewed(item))),
    };
    data.into_builder().data_type(data_type).child_data(children).build()
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{DictionaryArray, Int8Array, MapArray, StringArray, StructArray};
    use arrow_buffer::OffsetBuffer;

    use super::*;

    /// Two entries, of which the second has a null, by its reference or by what that refers to.
    fn map(is_reference: bool) -> ArrayRef {
        let keys = Int8Array::from(if is_reference { vec![Some(0), None] } else { vec![Some(0), Some(1)] });
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
    fn the_first_row_that_differs_is_found() {
        const ROWS: i8 = 11;
        let rows = |differ: &[i8]| -> ArrayRef {
            Arc::new((0..ROWS).map(|row| Some(if differ.contains(&row) { -1 } else { row })).collect::<Int8Array>())
        };
        let all = rows(&[]);
        assert_eq!(differing_row(&all, &rows(&[])), None);
        for first in 0..ROWS {
            for second in first..ROWS {
                let other = rows(&[first, second]);
                let want = usize::try_from(first).ok();
                assert_eq!(differing_row(&all, &other), want);
                for at in 0..=other.len() {
                    let parts = [other.slice(0, at), other.slice(at, other.len() - at)];
                    assert_eq!(differing_row_of(&all, &parts), want);
                }
            }
        }
    }

    #[test]
    fn nulls_of_dictionaries_below_maps_are_nulls() {
        let (a, b) = (map(true), map(false));
        without_dictionaries(a.to_data()).unwrap();
        assert_eq!(differing_row(&a, &b), None);
        assert_eq!(differing_row(&a, &a.slice(0, 1)), Some(1));
        assert_eq!(differing_row_of(&a, &[b.slice(0, 1), b.slice(1, 1)]), None);
        assert_eq!(differing_row_of(&a, &[b.slice(0, 1)]), Some(1));
        assert_eq!(differing_row_of(&a, &[b.slice(1, 1), b.slice(0, 1)]), Some(0));
    }
}
