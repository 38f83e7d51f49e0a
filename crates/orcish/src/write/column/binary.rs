//! Binary columns (ORCv1, Binary Columns), and geometry and geography columns, which have the same streams.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayAccessor, ArrayRef, GenericBinaryArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, OrInternal as _, Result};

use super::bytes::DirectEncoder;
use super::{AppendContext, AppendResult, Compressors, Detail, EncodedValues, ValueEncoder, valid_ranges};
use crate::write::stream_options::StreamOptions;

pub(super) struct BinaryEncoder {
    direct: DirectEncoder,
    /// Bytes of the values of the row group.
    total_length: u64,
    /// Whether statistics have the total length. Geometries have no statistics.
    has_statistics: bool,
}

impl BinaryEncoder {
    pub(super) fn new(has_statistics: bool, options: StreamOptions) -> Self {
        BinaryEncoder { direct: DirectEncoder::new(options), total_length: 0, has_statistics }
    }

    fn append_values<'a, A: ArrayAccessor<Item = &'a [u8]>>(
        &mut self,
        array: A,
        valid: Option<&NullBuffer>,
        mut context: AppendContext<'_>,
    ) -> AppendResult {
        for range in valid_ranges(array.len(), valid) {
            for index in range {
                let value = array.value(index);
                self.total_length += value.len() as u64;
                if let Some(bloom_filter) = &mut context.bloom_filter {
                    bloom_filter.add_bytes(value);
                }
                self.direct.push(value);
                self.direct.encode_if_large(context.compressors)?;
            }
        }
        Ok(())
    }

    /// Appends the valid values of an array with contiguous bytes.
    fn append_contiguous<O: OffsetSizeTrait>(
        &mut self,
        array: &GenericBinaryArray<O>,
        valid: Option<&NullBuffer>,
        mut context: AppendContext<'_>,
    ) -> AppendResult {
        for range in valid_ranges(array.len(), valid) {
            let offsets = array.value_offsets().get(range.start..=range.end);
            let offsets = offsets.or_internal("an array has more valid slots than values")?;
            let (total_length, bloom_filter) = (&mut self.total_length, &mut context.bloom_filter);
            self.direct.extend(offsets, array.value_data(), |value| {
                *total_length += value.len() as u64;
                if let Some(bloom_filter) = bloom_filter {
                    bloom_filter.add_bytes(value);
                }
            })?;
            self.direct.encode_if_large(context.compressors)?;
        }
        Ok(())
    }
}

impl ValueEncoder for BinaryEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        match array.data_type() {
            DataType::Binary => self.append_contiguous(array.as_binary::<i32>(), valid, context),
            DataType::LargeBinary => self.append_contiguous(array.as_binary::<i64>(), valid, context),
            DataType::BinaryView => self.append_values(array.as_binary_view(), valid, context),
            DataType::FixedSizeBinary(_) => self.append_values(array.as_fixed_size_binary(), valid, context),
            other => Err(Error::invalid(format!("{other} is not binary")).into()),
        }
    }

    fn begin_row_group(&mut self) {
        self.direct.begin_row_group();
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.direct.end_row_group(compressors)?;
        let total_length = Some(std::mem::take(&mut self.total_length));
        Ok(if self.has_statistics { Detail::Binary { total_length } } else { Detail::None })
    }

    fn size(&self) -> usize {
        self.direct.size()
    }

    fn memory_size(&self) -> usize {
        self.direct.memory_size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        self.direct.end_stripe(compressors)
    }
}
