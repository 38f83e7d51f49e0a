//! Writers of columns: from Arrow arrays to the streams, the row index and the statistics of a stripe.
//!
//! [`Column`] does what all columns have in common: nulls, row groups, statistics, bloom filters, the index. What a
//! value is, the [`Values`] of each kind know.

mod binary;
mod boolean;
mod bytes;
mod decimal;
mod dictionary;
mod float;
mod integer;
mod list;
mod make;
mod structs;
mod text;
mod timestamp;
mod union;
mod utf8;

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use prost::Message as _;

use crate::statistics::to_proto;

pub(super) use make::{column, columns};

use orcish_core::error::Result;
use orcish_core::statistics::{ColumnStatistics, Detail};
use orcish_core::types::{is_text, values_of};

use super::bits::Bits;
use super::blocks::Blocks;
use super::compressors::Compressors;
use super::fault::{Fault, Outcome};
use super::streams::{Finished, Layout};
use crate::bloom::BloomBuilder;
use crate::proto::orc;
use crate::proto::orc::column_encoding::Kind as EncodingKind;
use crate::proto::orc::stream::Kind as StreamKind;

/// What a column works with.
pub(super) struct Tools<'a> {
    pub(super) compressors: &'a mut Compressors,
    /// The bloom filter of the row group, if the column has one.
    pub(super) bloom: Option<&'a mut BloomBuilder>,
}

/// The values of a column, nulls left out, of one stripe at a time.
pub(super) trait Values: Send {
    /// Takes the values of an array that are valid. It is of the type that the column was made for, without dictionary
    /// and run-ends, but for text, which takes dictionaries.
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome;

    /// A row group begins: the next value is its first.
    fn begin_group(&mut self);

    /// A row group ends: what is recorded of its values.
    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail>;

    /// Bytes that the stripe has so far, without those of the columns below.
    fn size(&self) -> usize;

    /// Bytes of memory that they take.
    fn memory(&self) -> usize {
        self.size()
    }

    /// The stripe ends; what comes next is in another.
    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended>;

    /// The columns below this one.
    fn children(&mut self) -> &mut [Column] {
        &mut []
    }
}

/// What is left of the values of a stripe.
#[derive(Default)]
pub(super) struct Ended {
    pub(super) streams: Vec<(StreamKind, Blocks)>,
    pub(super) is_dictionary: bool,
    /// Whether there are integers, and so a version of their encoding.
    pub(super) has_integers: bool,
    pub(super) dictionary_size: Option<u32>,
    /// Of the streams at the start of each row group, but for the present stream.
    pub(super) positions: Vec<Vec<u64>>,
}

impl Ended {
    /// That of values with one stream, which has no integers in it.
    fn of_data(bytes: Blocks, positions: Vec<Vec<u64>>) -> Self {
        Ended { streams: vec![(StreamKind::Data, bytes)], positions, ..Ended::default() }
    }
}

/// A column of a stripe that is done, in the terms of its footer.
pub(super) struct StripeColumn {
    pub(super) encoding: orc::ColumnEncoding,
    /// Row index and bloom filters first.
    pub(super) index: Vec<Finished>,
    pub(super) data: Vec<Finished>,
    pub(super) statistics: ColumnStatistics,
}

/// Bloom filters of a column in a stripe.
struct Bloom {
    current: BloomBuilder,
    done: Vec<orc::BloomFilter>,
}

/// A column that is being written.
pub(super) struct Column {
    id: u32,
    layout: Layout,
    has_index: bool,
    is_nullable: bool,
    values: Box<dyn Values>,
    present: Bits,
    /// Whether the stripe has a null.
    has_null: bool,
    bloom: Option<Bloom>,
    /// Values and nulls of the row group.
    group: (u64, u64),
    /// Statistics of the row groups that are done.
    groups: Vec<ColumnStatistics>,
    stripe: ColumnStatistics,
}

impl Column {
    /// A row group begins, in this column and those below.
    pub(super) fn begin_group(&mut self) {
        self.present.begin_group();
        self.values.begin_group();
        self.values.children().iter_mut().for_each(Column::begin_group);
    }

