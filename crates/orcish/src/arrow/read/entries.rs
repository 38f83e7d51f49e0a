//! Values of a dictionary, gathered by their references.

use arrow_buffer::Buffer;

/// Entries of at most this many bytes are copied with all that follows up to here.
const SHORT: usize = 32;
/// Values that are gathered at a time, where all are short.
const GATHERED: usize = 64;

/// The values of a dictionary, by their numbers.
#[derive(Debug, Default)]
pub struct Entries {
    /// Where each begins, and its length.
    places: Vec<(u32, u32)>,
    /// All of them, and some bytes more, so that short copies need not be exact.
    bytes: Buffer,
    /// Length of the longest.
    longest: usize,
}

impl Entries {
    /// Values that are at `places` in `bytes`: where each begins, and its length. What reaches beyond is empty.
    pub fn new(mut places: Vec<(u32, u32)>, mut bytes: Vec<u8>) -> Self {
        for (start, length) in &mut places {
            if u64::from(*start) + u64::from(*length) > bytes.len() as u64 {
                (*start, *length) = (0, 0);
            }
        }
        bytes.resize(bytes.len() + SHORT, 0);
        let longest = places.iter().fold(0, |longest, &(_, length)| longest.max(length as usize));
        Entries { places, bytes: Buffer::from_vec(bytes), longest }
    }

    /// Number of values.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Length of the longest value.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Bytes of all values, and some more behind them.
    pub fn bytes(&self) -> &Buffer {
        &self.bytes
    }

    /// Where a value begins, and its length; that of a number that no value has is empty.
    #[inline]
    pub fn place(&self, reference: u32) -> (u32, u32) {
        self.places.get(reference as usize).copied().unwrap_or_default()
    }

    /// The values of the references, one after the other: their lengths, and their bytes.
    pub fn gather(&self, references: &[u32]) -> (Vec<u32>, Vec<u8>) {
        match self.longest {
            0..=8 => self.gather_short::<8>(references),
            9..=16 => self.gather_short::<16>(references),
            17..=SHORT => self.gather_short::<SHORT>(references),
            _ => self.gather_any(references),
        }
    }

    /// Values of no more than `N` bytes: a copy of fixed length, of which the next overwrites what is too much,
    /// beats one of the right length.
    #[expect(clippy::indexing_slicing, reason = "no place is further than those of all values before it together")]
    fn gather_short<const N: usize>(&self, references: &[u32]) -> (Vec<u32>, Vec<u8>) {
        let mut all_lengths = Vec::with_capacity(references.len());
        let mut bytes = Vec::with_capacity(references.len() * N.min(self.longest));
        let (mut lengths, mut buffer) = ([0; GATHERED], [0; GATHERED * SHORT + SHORT]);
        for references in references.chunks(GATHERED) {
            let mut at = 0;
            for (&reference, to) in references.iter().zip(&mut lengths) {
                let (start, length) = self.place(reference);
                let from = self.bytes.get(start as usize..).and_then(|bytes| bytes.first_chunk::<N>());
                buffer[at % (GATHERED * SHORT)..][..N].copy_from_slice(from.unwrap_or(&[0; N]));
                *to = length;
                at += length as usize;
            }
            all_lengths.extend_from_slice(&lengths[..references.len()]);
            bytes.extend_from_slice(&buffer[..at]);
        }
        (all_lengths, bytes)
    }

    fn gather_any(&self, references: &[u32]) -> (Vec<u32>, Vec<u8>) {
        let lengths: Vec<u32> = references.iter().map(|&reference| self.place(reference).1).collect();
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let mut bytes: Vec<u8> = Vec::with_capacity(total + SHORT);
        for (start, length) in references.iter().map(|&reference| self.place(reference)) {
            let (at, length) = (bytes.len(), length as usize);
            let from = self.bytes.get(start as usize..).unwrap_or_default();
            match from.first_chunk::<SHORT>() {
                Some(short) if length <= SHORT => bytes.extend_from_slice(short),
                _ => bytes.extend_from_slice(from.get(..length).unwrap_or_default()),
            }
            bytes.truncate(at + length);
        }
        (lengths, bytes)
    }
}
