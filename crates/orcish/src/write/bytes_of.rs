//! How much memory rows take that are a part of a larger array.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, OffsetSizeTrait};
use arrow_schema::DataType;

/// Bytes of the values of an array, without those of its buffers that are beside it. Some forms are estimated.
pub(super) fn bytes_of(array: &ArrayRef) -> usize {
    let validity = array.len() / 8;
    validity
        + match array.data_type() {
            DataType::Struct(_) => array.as_struct().columns().iter().map(bytes_of).sum(),
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                part(lists.values(), lists.value_offsets())
            }
            DataType::LargeList(_) => {
                let lists = array.as_list::<i64>();
                part(lists.values(), lists.value_offsets())
            }
            DataType::Map(_, _) => {
                let maps = array.as_map();
                maps.entries().columns().iter().map(|column| part(column, maps.value_offsets())).sum()
            }
            DataType::FixedSizeList(_, _) => bytes_of(array.as_fixed_size_list().values()),
            _ => array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_buffer_memory_size()),
        }
}

/// Bytes of the elements between the first and the last offset, and of the offsets.
fn part<O: OffsetSizeTrait>(values: &ArrayRef, offsets: &[O]) -> usize {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return 0 };
    let (first, last) = (first.as_usize(), last.as_usize().min(values.len()));
    size_of_val(offsets) + bytes_of(&values.slice(first.min(last), last - first.min(last)))
}
