//! Casts of structs, lists, maps and unions.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericListArray, GenericListViewArray, ListArray, MapArray,
    OffsetSizeTrait, StructArray, UInt64Array, UnionArray, new_null_array,
};
use arrow_buffer::{ArrowNativeType as _, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields, UnionFields, UnionMode};
use arrow_select::nullif::nullif;
use arrow_select::take::take;

use super::fault::{Fault, Outcome, unsupported};
use super::leaf;
use super::time::Zones;
use super::value::Style;
use crate::cast::entries::map_entries;
use crate::cast::restore::restore;
use crate::error::{Error, OrInternal as _};
use crate::type_names::TypeName;
use crate::types::{entries_of, is_text, item_of};

/// The cast of the columns within an array.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) column: &'a dyn Fn(&ArrayRef, &DataType) -> Outcome<ArrayRef>,
    pub(super) zones: Zones<'a>,
    /// Whether structs may get fields.
    pub(super) adds_fields: bool,
}

/// Values of the type that a dictionary, runs or lists have, in this layout.
pub(super) fn laid_out(values: &ArrayRef, target: &DataType) -> Outcome<ArrayRef> {
    Ok(restore(values, &Field::new("", target.clone(), true), u64::MAX)?)
}

/// Structs with the same fields, in any order. Values of null structs are none.
pub(super) fn structs(cast: Columns<'_>, array: &StructArray, fields: &Fields, target: &DataType) -> Outcome<ArrayRef> {
    let own = array.fields();
    let has_order = own.iter().map(|field| field.name()).eq(fields.iter().map(|field| field.name()));
    let place = |name: &str| own.iter().position(|field| field.name() == name);
    let lost = own.iter().filter(|field| fields.iter().all(|other| other.name() != field.name()));
    let new = fields.iter().filter(|field| place(field.name()).is_none() && !cast.adds_fields);
    let (lost, new) = (names(lost, "lost"), names(new, "new"));
    let is_same = lost.is_none() && new.is_none() && (cast.adds_fields || own.len() == fields.len());
    if !has_order && !is_same {
        let parts: Vec<String> = lost.into_iter().chain(new).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        let (own, wanted) = (TypeName(array.data_type()), TypeName(target));
        return Err(Error::invalid(format!("the fields of {own} are not those of {wanted}{parts}")).into());
    }
    let child = |(at, field): (usize, &FieldRef)| -> Outcome<ArrayRef> {
        let Some(at) = (if has_order { Some(at) } else { place(field.name()) }) else {
            return Ok(new_null_array(field.data_type(), array.len()));
        };
        let values = array.columns().get(at).or_internal("a struct lacks the values of a field")?;
        let cast = (cast.column)(&without_nulls_above(values, array)?, field.data_type());
        cast.map_err(|fault| fault.within(field.name(), |row| row))
    };
    let columns = fields.iter().enumerate().map(child).collect::<Outcome<Vec<_>>>()?;
    let nulls = array.nulls().cloned();
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?))
}

/// What happens to fields: `'a' and 'b' would be lost`; nothing of no fields.
fn names<'a>(fields: impl Iterator<Item = &'a FieldRef>, what: &str) -> Option<String> {
    let names: Vec<String> = fields.map(|field| format!("'{}'", field.name())).collect();
    (!names.is_empty()).then(|| format!("{} would be {what}", names.join(" and ")))
}

/// The values of a field, which are null where the struct is.
fn without_nulls_above(values: &ArrayRef, array: &StructArray) -> Outcome<ArrayRef> {
    let has_no_nulls =
        matches!(values.data_type(), DataType::Null | DataType::Union(_, _) | DataType::RunEndEncoded(_, _));
    match array.nulls().filter(|nulls| nulls.null_count() > 0 && !has_no_nulls) {
        Some(nulls) => Ok(nullif(values, &BooleanArray::new(!nulls.inner(), None))?),
        None => Ok(values.clone()),
    }
}

