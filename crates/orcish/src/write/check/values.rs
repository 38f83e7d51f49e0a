//! Whether rows are the same.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef};

use crate::arrow::{item_of, with_item};

/// The first row that is another one; the number of rows of the shorter where one has more.
pub(in crate::write) fn differing_row(a: &ArrayRef, b: &ArrayRef) -> Option<usize> {
    if a.len() != b.len() {
        return Some(a.len().min(b.len()));
    }
    let (a, b) = (unpacked(a), unpacked(b));
    if same(&a, &b) {
        return None;
    }
    // By halves.
    let (mut start, mut length) = (0, a.len());
    while length > 1 {
        let half = length / 2;
        if same(&a.slice(start, half), &b.slice(start, half)) {
            (start, length) = (start + half, length - half);
        } else {
            length = half;
        }
    }
    Some(start)
}

fn same(a: &ArrayRef, b: &ArrayRef) -> bool {
    a.to_data() == b.to_data()
}

/// An array without dictionaries, of which null entries are nulls like any other; as it is where that cannot be had.
fn unpacked(array: &ArrayRef) -> ArrayRef {
    if !has_dictionary(array.data_type()) {
        return array.clone();
    }
    let target = without_dictionaries(array.data_type());
    arrow_cast::cast(array, &target).unwrap_or_else(|_| array.clone())
}

fn has_dictionary(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, _) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_dictionary(field.data_type())),
        list => item_of(list).is_some_and(|item| has_dictionary(item.data_type())),
    }
}

fn without_dictionaries(data_type: &DataType) -> DataType {
    let field = |field: &FieldRef| -> FieldRef {
        let own = Field::clone(field);
        Arc::new(own.with_data_type(without_dictionaries(field.data_type())).with_nullable(true))
    };
    match data_type {
        DataType::Dictionary(_, values) => without_dictionaries(values),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        list => item_of(list).map_or_else(|| list.clone(), |item| with_item(list, field(item))),
    }
}
