//! Strings, char and varchar by reference to a dictionary (ORCv1, String, Char, and VarChar Columns).

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{BinaryViewType, ByteViewType, StringViewType};
use arrow_array::{ArrayRef, GenericByteViewArray};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::DataType;

use super::binary::{Target, rows_within};
use super::strings::{Concatenated, array, dictionary_array};
use super::validity::{Pending, combine, existing, spread};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::int_rle::IntRle;
use crate::error::{Error, Result};
use crate::index::GroupStart;
use crate::source::Positions;

/// Entries of at most this many bytes are copied with all that follows up to here.
const SHORT: usize = 32;
/// Values that are gathered at a time, where all are short.
const GATHERED: usize = 64;

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
    bytes: Buffer,
    /// The same as an array.
    array: Option<ArrayRef>,
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
        let mut stored = Concatenated::read(lengths, &mut self.data, budget).map_err(in_data)?;
        if target.trim {
            stored = stored.trim();
        }
        let Concatenated { lengths, mut bytes, .. } = stored;
        bytes.resize(bytes.len() + SHORT, 0);
        let bytes = Buffer::from_vec(bytes);
        let mut at = 0;
        let place = |&length: &u32| {
            at += length;
            (at - length, length)
        };
        let places: Vec<_> = lengths.iter().map(place).collect();
        // Every entry is checked here, once, to be UTF-8 where it has to be.
        let kind = match &target.arrow {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        let array = Some(array(kind, &lengths, bytes.clone(), None, false).map_err(in_data)?);
        let longest = lengths.iter().fold(0, |longest, &length| longest.max(length as usize));
        Ok(Entries { places, bytes, array, longest })
    }
}

impl ColumnReader for DictionaryReader {
    fn width(&self) -> usize {
        size_of::<u128>()
    }

    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        if let Some(stored) = self.stored.take() {
            self.entries = stored.load(&self.target, budget.of_one_row())?;
        }
        let rows = rows.min(budget.rows(self.width()));
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
            (DataType::Utf8View, Some(values)) => views::<StringViewType>(&references, values, nulls),
            (DataType::BinaryView, Some(values)) => views::<BinaryViewType>(&references, values, nulls),
            (target, _) => self.entries.gather(&references).into_array(target, nulls),
        }
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.pending.skip(rows)?.fresh;
        self.references.skip(n).map_err(|error| error.in_stream("DATA"))
    }

    fn seek(&mut self, own: &mut Positions<'_>, _to: &GroupStart<'_>) -> Result<()> {
        self.pending.seek(own)?;
        self.references.seek(own).map_err(|error| error.in_stream("DATA"))
    }
}

impl Entries {
    fn place(&self, reference: u32) -> (u32, u32) {
        self.places.get(reference as usize).copied().unwrap_or_default()
    }

    /// Values of the references, one after the other.
    fn gather(&self, references: &[u32]) -> Concatenated {
        let (lengths, bytes) = match self.longest {
            0..=8 => self.gather_short::<8>(references),
            9..=16 => self.gather_short::<16>(references),
            17..=SHORT => self.gather_short::<SHORT>(references),
            _ => self.gather_any(references),
        };
        Concatenated { lengths, bytes, checked: true }
    }

    /// Values of no more than `N` bytes: a copy of fixed length, of which the next overwrites what is too much,
    /// beats one of the right length.
    #[expect(clippy::indexing_slicing, reason = "no place is further than those of all values before it together")]
    fn gather_short<const N: usize>(&self, references: &[u32]) -> (Vec<u32>, Vec<u8>) {
        let mut all_lengths = Vec::with_capacity(references.len());
        let mut bytes = Vec::with_capacity(references.len() * N.min(self.longest));
        let (mut lengths, mut buffer) = ([0; GATHERED], [0; GATHERED * SHORT + SHORT]);
        for references in references.chunks(GATHERED) {
            let mut at = 0;
            for (&reference, to) in references.iter().zip(&mut lengths) {
                let (start, length) = self.place(reference);
                let from = self.bytes.get(start as usize..).and_then(|bytes| bytes.first_chunk::<N>());
                buffer[at % (GATHERED * SHORT)..][..N].copy_from_slice(from.unwrap_or(&[0; N]));
                *to = length;
                at += length as usize;
            }
            all_lengths.extend_from_slice(&lengths[..references.len()]);
            bytes.extend_from_slice(&buffer[..at]);
        }
        (all_lengths, bytes)
    }

    fn gather_any(&self, references: &[u32]) -> (Vec<u32>, Vec<u8>) {
        let lengths: Vec<u32> = references.iter().map(|&reference| self.place(reference).1).collect();
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let mut bytes: Vec<u8> = Vec::with_capacity(total + SHORT);
        for (start, length) in references.iter().map(|&reference| self.place(reference)) {
            let (at, length) = (bytes.len(), length as usize);
            let from = self.bytes.get(start as usize..).unwrap_or_default();
            match from.first_chunk::<SHORT>() {
                Some(short) if length <= SHORT => bytes.extend_from_slice(short),
                _ => bytes.extend_from_slice(from.get(..length).unwrap_or_default()),
            }
            bytes.truncate(at + length);
        }
        (lengths, bytes)
    }
}

/// Views of the entries that are referred to, into the bytes of `values`.
fn views<T: ByteViewType>(references: &[u32], values: &ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let entries = values.as_byte_view::<T>();
    let view = |&reference: &u32| entries.views().get(reference as usize).copied().unwrap_or_default();
    let mut views: Vec<u128> = references.iter().map(view).collect();
    spread(&mut views, nulls.as_ref());
    let array = GenericByteViewArray::<T>::try_new(views.into(), entries.data_buffers().to_vec(), nulls);
    Ok(Arc::new(array.map_err(|error| Error::corrupt("its references do not fit").with_source(error))?))
}
