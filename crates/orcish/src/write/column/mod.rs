//! Column writers: from Arrow arrays to the streams, the row index and the statistics of a stripe.
//!
//! A [`ColumnWriter`] does what all columns have in common: nulls, row groups, statistics, bloom filters, the row
//! index. A [`ValueEncoder`] encodes the values of a type.

mod binary;
mod boolean;
mod build;
mod bytes;
mod decimal;
mod dictionary;
mod float;
mod integer;
mod keys;
mod lengths;
mod list;
mod string;
mod structs;
mod timestamp;
mod union;
mod utf8;
mod valid;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use prost::Message as _;

use crate::statistics::to_proto;

pub(super) use build::{child_writers, column_writer};

use orcish_core::cast::plain_values;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::statistics::{ColumnStatistics, Detail};
use orcish_core::types::is_text;

use self::valid::{valid_ranges, valid_slices};
use super::append_error::{AppendError, AppendResult};
use super::boolean_stream::BooleanStream;
use super::compressors::Compressors;
use super::encryption::ColumnMask;
use super::out_stream::FinishedStream;
use super::stream_options::{EncodedStream, StreamOptions};
use crate::bloom::BloomBuilder;
use crate::layout::{Coding, PRESENT, StreamLayout, value_streams};
use crate::proto::orc;
use crate::proto::orc::column_encoding::Kind as EncodingKind;
use crate::schema::Kind;
use crate::stripe::StreamKind;

/// What a [`ValueEncoder`] needs besides the values.
pub(super) struct AppendContext<'a> {
    pub(super) compressors: &'a mut Compressors,
    /// The bloom filter of the row group, if the column has one.
    pub(super) bloom_filter: Option<&'a mut BloomBuilder>,
}

/// Encodes the non-null values of a column, one stripe after another.
pub(super) trait ValueEncoder: Send {
    /// Appends the valid values of an array. Dictionary arrays of other types than strings, and run-end encoded arrays,
    /// are decoded before.
    ///
    /// # Errors
    /// [`AppendError::Value`] for a value that the column cannot hold; the errors of the compressors.
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult;

    /// Begins a row group with the next value.
    fn begin_row_group(&mut self);

    /// Whether a null of the column is a null of its children: of the fields of a struct.
    fn passes_nulls_on(&self) -> bool {
        false
    }

    /// Ends the row group. Returns the statistics of its values.
    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail>;

    /// Estimated stored bytes of the stripe so far, without child columns.
    fn size(&self) -> usize;

    /// Bytes of memory of the stripe so far, without child columns.
    fn memory_size(&self) -> usize {
        self.size()
    }

    /// Frees memory that the stripe does not need, within a row group.
    fn save_memory(&mut self, _: &mut Compressors) -> Result<()> {
        Ok(())
    }

    /// Ends the stripe. The next value belongs to another stripe.
    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues>;

    /// The writers of the child columns.
    fn children(&self) -> &[ColumnWriter] {
        &[]
    }

    /// The writers of the child columns.
    fn children_mut(&mut self) -> &mut [ColumnWriter] {
        &mut []
    }
}

/// The encoded values of a column in a stripe.
pub(super) struct EncodedValues {
    /// The streams of the values, in any order.
    pub(super) streams: Vec<(StreamKind, FinishedStream)>,
    /// Number of entries of the dictionary, if the values have one.
    pub(super) dictionary_size: Option<u32>,
}

impl EncodedValues {
    /// Values without a dictionary.
    fn direct(streams: Vec<(StreamKind, FinishedStream)>) -> Self {
        EncodedValues { streams, dictionary_size: None }
    }

    /// Values with a data stream only.
    fn data(stream: FinishedStream) -> Self {
        Self::direct(vec![(StreamKind::Data, stream)])
    }
}

/// A column of a complete stripe.
pub(super) struct EncodedColumn {
    pub(super) encoding: orc::ColumnEncoding,
    /// Row index and bloom filters.
    pub(super) index_streams: Vec<EncodedStream>,
    pub(super) data_streams: Vec<EncodedStream>,
    pub(super) statistics: ColumnStatistics,
}

/// The columns of a complete stripe.
#[derive(Default)]
pub(super) struct EncodedColumns {
    /// The columns in clear, in order of their ids. Of encrypted columns, they have the masks.
    pub(super) clear: Vec<EncodedColumn>,
    /// The encrypted columns, with the numbers of their variants.
    pub(super) variants: Vec<(usize, Vec<EncodedColumn>)>,
}

