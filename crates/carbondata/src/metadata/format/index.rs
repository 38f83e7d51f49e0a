//! Structs of index files.

use orcish_core::Result;

use super::blocklet::BlockletInfo3;
use super::footer::SegmentInfo;
use super::min_max::BlockletIndex;
use super::schema::ColumnSchema;
use crate::metadata::thrift::{Structure, Value};

/// `IndexHeader`, at the beginning of an index file.
#[derive(Debug, Default)]
pub(crate) struct IndexHeader {
    pub(crate) version: i32,
    pub(crate) columns: Vec<ColumnSchema>,
    pub(crate) segment: SegmentInfo,
    pub(crate) is_sorted: Option<bool>,
}

impl Structure for IndexHeader {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.version = value.i32()?,
            2 => self.columns = value.list(|value| value.structure())?,
            3 => self.segment = value.structure()?,
            6 => self.is_sorted = Some(value.boolean()?),
            _ => {}
        }
        Ok(())
    }
}

/// `BlockIndex`: a blocklet, or a file in version 1.1, as the index has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockIndex {
    pub(crate) rows: i64,
    /// Name of the data file, without folders.
    pub(crate) file: String,
    pub(crate) footer_offset: i64,
    pub(crate) index: BlockletIndex,
    pub(crate) blocklet: Option<BlockletInfo3>,
    /// Bytes that count, of a file that grows.
    pub(crate) file_size: Option<i64>,
}

impl Structure for BlockIndex {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = value.i64()?,
            2 => self.file = value.text()?,
            3 => self.footer_offset = value.i64()?,
            4 => self.index = value.structure()?,
            5 => self.blocklet = Some(value.structure()?),
            6 => self.file_size = Some(value.i64()?),
            _ => {}
        }
        Ok(())
    }
}

/// `MergedBlockIndexHeader` and `MergedBlockIndex`, whose fields 1 are both lists: of names, and of whole index files.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    pub(crate) parts: Vec<Vec<u8>>,
}

impl Structure for Merged {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 1 {
            self.parts = value.list(|value| Ok(value.bytes()?.to_vec()))?;
        }
        Ok(())
    }
}
