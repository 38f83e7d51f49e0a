//! Inverted indexes and run lengths: the values of a page may be sorted, and equal values stored once.

use orcish_core::{Error, OrInternal as _, Result};

use super::checks::check_rows;
use crate::bytes::ByteReader;

/// Runs of at most this length are filled with a fixed-size write, whose excess the next run overwrites.
const SHORT: usize = 4;

/// Reads the row ids of a page of version 3, and the positions of runs among them.
pub(crate) fn stored_ids(bytes: &[u8]) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut bytes = ByteReader::new(bytes);
    let length = bytes.length()?;
    let ids = bytes.take(length)?;
    Ok((numbers(ids)?, numbers(bytes.rest())?))
}

/// Reads the run lengths of a page of version 3, which are stored as pairs of start and length.
pub(crate) fn stored_runs(bytes: &[u8]) -> Result<Vec<u32>> {
    Ok(numbers(bytes)?.as_chunks().0.iter().map(|&[_, count]| count).collect())
}

fn numbers(bytes: &[u8]) -> Result<Vec<u32>> {
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(Error::corrupt("numbers of two bytes end within one"));
    }
    Ok(numbers.iter().map(|&number| u16::from_be_bytes(number).into()).collect())
}

/// Inverts row ids: the position of the stored value of each row.
///
/// `ids` are the rows of the stored values. At the positions in `runs`, an id and the next id are the ends of a closed
/// range.
///
/// # Errors
/// `Corrupt` where the ids are not a permutation of the rows.
pub(crate) fn inverse(ids: &[u32], runs: &[u32], rows: usize) -> Result<Vec<u32>> {
    let wrong = || Error::corrupt(format!("row ids that are not those of {rows} rows"));
    let mut inverse = vec![u32::MAX; rows];
    let mut next = 0u32;
    let mut put = |row: u32| {
        let slot = usize::try_from(row).ok().and_then(|row| inverse.get_mut(row));
        let slot = slot.filter(|slot| **slot == u32::MAX).ok_or_else(wrong)?;
        *slot = next;
        next = next.checked_add(1).ok_or_else(wrong)?;
        Ok::<_, Error>(())
    };
    let mut runs = runs.iter().copied().peekable();
    let mut at = 0;
    while let Some(&first) = ids.get(at) {
        if runs.next_if(|&run| usize::try_from(run).is_ok_and(|run| run == at)).is_some() {
            let last = *ids.get(at + 1).filter(|&&last| last >= first).ok_or_else(wrong)?;
            (first..=last).try_for_each(&mut put)?;
            at += 2;
        } else {
            put(first)?;
            at += 1;
        }
    }
    // No row occurs twice, so that all rows occur if the numbers are equal.
    if usize::try_from(next).ok() != Some(rows) || runs.next().is_some() {
        return Err(wrong());
    }
    Ok(inverse)
}

/// Puts values into row order. `inverse` has one element for each value.
pub(crate) fn reorder<T: Copy>(values: Vec<T>, inverse: Option<&[u32]>) -> Result<Vec<T>> {
    let Some(inverse) = inverse else { return Ok(values) };
    check_rows(values.len(), inverse.len())?;
    #[expect(clippy::indexing_slicing, reason = "an inverse has the numbers of as many values as it has rows")]
    Ok(inverse.iter().map(|&at| values[at as usize]).collect())
}

/// Repeats each value as often as `counts` says.
///
/// # Errors
/// `Corrupt` unless the counts sum up to `rows`.
pub(crate) fn repeat<T: Copy + Default>(values: &[T], counts: &[u32], rows: usize) -> Result<Vec<T>> {
    let total = counts.iter().fold(0u64, |sum, &count| sum + u64::from(count));
    if values.len() != counts.len() || usize::try_from(total).ok() != Some(rows) {
        let (values, runs) = (values.len(), counts.len());
        return Err(Error::corrupt(format!("{values} values in {runs} runs of {total} rows, and {rows} are there")));
    }
    let mut all = vec![T::default(); rows];
    let mut rest = all.as_mut_slice();
    for (&value, &count) in values.iter().zip(counts) {
        let count = usize::try_from(count).or_internal("a run is longer than its page")?;
        match rest.first_chunk_mut::<SHORT>() {
            Some(first) if count <= SHORT => *first = [value; SHORT],
            _ => rest.get_mut(..count).or_internal("runs are longer than their page")?.fill(value),
        }
        rest = rest.get_mut(count..).or_internal("runs are longer than their page")?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_ids_with_runs() {
        // Stored values belong to rows 3, 0, 1, 2, 4.
        let bytes = [0, 0, 0, 8, 0, 3, 0, 0, 0, 2, 0, 4, 0, 1];
        let (ids, runs) = stored_ids(&bytes).unwrap();
        assert_eq!((ids.as_slice(), runs.as_slice()), (&[3, 0, 2, 4][..], &[1][..]));
        let inverse = inverse(&ids, &runs, 5).unwrap();
        assert_eq!(inverse, [1, 2, 3, 0, 4]);
        assert_eq!(reorder(vec!['a', 'b', 'c', 'd', 'e'], Some(&inverse)).unwrap(), ['b', 'c', 'd', 'a', 'e']);
    }

    #[test]
    fn row_ids_are_a_permutation() {
        for (ids, runs) in [(&[0, 0][..], &[][..]), (&[0, 2], &[]), (&[0], &[]), (&[0, 1, 2], &[]), (&[0, 1], &[1])] {
            assert!(inverse(ids, runs, 2).is_err(), "{ids:?} {runs:?}");
        }
        assert!(inverse(&[0, u32::MAX], &[0], 2).is_err());
        assert!(stored_ids(&[0, 0, 0, 3, 0, 0, 0]).is_err());
    }

    #[test]
    fn run_lengths_sum_up_to_the_rows() {
        let counts = stored_runs(&[0, 0, 0, 2, 0, 2, 0, 1]).unwrap();
        assert_eq!(repeat(&['a', 'b'], &counts, 3).unwrap(), ['a', 'a', 'b']);
        assert!(repeat(&['a', 'b'], &counts, 4).is_err());
        let (values, counts): (Vec<u32>, Vec<u32>) =
            [(7, 1), (8, 9), (9, 0), (10, 4), (11, 5), (12, 2)].into_iter().unzip();
        let all: Vec<u32> =
            values.iter().zip(&counts).flat_map(|(&v, &n)| std::iter::repeat_n(v, n as usize)).collect();
        assert_eq!(repeat(&values, &counts, 21).unwrap(), all);
        assert!(repeat(&['a'], &counts, 3).is_err());
    }
}
