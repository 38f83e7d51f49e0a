//! Memory of arrays that are slices of larger arrays.

use arrow_array::cast::AsArray as _;
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
