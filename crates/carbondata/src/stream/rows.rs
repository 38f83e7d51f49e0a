//! Rows of a blocklet: which values are null, and the others one behind the other.

use arrow_array::ArrayRef;
use orcish_core::{Error, Limits, Result};

use super::nested::Lengths;
use super::values::Values;
use crate::bytes::Bytes;
use crate::metadata::format::Encoding;
use crate::metadata::schema::{Column, Kind};
use crate::page::Dictionaries;

/// Bytes that a value takes in an array, when it takes least in the file: a bit.
const VALUE_BYTES: usize = 16;

/// How a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Four bytes.
    Key,
    /// Behind a length of two bytes.
    Short,
    /// Behind a length of four bytes.
    Long,
    /// Behind a length of two bytes, with lengths within.
    Nested,
    Measure(Kind),
}

/// A value of each row.
#[derive(Debug)]
pub(super) struct Field {
    form: Form,
    /// Its place among the columns of the file.
    pub(super) column: usize,
}

/// The fields of rows, in their order: dimensions, columns that have others in them, measures.
pub(super) fn fields(columns: &[Column]) -> Vec<Field> {
    let form = |column: &Column| match column.kind {
        Kind::Array | Kind::Map | Kind::Struct => Form::Nested,
        kind if !column.is_dimension => Form::Measure(kind),
        Kind::Date => Form::Key,
        _ if column.encoders.contains(&Encoding::Dictionary) => Form::Key,
        Kind::Varchar => Form::Long,
        _ => Form::Short,
    };
    let fields = columns.iter().enumerate().map(|(at, column)| Field { form: form(column), column: at });
    let mut fields: Vec<Field> = fields.collect();
    fields.sort_by_key(|field| match field.form {
        Form::Key | Form::Short | Form::Long => 0,
        Form::Nested => 1,
        Form::Measure(_) => 2,
    });
    fields
}

impl Field {
    /// Whether blocklets have bounds of it.
    pub(super) fn has_bounds(&self) -> bool {
        self.form != Form::Nested
    }

    /// Passes over a value.
    fn pass(&self, bytes: &mut Bytes<'_>) -> Result<()> {
        let width = match self.form {
            Form::Short | Form::Measure(Kind::Decimal { .. }) => return bytes.short().map(drop),
            Form::Nested => usize::from(bytes.u16()?),
            Form::Long => bytes.length()?,
            Form::Measure(Kind::Boolean) => 1,
            Form::Measure(Kind::Short) => 2,
            Form::Key | Form::Measure(Kind::Int) => 4,
            Form::Measure(Kind::Long | Kind::Double) => 8,
            Form::Measure(kind) => return Err(not_in_streams(kind)),
        };
        bytes.take(width).map(drop)
    }

    fn values(&self, column: &Column, rows: usize) -> Result<Values<'static>> {
        match self.form {
            Form::Key => Ok(Values::keys(rows)),
            Form::Short | Form::Long | Form::Nested => Values::dimension(column, rows),
            Form::Measure(
                kind @ (Kind::Boolean | Kind::Short | Kind::Int | Kind::Long | Kind::Double | Kind::Decimal { .. }),
            ) => Ok(Values::measure(kind, rows)),
            Form::Measure(kind) => Err(not_in_streams(kind)),
        }
    }
}

fn not_in_streams(kind: Kind) -> Error {
    Error::unsupported(format!("measures of type {kind:?}, which streams do not have"))
}

/// A column that is wanted.
struct Wanted<'a, 'b> {
    column: &'a Column,
    values: Values<'b>,
    /// Those of the last value; files do not say it.
    lengths: Lengths,
}

impl<'b> Wanted<'_, 'b> {
    fn push(&mut self, form: Form, bytes: &mut Bytes<'b>) -> Result<()> {
        match form {
            Form::Key => self.values.push_key(bytes.i32()?.cast_unsigned()),
            Form::Short => self.values.push_bytes(bytes.short()?),
            Form::Long => {
                let length = bytes.length()?;
                self.values.push_bytes(bytes.take(length)?);
            }
            Form::Nested => {
                let length = bytes.u16()?;
                self.push_nested(bytes.take(length.into())?)?;
            }
            Form::Measure(kind) => self.values.push_measure(kind, bytes)?,
        }
        Ok(())
    }

    fn push_nested(&mut self, bytes: &'b [u8]) -> Result<()> {
        let lengths = [self.lengths, self.lengths.other()].into_iter().find(|lengths| lengths.fit(bytes, self.column));
        self.lengths = lengths.ok_or_else(|| Error::corrupt(format!("{} bytes that are no value", bytes.len())))?;
        self.values.push_nested(&mut Bytes::new(bytes), self.column, self.lengths)
    }
}

/// The columns of `wanted`, in their order, of all `rows`.
pub(super) fn decode(
    bytes: &[u8],
    rows: usize,
    columns: &[Column],
    wanted: &[usize],
    dictionaries: Option<&Dictionaries>,
    limits: &Limits,
) -> Result<Vec<ArrayRef>> {
    check_size(bytes, rows, wanted, limits)?;
    let fields = fields(columns);
    let mut all = Vec::with_capacity(wanted.len());
    // The place of each field among those that are wanted.
    let mut places = vec![None; fields.len()];
    for (place, &at) in wanted.iter().enumerate() {
        let column = columns.get(at).ok_or_else(|| Error::invalid("no such column"))?;
        let found = fields.iter().zip(&mut places).find(|(field, _)| field.column == at);
        let (field, slot) = found.filter(|(_, slot)| slot.is_none()).ok_or_else(|| Error::invalid("a column twice"))?;
        *slot = Some(place);
        let values = field.values(column, rows).map_err(|error| error.in_column(&column.name))?;
        all.push(Wanted { column, values, lengths: Lengths::Int });
    }
    let mut bytes = Bytes::new(bytes);
    for row in 0..rows {
        let nulls = bytes.short()?;
        for (at, (field, place)) in fields.iter().zip(&places).enumerate() {
            let is_null = nulls.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
            let wanted = place.and_then(|place| all.get_mut(place));
            let done = match wanted {
                Some(wanted) if is_null => wanted.values.push_null(),
                Some(wanted) => wanted.push(field.form, &mut bytes),
                None if is_null => Ok(()),
                None => field.pass(&mut bytes),
            };
            done.map_err(|error| {
                let error = error.at_row(u64::try_from(row).unwrap_or(u64::MAX));
                columns.get(field.column).map_or(error.clone(), |column| error.in_column(&column.name))
            })?;
        }
    }
    if !bytes.is_empty() {
        return Err(Error::corrupt(format!("{} bytes behind the last row", bytes.rest().len())));
    }
    let arrays = all.into_iter().map(|wanted| {
        let array = wanted.values.finish(wanted.column, dictionaries);
        array.map_err(|error| error.in_column(&wanted.column.name))
    });
    arrays.collect()
}

/// Rows have two bytes at least, and values that are null a bit.
fn check_size(bytes: &[u8], rows: usize, wanted: &[usize], limits: &Limits) -> Result<()> {
    if rows > bytes.len() / 2 {
        return Err(Error::corrupt(format!("{rows} rows in {} bytes", bytes.len())));
    }
    let size = rows.saturating_mul(wanted.len()).saturating_mul(VALUE_BYTES);
    if u64::try_from(size).is_ok_and(|size| size > limits.memory) {
        return Err(Error::limit(format!("{rows} rows of {} columns", wanted.len())));
    }
    Ok(())
}
