//! From types to the writers of their columns.

use orcish_core::error::{Error, Result};

use super::binary::BinaryValues;
use super::boolean::BooleanValues;
use super::float::FloatValues;
use super::integer::{ByteValues, IntegerValues};
use super::list::ListValues;
use super::structs::StructValues;
use super::text::{Shape, TextValues};
use super::timestamp::TimestampValues;
use super::union::UnionValues;
use super::{Bits, Bloom, BloomBuilder, Column, ColumnStatistics, Layout, Values, decimal};
use crate::schema::{Kind, Schema};
use crate::write::plan::WritePlan;

/// The writers of the children of column `id`; `nullable` says of each column whether it may be null.
pub(in crate::write) fn columns(plan: &WritePlan, schema: &Schema, nullable: &[bool], id: u32) -> Result<Vec<Column>> {
    schema.get(id)?.children.iter().map(|&child| column(plan, schema, nullable, child)).collect()
}

/// The writer of column `id`.
pub(in crate::write) fn column(plan: &WritePlan, schema: &Schema, nullable: &[bool], id: u32) -> Result<Column> {
    let this = schema.get(id)?;
    let own = plan.column(id);
    let layout = Layout { framing: plan.framing, choice: own.choice, version: plan.version };
    let text = |shape| Box::new(TextValues::new(id, shape, own.dictionary, layout));
    let length = this.max_length.unwrap_or_default();
    let values: Box<dyn Values> = match this.kind {
        Kind::Boolean => Box::new(BooleanValues::new(layout)),
        Kind::Byte => Box::new(ByteValues::new(layout)),
        Kind::Short | Kind::Int | Kind::Long => Box::new(IntegerValues::new(id, false, layout)),
        Kind::Date => Box::new(IntegerValues::new(id, true, layout)),
        Kind::Float | Kind::Double => Box::new(FloatValues::new(layout)),
        Kind::String => text(Shape::String),
        Kind::Varchar => text(Shape::Varchar(length)),
        Kind::Char => text(Shape::Char(length)),
        Kind::Binary => Box::new(BinaryValues::new(true, layout)),
        Kind::Geometry | Kind::Geography => Box::new(BinaryValues::new(false, layout)),
        Kind::Timestamp => Box::new(TimestampValues::new(id, plan.zone.clone(), plan.is_strict, layout)),
        Kind::TimestampInstant => {
            Box::new(TimestampValues::new(id, crate::time::WriterZone::utc(), plan.is_strict, layout))
        }
        Kind::Decimal => {
            let (precision, scale) = this.decimal();
            let digits = |number: u32| u8::try_from(number).unwrap_or(38);
            decimal::values(id, digits(precision), digits(scale), layout)
        }
        Kind::List | Kind::Map => Box::new(ListValues::new(columns(plan, schema, nullable, id)?, layout)),
        Kind::Struct => Box::new(StructValues::new(columns(plan, schema, nullable, id)?)),
        Kind::Union => Box::new(UnionValues::new(columns(plan, schema, nullable, id)?, layout)),
        Kind::Unknown => {
            return Err(schema.fault(id).unwrap_or_else(|| Error::unsupported("a column of unknown type")));
        }
    };
    let bloom = own.has_bloom.then(|| BloomBuilder::new(plan.stride.into(), plan.bloom_fpp));
    Ok(Column {
        id,
        layout,
        has_index: plan.has_index,
        is_nullable: nullable.get(id as usize).copied().unwrap_or(true),
        values,
        present: Bits::new(),
        has_null: false,
        bloom: bloom.map(|current| Bloom { current, done: Vec::new() }),
        group: (0, 0),
        groups: Vec::new(),
        stripe: ColumnStatistics::EMPTY,
    })
}
