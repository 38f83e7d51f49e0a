//! Booleans (ORCv1, Boolean Columns), and columns of nulls, which are stored as such.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::Result;

use super::{Compressors, Detail, Ended, Outcome, Tools, Values, valid_ranges};
use crate::write::bits::Bits;
use crate::write::streams::Layout;

pub(super) struct BooleanValues {
    layout: Layout,
    bits: Bits,
    true_count: u64,
}

impl BooleanValues {
    pub(super) fn new(layout: Layout) -> Self {
        BooleanValues { layout, bits: Bits::new(), true_count: 0 }
    }
}

impl Values for BooleanValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, _: Tools<'_>) -> Outcome {
        if *array.data_type() == DataType::Null {
            return Ok(());
        }
        let values = array.as_boolean().values();
        for range in valid_ranges(values.len(), valid) {
            let part = values.slice(range.start, range.len());
            self.true_count += part.count_set_bits() as u64;
            self.bits.append(&part);
        }
        Ok(())
    }

    fn begin_group(&mut self) {
        self.bits.begin_group();
    }

    fn end_group(&mut self, _: &mut Compressors) -> Result<Detail> {
        Ok(Detail::Boolean { true_count: Some(std::mem::take(&mut self.true_count)) })
    }

    fn size(&self) -> usize {
        self.bits.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        let (bytes, positions) = self.bits.take(self.layout, compressors)?;
        Ok(Ended::of_data(bytes, positions))
    }
}
