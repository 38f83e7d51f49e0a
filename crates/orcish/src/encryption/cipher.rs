//! AES in counter mode, and the initialization vectors of streams.

use aes::{Aes128, Aes256};
use ctr::Ctr128BE;
use ctr::cipher::{InnerIvInit as _, KeyInit as _, StreamCipher as _, StreamCipherSeek as _};
use orcish_core::error::{Error, OrInternal as _, Result};

use super::key::{Algorithm, SecretKey};

/// Bytes of a block of AES, and of an initialization vector.
pub(super) const BLOCK_BYTES: usize = 16;

/// Kind of a stream of the statistics of a stripe in the initialization vector.
pub(crate) const STRIPE_STATISTICS: u32 = 100;
/// Kind of the statistics of the file in the initialization vector.
pub(crate) const FILE_STATISTICS: u32 = 101;

/// An initialization vector. Its last eight bytes count the blocks of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Iv([u8; BLOCK_BYTES]);

impl Iv {
    /// The vector of a stream: three bytes of the column, two of the kind, three of the id of the stripe.
    ///
    /// # Errors
    /// `Unsupported` for a number that does not fit: no vector may be used twice with a key.
    pub(crate) fn of_stream(column: u32, kind: u32, stripe: u64) -> Result<Self> {
        let (column_bytes, kind_bytes, stripe_bytes) = (column.to_be_bytes(), kind.to_be_bytes(), stripe.to_be_bytes());
        let ([0, column @ ..], [0, 0, kind @ ..], [0, 0, 0, 0, 0, stripe_id @ ..]) =
            (column_bytes, kind_bytes, stripe_bytes)
        else {
            let text =
                format!("column {column}, stream kind {kind} and stripe {stripe} exceed what encryption can number");
            return Err(Error::unsupported(text));
        };
        if stripe == 0 {
            return Err(Error::corrupt("an encrypted stripe has the id 0"));
        }
        let mut iv = [0; BLOCK_BYTES];
        let head = column.into_iter().chain(kind).chain(stripe_id);
        iv.iter_mut().zip(head).for_each(|(byte, value)| *byte = value);
        Ok(Iv(iv))
    }
}

/// A key that is ready for use. It is wiped when it is dropped.
#[derive(Clone)]
pub(crate) enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

impl std::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cipher")
    }
}

impl Cipher {
    pub(crate) fn try_new(key: &SecretKey) -> Result<Self> {
        let length = "a key has another length than its algorithm";
        Ok(match key.algorithm() {
            Algorithm::AesCtr128 => Cipher::Aes128(Aes128::new_from_slice(key.expose()).ok().or_internal(length)?),
            Algorithm::AesCtr256 => Cipher::Aes256(Aes256::new_from_slice(key.expose()).ok().or_internal(length)?),
        })
    }

    /// Encrypts or decrypts the bytes of a stream from `offset` on: both are the same.
    pub(crate) fn apply(&self, Iv(iv): Iv, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let beyond = |_| Error::corrupt("an encrypted stream is longer than its counter");
        match self {
            Cipher::Aes128(aes) => {
                let mut stream = Ctr128BE::<Aes128>::from_core(ctr::CtrCore::inner_iv_init(aes.clone(), &iv.into()));
                stream.try_seek(offset).map_err(beyond)?;
                stream.apply_keystream(bytes);
            }
            Cipher::Aes256(aes) => {
                let mut stream = Ctr128BE::<Aes256>::from_core(ctr::CtrCore::inner_iv_init(aes.clone(), &iv.into()));
                stream.try_seek(offset).map_err(beyond)?;
                stream.apply_keystream(bytes);
            }
        }
        Ok(())
    }
}

/// The local key whose wrapped form is `wrapped`: the wrapped bytes decrypted with the master key, with their first block as
/// initialization vector.
///
/// # Errors
/// `Corrupt` where the wrapped key has another length than the master key.
pub(super) fn unwrap_local_key(master: &SecretKey, wrapped: &[u8]) -> Result<SecretKey> {
    let Some((iv, _)) = wrapped.split_first_chunk().filter(|_| wrapped.len() == master.algorithm().key_length()) else {
        let text = format!("an encrypted key of {} bytes, for {}", wrapped.len(), master.algorithm().name());
        return Err(Error::corrupt(text));
    };
    let mut local = zeroize::Zeroizing::new(wrapped.to_vec());
    Cipher::try_new(master)?.apply(Iv(*iv), 0, &mut local)?;
    SecretKey::try_new(local.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u32> = hex.chars().map(|digit| digit.to_digit(16).unwrap()).collect();
        digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
    }

    #[test]
    fn keys_and_streams_of_java_are_decrypted() {
        let master = SecretKey::try_new(bytes("435223ef90e51a34047c3e84021ae46b")).unwrap();
        let local = unwrap_local_key(&master, &bytes("c600a5a30fd1075267a09fda42bf5ced")).unwrap();
        assert_eq!(local.expose(), bytes("216d8d59a8a19c07359d280419aca81d"));
        let iv = Iv::of_stream(2, 1, 1).unwrap();
        assert_eq!(iv.0.as_slice(), bytes("00000200010000010000000000000000"));
        let mut stream = bytes("9e00295e93ebd21abe8a451c17968924");
        Cipher::try_new(&local).unwrap().apply(iv, 0, &mut stream).unwrap();
        assert_eq!(stream, bytes("7fff31ca38d3d75c8089000000000001"));
    }

    #[test]
    fn a_part_of_a_stream_is_decrypted_alone() {
        for length in [16, 32] {
            let cipher = Cipher::try_new(&SecretKey::try_new(vec![9; length]).unwrap()).unwrap();
            let iv = Iv::of_stream(0xff_ffff, 0xffff, 0xff_ffff).unwrap();
            let mut all = vec![0; 100];
            cipher.apply(iv, 0, &mut all).unwrap();
            for start in [0, 1, 15, 16, 17, 31, 64, 99] {
                let mut part = vec![0; 100 - start];
                cipher.apply(iv, start as u64, &mut part).unwrap();
                assert_eq!(part, all[start..]);
            }
        }
    }

    #[test]
    fn numbers_that_do_not_fit_have_no_vector() {
        assert!(Iv::of_stream(1 << 24, 1, 1).is_err());
        assert!(Iv::of_stream(1, 1 << 16, 1).is_err());
        assert!(Iv::of_stream(1, 1, 1 << 24).is_err());
        assert!(Iv::of_stream(1, 1, 0).is_err());
    }
}
