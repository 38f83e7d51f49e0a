//! Arrays, maps and structs, from the pages of their child columns.
//!
//! A null array is stored as an array of one null, so that `[null]` is read as null. A null struct is stored as nulls
//! of all children.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, ListArray, MapArray, StructArray, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use arrow_select::filter::filter;
use arrow_select::take::take;
use orcish_core::{Error, ErrorKind, Result};

use super::checks::{check_rows, invalid_array};
use super::nulls::nulls_where;
use crate::metadata::schema::Column;

/// The ranges of arrays in the values of their child column.
pub(crate) struct ListOffsets {
    /// Arrow offsets, of values in the order of the arrays.
    offsets: Vec<i32>,
    /// Start of each array in the stored values; `None` where they are in the order of the arrays.
    starts: Option<Vec<u32>>,
}

impl ListOffsets {
    /// Reads the length and the start of the array of each row.
    pub(crate) fn read(data: &[u8], rows: Option<usize>) -> Result<Self> {
        let (pairs, rest) = data.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Error::corrupt("lengths and starts of arrays end within one"));
        }
        check_rows(pairs.len(), rows.unwrap_or(pairs.len()))?;
        let length_and_start =
            |&[a, b, c, d, e, f, g, h]: &[u8; 8]| (i32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        let mut offsets = Vec::with_capacity(pairs.len() + 1);
        offsets.push(0);
        let mut end = 0i32;
        let mut in_order = true;
        for (count, first) in pairs.iter().map(length_and_start) {
            in_order &= count == 0 || first == end.cast_unsigned();
            let next = end.checked_add(count).filter(|_| count >= 0);
            end = next.ok_or_else(|| Error::corrupt(format!("an array of {count} values")))?;
            offsets.push(end);
        }
        let starts = (!in_order).then(|| pairs.iter().map(|pair| length_and_start(pair).1).collect());
        Ok(ListOffsets { offsets, starts })
    }

    /// Ranges of values that are in the order of the arrays.
    pub(crate) fn in_order(offsets: Vec<i32>) -> Self {
        ListOffsets { offsets, starts: None }
    }

    /// The range of each array.
    fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.offsets.windows(2).map(|pair| match pair {
            &[start, end] => usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0),
            _ => 0..0,
        })
    }

    fn total(&self) -> usize {
        self.offsets.last().and_then(|&end| usize::try_from(end).ok()).unwrap_or(0)
    }

    /// The values in the order of the arrays.
    fn gather(&self, values: &ArrayRef) -> Result<ArrayRef> {
        let outside = || Error::corrupt(format!("arrays of {} values, and {} are there", self.total(), values.len()));
        if self.total() > values.len() {
            return Err(outside());
        }
        let Some(starts) = &self.starts else {
            return Ok(if self.total() == values.len() { values.clone() } else { values.slice(0, self.total()) });
        };
        let mut indices = Vec::with_capacity(self.total());
        for (range, &first) in self.ranges().zip(starts) {
            let end = u32::try_from(range.len()).ok().and_then(|count| first.checked_add(count));
            let end = end.filter(|&end| range.is_empty() || usize::try_from(end).is_ok_and(|end| end <= values.len()));
            indices.extend(first..end.ok_or_else(outside)?);
        }
        take(values, &UInt32Array::from(indices), None).map_err(invalid_array)
    }
}

/// An array of lists with the values of `child`.
pub(crate) fn arrays(column: &Column, list_offsets: &ListOffsets, child: &ArrayRef) -> Result<ArrayRef> {
    let DataType::List(field) = column.data_type() else { return Err(Error::corrupt("no array")) };
    let values = empty_binaries_to_null(list_offsets.gather(child)?)?;
    let nulls = nulls_of(list_offsets, values.logical_nulls());
    let offsets = OffsetBuffer::new(ScalarBuffer::from(list_offsets.offsets.clone()));
    Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls).map_err(invalid_array)?))
}

/// Nulls of lists: those whose only value is null.
fn nulls_of(list_offsets: &ListOffsets, nulls: Option<NullBuffer>) -> Option<NullBuffer> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    let is_null: Vec<bool> =
        list_offsets.ranges().map(|range| range.len() == 1 && nulls.is_null(range.start)).collect();
    nulls_where(is_null.len(), |row| is_null.get(row) == Some(&true))
}

