//! List and map columns (ORCv1, List Columns, Map Columns): a length stream, and child columns with the elements of all
//! lists.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, OrInternal as _, Result};

use super::{
    AppendContext, AppendResult, ColumnWriter, Compressors, Detail, EncodedValues, StreamKind, ValueEncoder,
    valid_ranges,
};
use crate::write::rle_stream::IntegerStream;
use crate::write::selection::Selection;
use crate::write::stream_options::StreamOptions;

pub(super) struct ListEncoder {
    lengths: IntegerStream,
    /// Minimum and maximum length in the row group.
    bounds: Option<(u64, u64)>,
    /// Elements of the row group.
    total_children: u64,
    /// The element column, or key and value column.
    children: Vec<ColumnWriter>,
}

/// The valid lists of an array.
struct ValidLists {
    lengths: Vec<i64>,
    /// The elements of the valid lists.
    elements: Selection,
    /// Indices of the lists in the array.
    indices: Vec<usize>,
}

impl ValidLists {
    /// The valid lists of an array of this length. `range` returns start and end of the elements of a list. Elements of
    /// lists without gaps between them are not copied.
    ///
    /// # Errors
    /// `Internal` where a list has no range.
    fn try_new(
        length: usize,
        valid: Option<&NullBuffer>,
        range: impl Fn(usize) -> Option<(usize, usize)>,
    ) -> Result<Self> {
        let indices: Vec<usize> = valid_ranges(length, valid).flatten().collect();
        let ranges: Option<Vec<(usize, usize)>> = indices.iter().map(|&index| range(index)).collect();
        let ranges = ranges.or_internal("a list has no offsets")?;
        let mut lengths = Vec::with_capacity(indices.len());
        // Start of the first and end of the last non-empty list.
        let mut span: Option<(usize, usize)> = None;
        let mut is_contiguous = true;
        for &(start, end) in &ranges {
            lengths.push(i64::try_from(end.saturating_sub(start)).or_internal("a list has more than 2^63 elements")?);
            if end > start {
                is_contiguous &= span.is_none_or(|(_, last)| last == start);
                span = Some((span.map_or(start, |(first, _)| first), end));
            }
        }
        let elements = match span {
            None => Selection::Range { start: 0, length: 0 },
            Some((start, end)) if is_contiguous => Selection::Range { start, length: end - start },
            Some(_) => Selection::from_indices(ranges.iter().flat_map(|&(start, end)| start..end)),
        };
        Ok(ValidLists { lengths, elements, indices })
    }

    fn from_offsets<O: OffsetSizeTrait>(offsets: &[O], valid: Option<&NullBuffer>) -> Result<Self> {
        let at = |index: usize| offsets.get(index).map(|offset| offset.as_usize());
        Self::try_new(offsets.len().saturating_sub(1), valid, |index| Some((at(index)?, at(index + 1)?)))
    }

    fn from_views<O: OffsetSizeTrait>(offsets: &[O], sizes: &[O], valid: Option<&NullBuffer>) -> Result<Self> {
        let at = |numbers: &[O], index: usize| numbers.get(index).map(|number| number.as_usize());
        Self::try_new(sizes.len(), valid, |index| {
            let start = at(offsets, index)?;
            Some((start, start + at(sizes, index)?))
        })
    }

    /// Index of the list that has selected element number `n`.
    fn list_of_element(&self, n: usize) -> Result<usize> {
        let mut remaining = i64::try_from(n).unwrap_or(i64::MAX);
        let list = self.lengths.iter().position(|&length| {
            let is_here = remaining < length;
            remaining -= length;
            is_here
        });
        list.and_then(|list| self.indices.get(list)).copied().or_internal("an error is in an element of no list")
    }
}

impl ListEncoder {
    pub(super) fn new(children: Vec<ColumnWriter>, options: StreamOptions) -> Self {
        ListEncoder { lengths: IntegerStream::unsigned(options), bounds: None, total_children: 0, children }
    }
}

/// The valid lists of an array, and its child arrays.
fn lists_and_children(array: &ArrayRef, valid: Option<&NullBuffer>) -> Result<(ValidLists, Vec<ArrayRef>)> {
    Ok(match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            (ValidLists::from_offsets(lists.value_offsets(), valid)?, vec![lists.values().clone()])
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            (ValidLists::from_offsets(lists.value_offsets(), valid)?, vec![lists.values().clone()])
        }
        DataType::ListView(_) => {
            let lists = array.as_list_view::<i32>();
            let valid_lists = ValidLists::from_views(lists.value_offsets(), lists.value_sizes(), valid)?;
            (valid_lists, vec![lists.values().clone()])
        }
        DataType::LargeListView(_) => {
            let lists = array.as_list_view::<i64>();
            let valid_lists = ValidLists::from_views(lists.value_offsets(), lists.value_sizes(), valid)?;
            (valid_lists, vec![lists.values().clone()])
        }
        DataType::FixedSizeList(_, size) => {
            let lists = array.as_fixed_size_list();
            let size = usize::try_from(*size).or_internal("lists have a negative size")?;
            let valid_lists =
                ValidLists::try_new(lists.len(), valid, |index| Some((index * size, (index + 1) * size)))?;
            (valid_lists, vec![lists.values().clone()])
        }
        DataType::Map(_, _) => {
            let maps = array.as_map();
            let entries = maps.entries();
            if entries.null_count() > 0 {
                return Err(Error::invalid("a map with an entry that is null"));
            }
            (ValidLists::from_offsets(maps.value_offsets(), valid)?, entries.columns().to_vec())
        }
        other => return Err(Error::invalid(format!("{other} is no list"))),
    })
}

impl ValueEncoder for ListEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        self.lengths.encode_if_large(context.compressors)?;
        let (lists, children) = lists_and_children(array, valid)?;
        for &length in &lists.lengths {
            let length = length.cast_unsigned();
            let (min, max) = self.bounds.unwrap_or((length, length));
            self.bounds = Some((min.min(length), max.max(length)));
            self.total_children += length;
        }
        self.lengths.buffer().extend_from_slice(&lists.lengths);
        for (child, array) in self.children.iter_mut().zip(&children) {
            let values = lists.elements.apply(array)?;
            child
                .append(&values, context.compressors)
                .map_err(|error| error.map_index(|element| lists.list_of_element(element)))?;
        }
        Ok(())
    }

    fn begin_row_group(&mut self) {
        self.lengths.begin_row_group();
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.lengths.end_run(compressors)?;
        let (min_children, max_children) = self.bounds.take().unzip();
        let total_children = Some(std::mem::take(&mut self.total_children));
        Ok(Detail::Collection { min_children, max_children, total_children })
    }

    fn size(&self) -> usize {
        self.lengths.size()
    }

    fn memory_size(&self) -> usize {
        self.lengths.memory_size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::direct(vec![(StreamKind::Length, self.lengths.finish(compressors)?)]))
    }

    fn children(&self) -> &[ColumnWriter] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [ColumnWriter] {
        &mut self.children
    }
}
