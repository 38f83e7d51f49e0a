//! Restoring of lists, maps and unions.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, ListArray, MapArray, OffsetSizeTrait,
    UInt64Array, UnionArray, make_array,
};
use arrow_buffer::{ArrowNativeType as _, OffsetBuffer, ScalarBuffer};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, FieldRef, UnionFields};
use arrow_select::take::take;

use super::entries::map_entries;
use super::mismatch::{RestoreColumn, RestoreResult, check_array_size, fixed_width, unexpected_type};
use crate::allocation;
use crate::error::{Error, OrInternal as _};
use crate::types::item_of;

/// The offsets minus the first offset, and the elements from the first to the last offset. The values of a slice can have
/// other elements.
fn trimmed(offsets: &OffsetBuffer<i32>, values: &ArrayRef) -> (Vec<i32>, ArrayRef) {
    let (first, last) = (offsets.first(), offsets.last());
    let from_0 = offsets.iter().map(|offset| offset - first).collect();
    (from_0, values.slice(first.as_usize(), (last - first).as_usize()))
}

pub(super) fn list(array: &ListArray, target: &DataType, memory: u64, column: RestoreColumn) -> RestoreResult {
    let Some(item) = item_of(target) else {
        return Err(unexpected_type(&(Arc::new(array.clone()) as ArrayRef), target));
    };
    let (offsets, values) = trimmed(array.offsets(), array.values());
    let values = column(&values, item.data_type(), memory).map_err(|mismatch| mismatch.within("element"))?;
    match target {
        DataType::LargeList(_) => lists::<i64>(array, item, &offsets, values),
        DataType::ListView(_) => views::<i32>(array, item, &offsets, values),
        DataType::LargeListView(_) => views::<i64>(array, item, &offsets, values),
        DataType::FixedSizeList(_, length) => fixed(array, item, &offsets, &values, *length, memory),
        _ => lists::<i32>(array, item, &offsets, values),
    }
}

/// The offsets in another width.
fn widened<O: OffsetSizeTrait>(offsets: &[i32]) -> ScalarBuffer<O> {
    offsets.iter().map(|&offset| O::usize_as(offset.as_usize())).collect()
}

fn lists<O: OffsetSizeTrait>(array: &ListArray, item: &FieldRef, offsets: &[i32], values: ArrayRef) -> RestoreResult {
    let offsets = OffsetBuffer::new(widened::<O>(offsets));
    Ok(Arc::new(GenericListArray::<O>::try_new(item.clone(), offsets, values, array.nulls().cloned())?))
}

fn views<O: OffsetSizeTrait>(array: &ListArray, item: &FieldRef, offsets: &[i32], values: ArrayRef) -> RestoreResult {
    let lengths: Vec<i32> = offsets.iter().zip(offsets.iter().skip(1)).map(|(start, end)| end - start).collect();
    let (_, starts) = offsets.split_last().or_internal("a list has no offsets")?;
    let (starts, lengths) = (widened::<O>(starts), widened::<O>(&lengths));
    let array = GenericListViewArray::<O>::try_new(item.clone(), starts, lengths, values, array.nulls().cloned());
    Ok(Arc::new(array?))
}

