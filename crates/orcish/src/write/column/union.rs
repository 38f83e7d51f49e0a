//! Unions (ORCv1, Union Columns): tags, and the values of each variant one behind the other.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, StructArray};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_schema::{DataType, UnionMode};
use orcish_core::error::{Error, Result};

use super::{Column, Compressors, Detail, Ended, Outcome, Starts, Tools, Values, valid_ranges};
use crate::write::selected::Selected;
use crate::write::streams::{ByteStream, Layout};

pub(super) struct UnionValues {
    tags: ByteStream,
    starts: Starts,
    children: Vec<Column>,
}

impl UnionValues {
    pub(super) fn new(children: Vec<Column>, layout: Layout) -> Self {
        UnionValues { tags: ByteStream::of_bytes(layout), starts: Starts::default(), children }
    }
}

impl UnionValues {
    /// Takes unions as they are read that Arrow has not enough tags for: structs of the tag and all variants.
    fn append_struct(
        &mut self,
        array: &StructArray,
        valid: Option<&NullBuffer>,
        compressors: &mut Compressors,
    ) -> Outcome {
        let Some((tags, variants)) = array.columns().split_first() else {
            return Err(Error::invalid("a union without a tag").into());
        };
        let tags =
            cast(tags, &DataType::Int64).map_err(|error| Error::invalid("tags that are none").with_source(error))?;
        let tags = tags.as_primitive::<Int64Type>().values();
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); self.children.len()];
        for row in valid_ranges(array.len(), valid).flatten() {
            let variant = tags.get(row).and_then(|&tag| u8::try_from(tag).ok());
            let Some((tag, rows)) = variant.and_then(|tag| Some((tag, rows.get_mut(usize::from(tag))?))) else {
                return Err(Error::invalid("a union value with a tag that the type does not have").into());
            };
            rows.push(row);
            self.tags.held().push(tag);
        }
        for ((child, rows), values) in self.children.iter_mut().zip(&rows).zip(variants) {
            let values = Selected::of_indexes(rows.iter().copied()).of(values)?;
            let to_row = |at: usize| rows.get(at).copied().unwrap_or_default();
            child.append(&values, compressors).map_err(|fault| fault.map_index(to_row))?;
        }
        Ok(())
    }
}

impl Values for UnionValues {
    /// Arrow's unions have no nulls of their own: those of their variants are written as such.
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        self.tags.relieve(tools.compressors)?;
        if let DataType::Struct(_) = array.data_type() {
            return self.append_struct(array.as_struct(), valid, tools.compressors);
        }
        let DataType::Union(fields, mode) = array.data_type() else {
            return Err(Error::invalid(format!("{} is no union", array.data_type())).into());
        };
        let union = array.as_union();
        // The number of the variant of each of Arrow's type ids.
        let variant = |id: i8| fields.iter().position(|(own, _)| own == id);
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); self.children.len()];
        for (row, &id) in union.type_ids().iter().enumerate() {
            let variant = variant(id).and_then(|variant| Some((variant, rows.get_mut(variant)?)));
            let Some((variant, rows)) = variant else {
                return Err(
                    Error::invalid(format!("a union value of type id {id}, which the type does not have")).into()
                );
            };
            rows.push(row);
            self.tags.held().push(variant.to_le_bytes()[0]);
        }
        for ((child, rows), (id, _)) in self.children.iter_mut().zip(&rows).zip(fields.iter()) {
            let selected = Selected::of_indexes(rows.iter().map(|&row| match mode {
                UnionMode::Dense => union.value_offset(row),
                UnionMode::Sparse => row,
            }));
            let values = selected.of(union.child(id))?;
            let to_row = |at: usize| rows.get(at).copied().unwrap_or_default();
            child.append(&values, tools.compressors).map_err(|fault| fault.map_index(to_row))?;
        }
        Ok(())
    }

    fn begin_group(&mut self) {
        self.starts.push(|position| self.tags.position(position));
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.tags.end_run(compressors)?;
        Ok(Detail::None)
    }

    fn size(&self) -> usize {
        self.tags.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        Ok(Ended::of_data(self.tags.take(compressors)?, self.starts.take()))
    }

    fn children(&mut self) -> &mut [Column] {
        &mut self.children
    }
}
