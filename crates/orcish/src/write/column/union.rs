//! Union columns (ORCv1, Union Columns): a stream of tags, and a child column for the values of each variant.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, StructArray};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_schema::{DataType, UnionMode};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::type_names::TypeName;

use super::{
    AppendContext, AppendResult, ColumnWriter, Compressors, Detail, EncodedValues, ValueEncoder, valid_ranges,
};
use crate::write::rle_stream::ByteStream;
use crate::write::selection::Selection;
use crate::write::stream_options::StreamOptions;

pub(super) struct UnionEncoder {
    tags: ByteStream,
    /// A column for each variant.
    children: Vec<ColumnWriter>,
}

impl UnionEncoder {
    pub(super) fn new(children: Vec<ColumnWriter>, options: StreamOptions) -> Self {
        UnionEncoder { tags: ByteStream::bytes(options), children }
    }

    /// Appends a struct of a tag and all variants. Unions of more than 128 variants, which Arrow cannot tag, are read
    /// as such structs.
    fn append_struct(
        &mut self,
        array: &StructArray,
        valid: Option<&NullBuffer>,
        compressors: &mut Compressors,
    ) -> AppendResult {
        let Some((tags, variants)) = array.columns().split_first() else {
            return Err(Error::invalid("a union without a tag").into());
        };
        let tags =
            cast(tags, &DataType::Int64).map_err(|error| Error::invalid("tags that are none").with_source(error))?;
        let tags = tags.as_primitive::<Int64Type>().values();
        let mut variant_rows: Vec<Vec<usize>> = vec![Vec::new(); self.children.len()];
        for row in valid_ranges(array.len(), valid).flatten() {
            let tag = tags.get(row).and_then(|&tag| u8::try_from(tag).ok());
            let Some((tag, rows)) = tag.and_then(|tag| Some((tag, variant_rows.get_mut(usize::from(tag))?))) else {
                return Err(Error::invalid("a union value with a tag that the type does not have").into());
            };
            rows.push(row);
            self.tags.buffer().push(tag);
        }
        for ((child, rows), values) in self.children.iter_mut().zip(&variant_rows).zip(variants) {
            let values = Selection::from_indices(rows.iter().copied()).apply(values)?;
            append_variant(child, &values, rows, compressors)?;
        }
        Ok(())
    }
}

/// Appends the values of a variant, which are at `rows` of the union.
fn append_variant(
    child: &mut ColumnWriter,
    values: &ArrayRef,
    rows: &[usize],
    compressors: &mut Compressors,
) -> AppendResult {
    let to_row = |index: usize| rows.get(index).copied().or_internal("an error is in a value of no row");
    child.append(values, compressors).map_err(|error| error.map_index(to_row))
}

impl ValueEncoder for UnionEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        self.tags.encode_if_large(context.compressors)?;
        if let DataType::Struct(_) = array.data_type() {
            return self.append_struct(array.as_struct(), valid, context.compressors);
        }
        let DataType::Union(fields, mode) = array.data_type() else {
            return Err(Error::internal(format!("{} is no union", TypeName(array.data_type()))).into());
        };
        let union = array.as_union();
        // ORC tags are positions of variants. Arrow type ids may be other numbers.
        let tag_of = |type_id: i8| fields.iter().position(|(id, _)| id == type_id);
        let mut variant_rows: Vec<Vec<usize>> = vec![Vec::new(); self.children.len()];
        for (row, &id) in union.type_ids().iter().enumerate() {
            let Some((tag, rows)) = tag_of(id).and_then(|tag| Some((tag, variant_rows.get_mut(tag)?))) else {
                return Err(
                    Error::invalid(format!("a union value of type id {id}, which the type does not have")).into()
                );
            };
            rows.push(row);
            self.tags.buffer().push(tag.to_le_bytes()[0]);
        }
        for ((child, rows), (id, _)) in self.children.iter_mut().zip(&variant_rows).zip(fields.iter()) {
            let selection = Selection::from_indices(rows.iter().map(|&row| match mode {
                UnionMode::Dense => union.value_offset(row),
                UnionMode::Sparse => row,
            }));
            append_variant(child, &selection.apply(union.child(id))?, rows, context.compressors)?;
        }
        Ok(())
    }

    fn begin_row_group(&mut self) {
        self.tags.begin_row_group();
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.tags.end_run(compressors)?;
        Ok(Detail::None)
    }

    fn size(&self) -> usize {
        self.tags.size()
    }

    fn memory_size(&self) -> usize {
        self.tags.memory_size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::data(self.tags.finish(compressors)?))
    }

    fn children(&self) -> &[ColumnWriter] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [ColumnWriter] {
        &mut self.children
    }
}
