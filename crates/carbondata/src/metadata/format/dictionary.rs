//! Files of global dictionaries: `ColumnDictionaryChunk` and `ColumnDictionaryChunkMeta`.

use orcish_core::Result;

use crate::metadata::thrift::{FieldValue, ThriftStruct};

/// `ColumnDictionaryChunk`: concatenated values, in the order of their surrogate keys.
#[derive(Debug, Default)]
pub(crate) struct DictionaryChunk {
    pub(crate) bytes: Vec<u8>,
    /// Length of each value.
    pub(crate) lengths: Vec<usize>,
}

impl ThriftStruct for DictionaryChunk {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 1 {
            let DictionaryChunk { bytes, lengths } = self;
            value.list(|value| {
                let text = value.bytes()?;
                bytes.extend_from_slice(text);
                lengths.push(text.len());
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// `ColumnDictionaryChunkMeta`: what one load has added to a dictionary.
#[derive(Debug, Default)]
pub(crate) struct DictionaryChunkMeta {
    pub(crate) end_offset: i64,
}

impl ThriftStruct for DictionaryChunkMeta {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 4 {
            self.end_offset = value.i64()?;
        }
        Ok(())
    }
}
