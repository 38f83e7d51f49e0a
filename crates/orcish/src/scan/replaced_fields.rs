//! Fields of a table with other fields in their place, at any depth.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields};
use orcish_core::types::{item_of, with_item, with_type};

use super::matching::Path;

/// A field that takes the place of the field at a path; `None` where the field stays, and those in it are looked at.
///
/// The values of a dictionary and of run-end encoded arrays have the path of their column.
pub(super) type Replacement<'a> = &'a dyn Fn(&Path, &FieldRef) -> Option<FieldRef>;

/// The fields with replacements.
pub(super) fn replaced_fields(fields: &Fields, replacement: Replacement<'_>) -> Fields {
    fields_below(fields, &mut Vec::new(), replacement)
}

fn fields_below(fields: &Fields, path: &mut Path, replacement: Replacement<'_>) -> Fields {
    fields.iter().enumerate().map(|(place, field)| field_below(place, field, path, replacement)).collect()
}

fn field_below(place: usize, field: &FieldRef, path: &mut Path, replacement: Replacement<'_>) -> FieldRef {
    path.push(place);
    let replaced = replaced_field(field, path, replacement);
    path.pop();
    replaced
}

fn replaced_field(field: &FieldRef, path: &mut Path, replacement: Replacement<'_>) -> FieldRef {
    if let Some(replaced) = replacement(path, field) {
        return replaced;
    }
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields_below(fields, path, replacement)),
        DataType::Map(entries, is_sorted) => {
            let DataType::Struct(pair) = entries.data_type() else { return field.clone() };
            let pair = DataType::Struct(fields_below(pair, path, replacement));
            DataType::Map(Arc::new(with_type(entries, pair)), *is_sorted)
        }
        DataType::Union(fields, mode) => {
            let variants = fields.iter().enumerate();
            let variants = variants.map(|(place, (id, field))| (id, field_below(place, field, path, replacement)));
            DataType::Union(variants.collect(), *mode)
        }
        DataType::Dictionary(keys, values) => {
            let values = Arc::new(Field::new("", values.as_ref().clone(), true));
            let values = replaced_field(&values, path, replacement);
            DataType::Dictionary(keys.clone(), Box::new(values.data_type().clone()))
        }
        DataType::RunEndEncoded(ends, values) => {
            DataType::RunEndEncoded(ends.clone(), replaced_field(values, path, replacement))
        }
        list => match item_of(list) {
            Some(item) => with_item(list, field_below(0, item, path, replacement)),
            None => return field.clone(),
        },
    };
    if kind == *field.data_type() { field.clone() } else { Arc::new(with_type(field, kind)) }
}
