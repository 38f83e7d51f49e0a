//! Arrays of which only some parts are wanted.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait, StructArray,
};
use arrow_schema::{ArrowError, DataType, FieldRef};

use crate::error::{Error, Result};

/// The values with only those fields of structs that `field` has, by their names and in its order, within lists and maps
/// too. Nothing is copied.
///
/// # Errors
/// `InvalidArgument` where its type is no part of the array's.
pub fn cut(array: &ArrayRef, field: &FieldRef) -> Result<ArrayRef> {
    let target = field.data_type();
    if array.data_type() == target {
        return Ok(array.clone());
    }
    let no_part = || Error::invalid(format!("{target} is no part of {}", array.data_type())).in_column(field.name());
    let misfit = |error: ArrowError| no_part().with_source(error);
    Ok(match (array.data_type(), target) {
        (DataType::Struct(own), DataType::Struct(wanted)) => {
            let whole = array.as_struct();
            let part = |field: &FieldRef| {
                let (at, _) = own.find(field.name()).ok_or_else(no_part)?;
                cut(whole.columns().get(at).ok_or_else(no_part)?, field)
            };
            let columns = wanted.iter().map(part).collect::<Result<_>>()?;
            let nulls = whole.nulls().cloned();
            let cut = StructArray::try_new_with_length(wanted.clone(), columns, nulls, whole.len());
            Arc::new(cut.map_err(misfit)?)
        }
        (DataType::List(_), DataType::List(item)) => of_list::<i32>(array, item)?.map_err(misfit)?,
        (DataType::LargeList(_), DataType::LargeList(item)) => of_list::<i64>(array, item)?.map_err(misfit)?,
        (DataType::ListView(_), DataType::ListView(item)) => of_view::<i32>(array, item)?.map_err(misfit)?,
        (DataType::LargeListView(_), DataType::LargeListView(item)) => of_view::<i64>(array, item)?.map_err(misfit)?,
        (DataType::FixedSizeList(_, own), DataType::FixedSizeList(item, length)) if own == length => {
            let list = array.as_fixed_size_list();
            let (values, nulls) = (cut(list.values(), item)?, list.nulls().cloned());
            let list = FixedSizeListArray::try_new_with_length(item.clone(), *length, values, nulls, list.len());
            Arc::new(list.map_err(misfit)?)
        }
        (DataType::Map(_, _), DataType::Map(entries, is_sorted)) => {
            let map = array.as_map();
            let both: ArrayRef = Arc::new(map.entries().clone());
            let both = cut(&both, entries)?.as_struct_opt().ok_or_else(no_part)?.clone();
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(entries.clone(), offsets, both, nulls, *is_sorted).map_err(misfit)?)
        }
        _ => return Err(no_part()),
    })
}

fn of_list<O: OffsetSizeTrait>(array: &ArrayRef, item: &FieldRef) -> Result<Result<ArrayRef, ArrowError>> {
    let list = array.as_list::<O>();
    let values = cut(list.values(), item)?;
    let cut = GenericListArray::try_new(item.clone(), list.offsets().clone(), values, list.nulls().cloned());
    Ok(cut.map(|list| Arc::new(list) as ArrayRef))
}

fn of_view<O: OffsetSizeTrait>(array: &ArrayRef, item: &FieldRef) -> Result<Result<ArrayRef, ArrowError>> {
    let list = array.as_list_view::<O>();
    let values = cut(list.values(), item)?;
    let (offsets, sizes) = (list.offsets().clone(), list.sizes().clone());
    let cut = GenericListViewArray::try_new(item.clone(), offsets, sizes, values, list.nulls().cloned());
    Ok(cut.map(|list| Arc::new(list) as ArrayRef))
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

    fn whole() -> StructArray {
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
        let array: ArrayRef = Arc::new(whole());
        let cut = cut(&array, &Arc::new(only_b())).unwrap();
        assert_eq!(cut.as_struct().columns().len(), 1);
        assert_eq!(cut.as_struct().column(0).as_string::<i32>().value(2), "z");
        assert!(cut.is_null(1) && cut.null_count() == 1);
    }

    #[test]
    fn no_field_leaves_the_rows() {
        let array: ArrayRef = Arc::new(whole());
        let cut = cut(&array, &Arc::new(Field::new_struct("s", Fields::empty(), true))).unwrap();
        assert_eq!((cut.len(), cut.null_count()), (3, 1));
    }

    #[test]
    fn elements_and_values_are_cut() {
        let item = Arc::new(Field::new("item", whole().data_type().clone(), true));
        let offsets = OffsetBuffer::new(vec![0, 2, 3].into());
        let list: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::new(whole()), None));
        let wanted = Arc::new(Field::new_list("l", only_b().with_name("item"), true));
        let cut_list = cut(&list, &wanted).unwrap();
        assert_eq!(cut_list.data_type(), wanted.data_type());
        assert_eq!(cut_list.as_list::<i32>().value(0).as_struct().column(0).len(), 2);

        let mut map = MapBuilder::new(None, Int32Builder::new(), StringBuilder::new());
        map.keys().append_value(1);
        map.values().append_value("v");
        map.append(true).unwrap();
        let (_, offsets, entries, nulls, _) = map.finish().into_parts();
        let value = Arc::new(whole().slice(0, 1)) as ArrayRef;
        let of = |value: &DataType| {
            let key = Field::new(entries.fields()[0].name(), DataType::Int32, false);
            Fields::from(vec![key, Field::new("values", value.clone(), true)])
        };
        let both = StructArray::new(of(value.data_type()), vec![entries.column(0).clone(), value], None);
        let field = Arc::new(Field::new("entries", both.data_type().clone(), false));
        let map: ArrayRef = Arc::new(MapArray::new(field, offsets, both, nulls, false));
        let entries = Field::new_struct("entries", of(only_b().data_type()), false);
        let wanted = Arc::new(Field::new("m", DataType::Map(Arc::new(entries), false), true));
        let cut_map = cut(&map, &wanted).unwrap();
        assert_eq!(cut_map.as_map().values().as_struct().columns().len(), 1);
        assert_eq!(cut_map.as_map().keys().as_primitive::<Int32Type>().value(0), 1);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let array: ArrayRef = Arc::new(whole());
        for field in [Field::new("s", DataType::Int8, true), only_b().with_data_type(DataType::Utf8)] {
            assert_eq!(cut(&array, &Arc::new(field)).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        let other = Fields::from(vec![Field::new("c", DataType::Int32, true)]);
        assert!(cut(&array, &Arc::new(Field::new_struct("s", other, true))).is_err());
    }
}
