//! Predicates bound to the columns of an ORC file.

use arrow_schema::DataType;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::explain::Proof;
use orcish_core::expression::Predicate;
use orcish_core::predicate::{Condition, Domain, FilterColumn, ValueSource, bind_names};
use orcish_core::type_names::TypeName;

use crate::projection::ColumnNames;
use crate::schema::{Kind, Schema};

/// The proof by statistics of the file.
pub(crate) const FILE_STATISTICS: Proof = Proof::new("statistics of the file");
/// The proof by statistics of the stripe.
pub(crate) const STRIPE_STATISTICS: Proof = Proof::new("statistics of the stripe");
/// The proof by statistics of the row group.
pub(crate) const ROW_GROUP_STATISTICS: Proof = Proof::new("statistics of the row group");
/// The proof by the bloom filter of the row group.
pub(crate) const BLOOM_FILTER: Proof = Proof::new("bloom filter");
/// The proof by the streams of the stripe: neither the column nor an ancestor has a present stream, so no value is null.
pub(crate) const NO_PRESENT_STREAM: Proof = Proof::new("streams without nulls");

/// The proof by the numbers of rows.
pub(crate) const ROW_NUMBERS: Proof = Proof::new("row numbers");

/// The column of row numbers, which has this name. `is_stored` states whether a stored column has it too.
///
/// # Errors
/// `InvalidArgument` if a stored column has the name: the filter could mean both.
pub(crate) fn row_number_column(name: &str, is_stored: bool) -> Result<FilterColumn> {
    if is_stored {
        return Err(Error::invalid(format!(
            "row_number: there is a column {name:?} already, which the filter may mean"
        )));
    }
    Ok(FilterColumn::new(Domain::Integer, TypeName(&DataType::Int64).to_string()))
}

/// Binds `predicate` to the columns of `schema`. `column` returns the column with an id. `row_number` is the name of the
/// column of row numbers.
///
/// # Errors
/// `UnknownColumn` where the schema does not have a column, `InvalidArgument` where several columns have a name, or a column
/// cannot be compared with a literal, or does not have one value per row.
pub(crate) fn bind(
    predicate: &Predicate,
    schema: &Schema,
    row_number: Option<&str>,
    column: &dyn Fn(u32) -> Result<FilterColumn>,
) -> Result<Condition> {
    let mut names = ColumnNames::new(schema);
    bind_names(predicate, &mut |name| {
        if let Some(other) = row_number.filter(|other| names.is_beside(name, other)) {
            let is_stored = is_known(&names.path(&other.into()));
            return Ok((row_number_column(other, is_stored)?, ValueSource::RowNumber));
        }
        // The path to the root is empty.
        let id = names.path(name)?.last().map_or(0, |id| *id);
        check_is_value(schema, id, name.as_str())?;
        Ok((column(id)?, ValueSource::Column(id)))
    })
}

/// Whether a name was found that is that of a column, of several, or of one that cannot be read.
pub(crate) fn is_known<T>(found: &Result<T>) -> bool {
    !found.as_ref().is_err_and(|error| error.kind() == ErrorKind::UnknownColumn)
}

/// Checks that a column has one value per row: all its ancestors are structs.
///
/// # Errors
/// `InvalidArgument` where it has not.
pub(crate) fn check_is_value(schema: &Schema, id: u32, name: &str) -> Result<()> {
    let mut ancestor = schema.get(id)?.parent;
    while let Some(parent) = ancestor {
        let this = schema.get(parent)?;
        if this.kind != Kind::Struct {
            let kind = this.kind.name();
            let text = format!("{name:?} is within a column of type {kind}: a filter needs one value a row");
            return Err(Error::invalid(text));
        }
        ancestor = this.parent;
    }
    Ok(())
}
