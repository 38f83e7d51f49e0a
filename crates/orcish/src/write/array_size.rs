//! Memory of arrays that are slices of larger arrays.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, OffsetSizeTrait};
use arrow_schema::DataType;

/// Bytes of the values of an array. Values of the shared buffers outside of the slice do not count. Types without an
/// exact size count as the size of their buffers.
pub(crate) fn array_size(array: &ArrayRef) -> usize {
    let validity = array.len() / 8;
    validity
        + match array.data_type() {
            DataType::Struct(_) => array.as_struct().columns().iter().map(array_size).sum(),
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                elements_size(lists.values(), lists.value_offsets())
            }
            DataType::LargeList(_) => {
                let lists = array.as_list::<i64>();
                elements_size(lists.values(), lists.value_offsets())
            }
            DataType::Map(_, _) => {
                let maps = array.as_map();
                maps.entries().columns().iter().map(|column| elements_size(column, maps.value_offsets())).sum()
            }
            DataType::FixedSizeList(_, _) => array_size(array.as_fixed_size_list().values()),
            _ => array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_buffer_memory_size()),
        }
}

/// Bytes of the offsets, and of the elements between the first and the last offset.
fn elements_size<O: OffsetSizeTrait>(values: &ArrayRef, offsets: &[O]) -> usize {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return 0 };
    let (first, last) = (first.as_usize(), last.as_usize().min(values.len()));
    size_of_val(offsets) + array_size(&values.slice(first.min(last), last - first.min(last)))
}

/// An upper bound of the bytes that are written for the rows of an array: a value that rows share is written for each of them.
pub(super) fn written_size(array: &ArrayRef) -> usize {
    let of_longest = |values: &ArrayRef| array.len().saturating_mul(longest_value(values));
    match array.data_type() {
        DataType::Struct(_) => array.as_struct().columns().iter().map(written_size).fold(0, usize::saturating_add),
        DataType::Utf8View => view_lengths(array.as_string_view().views()).sum(),
        DataType::BinaryView => view_lengths(array.as_binary_view().views()).sum(),
        _ => match (array.as_any_dictionary_opt(), run_values(array)) {
            (Some(dictionary), _) => of_longest(dictionary.values()),
            (None, Some(values)) => of_longest(values),
            (None, None) => array_size(array),
        },
    }
}

/// The values of a run-end encoded array.
fn run_values(array: &ArrayRef) -> Option<&ArrayRef> {
    let of_16 = array.as_run_opt::<Int16Type>().map(|runs| runs.values());
    let of_32 = || array.as_run_opt::<Int32Type>().map(|runs| runs.values());
    let of_64 = || array.as_run_opt::<Int64Type>().map(|runs| runs.values());
    of_16.or_else(of_32).or_else(of_64)
}

/// Bytes of the longest of shared values.
fn longest_value(values: &ArrayRef) -> usize {
    let longest = match values.data_type() {
        DataType::Utf8 => longest_between(values.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => longest_between(values.as_string::<i64>().value_offsets()),
        DataType::Binary => longest_between(values.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => longest_between(values.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => view_lengths(values.as_string_view().views()).max(),
        DataType::BinaryView => view_lengths(values.as_binary_view().views()).max(),
        // The values of other types have one size, or are not told apart.
        kind => kind.primitive_width().or_else(|| Some(written_size(values))),
    };
    // Without values all rows are null.
    longest.unwrap_or(0)
}

fn longest_between<O: OffsetSizeTrait>(offsets: &[O]) -> Option<usize> {
    offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| to.as_usize().saturating_sub(from.as_usize())).max()
}

/// The lengths of values by their views, whose lowest 32 bits they are.
fn view_lengths(views: &[u128]) -> impl Iterator<Item = usize> {
    views.iter().map(|view| (view & u128::from(u32::MAX)) as usize)
}
