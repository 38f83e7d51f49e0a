//! Min/max indexes of blocklets.

use orcish_core::Result;

use crate::metadata::thrift::{Structure, Value};

/// `BlockletMinMaxIndex`: bounds of columns, in the order of their chunks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MinMax {
    pub(crate) min: Vec<Vec<u8>>,
    pub(crate) max: Vec<Vec<u8>>,
    /// False where the bounds of a column say nothing; those of all columns count where it is missing.
    pub(crate) is_present: Option<Vec<bool>>,
}

impl Structure for MinMax {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.min = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            2 => self.max = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            3 => self.is_present = Some(value.list(|value| value.boolean())?),
            _ => {}
        }
        Ok(())
    }
}

/// `BlockletIndex`, without its keys of the B-tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BlockletIndex {
    pub(crate) min_max: Option<MinMax>,
}

impl Structure for BlockletIndex {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 1 {
            self.min_max = Some(value.structure()?);
        }
        Ok(())
    }
}