/// An array of maps.
///
/// # Errors
/// `NullMapKey` where a key is null, unless the map has a single entry with a null value: it is a null map.
pub(crate) fn maps(
    column: &Column,
    list_offsets: &ListOffsets,
    children: Vec<ArrayRef>,
    entries: usize,
) -> Result<ArrayRef> {
    let DataType::Map(field, is_sorted) = column.data_type() else { return Err(Error::corrupt("no map")) };
    let DataType::Struct(fields) = field.data_type() else { return Err(Error::corrupt("no entries of a map")) };
    for child in &children {
        check_rows(child.len(), entries)?;
    }
    let mut children =
        children.iter().map(|child| empty_binaries_to_null(list_offsets.gather(child)?)).collect::<Result<Vec<_>>>()?;
    let mut nulls = None;
    let mut offsets = list_offsets.offsets.clone();
    if let Some(key_nulls) =
        children.first().and_then(|keys| keys.logical_nulls()).filter(|nulls| nulls.null_count() > 0)
    {
        let entry_nulls = all_null(&children, list_offsets.total());
        nulls = nulls_of(list_offsets, entry_nulls);
        let mut end = 0i32;
        for (row, (range, offset)) in list_offsets.ranges().zip(offsets.iter_mut().skip(1)).enumerate() {
            if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                if key_nulls.slice(range.start, range.len()).null_count() > 0 {
                    let row = u64::try_from(row).unwrap_or(u64::MAX);
                    return Err(Error::new(ErrorKind::NullMapKey, "a map has a null key").at_row(row));
                }
                end = end.saturating_add(i32::try_from(range.len()).unwrap_or(i32::MAX));
            }
            *offset = end;
        }
        let kept = BooleanArray::new(key_nulls.inner().clone(), None);
        children = children.iter().map(|child| filter(child, &kept).map_err(invalid_array)).collect::<Result<_>>()?;
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let entries = StructArray::try_new(fields.clone(), children, None).map_err(invalid_array)?;
    Ok(Arc::new(MapArray::try_new(field, offsets, entries, nulls, is_sorted).map_err(invalid_array)?))
}

/// Number of rows of a page of structs, which has the number of children for each row.
pub(crate) fn struct_rows(data: &[u8], rows: Option<usize>) -> Result<usize> {
    if !data.len().is_multiple_of(2) {
        return Err(Error::corrupt("structs end within one"));
    }
    let structs = data.len() / 2;
    check_rows(structs, rows.unwrap_or(structs))?;
    Ok(structs)
}

/// An array of structs.
pub(crate) fn structs(column: &Column, children: Vec<ArrayRef>, rows: usize) -> Result<ArrayRef> {
    let DataType::Struct(fields) = column.data_type() else { return Err(Error::corrupt("no struct")) };
    for child in &children {
        check_rows(child.len(), rows)?;
    }
    let children = children.into_iter().map(empty_binaries_to_null).collect::<Result<Vec<_>>>()?;
    let nulls = all_null(&children, rows);
    Ok(Arc::new(StructArray::try_new_with_length(fields, children, nulls, rows).map_err(invalid_array)?))
}

/// Empty binaries become null in child columns, where null is stored as an empty value. Apache's reader does the same.
fn empty_binaries_to_null(array: ArrayRef) -> Result<ArrayRef> {
    let Some(binary) = array.as_binary_opt::<i32>() else { return Ok(array) };
    let is_empty = |row: usize| binary.offsets().get(row) == binary.offsets().get(row + 1);
    let Some(nulls) = nulls_where(binary.len(), is_empty) else { return Ok(array) };
    let nulls = NullBuffer::union(binary.nulls(), Some(&nulls));
    let with_nulls = BinaryArray::try_new(binary.offsets().clone(), binary.values().clone(), nulls);
    Ok(Arc::new(with_nulls.map_err(invalid_array)?))
}

/// Nulls where all arrays are null.
fn all_null(arrays: &[ArrayRef], rows: usize) -> Option<NullBuffer> {
    let mut valid = None;
    for array in arrays {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0)?;
        valid = Some(match valid {
            None => nulls.into_inner(),
            Some(valid) => &valid | nulls.inner(),
        });
    }
    let nulls = NullBuffer::new(valid.filter(|valid| valid.len() == rows)?);
    (nulls.null_count() > 0).then_some(nulls)
}
