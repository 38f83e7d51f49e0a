//! Removal of struct fields from arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait, StructArray,
};
use arrow_schema::{ArrowError, DataType, FieldRef};

use super::entries::map_entries;
use crate::error::{Error, Result};
use crate::type_names::TypeName;
use crate::types::entries_of;

/// Removes struct fields that the type of `field` does not have, also in lists and maps. The remaining fields are selected by
/// name, and have the order of `field`. No values are copied.
///
/// # Errors
/// `InvalidArgument` where the type of `field` is not a part of the type of the array.
pub fn prune_fields(array: &ArrayRef, field: &FieldRef) -> Result<ArrayRef> {
    let target = field.data_type();
    if array.data_type() == target {
        return Ok(array.clone());
    }
    let mismatch = || {
        Error::invalid(format!("{} is no part of {}", TypeName(target), TypeName(array.data_type())))
            .in_column(field.name())
    };
    let with_cause = |error: ArrowError| mismatch().with_source(error);
    Ok(match (array.data_type(), target) {
        (DataType::Struct(source_fields), DataType::Struct(fields)) => {
            let parent = array.as_struct();
            let child = |field: &FieldRef| {
                let (at, _) = source_fields.find(field.name()).ok_or_else(mismatch)?;
                prune_fields(parent.columns().get(at).ok_or_else(mismatch)?, field)
            };
            let columns = fields.iter().map(child).collect::<Result<_>>()?;
            let nulls = parent.nulls().cloned();
            let pruned = StructArray::try_new_with_length(fields.clone(), columns, nulls, parent.len());
            Arc::new(pruned.map_err(with_cause)?)
        }
        (DataType::List(_), DataType::List(item)) => prune_list::<i32>(array, item)?.map_err(with_cause)?,
        (DataType::LargeList(_), DataType::LargeList(item)) => prune_list::<i64>(array, item)?.map_err(with_cause)?,
        (DataType::ListView(_), DataType::ListView(item)) => {
            prune_list_view::<i32>(array, item)?.map_err(with_cause)?
        }
        (DataType::LargeListView(_), DataType::LargeListView(item)) => {
            prune_list_view::<i64>(array, item)?.map_err(with_cause)?
        }
        (DataType::FixedSizeList(_, list_length), DataType::FixedSizeList(item, length)) if list_length == length => {
            let list = array.as_fixed_size_list();
            let (values, nulls) = (prune_fields(list.values(), item)?, list.nulls().cloned());
            let list = FixedSizeListArray::try_new_with_length(item.clone(), *length, values, nulls, list.len());
            Arc::new(list.map_err(with_cause)?)
        }
        (DataType::Map(_, _), DataType::Map(entries, is_sorted)) => {
            let map = array.as_map();
            let (key, value) = entries_of(field.data_type()).ok_or_else(mismatch)?;
            let (keys, values) = (prune_fields(map.keys(), key)?, prune_fields(map.values(), value)?);
            let fields = vec![key.clone(), value.clone()].into();
            let entry_array = map_entries(fields, keys, values).map_err(with_cause)?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(entries.clone(), offsets, entry_array, nulls, *is_sorted).map_err(with_cause)?)
        }
        _ => return Err(mismatch()),
    })
}

fn prune_list<O: OffsetSizeTrait>(array: &ArrayRef, item: &FieldRef) -> Result<Result<ArrayRef, ArrowError>> {
    let list = array.as_list::<O>();
    let values = prune_fields(list.values(), item)?;
    let pruned = GenericListArray::try_new(item.clone(), list.offsets().clone(), values, list.nulls().cloned());
    Ok(pruned.map(|list| Arc::new(list) as ArrayRef))
}