    /// Takes rows of the row group.
    pub(super) fn append(&mut self, array: &ArrayRef, compressors: &mut Compressors) -> Outcome {
        let array = plain(array)?;
        // Unions have no nulls of their own: those of their variants are values of these.
        let is_union = matches!(array.data_type(), DataType::Union(_, _));
        let nulls = if is_union { None } else { array.logical_nulls() };
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        let null_count = nulls.as_ref().map_or(0, NullBuffer::null_count);
        if let Some(nulls) = nulls.as_ref().filter(|_| !self.is_nullable) {
            let index = (0..nulls.len()).find(|&index| nulls.is_null(index)).unwrap_or_default();
            return Err(Fault::Value { index, column: self.id, message: "a null in a field that has none".to_owned() });
        }
        match &nulls {
            Some(nulls) => self.present.append(nulls.inner()),
            None => self.present.append_n(array.len(), true),
        }
        self.has_null |= null_count > 0;
        self.group.0 += (array.len() - null_count) as u64;
        self.group.1 += null_count as u64;
        let tools = Tools { compressors, bloom: self.bloom.as_mut().map(|bloom| &mut bloom.current) };
        self.values.append(&array, nulls.as_ref(), tools)
    }

    /// The row group ends, in this column and those below.
    pub(super) fn end_group(&mut self, compressors: &mut Compressors) -> Result<()> {
        for child in self.values.children() {
            child.end_group(compressors)?;
        }
        let detail = self.values.end_group(compressors)?;
        let (values, nulls) = std::mem::take(&mut self.group);
        let statistics =
            ColumnStatistics { values: Some(values), has_null: Some(nulls > 0), bytes_on_disk: None, detail };
        self.stripe.merge(&ColumnStatistics { bytes_on_disk: Some(0), ..statistics.clone() });
        if self.has_index {
            self.groups.push(statistics);
        }
        if let Some(bloom) = &mut self.bloom {
            bloom.done.push(bloom.current.take());
        }
        Ok(())
    }

    /// Does something with this column and those below, in the order of their ids.
    pub(in crate::write) fn each(&mut self, work: &mut dyn FnMut(&mut Column)) {
        work(self);
        self.values.children().iter_mut().for_each(|child| child.each(work));
    }

    /// Column id.
    pub(in crate::write) fn id(&self) -> u32 {
        self.id
    }

    /// The statistics of the last row group, if there is one.
    pub(in crate::write) fn last_group(&self) -> Option<&ColumnStatistics> {
        self.groups.last()
    }

    /// Has a bloom filter like this one made of the row group to come.
    pub(in crate::write) fn set_bloom(&mut self, like: BloomBuilder) {
        self.bloom = Some(Bloom { current: like, done: Vec::new() });
    }

    /// The bloom filter of the last row group, if there is one.
    pub(in crate::write) fn last_bloom(&self) -> Option<&orc::BloomFilter> {
        self.bloom.as_ref().and_then(|bloom| bloom.done.last())
    }

    /// Bytes that the stripe has so far, with those below.
    pub(super) fn size(&mut self) -> usize {
        let below: usize = self.values.children().iter_mut().map(Column::size).sum();
        self.values.size() + self.present.size() + self.size_of_blooms() + below
    }

    /// Bytes of memory that the stripe takes so far, with those below.
    pub(super) fn memory(&mut self) -> usize {
        let below: usize = self.values.children().iter_mut().map(Column::memory).sum();
        let groups = self.groups.len() * size_of::<ColumnStatistics>();
        self.values.memory() + self.present.size() + self.size_of_blooms() + groups + below
    }

    fn size_of_blooms(&self) -> usize {
        self.bloom.as_ref().map_or(0, |bloom| bloom.done.len() * bloom.current.size())
    }

