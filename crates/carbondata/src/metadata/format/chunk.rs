//! Column chunks and pages: `DataChunk`, `DataChunk2`, `DataChunk3` and their parts.

use orcish_core::Result;

use super::encoding::Encoding;
use super::min_max::MinMax;
use crate::metadata::thrift::{FieldValue, ThriftStruct};

/// `ChunkCompressionMeta`. Its lengths are not reliable and are skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compression {
    pub(crate) compressor: Option<String>,
}

impl ThriftStruct for Compression {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 4 {
            self.compressor = Some(value.string()?);
        }
        Ok(())
    }
}

/// `PresenceMeta`: a bitmap in which a set bit is a null, whatever its field `represents_presence` says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence {
    pub(crate) bits: Vec<u8>,
}

impl ThriftStruct for Presence {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 2 {
            self.bits = value.bytes()?.to_vec();
        }
        Ok(())
    }
}

/// `DataChunk`: the page of a column in a blocklet of version 1, whose three parts have their own offsets.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataChunk {
    pub(crate) is_row_major: bool,
    pub(crate) data: (i64, i32),
    pub(crate) row_ids: (i64, i32),
    pub(crate) rle: (i64, i32),
    pub(crate) presence: Option<Presence>,
    pub(crate) encoders: Vec<Encoding>,
    pub(crate) encoder_meta: Vec<Vec<u8>>,
}

impl ThriftStruct for DataChunk {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            2 => self.is_row_major = value.bool()?,
            4 => self.data.0 = value.i64()?,
            5 => self.data.1 = value.i32()?,
            6 => self.row_ids.0 = value.i64()?,
            7 => self.row_ids.1 = value.i32()?,
            8 => self.rle.0 = value.i64()?,
            9 => self.rle.1 = value.i32()?,
            10 => self.presence = Some(value.read_struct()?),
            12 => self.encoders = value.list(Encoding::read)?,
            13 => self.encoder_meta = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            _ => {}
        }
        Ok(())
    }
}

/// `DataChunk2`: the header of a page. In version 2 a blocklet has one page of each column.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataChunk2 {
    pub(crate) compression: Compression,
    pub(crate) is_row_major: bool,
    pub(crate) data_length: i32,
    pub(crate) row_ids_length: i32,
    pub(crate) rle_length: i32,
    pub(crate) presence: Option<Presence>,
    pub(crate) encoders: Vec<Encoding>,
    pub(crate) encoder_meta: Vec<Vec<u8>>,
    pub(crate) min_max: Option<MinMax>,
    pub(crate) rows: Option<i32>,
}

impl ThriftStruct for DataChunk2 {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.compression = value.read_struct()?,
            2 => self.is_row_major = value.bool()?,
            3 => self.data_length = value.i32()?,
            4 => self.row_ids_length = value.i32()?,
            5 => self.rle_length = value.i32()?,
            6 => self.presence = Some(value.read_struct()?),
            8 => self.encoders = value.list(Encoding::read)?,
            9 => self.encoder_meta = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            10 => self.min_max = Some(value.read_struct()?),
            11 => self.rows = Some(value.i32()?),
            _ => {}
        }
        Ok(())
    }
}

/// `DataChunk3`: the header of a column chunk of version 3.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataChunk3 {
    pub(crate) pages: Vec<DataChunk2>,
    /// Offset of each page, from the end of the header.
    pub(crate) offsets: Vec<i32>,
    pub(crate) lengths: Vec<i32>,
    pub(crate) dictionary: Option<LocalDictionary>,
}

impl ThriftStruct for DataChunk3 {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.pages = value.list(|value| value.read_struct())?,
            2 => self.offsets = value.list(|value| value.i32())?,
            3 => self.lengths = value.list(|value| value.i32())?,
            4 => self.dictionary = Some(value.read_struct()?),
            _ => {}
        }
        Ok(())
    }
}

/// `LocalDictionaryChunk`: the local dictionary of a column chunk.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalDictionary {
    pub(crate) meta: DictionaryMeta,
    /// Compressed values.
    pub(crate) data: Vec<u8>,
    /// Compressed bitmap of the used keys.
    pub(crate) keys: Vec<u8>,
}

impl ThriftStruct for LocalDictionary {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.meta = value.read_struct()?,
            2 => self.data = value.bytes()?.to_vec(),
            3 => self.keys = value.bytes()?.to_vec(),
            _ => {}
        }
        Ok(())
    }
}

/// `LocalDictionaryChunkMeta`.
#[derive(Debug, Clone, Default)]
pub(crate) struct DictionaryMeta {
    pub(crate) encoder_meta: Vec<Vec<u8>>,
}

impl ThriftStruct for DictionaryMeta {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 2 {
            self.encoder_meta = value.list(|value| Ok(value.bytes()?.to_vec()))?;
        }
        Ok(())
    }
}
