//! Blocklets: `BlockletInfo3`, `BlockletInfo2`, `BlockletInfo` and `BlockletHeader`.

use orcish_core::Result;

use super::chunk::DataChunk;
use super::min_max::BlockletIndex;
use crate::metadata::thrift::{FieldValue, ThriftStruct};

/// `BlockletInfo3`: the column chunks of a blocklet of version 3.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BlockletInfo3 {
    pub(crate) rows: i32,
    /// Offset of the `DataChunk3` of each column.
    pub(crate) offsets: Vec<i64>,
    /// Length of the `DataChunk3` of each column, without pages.
    pub(crate) lengths: Vec<i32>,
    /// End of the chunks of dimensions.
    pub(crate) dimension_end: i64,
    /// End of the chunks of measures.
    pub(crate) measure_end: i64,
    pub(crate) pages: i32,
    /// Number of rows of each page. Empty before 1.5.1.
    pub(crate) page_rows: Vec<i32>,
}

impl ThriftStruct for BlockletInfo3 {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = value.i32()?,
            2 => self.offsets = value.list(|value| value.i64())?,
            3 => self.lengths = value.list(|value| value.i32())?,
            4 => self.dimension_end = value.i64()?,
            5 => self.measure_end = value.i64()?,
            6 => self.pages = value.i32()?,
            7 => self.page_rows = value.list(|value| value.i32())?,
            _ => {}
        }
        Ok(())
    }
}

/// `BlockletInfo2`: the column chunks of a blocklet of version 2.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockletInfo2 {
    pub(crate) rows: i32,
    /// Offset of the `DataChunk2` of each column. The page follows it.
    pub(crate) offsets: Vec<i64>,
    pub(crate) lengths: Vec<i64>,
}

impl ThriftStruct for BlockletInfo2 {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = value.i32()?,
            2 => self.offsets = value.list(|value| value.i64())?,
            3 => self.lengths = value.list(|value| value.i64())?,
            _ => {}
        }
        Ok(())
    }
}

/// `BlockletInfo`: the column chunks of a blocklet of version 1. In streaming files it has the number of rows only.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockletInfo {
    pub(crate) rows: i32,
    pub(crate) chunks: Vec<DataChunk>,
}

impl ThriftStruct for BlockletInfo {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = value.i32()?,
            2 => self.chunks = value.list(|value| value.read_struct())?,
            _ => {}
        }
        Ok(())
    }
}

/// `BlockletHeader`: the header of a blocklet of a streaming file.
#[derive(Debug, Default)]
pub(crate) struct BlockletHeader {
    pub(crate) length: i32,
    pub(crate) mutation: i32,
    pub(crate) index: Option<BlockletIndex>,
    pub(crate) info: BlockletInfo,
}

impl ThriftStruct for BlockletHeader {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.length = value.i32()?,
            2 => self.mutation = value.i32()?,
            3 => self.index = Some(value.read_struct()?),
            4 => self.info = value.read_struct()?,
            _ => {}
        }
        Ok(())
    }
}
