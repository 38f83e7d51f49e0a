//! Selection of rows of arrays and batches, and concatenation. Arrays may have maps whose keys are dictionaries with nulls, which
//! kernels of Arrow refuse.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::BooleanBuffer;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, FieldRef};
use arrow_select::concat::concat;
use arrow_select::filter::FilterBuilder;

use crate::error::{Error, Result};
use crate::types::item_of;

/// The rows of a batch for which a mask without nulls is true.
///
/// # Errors
/// `InvalidArgument` where the mask has another number of rows; `LimitExceeded` where the rows do not fit into arrays.
pub fn filter_batch(batch: &RecordBatch, mask: &BooleanArray) -> Result<RecordBatch> {
    if mask.len() != batch.num_rows() || mask.null_count() > 0 {
        return Err(Error::invalid("the mask is not one of the rows of the batch"));
    }
    let count = mask.true_count();
    let columns = batch.columns().iter().map(row_selector(mask.values(), count)).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    let invalid = |error: ArrowError| Error::internal("the rows of a batch are no batch").with_source(error);
    RecordBatch::try_new_with_options(Arc::clone(&batch.schema()), columns, &options).map_err(invalid)
}

/// Selects rows of arrays, of which `count` are selected.
pub fn row_selector(selected: &BooleanBuffer, count: usize) -> impl Fn(&ArrayRef) -> Result<ArrayRef> {
    let selected = selected.clone();
    let all = count == selected.len();
    let filter = (!all).then(|| FilterBuilder::new(&BooleanArray::new(selected.clone(), None)).optimize().build());
    move |array| match &filter {
        None => Ok(array.clone()),
        Some(_) if may_have_null_keys(array.data_type()) => {
            copy_slices(&[array], selected.set_slices().map(|(from, to)| (0, from, to)))
        }
        Some(filter) => filter.filter(array).map_err(overflow),
    }
}

/// Bytes of an array, plus the number of elements of its lists: elements without bytes count too, as offsets have to reach
/// them.
pub fn array_size(array: &ArrayRef) -> u64 {
    array.get_buffer_memory_size() as u64 + elements(array)
}

fn elements(array: &ArrayRef) -> u64 {
    if let Some(list) = array.as_list_opt::<i32>() {
        return list.values().len() as u64 + elements(list.values());
    }
    if let Some(map) = array.as_map_opt() {
        return map.entries().len() as u64 + map.entries().columns().iter().map(elements).sum::<u64>();
    }
    if let (Some(union), DataType::Union(fields, _)) = (array.as_union_opt(), array.data_type()) {
        return fields.iter().map(|(tag, _)| elements(union.child(tag))).sum();
    }
    array.as_struct_opt().map_or(0, |this| this.columns().iter().map(elements).sum())
}

/// The values of arrays of one type, in order.
///
/// # Errors
/// `LimitExceeded` where they do not fit into one array.
pub fn concat_arrays(pieces: Vec<ArrayRef>) -> Result<ArrayRef> {
    match &pieces[..] {
        [one] => Ok(one.clone()),
        // Arrow's `concat` panics if offsets overflow.
        many if many.iter().map(array_size).sum::<u64>() > i32::MAX as u64 => {
            Err(Error::limit("the rows that were found do not fit into one array"))
        }
        [first, ..] if may_have_null_keys(first.data_type()) => {
            let pieces: Vec<_> = pieces.iter().collect();
            copy_slices(&pieces, pieces.iter().enumerate().map(|(at, piece)| (at, 0, piece.len())))
        }
        many => concat(&many.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(overflow),
    }
}

/// Whether a type has maps with dictionary keys. These may be null, which arrow-rs refuses in checked constructors.
fn may_have_null_keys(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                let is_dictionary = |field: &FieldRef| matches!(field.data_type(), DataType::Dictionary(_, _));
                fields.first().is_some_and(is_dictionary) || may_have_null_keys(entries.data_type())
            }
            _ => false,
        },
        DataType::Struct(fields) => fields.iter().any(|field| may_have_null_keys(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| may_have_null_keys(field.data_type())),
        list => item_of(list).is_some_and(|item| may_have_null_keys(item.data_type())),
    }
}

/// Concatenates slices of arrays, given as the index of the array, the start and the end.
fn copy_slices(arrays: &[&ArrayRef], slices: impl Iterator<Item = (usize, usize, usize)>) -> Result<ArrayRef> {
    let data: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    let capacity = arrays.iter().map(|array| array.len()).sum();
    let mut out = MutableArrayData::new(data.iter().collect(), false, capacity);
    for (at, from, to) in slices {
        out.try_extend(at, from, to).map_err(overflow)?;
    }
    Ok(make_array(out.freeze()))
}

fn overflow(error: ArrowError) -> Error {
    Error::limit("the rows that were found do not fit into one array").with_source(error)
}