/// An encrypted column: the writer of its values, beside that of its masks.
struct Variant {
    number: usize,
    mask: ColumnMask,
    values: ColumnWriter,
}

/// Bloom filters of a column in a stripe.
struct BloomFilters {
    /// The filter of the current row group.
    current: BloomBuilder,
    /// The filters of the previous row groups.
    complete: Vec<orc::BloomFilter>,
}

impl BloomFilters {
    fn new(current: BloomBuilder) -> Self {
        BloomFilters { current, complete: Vec::new() }
    }

    fn size(&self) -> usize {
        self.complete.len() * self.current.size()
    }
}

/// Writes a column with its child columns.
pub(super) struct ColumnWriter {
    id: u32,
    kind: Kind,
    options: StreamOptions,
    has_index: bool,
    is_nullable: bool,
    /// Whether the statistics of fields of structs record nulls of these structs, as those of ORC C++ do.
    records_parent_nulls: bool,
    values: Box<dyn ValueEncoder>,
    present: BooleanStream,
    /// Whether the stripe has a null.
    has_null: bool,
    bloom_filters: Option<BloomFilters>,
    /// Non-null values of the row group.
    num_values: u64,
    /// Nulls of the row group.
    num_nulls: u64,
    /// Statistics of the complete row groups.
    row_groups: Vec<ColumnStatistics>,
    /// Statistics of the stripe, without the current row group.
    stripe: ColumnStatistics,
    /// The writer of the values, where the column is encrypted.
    variant: Option<Box<Variant>>,
}

impl ColumnWriter {
    /// Begins a row group of this column and its child columns.
    pub(super) fn begin_row_group(&mut self) {
        if let Some(variant) = &mut self.variant {
            variant.values.begin_row_group();
        }
        self.present.begin_row_group();
        self.values.begin_row_group();
        self.values.children_mut().iter_mut().for_each(ColumnWriter::begin_row_group);
    }

    /// Appends rows to the row group.
    ///
    /// # Errors
    /// [`AppendError::Value`] for a value that the column cannot hold, and for a null in a column without nulls; the
    /// errors of the compressors.
    pub(super) fn append(&mut self, array: &ArrayRef, compressors: &mut Compressors) -> AppendResult {
        match &mut self.variant {
            Some(variant) => {
                variant.values.append(array, compressors)?;
                let masks = variant.mask.apply(array)?;
                self.append_own(&masks, compressors)
            }
            None => self.append_own(array, compressors),
        }
    }

    /// Appends rows to the streams of this column: values, or masks of an encrypted column.
    fn append_own(&mut self, array: &ArrayRef, compressors: &mut Compressors) -> AppendResult {
        let array = decode_dictionary_or_runs(array)?;
        // Arrow unions have no validity. Nulls of a union are nulls of its variants.
        let is_union = matches!(array.data_type(), DataType::Union(_, _));
        let nulls = if is_union { None } else { array.logical_nulls() };
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        let null_count = nulls.as_ref().map_or(0, NullBuffer::null_count);
        if let Some(nulls) = nulls.as_ref().filter(|_| !self.is_nullable) {
            let index = (0..nulls.len()).find(|&index| nulls.is_null(index)).or_internal("nulls without a null")?;
            let message = "a null in a field that has none".to_owned();
            return Err(AppendError::Value { index, column: self.id, message });
        }
        lengths::check(&array, nulls.as_ref(), self.id)?;
        match &nulls {
            Some(nulls) => self.present.append(nulls.inner()),
            None => self.present.append_n(array.len(), true),
        }
        self.has_null |= null_count > 0;
        self.num_values += (array.len() - null_count) as u64;
        self.num_nulls += null_count as u64;
        let bloom_filter = self.bloom_filters.as_mut().map(|filters| &mut filters.current);
        self.values.append(&array, nulls.as_ref(), AppendContext { compressors, bloom_filter })
    }

    /// Ends the row group of this column and its child columns.
    pub(super) fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<()> {
        self.end_row_group_below(false, compressors)
    }

