//! A source of bytes that decrypts the streams of a stripe.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use orcish_core::error::{OrInternal as _, Result};
use orcish_io::{FileVersion, ReadAt, Session};

use super::cipher::{Cipher, Iv};

/// The encrypted streams of a stripe, in the order of their bytes, with the ciphers of their variants.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamCiphers(Vec<EncryptedStream>);

#[derive(Debug, Clone)]
struct EncryptedStream {
    /// Byte range in the file.
    range: Range<u64>,
    cipher: Arc<Cipher>,
    iv: Iv,
}

impl StreamCiphers {
    /// Adds a stream at a byte range of the file.
    pub(crate) fn push(&mut self, range: Range<u64>, cipher: Arc<Cipher>, iv: Iv) {
        self.0.push(EncryptedStream { range, cipher, iv });
    }

    /// Sorts the streams, after the last one was added.
    pub(crate) fn sort(&mut self) {
        self.0.sort_by_key(|stream| stream.range.start);
    }

    /// The streams that have bytes of a range.
    fn within(&self, range: Range<u64>) -> impl Iterator<Item = &EncryptedStream> {
        let first = self.0.partition_point(|stream| stream.range.end <= range.start);
        self.0.iter().skip(first).take_while(move |stream| stream.range.start < range.end)
    }

    /// Decrypts the bytes of the file from `start` on. Bytes of no encrypted stream stay.
    fn decrypt_in_place(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        let end = start.saturating_add(bytes.len() as u64);
        for stream in self.within(start..end) {
            let (from, to) = (stream.range.start.max(start), stream.range.end.min(end));
            let place = usize::try_from(from - start).ok().zip(usize::try_from(to - start).ok());
            let part = place.and_then(|(from, to)| bytes.get_mut(from..to));
            let part = part.or_internal("bytes of an encrypted stream are none of what was read")?;
            stream.cipher.apply(stream.iv, from - stream.range.start, part)?;
        }
        Ok(())
    }

    /// The decrypted bytes of the file from `start` on.
    ///
    /// # Errors
    /// `Corrupt` for a stream that is too long.
    pub(crate) fn decrypt(&self, start: u64, bytes: Bytes) -> Result<Bytes> {
        if self.within(start..start.saturating_add(bytes.len() as u64)).next().is_none() {
            return Ok(bytes);
        }
        let mut bytes = bytes.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&*shared));
        self.decrypt_in_place(start, &mut bytes)?;
        Ok(bytes.freeze())
    }
}

/// The source with streams decrypted.
pub(crate) fn decrypting(source: &Arc<dyn ReadAt>, ciphers: &StreamCiphers) -> Arc<dyn ReadAt> {
    if ciphers.0.is_empty() {
        return source.clone();
    }
    Arc::new(DecryptingSource { source: source.clone(), ciphers: ciphers.clone() })
}

struct DecryptingSource {
    source: Arc<dyn ReadAt>,
    ciphers: StreamCiphers,
}

impl ReadAt for DecryptingSource {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn size(&self) -> Result<u64> {
        self.source.size()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = self.source.read_ranges(ranges)?;
        ranges.iter().zip(read).map(|(range, bytes)| self.ciphers.decrypt(range.start, bytes)).collect()
    }

    fn append_range(&self, range: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        let (start, before) = (range.start, out.len());
        self.source.append_range(range, out)?;
        let read = out.get_mut(before..).or_internal("a source removed bytes from a buffer")?;
        self.ciphers.decrypt_in_place(start, read)
    }

    fn version(&self) -> Result<Option<FileVersion>> {
        self.source.version()
    }

    fn expect_version(&self, version: &FileVersion) -> Result<()> {
        self.source.expect_version(version)
    }

    fn check_version(&self) -> Result<()> {
        self.source.check_version()
    }

    fn first_read(&self) -> u64 {
        self.source.first_read()
    }

    fn coalesce_gap(&self) -> u64 {
        self.source.coalesce_gap()
    }

    fn piece_size(&self) -> Option<usize> {
        self.source.piece_size()
    }

    fn session(&self) -> Session {
        self.source.session()
    }

    fn corruption_hint(&self) -> Option<String> {
        self.source.corruption_hint()
    }

    fn concurrency(&self) -> usize {
        self.source.concurrency()
    }
}

#[cfg(test)]
mod tests {
    use orcish_io::MemorySource;

    use super::*;
    use crate::encryption::key::SecretKey;

    #[test]
    fn any_range_of_a_file_is_decrypted() {
        let cipher = |byte| Arc::new(Cipher::try_new(&SecretKey::try_new(vec![byte; 16]).unwrap()).unwrap());
        let clear: Vec<u8> = (0..200u8).collect();
        let (mut stored, mut ciphers) = (clear.clone(), StreamCiphers::default());
        // The bytes between the streams are in clear.
        for (column, range) in [(1, 10..50u64), (2, 50..51), (3, 60..150)] {
            let (cipher, iv) = (cipher(7), Iv::of_stream(column, 1, 1).unwrap());
            let place = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            cipher.apply(iv, 0, &mut stored[place]).unwrap();
            ciphers.push(range, cipher, iv);
        }
        ciphers.sort();
        assert_ne!(stored, clear);
        let source: Arc<dyn ReadAt> = Arc::new(MemorySource::new(stored));
        let source = decrypting(&source, &ciphers);
        for start in 0..200u64 {
            for end in start..=200 {
                let place = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
                assert_eq!(source.read_range(start..end).unwrap(), clear[place.clone()]);
                let mut out = vec![9; 3];
                source.append_range(start..end, &mut out).unwrap();
                assert_eq!(out[3..], clear[place]);
            }
        }
    }
}
