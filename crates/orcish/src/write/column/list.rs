//! Lists and maps (ORCv1, List Columns, Map Columns): lengths, and the elements one list behind the other.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};

use super::{Column, Compressors, Detail, Ended, Outcome, Starts, StreamKind, Tools, Values, valid_ranges};
use crate::write::selected::Selected;
use crate::write::streams::{IntStream, Layout};

pub(super) struct ListValues {
    lengths: IntStream,
    starts: Starts,
    /// Least and greatest length, and all together.
    bounds: Option<(u64, u64)>,
    total: u64,
    /// The element, or key and value.
    children: Vec<Column>,
}

/// The lists of an array that are valid: their lengths, and which of the elements are theirs.
struct Lists {
    lengths: Vec<i64>,
    selected: Selected,
    /// Indexes of the lists.
    indexes: Vec<usize>,
}

impl Lists {
    /// Of lists by where they begin and end. Elements that follow one another without a gap stay where they are.
    fn new(length: usize, valid: Option<&NullBuffer>, range: impl Fn(usize) -> (usize, usize)) -> Self {
        let indexes: Vec<usize> = valid_ranges(length, valid).flatten().collect();
        let mut lengths = Vec::with_capacity(indexes.len());
        let mut together: Option<(usize, usize)> = None;
        let mut is_together = true;
        for &index in &indexes {
            let (start, end) = range(index);
            lengths.push(i64::try_from(end.saturating_sub(start)).unwrap_or(i64::MAX));
            if end > start {
                is_together &= together.is_none_or(|(_, last)| last == start);
                together = Some((together.map_or(start, |(first, _)| first), end));
            }
        }
        let selected = match together {
            None => Selected::Range { start: 0, length: 0 },
            Some((start, end)) if is_together => Selected::Range { start, length: end - start },
            Some(_) => Selected::of_indexes(indexes.iter().flat_map(|&index| {
                let (start, end) = range(index);
                start..end
            })),
        };
        Lists { lengths, selected, indexes }
    }

    fn of_offsets<O: OffsetSizeTrait>(offsets: &[O], valid: Option<&NullBuffer>) -> Self {
        let at = |index: usize| offsets.get(index).map_or(0, |offset| offset.as_usize());
        Self::new(offsets.len().saturating_sub(1), valid, |index| (at(index), at(index + 1)))
    }

    fn of_views<O: OffsetSizeTrait>(offsets: &[O], sizes: &[O], valid: Option<&NullBuffer>) -> Self {
        let at = |numbers: &[O], index: usize| numbers.get(index).map_or(0, |number| number.as_usize());
        Self::new(sizes.len(), valid, |index| (at(offsets, index), at(offsets, index) + at(sizes, index)))
    }

    /// Index of the list that element number `at` of those selected is in.
    fn list_of(&self, at: usize) -> usize {
        let mut left = i64::try_from(at).unwrap_or(i64::MAX);
        let found = self.lengths.iter().position(|&length| {
            let is_here = left < length;
            left -= length;
            is_here
        });
        found.and_then(|list| self.indexes.get(list)).copied().unwrap_or_default()
    }
}

impl ListValues {
    pub(super) fn new(children: Vec<Column>, layout: Layout) -> Self {
        let lengths = IntStream::of_integers(layout, false);
        ListValues { lengths, starts: Starts::default(), bounds: None, total: 0, children }
    }
}

/// The lists of an array, and the arrays of their elements, or of keys and values.
fn take_apart(array: &ArrayRef, valid: Option<&NullBuffer>) -> Result<(Lists, Vec<ArrayRef>)> {
    Ok(match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            (Lists::of_offsets(lists.value_offsets(), valid), vec![lists.values().clone()])
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            (Lists::of_offsets(lists.value_offsets(), valid), vec![lists.values().clone()])
        }
        DataType::ListView(_) => {
            let lists = array.as_list_view::<i32>();
            (Lists::of_views(lists.value_offsets(), lists.value_sizes(), valid), vec![lists.values().clone()])
        }
        DataType::LargeListView(_) => {
            let lists = array.as_list_view::<i64>();
            (Lists::of_views(lists.value_offsets(), lists.value_sizes(), valid), vec![lists.values().clone()])
        }
        DataType::FixedSizeList(_, size) => {
            let lists = array.as_fixed_size_list();
            let size = usize::try_from(*size).unwrap_or_default();
            let lists_of = Lists::new(lists.len(), valid, |index| (index * size, (index + 1) * size));
            (lists_of, vec![lists.values().clone()])
        }
        DataType::Map(_, _) => {
            let maps = array.as_map();
            let entries = maps.entries();
            if entries.null_count() > 0 {
                return Err(Error::invalid("a map with an entry that is null"));
            }
            (Lists::of_offsets(maps.value_offsets(), valid), entries.columns().to_vec())
        }
        other => return Err(Error::invalid(format!("{other} is no list"))),
    })
}

impl Values for ListValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        self.lengths.relieve(tools.compressors)?;
        let (lists, arrays) = take_apart(array, valid)?;
        for &length in &lists.lengths {
            let length = length.cast_unsigned();
            let (min, max) = self.bounds.unwrap_or((length, length));
            self.bounds = Some((min.min(length), max.max(length)));
            self.total += length;
        }
        self.lengths.held().extend_from_slice(&lists.lengths);
        for (child, array) in self.children.iter_mut().zip(&arrays) {
            let values = lists.selected.of(array)?;
            child.append(&values, tools.compressors).map_err(|fault| fault.map_index(|at| lists.list_of(at)))?;
        }
        Ok(())
    }

    fn begin_group(&mut self) {
        self.starts.push(|position| self.lengths.position(position));
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.lengths.end_run(compressors)?;
        let (min_children, max_children) = self.bounds.take().unzip();
        Ok(Detail::Collection { min_children, max_children, total_children: Some(std::mem::take(&mut self.total)) })
    }

    fn size(&self) -> usize {
        self.lengths.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        Ok(Ended {
            streams: vec![(StreamKind::Length, self.lengths.take(compressors)?)],
            has_integers: true,
            positions: self.starts.take(),
            ..Ended::default()
        })
    }

    fn children(&mut self) -> &mut [Column] {
        &mut self.children
    }
}
