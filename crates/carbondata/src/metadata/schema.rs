//! Columns of tables and data files, and their Arrow types.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use orcish_core::{Error, Limits, Result};

use super::format::{ColumnSchema, Encoding};

/// Maximum nesting of columns.
const MAX_DEPTH: usize = 64;
/// Maximum precision of decimals.
const MAX_DIGITS: i32 = 38;

/// The data type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CarbonType {
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
    /// String of up to 32,767 bytes.
    String,
    /// String of any length.
    Varchar,
    Binary,
    /// Days since 1970-01-01.
    Date,
    /// Milliseconds since 1970-01-01 UTC.
    Timestamp,
    Array,
    Struct,
    Map,
}

/// A column of a table or of a data file, with its children.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Id, which is kept when the column is renamed.
    pub(crate) id: String,
    /// Name without the names of its parents.
    pub(crate) name: String,
    pub(crate) carbon_type: CarbonType,
    /// Child columns: one for an array; key and value for a map.
    pub(crate) children: Vec<Column>,
    pub(crate) encoders: Vec<Encoding>,
    /// Dimensions come before measures in the chunks of a blocklet.
    pub(crate) is_dimension: bool,
    pub(crate) is_sorted_by: bool,
    /// Default value, for files without the column; `None` is null.
    pub(crate) default: Option<Vec<u8>>,
    /// Whether the column was dropped.
    pub(crate) is_invisible: bool,
    /// Position in the schema of the table.
    pub(crate) ordinal: Option<i32>,
}

impl Column {
    /// Approximate memory of the column and its children.
    pub(crate) fn memory_size(&self) -> usize {
        let strings = self.id.len() + self.name.len() + self.default.as_ref().map_or(0, Vec::len);
        let inner = self.children.iter().map(Column::memory_size).sum::<usize>();
        size_of::<Self>() + strings + self.encoders.len() * size_of::<Encoding>() + inner
    }

    /// Whether pages store surrogate keys of a global dictionary.
    pub(crate) fn has_global_dictionary(&self) -> bool {
        self.encoders.contains(&Encoding::Dictionary) && !self.encoders.contains(&Encoding::DirectDictionary)
    }

    /// The Arrow type of the column.
    pub(crate) fn data_type(&self) -> DataType {
        match self.carbon_type {
            CarbonType::Boolean => DataType::Boolean,
            CarbonType::Byte => DataType::Int8,
            CarbonType::Short => DataType::Int16,
            CarbonType::Int => DataType::Int32,
            CarbonType::Long => DataType::Int64,
            CarbonType::Float => DataType::Float32,
            CarbonType::Double => DataType::Float64,
            CarbonType::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
            CarbonType::String | CarbonType::Varchar => DataType::Utf8,
            CarbonType::Binary => DataType::Binary,
            CarbonType::Date => DataType::Date32,
            CarbonType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            CarbonType::Struct => DataType::Struct(self.children.iter().map(Column::field).collect()),
            CarbonType::Array => {
                let item = self.children.first().map_or(DataType::Null, Column::data_type);
                DataType::List(Arc::new(Field::new("item", item, true)))
            }
            CarbonType::Map => {
                let types: Vec<DataType> = self.children.iter().map(Column::data_type).collect();
                let mut types = types.into_iter();
                let mut next = || types.next().unwrap_or(DataType::Null);
                let entries: Fields = vec![Field::new("key", next(), false), Field::new("value", next(), true)].into();
                DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
            }
        }
    }

    /// The Arrow field of the column, which is always nullable.
    pub(crate) fn field(&self) -> FieldRef {
        Arc::new(Field::new(&self.name, self.data_type(), true))
    }

    /// Number of chunks of the column and its children.
    pub(crate) fn chunks(&self) -> usize {
        let below: usize = self.children.iter().map(Column::chunks).sum();
        // A map is stored as an array of structs of key and value.
        1 + usize::from(self.carbon_type == CarbonType::Map) + below
    }