/// Lists of fixed size. Null slots have elements, too.
fn fixed(
    array: &ListArray,
    item: &FieldRef,
    offsets: &[i32],
    values: &ArrayRef,
    length: i32,
    memory: u64,
) -> RestoreResult {
    let mut rows = offsets.iter().zip(offsets.iter().skip(1)).enumerate();
    if let Some((_, (start, end))) = rows.find(|&(row, (start, end))| array.is_valid(row) && end - start != length) {
        let text = format!("a list of {} elements where the file says that all have {length}", end - start);
        return Err(Error::corrupt(text).into());
    }
    let width = usize::try_from(length).map_err(|_| Error::corrupt(format!("lists of {length} elements")))?;
    let count = array.len().saturating_mul(width);
    let values = if values.len() == count && array.null_count() == 0 {
        values.clone()
    } else {
        check_array_size(item.data_type(), count, memory)?;
        allocation::check(usize::try_from(fixed_width(item.data_type())).unwrap_or(usize::MAX).saturating_mul(count))?;
        let starts = offsets.iter().take(array.len()).map(|start| start.as_usize()).enumerate();
        if item.data_type().is_primitive() {
            let data = values.to_data();
            let mut padded = MutableArrayData::new(vec![&data], true, count);
            for (row, start) in starts {
                if array.is_valid(row) {
                    padded.try_extend(0, start, start + width)?;
                } else {
                    padded.try_extend_nulls(width)?;
                }
            }
            return fixed_of(array, item, length, make_array(padded.freeze()));
        }
        check_array_size(&DataType::Int64, count, memory)?;
        let mut indices = Vec::with_capacity(count);
        for (row, start) in starts {
            let is_valid = array.is_valid(row);
            indices.extend((0..width).map(|at| is_valid.then_some((start + at) as u64)));
        }
        take(values, &UInt64Array::from(indices), None)?
    };
    fixed_of(array, item, length, values)
}

fn fixed_of(array: &ListArray, item: &FieldRef, length: i32, values: ArrayRef) -> RestoreResult {
    let nulls = array.nulls().cloned();
    Ok(Arc::new(FixedSizeListArray::try_new_with_length(item.clone(), length, values, nulls, array.len())?))
}

pub(super) fn map(
    array: &MapArray,
    entries: &FieldRef,
    is_sorted: bool,
    memory: u64,
    column: RestoreColumn,
) -> RestoreResult {
    let fields = match entries.data_type() {
        DataType::Struct(fields) if fields.len() == 2 => fields,
        _ => return Err(Error::corrupt("a map without keys and values").into()),
    };
    let mut columns = Vec::new();
    let mut offsets = Vec::new();
    for ((values, field), name) in [array.keys(), array.values()].into_iter().zip(fields).zip(["key", "value"]) {
        let (trimmed_offsets, values) = trimmed(array.offsets(), values);
        columns.push(column(&values, field.data_type(), memory).map_err(|mismatch| mismatch.within(name))?);
        offsets = trimmed_offsets;
    }
    let [keys, values] = columns.as_slice() else {
        return Err(Error::corrupt("a map without keys and values").into());
    };
    let entry_array = map_entries(fields.clone(), keys.clone(), values.clone())?;
    let (offsets, nulls) = (OffsetBuffer::new(offsets.into()), array.nulls().cloned());
    Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, entry_array, nulls, is_sorted)?))
}

/// Unions with other type ids. The variants have the same order.
pub(super) fn union(array: &ArrayRef, fields: &UnionFields, memory: u64, column: RestoreColumn) -> RestoreResult {
    let Some(union) = array.as_union_opt() else { return Err(Error::corrupt("no union").into()) };
    let DataType::Union(source_fields, _) = array.data_type() else { return Err(Error::corrupt("no union").into()) };
    // The target type id by the source type id, which is not negative.
    let mut ids = [-1i8; 128];
    let mut children = Vec::new();
    for (at, ((from, _), (to, field))) in source_fields.iter().zip(fields.iter()).enumerate() {
        let id = usize::try_from(from).ok().and_then(|from| ids.get_mut(from));
        *id.or_internal("a variant has a type id below 0")? = to;
        let child = column(union.child(from), field.data_type(), memory);
        children.push(child.map_err(|mismatch| mismatch.within(format!("field{at}")))?);
    }
    // An id below 0 is refused when the array is made.
    let id = |id: &i8| usize::try_from(*id).ok().and_then(|id| ids.get(id)).copied().unwrap_or(-1);
    let type_ids = union.type_ids().iter().map(id).collect();
    Ok(Arc::new(UnionArray::try_new(fields.clone(), type_ids, union.offsets().cloned(), children)?))
}