/// Unions of the structs as which unions are read: of a tag, which is the position of the variant, and a field for each
/// variant. A null is one of the first variant.
pub(super) fn union_of_structs(
    cast: Columns<'_>,
    array: &StructArray,
    variants: &UnionFields,
    mode: UnionMode,
    target: &DataType,
) -> Outcome<ArrayRef> {
    let tag = array.fields().first().filter(|field| field.name() == "tag" && field.data_type().is_integer());
    if tag.is_none() || array.num_columns() != variants.len() + 1 {
        return Err(unsupported(array.data_type(), target));
    }
    let tags = array.columns().first().or_internal("a union has no tags")?;
    let tags = (cast.column)(&without_nulls_above(tags, array)?, &DataType::Int64)?;
    let codes: Vec<i8> = variants.iter().map(|(code, _)| code).collect();
    let code = |(row, tag): (usize, Option<i64>)| {
        let tag = tag.unwrap_or(0);
        let code = usize::try_from(tag).ok().and_then(|tag| codes.get(tag));
        code.copied().ok_or_else(|| Fault::value(format!("the tag {tag} is none of {}", TypeName(target)), row))
    };
    let ids = tags.as_primitive::<Int64Type>().iter().enumerate().map(code).collect::<Outcome<Vec<i8>>>()?;
    let children = variants.iter().zip(array.columns().iter().skip(1)).map(|((_, field), values)| {
        let values = (cast.column)(&without_nulls_above(values, array)?, field.data_type());
        values.map_err(|fault| fault.within(field.name(), |row| row))
    });
    let children = children.collect::<Outcome<Vec<_>>>()?;
    let offsets = match mode {
        UnionMode::Sparse => None,
        UnionMode::Dense => Some((0..array.len()).map(counted).collect::<Outcome<ScalarBuffer<i32>>>()?),
    };
    Ok(Arc::new(UnionArray::try_new(variants.clone(), ids.into(), offsets, children)?))
}

fn counted(number: usize) -> Outcome<i32> {
    Ok(i32::try_from(number).map_err(|_| Error::limit("more elements in a batch than 32-bit offsets reach"))?)
}

/// The elements of lists or maps without those of nulls, in order, and the offsets of the lists.
struct Elements {
    offsets: OffsetBuffer<i32>,
    /// The rows of the elements in the values; `None` if they are all rows of `range`.
    rows: Option<UInt64Array>,
    range: (usize, usize),
}

impl Elements {
    fn of(array: &ArrayRef) -> Outcome<Self> {
        let (mut ends, mut rows) = (vec![0], Vec::new());
        let (mut first, mut next, mut is_range, mut count) = (0, None, true, 0usize);
        let spans = spans(array)?;
        for (start, length) in &spans {
            if *length > 0 {
                is_range &= next.is_none_or(|next| next == *start);
                first = if next.is_none() { *start } else { first };
                next = Some(start + length);
                count += length;
            }
            ends.push(counted(count)?);
        }
        if !is_range {
            rows = spans.iter().flat_map(|(start, length)| *start..start + length).map(|row| row as u64).collect();
        }
        let rows = (!is_range).then(|| rows.into());
        Ok(Elements { offsets: OffsetBuffer::new(ends.into()), rows, range: (first, count) })
    }

    fn take(&self, values: &ArrayRef) -> Outcome<ArrayRef> {
        match &self.rows {
            Some(rows) => Ok(take(values, rows, None)?),
            None => Ok(values.slice(self.range.0, self.range.1)),
        }
    }

    /// The row of the list that has an element.
    fn row(&self, element: usize) -> usize {
        self.offsets.partition_point(|offset| offset.as_usize() <= element).saturating_sub(1)
    }

    /// The elements, with another type.
    fn cast(&self, cast: Columns<'_>, values: &ArrayRef, target: &DataType, name: &str) -> Outcome<ArrayRef> {
        let values = (cast.column)(&self.take(values)?, target);
        values.map_err(|fault| fault.within(name, |element| self.row(element)))
    }
}

/// The first element and the number of elements of each list or map. Nulls have none.
fn spans(array: &ArrayRef) -> Outcome<Vec<(usize, usize)>> {
    fn of_lists<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Vec<(usize, usize)> {
        of_offsets(array.offsets())
    }
    fn of_offsets<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> Vec<(usize, usize)> {
        let pairs = offsets.iter().zip(offsets.iter().skip(1));
        pairs.map(|(start, end)| (start.as_usize(), end.as_usize() - start.as_usize())).collect()
    }
    fn of_views<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> Vec<(usize, usize)> {
        array.offsets().iter().zip(array.sizes()).map(|(start, size)| (start.as_usize(), size.as_usize())).collect()
    }
    let mut spans = match array.data_type() {
        DataType::List(_) => of_lists::<i32>(array.as_list()),
        DataType::LargeList(_) => of_lists::<i64>(array.as_list()),
        DataType::ListView(_) => of_views::<i32>(array.as_list_view()),
        DataType::LargeListView(_) => of_views::<i64>(array.as_list_view()),
        DataType::Map(_, _) => of_offsets(array.as_map().offsets()),
        DataType::FixedSizeList(_, length) => {
            let width = usize::try_from(*length).map_err(|_| Error::invalid(format!("lists of {length} elements")))?;
            (0..array.len()).map(|row| (row * width, width)).collect()
        }
        kind => return Err(Error::internal(format!("{} is no type of lists", TypeName(kind))).into()),
    };
    if let Some(nulls) = array.nulls() {
        for (span, is_valid) in spans.iter_mut().zip(nulls) {
            span.1 = if is_valid { span.1 } else { 0 };
        }
    }
    Ok(spans)
}

