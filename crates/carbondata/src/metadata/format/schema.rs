//! Schemas of tables: `ColumnSchema`, `TableSchema` and `TableInfo`.

use orcish_core::Result;

use super::encoding::Encoding;
use crate::metadata::thrift::{FieldValue, ThriftStruct};

/// `ColumnSchema`: an element of a flattened column tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ColumnSchema {
    pub(crate) data_type: i32,
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

impl ThriftStruct for ColumnSchema {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.data_type = value.i32()?,
            2 => self.name = value.string()?,
            3 => self.id = value.string()?,
            5 => self.encoders = value.list(Encoding::read)?,
            6 => self.is_dimension = value.bool()?,
            8 => self.scale = value.i32()?,
            9 => self.precision = value.i32()?,
            10 => self.children = value.i32()?,
            12 => self.default = Some(value.bytes()?.to_vec()),
            13 => self.properties = value.string_map()?,
            14 => self.is_invisible = value.bool()?,
            16 => self.ordinal = Some(value.i32()?),
            _ => {}
        }
        Ok(())
    }
}

/// `TableInfo`, of which the field `fact_table` is read.
#[derive(Debug, Default)]
pub(crate) struct TableInfo {
    pub(crate) table: TableSchema,
}

impl ThriftStruct for TableInfo {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        if id == 1 {
            self.table = value.read_struct()?;
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

impl ThriftStruct for TableSchema {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            2 => self.columns = value.list(|value| value.read_struct())?,
            4 => self.properties = value.string_map()?,
            6 => self.partition = Some(value.read_struct()?),
            _ => {}
        }
        Ok(())
    }
}

/// `PartitionInfo`.
#[derive(Debug, Default)]
pub(crate) struct PartitionInfo {
    pub(crate) columns: Vec<ColumnSchema>,
    /// `PartitionType`; 4 is `NATIVE_HIVE`.
    pub(crate) partition_type: i32,
}

impl ThriftStruct for PartitionInfo {
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
        match id {
            1 => self.columns = value.list(|value| value.read_struct())?,
            2 => self.partition_type = value.i32()?,
            _ => {}
        }
        Ok(())
    }
}
