//! Strings, char, varchar and binary (ORCv1, String, Char, and VarChar Columns; Binary Columns), and
//! geometry and geography, which are stored as binary.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{ArrayRef, DictionaryArray, GenericByteArray, GenericByteViewArray, Int32Array, builder::make_view};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};

use super::list::offsets;
use super::validity::{Pending, combine, existing, spread};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::int_rle::IntRle;
use crate::error::{Error, Result};
use crate::source::{ByteSource, stream_ends};

/// Copies of at most this many bytes copy all of them.
const SHORT: usize = 32;

/// Values one after the other: their lengths, and their bytes.
struct Concatenated {
    lengths: Vec<u32>,
    bytes: Vec<u8>,
}

impl Concatenated {
    /// Reads values of the given lengths.
    fn read(lengths: Vec<u32>, stream: &mut Stream, budget: Budget) -> Result<Self> {
        let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let mut left = usize::try_from(total).ok().filter(|&total| total <= budget.bytes);
        let mut bytes = Vec::with_capacity(left.unwrap_or_default().saturating_add(SHORT));
        let left = left.as_mut().ok_or_else(|| budget.exceeded(&format!("{total} bytes of values")))?;
        while *left > 0 {
            let there = stream.fill(1)?;
            let n = there.len().min(*left);
            if n == 0 {
                return Err(stream_ends(*left));
            }
            bytes.extend_from_slice(there.get(..n).unwrap_or_default());
            stream.consume(n);
            *left -= n;
        }
        Ok(Concatenated { lengths, bytes })
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        values(&self.lengths, &self.bytes)
    }

    /// Cuts the blanks off the end of each value.
    fn trim(self) -> Self {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let trim = |value: &[u8]| {
            let length = value.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            bytes.extend_from_slice(value.get(..length).unwrap_or_default());
            u32::try_from(length).unwrap_or_default()
        };
        Concatenated { lengths: self.iter().map(trim).collect(), bytes }
    }

    /// The array of these values, spread over the slots that are valid.
    fn into_array(mut self, target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        if let DataType::Dictionary(_, _) = target {
            return self.into_dictionary(nulls);
        }
        spread(&mut self.lengths, nulls.as_ref());
        let (lengths, bytes) = (self.lengths, Buffer::from_vec(self.bytes));
        let result = match target {
            DataType::Utf8View => view::<StringViewType>(&lengths, &bytes, nulls),
            DataType::BinaryView => view::<BinaryViewType>(&lengths, &bytes, nulls),
            _ => offset_array(target, &lengths, bytes.clone(), nulls)?,
        };
        result.map_err(|error| match values(&lengths, &bytes).position(|value| std::str::from_utf8(value).is_err()) {
            Some(row) => Error::corrupt(format!("value {row} of the batch is not valid UTF-8")),
            None => Error::corrupt("its values do not fit together").with_source(error),
        })
    }

    /// Finds equal values; the dictionary is in order of first occurrence.
    fn into_dictionary(self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut found: HashMap<&[u8], i32> = HashMap::new();
        let mut distinct = Concatenated { lengths: Vec::new(), bytes: Vec::new() };
        let mut keys = Vec::with_capacity(self.lengths.len());
        for (value, &length) in self.iter().zip(&self.lengths) {
            let next = i32::try_from(found.len()).unwrap_or(i32::MAX);
            keys.push(match found.entry(value) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    distinct.lengths.push(length);
                    distinct.bytes.extend_from_slice(value);
                    *entry.insert(next)
                }
            });
        }
        drop(found);
        dictionary_array(keys, distinct.into_array(&DataType::Utf8, None)?, nulls)
    }
}

/// Values of these lengths, which are one after the other in `bytes`.
fn values<'a>(lengths: &'a [u32], bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    lengths.iter().map(move |&length| {
        let (value, after) = rest.split_at_checked(length as usize).unwrap_or_default();
        rest = after;
        value
    })
}

type Arrow<T> = std::result::Result<T, ArrowError>;

/// An array with offsets, of values of the given lengths.
fn offset_array(
    target: &DataType,
    lengths: &[u32],
    bytes: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<Arrow<ArrayRef>> {
    fn make<T: ByteArrayType>(offsets: Vec<T::Offset>, bytes: Buffer, nulls: Option<NullBuffer>) -> Arrow<ArrayRef> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, bytes, nulls)?))
    }
    Ok(match target {
        DataType::LargeUtf8 | DataType::LargeBinary => {
            let mut sum = 0;
            let sums = lengths.iter().map(|&length| {
                sum += i64::from(length);
                sum
            });
            let offsets: Vec<i64> = std::iter::once(0).chain(sums).collect();
            match target {
                DataType::LargeUtf8 => make::<LargeUtf8Type>(offsets, bytes, nulls),
                _ => make::<LargeBinaryType>(offsets, bytes, nulls),
            }
        }
        DataType::Utf8 => make::<Utf8Type>(offsets(lengths)?, bytes, nulls),
        _ => make::<BinaryType>(offsets(lengths)?, bytes, nulls),
    })
}

