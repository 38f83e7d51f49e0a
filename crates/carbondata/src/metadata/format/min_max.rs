//! Min/max indexes: `BlockletMinMaxIndex` and `BlockletIndex`.

use orcish_core::Result;

use crate::metadata::thrift::{FieldValue, ThriftStruct};

/// `BlockletMinMaxIndex`: minimum and maximum of columns, in the order of their chunks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MinMax {
    pub(crate) min: Vec<Vec<u8>>,
    pub(crate) max: Vec<Vec<u8>>,
    /// `min_max_presence`: whether the bounds of each column are set. All are set where the list is missing.
    pub(crate) presence: Option<Vec<bool>>,
}

impl ThriftStruct for MinMax {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.min = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            2 => self.max = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            3 => self.presence = Some(value.list(|value| value.bool())?),
            _ => {}
        }
        Ok(())
    }
}

/// `BlockletIndex`. The B-tree index is skipped.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BlockletIndex {
    pub(crate) min_max: Option<MinMax>,
}

impl ThriftStruct for BlockletIndex {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 1 {
            self.min_max = Some(value.read_struct()?);
        }
        Ok(())
    }
}
