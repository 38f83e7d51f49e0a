//! Index files: `IndexHeader`, `BlockIndex` and `MergedBlockIndex`.

use orcish_core::Result;

use super::blocklet::BlockletInfo3;
use super::footer::SegmentInfo;
use super::min_max::BlockletIndex;
use super::schema::ColumnSchema;
use crate::metadata::thrift::{FieldValue, ThriftStruct};

/// `IndexHeader`: the header of an index file.
#[derive(Debug, Default)]
pub(crate) struct IndexHeader {
    pub(crate) version: i32,
    pub(crate) columns: Vec<ColumnSchema>,
    pub(crate) segment: SegmentInfo,
    pub(crate) is_sorted: Option<bool>,
}

impl ThriftStruct for IndexHeader {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.version = value.i32()?,
            2 => self.columns = value.list(|value| value.read_struct())?,
            3 => self.segment = value.read_struct()?,
            6 => self.is_sorted = Some(value.bool()?),
            _ => {}
        }
        Ok(())
    }
}

/// `BlockIndex`: an entry of an index file, for a blocklet, or for a file before 1.2.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockIndex {
    pub(crate) rows: i64,
    /// Name of the data file, without folders.
    pub(crate) file: String,
    pub(crate) footer_offset: i64,
    pub(crate) index: BlockletIndex,
    pub(crate) blocklet: Option<BlockletInfo3>,
    /// Committed size of a streaming file.
    pub(crate) file_size: Option<i64>,
}

impl ThriftStruct for BlockIndex {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = value.i64()?,
            2 => self.file = value.string()?,
            3 => self.footer_offset = value.i64()?,
            4 => self.index = value.read_struct()?,
            5 => self.blocklet = Some(value.read_struct()?),
            6 => self.file_size = Some(value.i64()?),
            _ => {}
        }
        Ok(())
    }
}

/// `MergedBlockIndexHeader`, a list of names, or `MergedBlockIndex`, a list of contents. Both lists are field 1.
#[derive(Debug, Default)]
pub(crate) struct MergedIndex {
    pub(crate) parts: Vec<Vec<u8>>,
}

impl ThriftStruct for MergedIndex {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 1 {
            self.parts = value.list(|value| Ok(value.bytes()?.to_vec()))?;
        }
        Ok(())
    }
}
