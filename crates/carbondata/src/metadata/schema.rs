//! Columns as trees, and their types in Arrow.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use orcish_core::{Error, Limits, Result};

use super::format::{ColumnSchema, Encoding};

/// Columns within columns.
const MOST_DEPTH: usize = 64;
/// Most digits of a decimal.
const MOST_DIGITS: i32 = 38;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: i8,
    },
    /// Text of up to 32,767 bytes.
    String,
    /// Text of any length.
    Varchar,
    Binary,
    /// Days since 1970.
    Date,
    /// Milliseconds since 1970, UTC.
    Timestamp,
    Array,
    Struct,
    Map,
}

/// A column of a table or of a file, with those within it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// What the column keeps when it is renamed.
    pub(crate) id: String,
    /// Its own name, without those that it is within.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// An array has one, a map two: key and value.
    pub(crate) children: Vec<Column>,
    pub(crate) encoders: Vec<Encoding>,
    /// Chunks of dimensions come before those of measures.
    pub(crate) is_dimension: bool,
    pub(crate) is_sorted_by: bool,
    /// Its value in files that do not have it; null without.
    pub(crate) default: Option<Vec<u8>>,
    /// It was dropped.
    pub(crate) is_invisible: bool,
    /// Its place among the columns as users see them.
    pub(crate) ordinal: Option<i32>,
}

impl Column {
    /// Bytes that it takes in memory, about, with those within it.
    pub(crate) fn weight(&self) -> usize {
        let texts = self.id.len() + self.name.len() + self.default.as_ref().map_or(0, Vec::len);
        let inner = self.children.iter().map(Column::weight).sum::<usize>();
        size_of::<Self>() + texts + self.encoders.len() * size_of::<Encoding>() + inner
    }

    /// Whether pages have keys of a dictionary that all files of the table share.
    pub(crate) fn has_global_dictionary(&self) -> bool {
        self.encoders.contains(&Encoding::Dictionary) && !self.encoders.contains(&Encoding::DirectDictionary)
    }

    /// The type of its values in Arrow.
    pub(crate) fn data_type(&self) -> DataType {
        match self.kind {
            Kind::Boolean => DataType::Boolean,
            Kind::Byte => DataType::Int8,
            Kind::Short => DataType::Int16,
            Kind::Int => DataType::Int32,
            Kind::Long => DataType::Int64,
            Kind::Float => DataType::Float32,
            Kind::Double => DataType::Float64,
            Kind::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
            Kind::String | Kind::Varchar => DataType::Utf8,
            Kind::Binary => DataType::Binary,
            Kind::Date => DataType::Date32,
            Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Struct => DataType::Struct(self.children.iter().map(Column::field).collect()),
            Kind::Array => {
                let item = self.children.first().map_or(DataType::Null, Column::data_type);
                DataType::List(Arc::new(Field::new("item", item, true)))
            }
            Kind::Map => {
                let types: Vec<DataType> = self.children.iter().map(Column::data_type).collect();
                let mut types = types.into_iter();
                let mut next = || types.next().unwrap_or(DataType::Null);
                let entries: Fields = vec![Field::new("key", next(), false), Field::new("value", next(), true)].into();
                DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
            }
        }
    }

    /// The column as a field of Arrow; any value may be null.
    pub(crate) fn field(&self) -> FieldRef {
        Arc::new(Field::new(&self.name, self.data_type(), true))
    }

    /// Chunks of pages: its own, and those of the columns within it, but for the struct of a map's entries.
    pub(crate) fn chunks(&self) -> usize {
        let below: usize = self.children.iter().map(Column::chunks).sum();
        // A map is an array of structs of keys and values.
        1 + usize::from(self.kind == Kind::Map) + below
    }
}

#[cfg(test)]
impl Column {
    /// A dimension without anything else.
    pub(crate) fn sample(name: &str, kind: Kind) -> Self {
        Column {
            id: name.to_owned(),
            name: name.to_owned(),
            kind,
            children: Vec::new(),
            encoders: Vec::new(),
            is_dimension: true,
            is_sorted_by: false,
            default: None,
            is_invisible: false,
            ordinal: None,
        }
    }
}