    /// The stripe ends, after the last row group: this column, then those below, in the order of their ids.
    pub(super) fn end_stripe(&mut self, compressors: &mut Compressors, out: &mut Vec<StripeColumn>) -> Result<()> {
        let ended = self.values.end_stripe(compressors)?;
        let mut data = Vec::new();
        let mut positions = Vec::new();
        if self.has_null {
            let (bytes, starts) = self.present.take(self.layout, compressors)?;
            data.push(self.finished(StreamKind::Present, bytes));
            positions = starts;
        } else {
            self.present.clear();
        }
        data.extend(ended.streams.into_iter().map(|(kind, bytes)| self.finished(kind, bytes)));

        let mut index = Vec::new();
        let mut statistics = std::mem::replace(&mut self.stripe, ColumnStatistics::EMPTY);
        statistics.bytes_on_disk = Some(data.iter().map(|stream| stream.bytes.len() as u64).sum());
        if self.has_index {
            let groups = std::mem::take(&mut self.groups);
            let mut entry = Vec::with_capacity(groups.len());
            for (group, statistics) in groups.into_iter().enumerate() {
                let parts = [positions.get(group), ended.positions.get(group)];
                let positions = parts.into_iter().flatten().flatten().copied().collect();
                entry.push(orc::RowIndexEntry { positions, statistics: Some(to_proto(&statistics)) });
            }
            let bytes = self.layout.section(&orc::RowIndex { entry }.encode_to_vec(), compressors)?;
            index.push(self.finished(StreamKind::RowIndex, bytes));
        }
        if let Some(bloom) = &mut self.bloom {
            let filters = orc::BloomFilterIndex { bloom_filter: std::mem::take(&mut bloom.done) };
            let bytes = self.layout.section(&filters.encode_to_vec(), compressors)?;
            index.push(self.finished(StreamKind::BloomFilterUtf8, bytes));
        }
        self.has_null = false;
        let is_v2 = self.layout.version == super::options::Version::V0_12 && ended.has_integers;
        let kind = match (ended.is_dictionary, is_v2) {
            (false, false) => EncodingKind::Direct,
            (false, true) => EncodingKind::DirectV2,
            (true, false) => EncodingKind::Dictionary,
            (true, true) => EncodingKind::DictionaryV2,
        };
        let encoding = orc::ColumnEncoding {
            kind: Some(kind.into()),
            dictionary_size: ended.dictionary_size,
            // Timestamps are hashed in UTC.
            bloom_encoding: self.bloom.is_some().then_some(1),
        };
        out.push(StripeColumn { encoding, index, data, statistics });
        for child in self.values.children() {
            child.end_stripe(compressors, out)?;
        }
        Ok(())
    }

    fn finished(&self, kind: StreamKind, bytes: Blocks) -> Finished {
        Finished { column: self.id, kind, bytes }
    }
}

/// An array without run ends, and dictionaries of anything but text.
fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    let target = match array.data_type() {
        DataType::Dictionary(_, values) if !is_text(values) => values_of(values),
        DataType::RunEndEncoded(_, values) => values_of(values.data_type()),
        _ => return Ok(array.clone()),
    };
    let cast = arrow_cast::cast(array, target);
    cast.map_err(|error| {
        orcish_core::Error::invalid(format!("{} is not taken apart", array.data_type())).with_source(error)
    })
}

/// The ranges of indexes that are valid: all of `length` where there are no nulls.
fn valid_ranges(length: usize, valid: Option<&NullBuffer>) -> impl Iterator<Item = Range<usize>> {
    let all = valid.is_none().then_some(0..length);
    let slices = valid.map(|valid| valid.valid_slices().map(|(from, to)| from..to));
    all.into_iter().chain(slices.into_iter().flatten())
}

/// Positions of the streams of a column at the start of each row group of a stripe.
#[derive(Debug, Default)]
struct Starts(Vec<Vec<u64>>);

impl Starts {
    fn push(&mut self, record: impl FnOnce(&mut Vec<u64>)) {
        let mut position = Vec::with_capacity(4);
        record(&mut position);
        self.0.push(position);
    }

    fn take(&mut self) -> Vec<Vec<u64>> {
        std::mem::take(&mut self.0)
    }
}