    /// Checks the name of the column, and those of its children.
    ///
    /// # Errors
    /// `Unsupported` for a name with NUL, which ends names in Arrow's C data interface.
    pub(crate) fn check_no_nul(&self) -> Result<()> {
        if self.name.contains('\0') {
            let text = format!("the name {:?} of a column has a NUL, which Arrow has not", self.name);
            return Err(Error::unsupported(text));
        }
        self.children.iter().try_for_each(Column::check_no_nul)
    }
}

#[cfg(test)]
impl Column {
    /// A dimension for tests.
    pub(crate) fn sample(name: &str, carbon_type: CarbonType) -> Self {
        Column {
            id: name.to_owned(),
            name: name.to_owned(),
            carbon_type,
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

/// The Arrow schema of columns.
pub(crate) fn schema_of(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// Builds column trees from the flat list of a Thrift schema, in which children follow their parent.
///
/// # Errors
/// `Corrupt` for lists that are not trees, `Unsupported` for unknown types, `LimitExceeded` for more columns or deeper
/// nesting than allowed.
pub(crate) fn columns(list: &[ColumnSchema], limits: &Limits) -> Result<Vec<Column>> {
    if list.len() > limits.columns {
        return Err(Error::over("columns", format!("{} columns, of {} that are allowed", list.len(), limits.columns)));
    }
    let most_depth = MAX_DEPTH.min(limits.depth);
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
    let carbon_type = carbon_type(this).map_err(in_column)?;
    let mut children = Vec::new();
    for _ in 0..this.children.max(0) {
        children.extend(column(rest, &this.name, (depth + 1, most_depth))?);
    }
    let num_children = match carbon_type {
        CarbonType::Array => Some(1),
        // The only child of a map is the struct of its entries.
        CarbonType::Map => {
            children = match <[Column; 1]>::try_from(children) {
                Ok([entries]) if entries.carbon_type == CarbonType::Struct => entries.children,
                _ => return Err(in_column(Error::corrupt("a map whose entries are no struct"))),
            };
            Some(2)
        }
        CarbonType::Struct => None,
        _ => Some(0),
    };
    if num_children.is_some_and(|num_children| num_children != children.len()) {
        return Err(in_column(Error::corrupt(format!(
            "a column of type {carbon_type:?} with {} within it",
            children.len()
        ))));
    }
    let child_name = this.name.strip_prefix(parent).and_then(|name| name.strip_prefix('.'));
    Ok(Some(Column {
        id: this.id.clone(),
        name: child_name.filter(|_| depth > 1).unwrap_or(&this.name).to_owned(),
        carbon_type,
        children,
        encoders: this.encoders.clone(),
        is_dimension: this.is_dimension,
        is_sorted_by: this.properties.iter().any(|(key, value)| key == "sort_columns" && value == "true"),
        default: this.default.clone(),
        is_invisible: this.is_invisible,
        ordinal: this.ordinal,
    }))
}

/// The type with a number of the Thrift enum `DataType`.
fn carbon_type(this: &ColumnSchema) -> Result<CarbonType> {
    Ok(match this.data_type {
        0 => CarbonType::String,
        1 => CarbonType::Short,
        2 => CarbonType::Int,
        3 => CarbonType::Long,
        4 => CarbonType::Double,
        5 => {
            let (precision, scale) = (this.precision, this.scale);
            if !(1..=MAX_DIGITS).contains(&precision) || !(0..=precision).contains(&scale) {
                return Err(Error::corrupt(format!("a decimal of {precision} digits, {scale} behind the point")));
            }
            let out_of_range = |_| Error::corrupt("digits of a decimal");
            CarbonType::Decimal {
                precision: precision.try_into().map_err(out_of_range)?,
                scale: scale.try_into().map_err(out_of_range)?,
            }
        }
        6 => CarbonType::Timestamp,
        7 => CarbonType::Date,
        8 => CarbonType::Boolean,
        20 => CarbonType::Array,
        21 => CarbonType::Struct,
        22 => CarbonType::Varchar,
        23 => CarbonType::Map,
        24 => CarbonType::Float,
        25 => CarbonType::Byte,
        26 => CarbonType::Binary,
        other => return Err(Error::unsupported(format!("columns of type {other} are not known"))),
    })
}
