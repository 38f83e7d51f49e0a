//! Big-endian numbers, read from bytes that may end too early.

use orcish_core::{Error, Result};

/// A cursor over bytes. Each read is an error where too few bytes are left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        ByteReader(bytes)
    }

    /// The bytes that are left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| {
            Error::corrupt(format!("it ends too early: {length} bytes are needed, and {} are there", self.0.len()))
        })?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn i16(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    pub(crate) fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    pub(crate) fn f32(&mut self) -> Result<f32> {
        Ok(f32::from_be_bytes(self.array()?))
    }

    /// A length of four bytes, which must not be negative.
    pub(crate) fn length(&mut self) -> Result<usize> {
        let length = self.i32()?;
        usize::try_from(length).map_err(|_| Error::corrupt(format!("a length of {length}")))
    }

    /// Bytes behind their length of two bytes.
    pub(crate) fn short(&mut self) -> Result<&'a [u8]> {
        let length = self.i16()?;
        self.take(usize::try_from(length).map_err(|_| Error::corrupt(format!("a length of {length}")))?)
    }

    /// A string as `DataOutput.writeUTF` writes it. Bytes that are not valid UTF-8 are replaced.
    pub(crate) fn utf(&mut self) -> Result<String> {
        let length = self.u16()?;
        Ok(String::from_utf8_lossy(self.take(length.into())?).into_owned())
    }
}

/// A big-endian two's complement integer of any length; `None` where it needs more than 128 bits.
pub(crate) fn big_integer(bytes: &[u8]) -> Option<i128> {
    let is_negative = bytes.first().is_some_and(|&first| first >= 0x80);
    let fill = if is_negative { u8::MAX } else { 0 };
    let start = bytes.len().saturating_sub(16);
    let (above, digits) = bytes.split_at_checked(start)?;
    let digits_are_negative = digits.first().is_some_and(|&first| first >= 0x80);
    if above.iter().any(|&byte| byte != fill) || (!above.is_empty() && digits_are_negative != is_negative) {
        return None;
    }
    let mut value = [fill; 16];
    value.get_mut(16 - digits.len()..)?.copy_from_slice(digits);
    Some(i128::from_be_bytes(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_integers_of_any_length() {
        assert_eq!(big_integer(&[]), Some(0));
        assert_eq!(big_integer(&[0xff]), Some(-1));
        assert_eq!(big_integer(&[0, 0xff]), Some(255));
        assert_eq!(big_integer(&i128::MIN.to_be_bytes()), Some(i128::MIN));
        assert_eq!(big_integer(&[&[0xff; 3], &i128::MIN.to_be_bytes()[..]].concat()), Some(i128::MIN));
        assert_eq!(big_integer(&[&[0], &i128::MIN.to_be_bytes()[..]].concat()), None);
        assert_eq!(big_integer(&[1; 17]), None);
    }

    #[test]
    fn an_early_end_is_an_error() {
        let mut bytes = ByteReader::new(&[0, 2, b'a']);
        assert!(bytes.short().is_err());
        assert!(ByteReader::new(&[0xff; 4]).length().is_err());
    }
}
