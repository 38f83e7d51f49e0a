//! Unions (ORCv1, Union Columns): a tag for each value, and the values of each variant.

use std::num::TryFromIntError;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, Int16Array, StructArray, UnionArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{Fields, UnionFields};
use orcish_core::error::{Error, OrInternal as _, Result};

use super::streams::StreamDecoder;
use super::validity::{Pending, combine, existing};
use super::{Budget, Column, ColumnReader, PENDING};
use crate::codec::Stream;
use crate::encoding::byte_rle::ByteRle;
use crate::index::GroupStart;
use crate::tuning;

/// Arrow form of a union.
pub(super) enum Form {
    Dense(UnionFields),
    Sparse(UnionFields),
    /// `struct<tag, field0, …>`.
    Struct(Fields),
}

pub(super) struct UnionReader {
    pub(super) pending: Pending,
    pub(super) tags: StreamDecoder<ByteRle<Stream>>,
    pub(super) variants: Vec<Column>,
    pub(super) form: Form,
}

impl ColumnReader for UnionReader {
    fn width(&self) -> usize {
        PENDING
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let rows = budget.take_rows(rows, self.width());
        let (tags, variants) = (&mut self.tags, self.variants.len());
        self.pending.fill(rows, |n, out| {
            out.extend(next_tags(tags, n, variants)?.into_iter().map(u32::from));
            Ok(())
        })?;
        let tags = self.pending.numbers(rows)?;
        let mut remaining = counts_of(tags, variants)?;
        let mut all = true;
        for (variant, count) in self.variants.iter_mut().zip(&mut remaining) {
            let fit = variant.rows_that_fit(*count, budget)?;
            all &= fit == *count;
            *count = fit;
        }
        if all {
            return Ok(rows);
        }
        let mut whole = 0;
        for &tag in tags {
            match count_of(&mut remaining, tag)? {
                0 => break,
                count => *count -= 1,
            }
            whole += 1;
        }
        Ok(self.pending.rows_with(rows, whole))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let rows = existing(slots, parent);
        let own_nulls = self.pending.take(rows);
        let mut tags = self.pending.take_dense(existing(rows, own_nulls.as_ref()))?.into_iter();
        let nulls = combine(parent, own_nulls);
        let is_valid = |slot| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(slot));
        let tags: Vec<Option<u32>> = (0..slots).map(|slot| if is_valid(slot) { tags.next() } else { None }).collect();
        let invalid_variants = |error| Error::corrupt("its variants do not fit together").with_source(error);
        Ok(match &self.form {
            Form::Dense(fields) => {
                let (offsets, children) = dense(&mut self.variants, &tags)?;
                let tags = type_ids(&tags)?;
                let array = UnionArray::try_new(fields.clone(), tags, Some(offsets), children);
                Arc::new(array.map_err(invalid_variants)?)
            }
            Form::Sparse(fields) => {
                let children = sparse(&mut self.variants, &tags)?;
                let array = UnionArray::try_new(fields.clone(), type_ids(&tags)?, None, children);
                Arc::new(array.map_err(invalid_variants)?)
            }
            Form::Struct(fields) => {
                let tag_array: ArrayRef = if self.variants.len() <= 128 {
                    Arc::new(Int8Array::new(type_ids(&tags)?, nulls.clone()))
                } else {
                    Arc::new(Int16Array::new(type_ids(&tags)?, nulls.clone()))
                };
                let mut children = vec![tag_array];
                children.extend(sparse(&mut self.variants, &tags)?);
                Arc::new(StructArray::try_new(fields.clone(), children, nulls).map_err(invalid_variants)?)
            }
        })
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let variants = self.variants.len();
        let skipped = self.pending.skip(rows)?;
        let mut counts = counts_of(&skipped.numbers, variants)?;
        let mut remaining = skipped.fresh;
        while remaining > 0 {
            let n = remaining.min(tuning::ROWS_SKIPPED.get());
            for tag in next_tags(&mut self.tags, n, variants)? {
                *count_of(&mut counts, tag.into())? += 1;
            }
            remaining -= n;
        }
        self.variants.iter_mut().zip(counts).try_for_each(|(variant, count)| variant.skip(count))
    }

    fn seek(&mut self, positions: &[u64], to: &GroupStart<'_>) -> Result<()> {
        self.pending.seek(positions)?;
        self.tags.seek(positions)?;
        self.variants.iter_mut().try_for_each(|variant| variant.seek(to))
    }
}

