//! Binary (ORCv1, Binary Columns), and geometries, which are stored likewise.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayAccessor, ArrayRef, GenericBinaryArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};

use super::bytes::{Bounds, DirectBytes};
use super::{Compressors, Detail, Ended, Outcome, Tools, Values, valid_ranges};
use crate::write::streams::Layout;

pub(super) struct BinaryValues {
    direct: DirectBytes,
    lengths: Bounds,
    /// Of geometries no statistics are kept.
    has_statistics: bool,
}

impl BinaryValues {
    pub(super) fn new(has_statistics: bool, layout: Layout) -> Self {
        BinaryValues { direct: DirectBytes::new(layout), lengths: Bounds::default(), has_statistics }
    }

    fn gather<'a, A: ArrayAccessor<Item = &'a [u8]>>(
        &mut self,
        array: A,
        valid: Option<&NullBuffer>,
        mut tools: Tools<'_>,
    ) -> Outcome {
        for range in valid_ranges(array.len(), valid) {
            for index in range {
                let value = array.value(index);
                self.lengths.count(value.len());
                if let Some(bloom) = &mut tools.bloom {
                    bloom.add_bytes(value);
                }
                self.direct.push(value);
                self.direct.relieve(tools.compressors)?;
            }
        }
        Ok(())
    }
}

impl BinaryValues {
    /// Takes the valid values of an array that has them one behind the other.
    fn gather_offsets<O: OffsetSizeTrait>(
        &mut self,
        array: &GenericBinaryArray<O>,
        valid: Option<&NullBuffer>,
        mut tools: Tools<'_>,
    ) -> Outcome {
        for range in valid_ranges(array.len(), valid) {
            let offsets = array.value_offsets().get(range.start..=range.end).unwrap_or_default();
            let (lengths, bloom) = (&mut self.lengths, &mut tools.bloom);
            self.direct.push_all(offsets, array.value_data(), |value| {
                lengths.count(value.len());
                if let Some(bloom) = bloom {
                    bloom.add_bytes(value);
                }
            });
            self.direct.relieve(tools.compressors)?;
        }
        Ok(())
    }
}

impl Values for BinaryValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        match array.data_type() {
            DataType::Binary => self.gather_offsets(array.as_binary::<i32>(), valid, tools),
            DataType::LargeBinary => self.gather_offsets(array.as_binary::<i64>(), valid, tools),
            DataType::BinaryView => self.gather(array.as_binary_view(), valid, tools),
            DataType::FixedSizeBinary(_) => self.gather(array.as_fixed_size_binary(), valid, tools),
            other => Err(Error::invalid(format!("{other} is not binary")).into()),
        }
    }

    fn begin_group(&mut self) {
        self.direct.begin_group();
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.direct.end_group(compressors)?;
        let total_length = Some(self.lengths.take_length());
        Ok(if self.has_statistics { Detail::Binary { total_length } } else { Detail::None })
    }

    fn size(&self) -> usize {
        self.direct.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        self.direct.end_stripe(compressors)
    }
}
