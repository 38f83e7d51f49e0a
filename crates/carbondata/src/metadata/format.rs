//! The structs of the format, as far as they are read; numbers of fields are those of its thrift definitions.

use orcish_core::Result;

use super::thrift::{Structure, Value};

/// What null is in pages, dictionaries and bounds of texts.
pub(crate) const NULL_TEXT: &[u8; 8] = b"@NU#LL$!";
/// The key of the first of January 1970, of dates, which have a direct dictionary.
pub(crate) const EPOCH_KEY: i32 = i32::MAX >> 1;

/// `Encoding`: how values were made into bytes, in the order of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Dictionary,
    Delta,
    Rle,
    InvertedIndex,
    BitPacked,
    DirectDictionary,
    DirectCompress,
    AdaptiveIntegral,
    AdaptiveDeltaIntegral,
    RleIntegral,
    DirectString,
    AdaptiveFloating,
    BoolByte,
    AdaptiveDeltaFloating,
    DirectCompressVarchar,
    IntLengthComplexChild,
    /// One that the format did not have when this was written.
    Unknown(i32),
}

impl Encoding {
    fn read(value: &mut Value<'_, '_>) -> Result<Self> {
        const KNOWN: [Encoding; 16] = [
            Encoding::Dictionary,
            Encoding::Delta,
            Encoding::Rle,
            Encoding::InvertedIndex,
            Encoding::BitPacked,
            Encoding::DirectDictionary,
            Encoding::DirectCompress,
            Encoding::AdaptiveIntegral,
            Encoding::AdaptiveDeltaIntegral,
            Encoding::RleIntegral,
            Encoding::DirectString,
            Encoding::AdaptiveFloating,
            Encoding::BoolByte,
            Encoding::AdaptiveDeltaFloating,
            Encoding::DirectCompressVarchar,
            Encoding::IntLengthComplexChild,
        ];
        let code = value.i32()?;
        let known = usize::try_from(code).ok().and_then(|code| KNOWN.get(code));
        Ok(known.copied().unwrap_or(Encoding::Unknown(code)))
    }
}

/// `ColumnSchema`, of a tree that is written as a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ColumnSchema {
    pub(crate) kind: i32,
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) encoders: Vec<Encoding>,
    pub(crate) is_dimension: bool,
    pub(crate) scale: i32,
    pub(crate) precision: i32,
    pub(crate) children: i32,
    pub(crate) default: Option<Vec<u8>>,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) is_invisible: bool,
    pub(crate) ordinal: Option<i32>,
}

impl Structure for ColumnSchema {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.kind = value.i32()?,
            2 => self.name = value.text()?,
            3 => self.id = value.text()?,
            5 => self.encoders = value.list(Encoding::read)?,
            6 => self.is_dimension = value.boolean()?,
            8 => self.scale = value.i32()?,
            9 => self.precision = value.i32()?,
            10 => self.children = value.i32()?,
            12 => self.default = Some(value.bytes()?.to_vec()),
            13 => self.properties = value.texts()?,
            14 => self.is_invisible = value.boolean()?,
            16 => self.ordinal = Some(value.i32()?),
            _ => {}
        }
        Ok(())
    }
}

/// `TableInfo`, of which only the table itself counts: its `TableSchema`.
#[derive(Debug, Default)]
pub(crate) struct TableInfo {
    pub(crate) table: TableSchema,
}

impl Structure for TableInfo {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 1 {
            self.table = value.structure()?;
        }
        Ok(())
    }
}

/// `TableSchema`.
#[derive(Debug, Default)]
pub(crate) struct TableSchema {
    pub(crate) columns: Vec<ColumnSchema>,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) partition: Option<PartitionInfo>,
}

impl Structure for TableSchema {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            2 => self.columns = value.list(|value| value.structure())?,
            4 => self.properties = value.texts()?,
            6 => self.partition = Some(value.structure()?),
            _ => {}
        }
        Ok(())
    }
}

/// `PartitionInfo`.
#[derive(Debug, Default)]
pub(crate) struct PartitionInfo {
    pub(crate) columns: Vec<ColumnSchema>,
    /// 4 is that of Hive; others were dropped with version 2.
    pub(crate) kind: i32,
}

impl Structure for PartitionInfo {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        match id {
            1 => self.columns = value.list(|value| value.structure())?,
            2 => self.kind = value.i32()?,
            _ => {}
        }
        Ok(())
    }
}

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

/// `ColumnDictionaryChunk`: values of a global dictionary, in the order of their keys, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct DictionaryChunk {
    pub(crate) bytes: Vec<u8>,
    /// Where each value ends.
    pub(crate) ends: Vec<usize>,
}

impl Structure for DictionaryChunk {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 1 {
            let DictionaryChunk { bytes, ends } = self;
            value.list(|value| {
                bytes.extend_from_slice(value.bytes()?);
                ends.push(bytes.len());
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// `ColumnDictionaryChunkMeta`: what one load has added to a global dictionary.
#[derive(Debug, Default)]
pub(crate) struct DictionaryChunkMeta {
    pub(crate) end_offset: i64,
}

impl Structure for DictionaryChunkMeta {
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
        if id == 4 {
            self.end_offset = value.i64()?;
        }
        Ok(())
    }
}
