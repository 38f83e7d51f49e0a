//! Where the column chunks of a blocklet are.

use orcish_core::Result;

use super::chunk::DataChunk;
use super::min_max::BlockletIndex;
use crate::metadata::thrift::{Structure, Value};

/// `BlockletInfo3`: where the chunks of a blocklet are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BlockletInfo3 {
    pub(crate) rows: i32,
    /// Where the `DataChunk3` of each column begins in the file.
    pub(crate) offsets: Vec<i64>,
    /// Lengths of these structs alone; the pages follow them.
    pub(crate) lengths: Vec<i32>,
    /// Where the dimensions end.
    pub(crate) dimension_end: i64,
    /// Where the measures end.
    pub(crate) measure_end: i64,
    pub(crate) pages: i32,
    /// Rows of each page; of files before 1.5.1 the pages know them alone.
    pub(crate) page_rows: Vec<i32>,
}

impl Structure for BlockletInfo3 {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
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

/// `BlockletInfo2`, of files of version 2.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockletInfo2 {
    pub(crate) rows: i32,
    /// Where the `DataChunk2` of each column begins in the file; its page follows it.
    pub(crate) offsets: Vec<i64>,
    pub(crate) lengths: Vec<i64>,
}

impl Structure for BlockletInfo2 {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = value.i32()?,
            2 => self.offsets = value.list(|value| value.i64())?,
            3 => self.lengths = value.list(|value| value.i64())?,
            _ => {}
        }
        Ok(())
    }
}

/// `BlockletInfo`, of files of version 1 and of streams, which have rows only.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockletInfo {
    pub(crate) rows: i32,
    pub(crate) chunks: Vec<DataChunk>,
}

impl Structure for BlockletInfo {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = value.i32()?,
            2 => self.chunks = value.list(|value| value.structure())?,
            _ => {}
        }
        Ok(())
    }
}

/// `BlockletHeader`, of streams.
#[derive(Debug, Default)]
pub(crate) struct BlockletHeader {
    pub(crate) length: i32,
    pub(crate) mutation: i32,
    pub(crate) index: Option<BlockletIndex>,
    pub(crate) info: BlockletInfo,
}

impl Structure for BlockletHeader {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.length = value.i32()?,
            2 => self.mutation = value.i32()?,
            3 => self.index = Some(value.structure()?),
            4 => self.info = value.structure()?,
            _ => {}
        }
        Ok(())
    }
}
