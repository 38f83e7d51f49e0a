//! Boolean columns (ORCv1, Boolean Columns), and columns of nulls, which are stored as boolean columns without values.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::Result;

use super::{AppendContext, AppendResult, Compressors, Detail, EncodedValues, ValueEncoder, valid_ranges};
use crate::write::boolean_stream::BooleanStream;
use crate::write::stream_options::StreamOptions;

pub(super) struct BooleanEncoder {
    options: StreamOptions,
    bits: BooleanStream,
    true_count: u64,
}

impl BooleanEncoder {
    pub(super) fn new(options: StreamOptions) -> Self {
        BooleanEncoder { options, bits: BooleanStream::new(), true_count: 0 }
    }
}

impl ValueEncoder for BooleanEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, _: AppendContext<'_>) -> AppendResult {
        if *array.data_type() == DataType::Null {
            return Ok(());
        }
        let values = array.as_boolean().values();
        for range in valid_ranges(values.len(), valid) {
            let bits = values.slice(range.start, range.len());
            self.true_count += bits.count_set_bits() as u64;
            self.bits.append(&bits);
        }
        Ok(())
    }

    fn begin_row_group(&mut self) {
        self.bits.begin_row_group();
    }

    fn end_row_group(&mut self, _: &mut Compressors) -> Result<Detail> {
        Ok(Detail::Boolean { true_count: Some(std::mem::take(&mut self.true_count)) })
    }

    fn size(&self) -> usize {
        self.bits.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::data(self.bits.finish(self.options, compressors)?))
    }
}