/// Lists of another layout, of lists or of the entries of maps.
pub(super) fn lists(cast: Columns<'_>, array: &ArrayRef, target: &DataType) -> Outcome<ArrayRef> {
    let item = item_of(target).or_internal("a type of lists has no element")?;
    let values: ArrayRef = match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().values().clone(),
        DataType::LargeList(_) => array.as_list::<i64>().values().clone(),
        DataType::ListView(_) => array.as_list_view::<i32>().values().clone(),
        DataType::LargeListView(_) => array.as_list_view::<i64>().values().clone(),
        DataType::FixedSizeList(_, _) => FixedSizeListArray::values(array.as_fixed_size_list()).clone(),
        _ => entries_as(array.as_map(), item)?,
    };
    let elements = Elements::of(array)?;
    let values = elements.cast(cast, &values, item.data_type(), "element")?;
    if let DataType::FixedSizeList(_, length) = target {
        let lengths = elements.offsets.iter().zip(elements.offsets.iter().skip(1)).map(|(start, end)| end - start);
        if let Some((row, count)) = lengths.enumerate().find(|(row, count)| array.is_valid(*row) && count != length) {
            return Err(Fault::value(
                format!("a list of {count} elements is not a value of {}", TypeName(target)),
                row,
            ));
        }
    }
    let lists = ListArray::try_new(item.clone(), elements.offsets, values, array.nulls().cloned())?;
    laid_out(&(Arc::new(lists) as ArrayRef), target)
}

/// The entries of maps, with the names of the fields that they become.
fn entries_as(array: &MapArray, item: &FieldRef) -> Outcome<ArrayRef> {
    let (entries, nulls) = (array.entries(), array.entries().nulls().cloned());
    let fields: Fields = match item.data_type() {
        DataType::Struct(fields) if fields.len() == 2 => {
            let named = entries.fields().iter().zip(fields);
            named.map(|(own, field)| own.as_ref().clone().with_name(field.name())).collect()
        }
        _ => entries.fields().clone(),
    };
    Ok(Arc::new(StructArray::try_new_with_length(fields, entries.columns().to_vec(), nulls, entries.len())?))
}

/// Maps whose keys differ after the cast where they did before.
pub(super) fn maps(cast: Columns<'_>, array: &MapArray, entries: &FieldRef, is_sorted: bool) -> Outcome<ArrayRef> {
    let target = DataType::Map(entries.clone(), is_sorted);
    let (key, value) = entries_of(&target).or_internal("a map without keys and values")?;
    let elements = Elements::of(&(Arc::new(array.clone()) as ArrayRef))?;
    let keys = elements.cast(cast, array.keys(), key.data_type(), "key")?;
    let values = elements.cast(cast, array.values(), value.data_type(), "value")?;
    let own = array.keys().data_type();
    if is_text(own) && !is_text(key.data_type()) {
        check_keys(cast, &elements, own, &keys)?;
    }
    let entry_array = map_entries(vec![key.clone(), value.clone()].into(), keys, values)?;
    let nulls = array.nulls().cloned();
    Ok(Arc::new(MapArray::try_new(entries.clone(), elements.offsets, entry_array, nulls, is_sorted)?))
}

/// Checks that keys of a map that differ as texts are keys that differ.
fn check_keys(cast: Columns<'_>, elements: &Elements, own: &DataType, keys: &ArrayRef) -> Outcome<()> {
    let texts = leaf::texts(keys, Style::Cast, cast.zones)?;
    let texts = texts.as_string::<i32>();
    for (row, (start, end)) in elements.offsets.iter().zip(elements.offsets.iter().skip(1)).enumerate() {
        let mut seen = HashSet::new();
        for at in start.as_usize()..end.as_usize() {
            if texts.is_valid(at) && !seen.insert(texts.value(at)) {
                let (own, kind) = (TypeName(own), TypeName(keys.data_type()));
                return Err(Fault::value(format!("keys of a map that differ as {own} are equal as {kind}"), row));
            }
        }
    }
    Ok(())
}