    /// As [`end_row_group`](Self::end_row_group). `has_null_parent` states that a struct which the column is a field of, at
    /// any depth, is null in a row. ORC Java takes `has_null` of a field for that of all rows.
    fn end_row_group_below(&mut self, has_null_parent: bool, compressors: &mut Compressors) -> Result<()> {
        if let Some(variant) = &mut self.variant {
            variant.values.end_row_group_below(has_null_parent, compressors)?;
        }
        let has_null = self.num_nulls > 0 || has_null_parent && self.records_parent_nulls;
        let passed_on = has_null && self.values.passes_nulls_on();
        for child in self.values.children_mut() {
            child.end_row_group_below(passed_on, compressors)?;
        }
        let detail = self.values.end_row_group(compressors)?;
        self.num_nulls = 0;
        let values = Some(std::mem::take(&mut self.num_values));
        let statistics = ColumnStatistics { values, has_null: Some(has_null), bytes_on_disk: None, detail };
        self.stripe.merge(&ColumnStatistics { bytes_on_disk: Some(0), ..statistics.clone() });
        if self.has_index {
            self.row_groups.push(statistics);
        }
        if let Some(filters) = &mut self.bloom_filters {
            filters.complete.push(filters.current.take());
        }
        Ok(())
    }

    /// Calls `visit` with this column and all columns below, in order of their ids.
    pub(in crate::write) fn visit(&mut self, visit: &mut dyn FnMut(&mut ColumnWriter)) {
        visit(self);
        self.values.children_mut().iter_mut().for_each(|child| child.visit(visit));
    }

    /// Column id.
    pub(in crate::write) fn id(&self) -> u32 {
        self.id
    }

    /// Statistics of the last complete row group of the stripe. `None` without a row index.
    pub(in crate::write) fn last_row_group(&self) -> Option<&ColumnStatistics> {
        self.row_groups.last()
    }

    /// Adds the values of the following row groups to bloom filters with the parameters of `filter`.
    pub(in crate::write) fn set_bloom_filter(&mut self, filter: BloomBuilder) {
        self.bloom_filters = Some(BloomFilters::new(filter));
    }

    /// The bloom filter of the last complete row group of the stripe.
    pub(in crate::write) fn last_bloom_filter(&self) -> Option<&orc::BloomFilter> {
        self.bloom_filters.as_ref().and_then(|filters| filters.complete.last())
    }

    /// Estimated stored bytes of the stripe so far, with child columns.
    pub(super) fn size(&self) -> usize {
        let children: usize = self.values.children().iter().map(ColumnWriter::size).sum();
        let variant = self.variant.as_ref().map_or(0, |variant| variant.values.size());
        self.values.size() + self.present.size() + self.bloom_filter_size() + children + variant
    }

    /// Bytes of memory of the stripe so far, with child columns.
    pub(super) fn memory_size(&self) -> usize {
        let children: usize = self.values.children().iter().map(ColumnWriter::memory_size).sum();
        let row_groups = self.row_groups.len() * size_of::<ColumnStatistics>();
        let variant = self.variant.as_ref().map_or(0, |variant| variant.values.memory_size());
        self.values.memory_size() + self.present.size() + self.bloom_filter_size() + row_groups + children + variant
    }

    /// Frees memory that the stripe does not need, in this column and its child columns.
    pub(super) fn save_memory(&mut self, compressors: &mut Compressors) -> Result<()> {
        if let Some(variant) = &mut self.variant {
            variant.values.save_memory(compressors)?;
        }
        self.values.save_memory(compressors)?;
        self.values.children_mut().iter_mut().try_for_each(|child| child.save_memory(compressors))
    }

    fn bloom_filter_size(&self) -> usize {
        self.bloom_filters.as_ref().map_or(0, BloomFilters::size)
    }

