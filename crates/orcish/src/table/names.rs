//! Names of the columns of new tables.

use std::collections::HashMap;

use arrow_schema::{DataType, Fields};
use orcish_core::error::{Error, Result};
use orcish_core::types::item_of;

/// Most characters of names of columns in a message.
const MAX_SHOWN: usize = 500;

/// Checks that the names of columns, and those of fields of a struct, differ without regard to case: many readers, such as Spark,
/// do not tell such columns apart.
///
/// # Errors
/// `InvalidArgument` with the names.
pub(super) fn check_names(fields: &Fields) -> Result<()> {
    check_below(fields, "")
}

fn check_below(fields: &Fields, above: &str) -> Result<()> {
    let mut seen: HashMap<String, String> = HashMap::new();
    for field in fields {
        let name = format!("{above}{}", field.name());
        if let Some(other) = seen.get(&field.name().to_lowercase()) {
            let found = match *other == name {
                true => format!("'{name}' is there twice"),
                false => format!("columns '{other}' and '{name}' differ only by case"),
            };
            let shown: String = found.chars().take(MAX_SHOWN).collect();
            return Err(Error::invalid(format!("{shown}: rename one of the columns before the table is made")));
        }
        check_within(field.data_type(), &format!("{name}."))?;
        seen.insert(field.name().to_lowercase(), name);
    }
    Ok(())
}

fn check_within(kind: &DataType, above: &str) -> Result<()> {
    match kind {
        DataType::Struct(fields) => check_below(fields, above),
        DataType::Map(entries, _) => check_within(entries.data_type(), above),
        DataType::Union(variants, _) => {
            variants.iter().try_for_each(|(_, variant)| check_within(variant.data_type(), above))
        }
        list => item_of(list).map_or(Ok(()), |item| check_within(item.data_type(), above)),
    }
}
