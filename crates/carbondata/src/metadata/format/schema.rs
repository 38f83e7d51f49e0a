//! Structs of `schema.thrift`.

use orcish_core::Result;

use super::encoding::Encoding;
use crate::metadata::thrift::{Structure, Value};

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
