//! Column chunks and pages.

use orcish_core::Result;

use super::encoding::Encoding;
use super::min_max::MinMax;
use crate::metadata::thrift::{Structure, Value};

/// `ChunkCompressionMeta`: the name of the compressor; the lengths are not reliable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compression {
    pub(crate) compressor: Option<String>,
}

impl Structure for Compression {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 4 {
            self.compressor = Some(value.text()?);
        }
        Ok(())
    }
}

/// `PresenceMeta`: a bit for each null, whatever its flag says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence {
    pub(crate) bits: Vec<u8>,
}

impl Structure for Presence {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 2 {
            self.bits = value.bytes()?.to_vec();
        }
        Ok(())
    }
}

/// `DataChunk`: the one page of a column in a blocklet of version 1, in three places of the file.
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

impl Structure for DataChunk {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            2 => self.is_row_major = value.boolean()?,
            4 => self.data.0 = value.i64()?,
            5 => self.data.1 = value.i32()?,
            6 => self.row_ids.0 = value.i64()?,
            7 => self.row_ids.1 = value.i32()?,
            8 => self.rle.0 = value.i64()?,
            9 => self.rle.1 = value.i32()?,
            10 => self.presence = Some(value.structure()?),
            12 => self.encoders = value.list(Encoding::read)?,
            13 => self.encoder_meta = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            _ => {}
        }
        Ok(())
    }
}

/// `DataChunk2`: a page of a column; in version 2 the only one of its blocklet.
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

impl Structure for DataChunk2 {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.compression = value.structure()?,
            2 => self.is_row_major = value.boolean()?,
            3 => self.data_length = value.i32()?,
            4 => self.row_ids_length = value.i32()?,
            5 => self.rle_length = value.i32()?,
            6 => self.presence = Some(value.structure()?),
            8 => self.encoders = value.list(Encoding::read)?,
            9 => self.encoder_meta = value.list(|value| Ok(value.bytes()?.to_vec()))?,
            10 => self.min_max = Some(value.structure()?),
            11 => self.rows = Some(value.i32()?),
            _ => {}
        }
        Ok(())
    }
}

/// `DataChunk3`: the pages of a column in a blocklet of version 3.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataChunk3 {
    pub(crate) pages: Vec<DataChunk2>,
    /// Where pages begin, from the end of this struct.
    pub(crate) offsets: Vec<i32>,
    pub(crate) lengths: Vec<i32>,
    pub(crate) dictionary: Option<LocalDictionary>,
}

impl Structure for DataChunk3 {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.pages = value.list(|value| value.structure())?,
            2 => self.offsets = value.list(|value| value.i32())?,
            3 => self.lengths = value.list(|value| value.i32())?,
            4 => self.dictionary = Some(value.structure()?),
            _ => {}
        }
        Ok(())
    }
}

/// `LocalDictionaryChunk`, with the encoder meta that its own meta has.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalDictionary {
    pub(crate) meta: DictionaryMeta,
    /// Values, compressed.
    pub(crate) data: Vec<u8>,
    /// Bits of the keys that are used, compressed.
    pub(crate) keys: Vec<u8>,
}

impl Structure for LocalDictionary {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.meta = value.structure()?,
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

impl Structure for DictionaryMeta {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 2 {
            self.encoder_meta = value.list(|value| Ok(value.bytes()?.to_vec()))?;
        }
        Ok(())
    }
}
