//! Unions (ORCv1, Union Columns): a tag for each value, and the values of each variant.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, Int16Array, StructArray, UnionArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{Fields, UnionFields};
use orcish_core::error::{Error, Result};

use super::validity::{Pending, combine, existing};
use super::{Budget, Column, ColumnReader, PENDING};
use crate::codec::Stream;
use crate::encoding::byte_rle::ByteRle;
use crate::index::GroupStart;
use crate::source::Positions;
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
    pub(super) tags: ByteRle<Stream>,
    pub(super) variants: Vec<Column>,
    pub(super) form: Form,
}

impl ColumnReader for UnionReader {
    fn width(&self) -> usize {
        PENDING
    }

    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let rows = budget.take_rows(rows, self.width());
        let (tags, variants) = (&mut self.tags, self.variants.len());
        self.pending.fill(rows, |n, out| {
            out.extend(next_tags(tags, n, variants)?.into_iter().map(u32::from));
            Ok(())
        })?;
        let valid = self.pending.valid(rows);
        let tags = self.pending.dense.get(..valid).unwrap_or_default();
        let mut left = vec![0usize; variants];
        let count = |left: &mut Vec<usize>, tag: u32| left.get_mut(tag as usize).map(|count| *count += 1);
        tags.iter().for_each(|&tag| _ = count(&mut left, tag));
        let mut all = true;
        for (variant, count) in self.variants.iter_mut().zip(&mut left) {
            let fit = variant.plan(*count, budget)?;
            all &= fit == *count;
            *count = fit;
        }
        if all {
            return Ok(rows);
        }
        let fits = |tag: &&u32| match left.get_mut(**tag as usize) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        Ok(self.pending.rows_with(rows, tags.iter().take_while(fits).count()))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let own = existing(slots, parent);
        let own_nulls = self.pending.take(own);
        let mut tags = self.pending.take_dense(existing(own, own_nulls.as_ref())).into_iter();
        let nulls = combine(parent, own_nulls);
        let is_valid = |slot| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(slot));
        let tags: Vec<Option<u32>> = (0..slots).map(|slot| tags.next_if_valid(is_valid(slot))).collect();
        let invalid_variants = |error| Error::corrupt("its variants do not fit together").with_source(error);
        Ok(match &self.form {
            Form::Dense(fields) => {
                let (offsets, children) = dense(&mut self.variants, &tags)?;
                let tags = type_ids(&tags).collect();
                let array = UnionArray::try_new(fields.clone(), tags, Some(offsets), children);
                Arc::new(array.map_err(invalid_variants)?)
            }
            Form::Sparse(fields) => {
                let children = sparse(&mut self.variants, &tags)?;
                Arc::new(
                    UnionArray::try_new(fields.clone(), type_ids(&tags).collect(), None, children)
                        .map_err(invalid_variants)?,
                )
            }
            Form::Struct(fields) => {
                let tag_array: ArrayRef = if self.variants.len() <= 128 {
                    Arc::new(Int8Array::new(type_ids(&tags).collect(), nulls.clone()))
                } else {
                    let tags = tags.iter().map(|tag| tag.and_then(|tag| i16::try_from(tag).ok()).unwrap_or_default());
                    Arc::new(Int16Array::new(tags.collect(), nulls.clone()))
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
        let mut counts = vec![0; variants];
        let mut count = |tag: u32| counts.get_mut(tag as usize).into_iter().for_each(|count| *count += 1);
        skipped.numbers.into_iter().for_each(&mut count);
        let mut left = skipped.fresh;
        while left > 0 {
            let n = left.min(tuning::ROWS_SKIPPED.get());
            next_tags(&mut self.tags, n, variants)?.into_iter().for_each(|tag| count(tag.into()));
            left -= n;
        }
        self.variants.iter_mut().zip(counts).try_for_each(|(variant, count)| variant.skip(count))
    }

    fn seek(&mut self, own: &mut Positions<'_>, to: &GroupStart<'_>) -> Result<()> {
        self.pending.seek(own)?;
        self.tags.seek(own).map_err(|error| error.in_stream("DATA"))?;
        self.variants.iter_mut().try_for_each(|variant| variant.seek(to))
    }
}

/// The next `n` tags of a union of `variants`.
fn next_tags(tags: &mut ByteRle<Stream>, n: usize, variants: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; n];
    tags.read(&mut bytes).map_err(|error| error.in_stream("DATA"))?;
    match bytes.iter().find(|&&tag| usize::from(tag) >= variants) {
        Some(tag) => Err(Error::corrupt(format!("tag {tag} of a union of {variants}")).in_stream("DATA")),
        None => Ok(bytes),
    }
}

trait NextIfValid: Iterator {
    fn next_if_valid(&mut self, valid: bool) -> Option<Self::Item> {
        if valid { self.next() } else { None }
    }
}
impl<I: Iterator> NextIfValid for I {}

/// Arrow tags. Arrow unions have no nulls of their own: nulls become nulls of the first variant.
fn type_ids(tags: &[Option<u32>]) -> impl Iterator<Item = i8> {
    tags.iter().map(|tag| tag.and_then(|tag| i8::try_from(tag).ok()).unwrap_or_default())
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
    let mut counts = vec![0i32; variants.len()];
    let mut offsets = Vec::with_capacity(tags.len());
    for tag in tags {
        let count = counts.get_mut(tag.unwrap_or_default() as usize);
        offsets.push(count.map_or(0, |count| {
            *count += 1;
            *count - 1
        }));
    }
    let has_nulls = tags.contains(&None);
    let read = |(index, (variant, count)): (usize, (&mut Column, i32))| {
        let count = usize::try_from(count).unwrap_or_default();
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