/// The next `n` tags of a union of `variants`.
fn next_tags(tags: &mut StreamDecoder<ByteRle<Stream>>, n: usize, variants: usize) -> Result<Vec<u8>> {
    tags.with(|tags| {
        let mut bytes = vec![0; n];
        tags.read(&mut bytes)?;
        match bytes.iter().find(|&&tag| usize::from(tag) >= variants) {
            Some(tag) => Err(Error::corrupt(format!("tag {tag} of a union of {variants}"))),
            None => Ok(bytes),
        }
    })
}

/// The count of a variant. Tags are checked when they are decoded.
fn count_of(counts: &mut [usize], tag: u32) -> Result<&mut usize> {
    counts.get_mut(tag as usize).or_internal("a tag was not checked")
}

/// The number of values of each variant.
fn counts_of(tags: &[u32], variants: usize) -> Result<Vec<usize>> {
    let mut counts = vec![0; variants];
    for &tag in tags {
        *count_of(&mut counts, tag)? += 1;
    }
    Ok(counts)
}

/// Arrow tags. Arrow unions have no nulls of their own: nulls become nulls of the first variant.
fn type_ids<T: ArrowNativeType + TryFrom<u32, Error = TryFromIntError>>(
    tags: &[Option<u32>],
) -> Result<ScalarBuffer<T>> {
    let id = |tag: &Option<u32>| {
        T::try_from(tag.unwrap_or(0)).or_internal("a union has more variants than its tags tell apart")
    };
    tags.iter().map(id).collect::<Result<Vec<T>>>().map(ScalarBuffer::from)
}

/// Sparse children: values of each variant over all slots, null in slots of other variants.
fn sparse(variants: &mut [Column], tags: &[Option<u32>]) -> Result<Vec<ArrayRef>> {
    let read = |(tag, variant): (u32, &mut Column)| {
        let valid = BooleanBuffer::collect_bool(tags.len(), |slot| tags.get(slot) == Some(&Some(tag)));
        variant.read(tags.len(), Some(&NullBuffer::new(valid)))
    };
    (0..).zip(variants).map(read).collect()
}

/// Dense children: values of each variant, and the offset of each slot. A null slot has a null value in the first variant, as
/// offsets must ascend.
fn dense(variants: &mut [Column], tags: &[Option<u32>]) -> Result<(ScalarBuffer<i32>, Vec<ArrayRef>)> {
    let mut counts = vec![0; variants.len()];
    let mut offsets = Vec::with_capacity(tags.len());
    for tag in tags {
        let count = count_of(&mut counts, tag.unwrap_or(0))?;
        offsets.push(i32::try_from(*count).or_internal("a batch has more rows than offsets of 32 bits")?);
        *count += 1;
    }
    let has_nulls = tags.contains(&None);
    let read = |(index, (variant, count)): (usize, (&mut Column, usize))| {
        if index > 0 || !has_nulls {
            return variant.read(count, None);
        }
        let of_first = tags.iter().filter(|tag| tag.is_none_or(|tag| tag == 0));
        let valid: BooleanBuffer = of_first.map(Option::is_some).collect();
        variant.read(count, Some(&NullBuffer::new(valid)))
    };
    let children = variants.iter_mut().zip(counts).enumerate().map(read).collect::<Result<_>>()?;
    Ok((ScalarBuffer::from(offsets), children))
}