/// An array of views of values of the given lengths.
fn view<T: ByteViewType>(lengths: &[u32], bytes: &Buffer, nulls: Option<NullBuffer>) -> Arrow<ArrayRef> {
    let mut offset = 0;
    let view = |value: &[u8]| {
        let view = make_view(value, 0, offset);
        offset += u32::try_from(value.len()).unwrap_or_default();
        view
    };
    let views: Vec<u128> = values(lengths, bytes).map(view).collect();
    Ok(Arc::new(GenericByteViewArray::<T>::try_new(ScalarBuffer::from(views), vec![bytes.clone()], nulls)?))
}

fn dictionary_array(mut keys: Vec<i32>, values: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    spread(&mut keys, nulls.as_ref());
    let keys = Int32Array::new(ScalarBuffer::from(keys), nulls);
    let array = DictionaryArray::try_new(keys, values);
    Ok(Arc::new(array.map_err(|error| Error::corrupt("its references do not fit").with_source(error))?))
}

/// What strings and binaries become.
pub(super) struct Target {
    pub(super) arrow: DataType,
    /// Cut trailing blanks off.
    pub(super) trim: bool,
}

/// Values stored one after the other.
pub(super) struct DirectReader {
    pub(super) pending: Pending,
    pub(super) lengths: IntRle<Stream>,
    pub(super) data: Stream,
    pub(super) target: Target,
}

impl ColumnReader for DirectReader {
    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let rows = rows.min(budget.rows(size_of::<u128>()));
        let lengths = &mut self.lengths;
        self.pending.fill(rows, |n, out| lengths.append(n, out).map_err(|error| error.in_stream("LENGTH")))?;
        rows_within(&self.pending, rows, budget, |length| length as usize)
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let own = existing(slots, parent);
        let own_nulls = self.pending.take(own);
        let lengths = self.pending.take_dense(existing(own, own_nulls.as_ref()));
        let nulls = combine(parent, own_nulls);
        let budget = Budget { bytes: i32::MAX as usize, most: i32::MAX as usize };
        let values = Concatenated::read(lengths, &mut self.data, budget);
        let values = values.and_then(|values| {
            let values = if self.target.trim { values.trim() } else { values };
            values.into_array(&self.target.arrow, nulls)
        });
        values.map_err(|error| error.in_stream("DATA"))
    }
}