fn prune_list_view<O: OffsetSizeTrait>(array: &ArrayRef, item: &FieldRef) -> Result<Result<ArrayRef, ArrowError>> {
    let list = array.as_list_view::<O>();
    let values = prune_fields(list.values(), item)?;
    let (offsets, sizes) = (list.offsets().clone(), list.sizes().clone());
    let pruned = GenericListViewArray::try_new(item.clone(), offsets, sizes, values, list.nulls().cloned());
    Ok(pruned.map(|list| Arc::new(list) as ArrayRef))
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
    use arrow_array::types::Int32Type;
    use arrow_array::{Int32Array, ListArray, StringArray};
    use arrow_buffer::{NullBuffer, OffsetBuffer};
    use arrow_schema::{Field, Fields};

    use super::*;
    use crate::error::ErrorKind;

    fn parent() -> StructArray {
        let (a, b) = (Int32Array::from(vec![1, 2, 3]), StringArray::from(vec!["x", "y", "z"]));
        let fields = vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Utf8, true)];
        let nulls = NullBuffer::from(vec![true, false, true]);
        StructArray::new(fields.into(), vec![Arc::new(a), Arc::new(b)], Some(nulls))
    }

    fn only_b() -> Field {
        Field::new_struct("s", Fields::from(vec![Field::new("b", DataType::Utf8, true)]), true)
    }

    #[test]
    fn structs_lose_fields_and_keep_nulls() {
        let array: ArrayRef = Arc::new(parent());
        let pruned = prune_fields(&array, &Arc::new(only_b())).unwrap();
        assert_eq!(pruned.as_struct().columns().len(), 1);
        assert_eq!(pruned.as_struct().column(0).as_string::<i32>().value(2), "z");
        assert!(pruned.is_null(1) && pruned.null_count() == 1);
    }

    #[test]
    fn structs_without_fields_keep_their_rows() {
        let array: ArrayRef = Arc::new(parent());
        let pruned = prune_fields(&array, &Arc::new(Field::new_struct("s", Fields::empty(), true))).unwrap();
        assert_eq!((pruned.len(), pruned.null_count()), (3, 1));
    }

    #[test]
    fn fields_in_lists_and_maps_are_removed() {
        let item = Arc::new(Field::new("item", parent().data_type().clone(), true));
        let offsets = OffsetBuffer::new(vec![0, 2, 3].into());
        let list: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::new(parent()), None));
        let wanted = Arc::new(Field::new_list("l", only_b().with_name("item"), true));
        let pruned_list = prune_fields(&list, &wanted).unwrap();
        assert_eq!(pruned_list.data_type(), wanted.data_type());
        assert_eq!(pruned_list.as_list::<i32>().value(0).as_struct().column(0).len(), 2);

        let mut map = MapBuilder::new(None, Int32Builder::new(), StringBuilder::new());
        map.keys().append_value(1);
        map.values().append_value("v");
        map.append(true).unwrap();
        let (_, offsets, entries, nulls, _) = map.finish().into_parts();
        let value = Arc::new(parent().slice(0, 1)) as ArrayRef;
        let of = |value: &DataType| {
            let key = Field::new(entries.fields()[0].name(), DataType::Int32, false);
            Fields::from(vec![key, Field::new("values", value.clone(), true)])
        };
        let both = StructArray::new(of(value.data_type()), vec![entries.column(0).clone(), value], None);
        let field = Arc::new(Field::new("entries", both.data_type().clone(), false));
        let map: ArrayRef = Arc::new(MapArray::new(field, offsets, both, nulls, false));
        let entries = Field::new_struct("entries", of(only_b().data_type()), false);
        let wanted = Arc::new(Field::new("m", DataType::Map(Arc::new(entries), false), true));
        let pruned_map = prune_fields(&map, &wanted).unwrap();
        assert_eq!(pruned_map.as_map().values().as_struct().columns().len(), 1);
        assert_eq!(pruned_map.as_map().keys().as_primitive::<Int32Type>().value(0), 1);
    }

    #[test]
    fn other_types_are_errors() {
        let array: ArrayRef = Arc::new(parent());
        for field in [Field::new("s", DataType::Int8, true), only_b().with_data_type(DataType::Utf8)] {
            assert_eq!(prune_fields(&array, &Arc::new(field)).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        let other = Fields::from(vec![Field::new("c", DataType::Int32, true)]);
        assert!(prune_fields(&array, &Arc::new(Field::new_struct("s", other, true))).is_err());
    }
}
