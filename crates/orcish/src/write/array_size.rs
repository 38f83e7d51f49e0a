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
    size_of_val(offsets) + array_size(&elements(values, offsets))
}

/// The elements between the first and the last offset.
fn elements<O: OffsetSizeTrait>(values: &ArrayRef, offsets: &[O]) -> ArrayRef {
    let (first, last) =
        (offsets.first().map_or(0, |first| first.as_usize()), offsets.last().map_or(0, |last| last.as_usize()));
    let last = last.min(values.len());
    values.slice(first.min(last), last - first.min(last))
}

/// About the bytes that are written for the rows of an array, and hardly less: a value that rows share, directly or as an element
/// of their lists, is written for each of them.
pub(super) fn written_size(array: &ArrayRef) -> usize {
    match array.data_type() {
        DataType::Struct(_) => total(array.as_struct().columns().iter().map(written_size)),
        DataType::List(_) => written_elements(array.as_list::<i32>().values(), array.as_list::<i32>().value_offsets()),
        DataType::LargeList(_) => {
            written_elements(array.as_list::<i64>().values(), array.as_list::<i64>().value_offsets())
        }
        DataType::Map(_, _) => {
            let maps = array.as_map();
            total(maps.entries().columns().iter().map(|column| written_elements(column, maps.value_offsets())))
        }
        DataType::FixedSizeList(_, _) => written_size(array.as_fixed_size_list().values()),
        DataType::Utf8View => view_lengths(array.as_string_view().views()).sum(),
        DataType::BinaryView => view_lengths(array.as_binary_view().views()).sum(),
        _ => match shared_values(array) {
            Some(values) => array.len().saturating_mul(longest_value(values)),
            None => array_size(array),
        },
    }
}

fn total(mut sizes: impl Iterator<Item = usize>) -> usize {
    sizes.try_fold(0usize, usize::checked_add).unwrap_or(usize::MAX)
}

fn written_elements<O: OffsetSizeTrait>(values: &ArrayRef, offsets: &[O]) -> usize {
    size_of_val(offsets).saturating_add(written_size(&elements(values, offsets)))
}

/// The values that rows share: those of a dictionary or of runs.
fn shared_values(array: &ArrayRef) -> Option<&ArrayRef> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return Some(dictionary.values());
    }
    let of_16 = array.as_run_opt::<Int16Type>().map(|runs| runs.values());
    let of_32 = || array.as_run_opt::<Int32Type>().map(|runs| runs.values());
    let of_64 = || array.as_run_opt::<Int64Type>().map(|runs| runs.values());
    of_16.or_else(of_32).or_else(of_64)
}

/// Bytes of the longest of shared values, or more where values are nested.
fn longest_value(values: &ArrayRef) -> usize {
    let longest = match values.data_type() {
        DataType::Utf8 => longest_between(values.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => longest_between(values.as_string::<i64>().value_offsets()),
        DataType::Binary => longest_between(values.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => longest_between(values.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => view_lengths(values.as_string_view().views()).max(),
        DataType::BinaryView => view_lengths(values.as_binary_view().views()).max(),
        DataType::Struct(_) => Some(total(values.as_struct().columns().iter().map(longest_value))),
        DataType::List(_) => longest_list(values.as_list::<i32>().values(), values.as_list::<i32>().value_offsets()),
        DataType::LargeList(_) => {
            longest_list(values.as_list::<i64>().values(), values.as_list::<i64>().value_offsets())
        }
        DataType::Map(_, _) => {
            let maps = values.as_map();
            let columns = maps.entries().columns().iter();
            Some(total(columns.filter_map(|column| longest_list(column, maps.value_offsets()))))
        }
        DataType::FixedSizeList(_, _) => {
            let lists = values.as_fixed_size_list();
            let length = usize::try_from(lists.value_length()).ok();
            length.map(|length| length.saturating_mul(longest_value(lists.values())))
        }
        kind => kind.primitive_width().or_else(|| match shared_values(values) {
            Some(shared) => Some(longest_value(shared)),
            // The values of other types are not told apart.
            None => Some(written_size(values)),
        }),
    };
    // Without values all rows are null.
    longest.unwrap_or(0)
}

/// Bytes of a list that has as many elements as the longest of several, all of them as long as the longest of these.
fn longest_list<O: OffsetSizeTrait>(values: &ArrayRef, offsets: &[O]) -> Option<usize> {
    longest_between(offsets).map(|length| length.saturating_mul(longest_value(&elements(values, offsets))))
}

fn longest_between<O: OffsetSizeTrait>(offsets: &[O]) -> Option<usize> {
    offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| to.as_usize().saturating_sub(from.as_usize())).max()
}

/// The lengths of values by their views, whose lowest 32 bits they are.
fn view_lengths(views: &[u128]) -> impl Iterator<Item = usize> {
    views.iter().map(|view| (view & u128::from(u32::MAX)) as usize)
}
