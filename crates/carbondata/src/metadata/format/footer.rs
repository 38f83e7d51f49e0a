//! Headers and footers of data files.

use orcish_core::Result;

use super::blocklet::{BlockletInfo, BlockletInfo2, BlockletInfo3};
use super::min_max::BlockletIndex;
use super::schema::ColumnSchema;
use crate::metadata::thrift::{Structure, Value};

/// `FileHeader`, at the beginning of files of version 3 and of streams.
#[derive(Debug, Default)]
pub(crate) struct FileHeader {
    pub(crate) version: i32,
    pub(crate) columns: Vec<ColumnSchema>,
    pub(crate) has_footer: Option<bool>,
    pub(crate) time_stamp: i64,
    pub(crate) sync_marker: Option<Vec<u8>>,
    pub(crate) compressor: Option<String>,
}

impl Structure for FileHeader {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.version = value.i32()?,
            2 => self.columns = value.list(|value| value.structure())?,
            3 => self.has_footer = Some(value.boolean()?),
            4 => self.time_stamp = value.i64()?,
            6 => self.sync_marker = Some(value.bytes()?.to_vec()),
            7 => self.compressor = Some(value.text()?),
            _ => {}
        }
        Ok(())
    }
}

/// `SegmentInfo`.
#[derive(Debug, Default)]
pub(crate) struct SegmentInfo {
    /// Numbers of different values of the dimensions: what keys of dictionaries are as wide as.
    pub(crate) cardinalities: Vec<i32>,
}

impl Structure for SegmentInfo {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 2 {
            self.cardinalities = value.list(|value| value.i32())?;
        }
        Ok(())
    }
}

/// `FileFooter3`, at the end of files of version 3.
#[derive(Debug, Default)]
pub(crate) struct FileFooter3 {
    pub(crate) rows: Option<i64>,
    pub(crate) segment: SegmentInfo,
    pub(crate) index: Vec<BlockletIndex>,
    pub(crate) blocklets: Vec<BlockletInfo3>,
    pub(crate) is_sorted: Option<bool>,
    pub(crate) extra: Vec<(String, String)>,
}

impl Structure for FileFooter3 {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.rows = Some(value.i64()?),
            2 => self.segment = value.structure()?,
            3 => self.index = value.list(|value| value.structure())?,
            4 => self.blocklets = value.list(|value| value.structure())?,
            6 => self.is_sorted = Some(value.boolean()?),
            7 => self.extra = value.texts()?,
            _ => {}
        }
        Ok(())
    }
}

/// `FileFooter`, at the end of files of versions 1 and 2.
#[derive(Debug, Default)]
pub(crate) struct FileFooter {
    pub(crate) rows: Option<i64>,
    pub(crate) columns: Vec<ColumnSchema>,
    pub(crate) segment: SegmentInfo,
    pub(crate) index: Vec<BlockletIndex>,
    pub(crate) blocklets: Vec<BlockletInfo>,
    pub(crate) blocklets2: Vec<BlockletInfo2>,
}

impl Structure for FileFooter {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            2 => self.rows = Some(value.i64()?),
            3 => self.columns = value.list(|value| value.structure())?,
            4 => self.segment = value.structure()?,
            5 => self.index = value.list(|value| value.structure())?,
            6 => self.blocklets = value.list(|value| value.structure())?,
            7 => self.blocklets2 = value.list(|value| value.structure())?,
            _ => {}
        }
        Ok(())
    }
}
