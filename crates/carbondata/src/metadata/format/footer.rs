//! Headers and footers of data files: `FileHeader`, `FileFooter3` and `FileFooter`.

use orcish_core::Result;

use super::blocklet::{BlockletInfo, BlockletInfo2, BlockletInfo3};
use super::min_max::BlockletIndex;
use super::schema::ColumnSchema;
use crate::metadata::thrift::{FieldValue, ThriftStruct};

/// `FileHeader`: the header of files of version 3 and of streaming files.
#[derive(Debug, Default)]
pub(crate) struct FileHeader {
    pub(crate) version: i32,
    pub(crate) columns: Vec<ColumnSchema>,
    pub(crate) has_footer: Option<bool>,
    pub(crate) time_stamp: i64,
    pub(crate) sync_marker: Option<Vec<u8>>,
    pub(crate) compressor: Option<String>,
}

impl ThriftStruct for FileHeader {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.version = value.i32()?,
            2 => self.columns = value.list(|value| value.read_struct())?,
            3 => self.has_footer = Some(value.bool()?),
            4 => self.time_stamp = value.i64()?,
            6 => self.sync_marker = Some(value.bytes()?.to_vec()),
            7 => self.compressor = Some(value.string()?),
            _ => {}
        }
        Ok(())
    }
}

/// `SegmentInfo`.
#[derive(Debug, Default)]
pub(crate) struct SegmentInfo {
    /// Number of distinct values of each dimension, which determines the width of its surrogate keys.
    pub(crate) cardinalities: Vec<i32>,
}

impl ThriftStruct for SegmentInfo {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 2 {
            self.cardinalities = value.list(|value| value.i32())?;
        }
        Ok(())
    }
}

/// `FileFooter3`: the footer of files of version 3.
#[derive(Debug, Default)]
pub(crate) struct FileFooter3 {
    pub(crate) rows: Option<i64>,
    pub(crate) segment: SegmentInfo,
    pub(crate) index: Vec<BlockletIndex>,
    pub(crate) blocklets: Vec<BlockletInfo3>,
    pub(crate) is_sorted: Option<bool>,
    pub(crate) extra_info: Vec<(String, String)>,
}

impl ThriftStruct for FileFooter3 {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = Some(value.i64()?),
            2 => self.segment = value.read_struct()?,
            3 => self.index = value.list(|value| value.read_struct())?,
            4 => self.blocklets = value.list(|value| value.read_struct())?,
            6 => self.is_sorted = Some(value.bool()?),
            7 => self.extra_info = value.string_map()?,
            _ => {}
        }
        Ok(())
    }
}

/// `FileFooter`: the footer of files of versions 1 and 2.
#[derive(Debug, Default)]
pub(crate) struct FileFooter {
    pub(crate) rows: Option<i64>,
    pub(crate) columns: Vec<ColumnSchema>,
    pub(crate) segment: SegmentInfo,
    pub(crate) index: Vec<BlockletIndex>,
    pub(crate) blocklets: Vec<BlockletInfo>,
    pub(crate) blocklets2: Vec<BlockletInfo2>,
}

impl ThriftStruct for FileFooter {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            2 => self.rows = Some(value.i64()?),
            3 => self.columns = value.list(|value| value.read_struct())?,
            4 => self.segment = value.read_struct()?,
            5 => self.index = value.list(|value| value.read_struct())?,
            6 => self.blocklets = value.list(|value| value.read_struct())?,
            7 => self.blocklets2 = value.list(|value| value.read_struct())?,
            _ => {}
        }
        Ok(())
    }
}
