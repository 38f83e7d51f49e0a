//! Row indexes and bloom filters, read from a stripe.

use bytes::Bytes;
use orcish_core::error::{Error, Result};
use orcish_io::read_with_limits;

use super::opener::Opener;
use crate::bloom::BloomFilters;
use crate::codec::decompress_all;
use crate::index::{ColumnIndex, Indexes, RowGroups, find_defect};
use crate::stripe::{IndexKind, Stripe};
use crate::warnings::with_column;

/// Reads the bloom filters of a column, if the stripe has streams of this kind.
pub(super) fn read_bloom_filters(
    opener: &Opener,
    stripe: &Stripe,
    groups: RowGroups,
    id: u32,
    kind: IndexKind,
) -> Result<Option<BloomFilters>> {
    let Some((_, stored_bytes)) = sections(opener, stripe, &[id], kind)?.pop() else { return Ok(None) };
    let parse = |section| BloomFilters::parse(section, groups.count(), &opener.memory);
    of_index(opener, (id, kind), stored_bytes, stripe, parse).map(Some)
}

/// Reads the row indexes of columns, if the stripe has them. Returns whether all columns can seek.
pub(super) fn index_columns(
    opener: &Opener,
    stripe: &Stripe,
    groups: RowGroups,
    ids: &[u32],
    indexes: &mut Indexes,
) -> Result<bool> {
    let missing: Vec<u32> = ids.iter().copied().filter(|id| !indexes.contains_key(id)).collect();
    for (id, stored_bytes) in sections(opener, stripe, &missing, IndexKind::RowIndex)? {
        let parse = |section| ColumnIndex::parse(section, groups, &opener.memory);
        indexes.insert(id, of_index(opener, (id, IndexKind::RowIndex), stored_bytes, stripe, parse)?);
    }
    let can_seek = |&id: &u32| find_defect(indexes.get(&id), stripe, id, groups, opener.tail()).is_none();
    Ok(ids.iter().all(can_seek))
}

/// The stored index streams of columns, if the stripe has them.
fn sections(opener: &Opener, stripe: &Stripe, ids: &[u32], kind: IndexKind) -> Result<Vec<(u32, Bytes)>> {
    let streams = ids.iter().filter_map(|&id| Some((id, stripe.index(id, kind)?)));
    let (ids, ranges): (Vec<_>, Vec<_>) = streams.unzip();
    let sections = read_with_limits(stripe.source(), &ranges, opener.limits())?;
    Ok(ids.into_iter().zip(sections).collect())
}

/// Decompresses and parses an index stream of a column.
fn of_index<T>(
    opener: &Opener,
    (id, kind): (u32, IndexKind),
    stored_bytes: Bytes,
    stripe: &Stripe,
    parse: impl FnOnce(Bytes) -> Result<T>,
) -> Result<T> {
    let parsed = with_column(id, || decompress(stored_bytes, stripe, opener.memory.available()).and_then(parse));
    parsed.map_err(|error| error.in_column(&opener.tail().schema.path(id)).in_stream(kind.name()))
}

/// Decompresses an index stream of at most `limit` bytes.
fn decompress(stored_bytes: Bytes, stripe: &Stripe, limit: u64) -> Result<Bytes> {
    let section = decompress_all(stored_bytes, stripe.framing(), limit)?;
    if section.len() as u64 > limit {
        let message = format!("{} bytes, more than the memory allowed has room for", section.len());
        return Err(Error::over("memory", message));
    }
    Ok(section)
}