/// How many of `rows` pending rows are within the budget, where `size` is what a row's number stands for.
fn rows_within(pending: &Pending, rows: usize, budget: Budget, size: impl Fn(u32) -> usize) -> Result<usize> {
    let numbers = pending.dense.get(..pending.valid(rows)).unwrap_or_default();
    if numbers.iter().map(|&number| size(number) as u64).sum::<u64>() <= budget.bytes as u64 {
        return Ok(rows);
    }
    let mut left = budget.bytes;
    let fits = |number: &&u32| {
        let rest = left.checked_sub(size(**number));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    let whole = numbers.iter().take_while(fits).count();
    match pending.rows_with(rows, whole) {
        0 if budget.is_part() => Ok(0),
        0 => Err(budget.exceeded(&format!("a value of {} bytes", numbers.first().map_or(0, |&n| size(n))))),
        rows => Ok(rows),
    }
}

/// References to the entries of a dictionary, which the stripe has once for all its rows.
pub(super) struct DictionaryReader {
    pub(super) pending: Pending,
    pub(super) references: IntRle<Stream>,
    /// Streams of the dictionary, until it is read.
    pub(super) stored: Option<StoredDictionary>,
    pub(super) entries: Entries,
    pub(super) target: Target,
}

pub(super) struct StoredDictionary {
    pub(super) size: u32,
    pub(super) lengths: IntRle<Stream>,
    pub(super) data: Stream,
}

/// The entries of a dictionary.
#[derive(Default)]
pub(super) struct Entries {
    /// Where each begins, and its length.
    places: Vec<(u32, u32)>,
    /// All of them, and some bytes more, so that short copies need not be exact.
    bytes: Vec<u8>,
    /// The same as an array, where the dictionary or views into it are handed out.
    array: Option<ArrayRef>,
    views: Vec<u128>,
    /// Length of the longest.
    longest: usize,
}

impl StoredDictionary {
    fn load(mut self, target: &Target, budget: Budget) -> Result<Entries> {
        let size = self.size as usize;
        if size > budget.rows(size_of::<(u32, u32)>()) {
            return Err(budget.exceeded(&format!("a dictionary of {size} entries")));
        }
        let mut lengths = Vec::new();
        self.lengths.append(size, &mut lengths).map_err(|error| error.in_stream("LENGTH"))?;
        let in_data = |error: Error| error.in_stream("DICTIONARY_DATA");
        let mut values = Concatenated::read(lengths, &mut self.data, budget).map_err(in_data)?;
        if target.trim {
            values = values.trim();
        }
        let mut at = 0;
        let place = |&length: &u32| {
            at += length;
            (at - length, length)
        };
        let longest = values.lengths.iter().fold(0, |longest, &length| longest.max(length as usize));
        let mut entries = Entries { longest, places: values.lengths.iter().map(place).collect(), ..Entries::default() };
        match target.arrow {
            DataType::Utf8View | DataType::BinaryView => {
                let place = |(value, &(at, _)): (&[u8], &(u32, u32))| make_view(value, 0, at);
                entries.views = values.iter().zip(&entries.places).map(place).collect();
            }
            _ => {
                entries.bytes = values.bytes.clone();
                entries.bytes.resize(values.bytes.len() + SHORT, 0);
            }
        }
        // Every entry is checked here, once, to be UTF-8 where it has to be.
        let kind = match &target.arrow {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        entries.array = Some(values.into_array(kind, None).map_err(in_data)?);
        Ok(entries)
    }
}

impl DictionaryReader {
    /// Values of the references, one after the other.
    fn gather(&self, references: &[u32]) -> Concatenated {
        let places = &self.entries.places;
        let place = |&reference: &u32| places.get(reference as usize).copied().unwrap_or_default();
        let lengths: Vec<u32> = references.iter().map(|reference| place(reference).1).collect();
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let mut bytes: Vec<u8> = Vec::with_capacity(total + SHORT);
        for (start, length) in references.iter().map(place) {
            let (at, length) = (bytes.len(), length as usize);
            let from = self.entries.bytes.get(start as usize..).unwrap_or_default();
            match from.first_chunk::<SHORT>() {
                // A copy of fixed length, cut back, beats one of the right length.
                Some(short) if length <= SHORT => bytes.extend_from_slice(short),
                _ => bytes.extend_from_slice(from.get(..length).unwrap_or_default()),
            }
            bytes.truncate(at + length);
        }
        Concatenated { lengths, bytes }
    }
}

impl ColumnReader for DictionaryReader {
    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        if let Some(stored) = self.stored.take() {
            self.entries = stored.load(&self.target, budget.of_one_row())?;
        }
        let rows = rows.min(budget.rows(size_of::<u128>()));
        let (references, size) = (&mut self.references, self.entries.places.len());
        self.pending.fill(rows, |n, out| {
            let from = out.len();
            references.append(n, out).map_err(|error| error.in_stream("DATA"))?;
            let largest = out.get(from..).unwrap_or_default().iter().fold(0, |largest, &n| largest.max(n));
            match largest as usize >= size && n > 0 {
                true => Err(Error::corrupt(format!("entry {largest} of a dictionary of {size}")).in_stream("DATA")),
                false => Ok(()),
            }
        })?;
        let places = &self.entries.places;
        let size = |reference| places.get(reference as usize).map_or(0, |&(_, length)| length as usize);
        match self.target.arrow {
            DataType::Dictionary(_, _) | DataType::Utf8View | DataType::BinaryView => Ok(rows),
            _ if rows.saturating_mul(self.entries.longest) <= budget.bytes => Ok(rows),
            _ => rows_within(&self.pending, rows, budget, size),
        }
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let own = existing(slots, parent);
        let own_nulls = self.pending.take(own);
        let references = self.pending.take_dense(existing(own, own_nulls.as_ref()));
        let nulls = combine(parent, own_nulls);
        match (&self.target.arrow, &self.entries.array) {
            (DataType::Dictionary(_, _), Some(values)) => {
                dictionary_array(references.into_iter().map(u32::cast_signed).collect(), values.clone(), nulls)
            }
            (DataType::Utf8View, Some(values)) => self.entries.views::<StringViewType>(&references, values, nulls),
            (DataType::BinaryView, Some(values)) => self.entries.views::<BinaryViewType>(&references, values, nulls),
            (target, _) => self.gather(&references).into_array(target, nulls),
        }
    }
}

impl Entries {
    /// Views of the entries that are referred to, into the bytes of `values`.
    fn views<T: ByteViewType>(
        &self,
        references: &[u32],
        values: &ArrayRef,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let view = |&reference: &u32| self.views.get(reference as usize).copied().unwrap_or_default();
        let mut views: Vec<u128> = references.iter().map(view).collect();
        spread(&mut views, nulls.as_ref());
        let blocks = values.as_byte_view::<T>().data_buffers().to_vec();
        let array = GenericByteViewArray::<T>::try_new(ScalarBuffer::from(views), blocks, nulls);
        Ok(Arc::new(array.map_err(|error| Error::corrupt("its references do not fit").with_source(error))?))
    }
}
