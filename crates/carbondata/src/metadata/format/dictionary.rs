//! Structs of the files of global dictionaries.

use orcish_core::Result;

use crate::metadata::thrift::{Structure, Value};

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