    /// Ends the stripe, after its last row group. Appends this column and all columns below to `out`, in order of their
    /// ids.
    pub(super) fn end_stripe(&mut self, compressors: &mut Compressors, out: &mut EncodedColumns) -> Result<()> {
        if let Some(variant) = &mut self.variant {
            let mut values = EncodedColumns::default();
            variant.values.end_stripe(compressors, &mut values)?;
            out.variants.push((variant.number, values.clear));
        }
        let values = self.values.end_stripe(compressors)?;
        let layout = value_streams(self.kind, values.dictionary_size.is_some(), false);
        let mut data = in_order(layout, values.streams)?;
        if self.has_null {
            data.insert(0, (PRESENT, self.present.finish(self.options, compressors)?));
        } else {
            self.present.clear();
        }

        let mut index = Vec::new();
        let mut statistics = std::mem::replace(&mut self.stripe, ColumnStatistics::EMPTY);
        statistics.bytes_on_disk = Some(data.iter().map(|(_, stream)| stream.bytes.len() as u64).sum());
        if self.has_index {
            let row_groups = std::mem::take(&mut self.row_groups);
            let is_uncompressed = self.options.framing.is_uncompressed();
            let positions = positions_of_row_groups(&data, is_uncompressed, row_groups.len())?;
            let entry =
                |(statistics, positions)| orc::RowIndexEntry { positions, statistics: Some(to_proto(&statistics)) };
            let entry = row_groups.into_iter().zip(positions).map(entry).collect();
            let bytes = self.options.compress_message(&orc::RowIndex { entry }.encode_to_vec(), compressors)?;
            index.push(EncodedStream { column: self.id, kind: orc::stream::Kind::RowIndex, bytes });
        }
        if let Some(filters) = &mut self.bloom_filters {
            let filters = orc::BloomFilterIndex { bloom_filter: std::mem::take(&mut filters.complete) };
            let bytes = self.options.compress_message(&filters.encode_to_vec(), compressors)?;
            index.push(EncodedStream { column: self.id, kind: orc::stream::Kind::BloomFilterUtf8, bytes });
        }
        self.has_null = false;
        // The version of integers is a part of the encoding of their column.
        let has_integers = layout.iter().any(|stream| matches!(stream.coding, Coding::Integers { .. }));
        let is_v2 = self.options.version == super::options::Version::V0_12 && has_integers;
        let kind = match (values.dictionary_size.is_some(), is_v2) {
            (false, false) => EncodingKind::Direct,
            (false, true) => EncodingKind::DirectV2,
            (true, false) => EncodingKind::Dictionary,
            (true, true) => EncodingKind::DictionaryV2,
        };
        let encoding = orc::ColumnEncoding {
            kind: Some(kind.into()),
            dictionary_size: values.dictionary_size,
            // Timestamps are hashed in UTC.
            bloom_encoding: self.bloom_filters.is_some().then_some(1),
        };
        let column = self.id;
        let encoded = |(layout, stream): (StreamLayout, FinishedStream)| EncodedStream {
            column,
            kind: layout.kind.to_proto(),
            bytes: stream.bytes,
        };
        let data_streams = data.into_iter().map(encoded).collect();
        out.clear.push(EncodedColumn { encoding, index_streams: index, data_streams, statistics });
        for child in self.values.children_mut() {
            child.end_stripe(compressors, out)?;
        }
        Ok(())
    }
}

/// The streams in the order of their `layout`.
fn in_order(
    layout: &[StreamLayout],
    mut streams: Vec<(StreamKind, FinishedStream)>,
) -> Result<Vec<(StreamLayout, FinishedStream)>> {
    let mut ordered = Vec::with_capacity(layout.len() + 1);
    for stream in layout {
        let has_layout =
            |(kind, finished): &(StreamKind, FinishedStream)| *kind == stream.kind && finished.coding == stream.coding;
        let at = streams.iter().position(has_layout);
        let (_, finished) = streams.swap_remove(at.or_internal("a column lacks a stream of its layout")?);
        ordered.push((*stream, finished));
    }
    match streams.first() {
        None => Ok(ordered),
        Some((kind, _)) => Err(Error::internal(format!("a column has a {} stream beside its layout", kind.name()))),
    }
}

/// The positions of each row group in the streams of a column, in the order of the streams (ORCv1, Indexes).
fn positions_of_row_groups(
    streams: &[(StreamLayout, FinishedStream)],
    is_uncompressed: bool,
    row_groups: usize,
) -> Result<Vec<Vec<u64>>> {
    let length = |(layout, _): &(StreamLayout, FinishedStream)| layout.coding.position_length(is_uncompressed);
    let capacity = streams.iter().map(length).sum();
    let empty = || Vec::with_capacity(capacity);
    let mut positions: Vec<Vec<u64>> = std::iter::repeat_with(empty).take(row_groups).collect();
    for (layout, stream) in streams.iter().filter(|(layout, _)| layout.is_indexed) {
        let length = layout.coding.position_length(is_uncompressed);
        if stream.positions.len() != length * row_groups {
            let message = format!("a {} stream has another number of positions of row groups", layout.kind.name());
            return Err(Error::internal(message));
        }
        let of_stream = stream.positions.chunks_exact(length);
        positions.iter_mut().zip(of_stream).for_each(|(all, of_stream)| all.extend_from_slice(of_stream));
    }
    Ok(positions)
}

/// The values of a run-end encoded array, or of a dictionary array of another type than strings. Other arrays are
/// returned unchanged.
fn decode_dictionary_or_runs(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Dictionary(_, values) if is_text(values) => Ok(array.clone()),
        _ => plain_values(array),
    }
}