/// Columns as the fields of a schema.
pub(crate) fn schema_of(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// The columns of a flat list, which has those within a column behind it, depth first.
///
/// # Errors
/// `Corrupt` for lists that are no trees, `Unsupported` for types that are not known, `LimitExceeded` for nesting, or
/// columns, beyond what is allowed.
pub(crate) fn columns(list: &[ColumnSchema], limits: &Limits) -> Result<Vec<Column>> {
    if list.len() > limits.columns {
        return Err(Error::over("columns", format!("{} columns, of {} that are allowed", list.len(), limits.columns)));
    }
    let most_depth = MOST_DEPTH.min(limits.depth);
    let mut rest = list.iter();
    let mut all = Vec::new();
    while !rest.as_slice().is_empty() {
        all.extend(column(&mut rest, "", (1, most_depth))?);
    }
    Ok(all)
}

fn column(
    rest: &mut std::slice::Iter<'_, ColumnSchema>,
    parent: &str,
    (depth, most_depth): (usize, usize),
) -> Result<Option<Column>> {
    if depth > most_depth {
        return Err(Error::over("depth", format!("columns more than {most_depth} levels deep")));
    }
    let Some(this) = rest.next() else { return Err(Error::corrupt("a column within another is missing")) };
    let in_column = |error: Error| error.in_column(&this.name);
    let kind = kind(this).map_err(in_column)?;
    let mut children = Vec::new();
    for _ in 0..this.children.max(0) {
        children.extend(column(rest, &this.name, (depth + 1, most_depth))?);
    }
    let wanted = match kind {
        Kind::Array => Some(1),
        // Its entries, whose struct is no column of its own.
        Kind::Map => {
            children = match <[Column; 1]>::try_from(children) {
                Ok([entries]) if entries.kind == Kind::Struct => entries.children,
                _ => return Err(in_column(Error::corrupt("a map whose entries are no struct"))),
            };
            Some(2)
        }
        Kind::Struct => None,
        _ => Some(0),
    };
    if wanted.is_some_and(|wanted| wanted != children.len()) {
        return Err(in_column(Error::corrupt(format!("a column of type {kind:?} with {} within it", children.len()))));
    }
    let own = this.name.strip_prefix(parent).and_then(|name| name.strip_prefix('.'));
    Ok(Some(Column {
        id: this.id.clone(),
        name: own.filter(|_| depth > 1).unwrap_or(&this.name).to_owned(),
        kind,
        children,
        encoders: this.encoders.clone(),
        is_dimension: this.is_dimension,
        is_sorted_by: this.properties.iter().any(|(key, value)| key == "sort_columns" && value == "true"),
        default: this.default.clone(),
        is_invisible: this.is_invisible,
        ordinal: this.ordinal,
    }))
}

/// The type of a column, by the numbers of `DataType`.
fn kind(this: &ColumnSchema) -> Result<Kind> {
    Ok(match this.kind {
        0 => Kind::String,
        1 => Kind::Short,
        2 => Kind::Int,
        3 => Kind::Long,
        4 => Kind::Double,
        5 => {
            let (precision, scale) = (this.precision, this.scale);
            if !(1..=MOST_DIGITS).contains(&precision) || !(0..=precision).contains(&scale) {
                return Err(Error::corrupt(format!("a decimal of {precision} digits, {scale} behind the point")));
            }
            let misfit = |_| Error::corrupt("digits of a decimal");
            Kind::Decimal { precision: precision.try_into().map_err(misfit)?, scale: scale.try_into().map_err(misfit)? }
        }
        6 => Kind::Timestamp,
        7 => Kind::Date,
        8 => Kind::Boolean,
        20 => Kind::Array,
        21 => Kind::Struct,
        22 => Kind::Varchar,
        23 => Kind::Map,
        24 => Kind::Float,
        25 => Kind::Byte,
        26 => Kind::Binary,
        other => return Err(Error::unsupported(format!("columns of type {other} are not known"))),
    })
}
