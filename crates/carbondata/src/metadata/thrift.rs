//! Reader of Thrift's compact protocol.

use orcish_core::{Error, Limits, Result};

/// Maximum nesting of structs. The format needs six levels.
const MAX_DEPTH: usize = 32;

/// A struct that is filled field by field.
pub(crate) trait ThriftStruct: Default {
    /// Reads the field with an id. A field whose value is not read is skipped.
    fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()>;
}

/// Reads structs from bytes.
#[derive(Debug)]
pub(crate) struct ThriftReader<'a> {
    bytes: &'a [u8],
    position: usize,
    depth: usize,
    /// Memory that decoded values may still take.
    memory_left: u64,
}

impl<'a> ThriftReader<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &Limits) -> Self {
        ThriftReader { bytes, position: 0, depth: 0, memory_left: limits.memory }
    }

    /// Reserves memory of decoded values: an element of a list can take one byte in the file and a hundred in memory.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        let memory_left = u64::try_from(bytes).ok().and_then(|bytes| self.memory_left.checked_sub(bytes));
        self.memory_left = memory_left.ok_or_else(|| Error::limit("thrift structs of more bytes than are allowed"))?;
        Ok(())
    }

    /// Checks a number of elements, each of which takes at least one byte.
    fn check_count(&self, count: u64) -> Result<()> {
        let bytes_left = self.bytes.len().saturating_sub(self.position);
        if usize::try_from(count).map_or(true, |count| count > bytes_left) {
            return Err(Error::corrupt(format!("{count} elements of a thrift list in {bytes_left} bytes")));
        }
        Ok(())
    }

    /// Reads a struct that takes all bytes.
    pub(crate) fn read_all<T: ThriftStruct>(bytes: &'a [u8], limits: &Limits) -> Result<T> {
        let mut reader = ThriftReader::new(bytes, limits);
        let this = reader.read_struct()?;
        if !reader.is_empty() {
            let bytes_behind = bytes.len() - reader.position;
            return Err(Error::corrupt(format!("{bytes_behind} bytes behind a thrift struct")));
        }
        Ok(this)
    }

    /// Number of bytes that were read.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.position >= self.bytes.len()
    }

    /// Reads a struct.
    pub(crate) fn read_struct<T: ThriftStruct>(&mut self) -> Result<T> {
        let mut this = T::default();
        self.fields(&mut |id, value| this.field(id, value))?;
        Ok(this)
    }

    fn fields(&mut self, read_field: &mut dyn FnMut(i16, &mut FieldValue<'_, 'a>) -> Result<()>) -> Result<()> {
        self.descend()?;
        let mut id = 0i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                break;
            }
            id = match header >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| Error::corrupt("a field number out of range"))?,
                difference => id.wrapping_add(i16::from(difference)),
            };
            let field_type = FieldType::of(header & 15)?;
            let mut value = FieldValue { field_type, in_list: false, is_consumed: false, reader: self };
            read_field(id, &mut value)?;
            value.skip()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn descend(&mut self) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::corrupt(format!("thrift structs more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Reads the header of a map: number of entries, type of keys, type of values.
    fn map(&mut self) -> Result<(u64, FieldType, FieldType)> {
        let count = self.varint()?;
        if count == 0 {
            return Ok((0, FieldType::Binary, FieldType::Binary));
        }
        let types = self.byte()?;
        Ok((count, FieldType::of(types >> 4)?, FieldType::of(types & 15)?))
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.position).ok_or_else(|| Error::corrupt("a thrift struct ends too early"))?;
        self.position += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::corrupt("a number of more than 64 bits in a thrift struct"))
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn slice(&mut self) -> Result<&'a [u8]> {
        let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        self.fixed(length)
    }

    fn fixed(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.position.checked_add(length);
        let bytes = end.and_then(|end| self.bytes.get(self.position..end));
        let bytes = bytes.ok_or_else(|| Error::corrupt("a thrift struct ends within a value"))?;
        self.position += length;
        Ok(bytes)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldType {
    True,
    False,
    Byte,
    Integer,
    Double,
    Binary,
    List,
    Map,
    Struct,
}

impl FieldType {
    fn of(code: u8) -> Result<Self> {
        Ok(match code {
            1 => FieldType::True,
            2 => FieldType::False,
            3 => FieldType::Byte,
            4..=6 => FieldType::Integer,
            7 => FieldType::Double,
            8 => FieldType::Binary,
            // A set has the encoding of a list.
            9 | 10 => FieldType::List,
            11 => FieldType::Map,
            12 => FieldType::Struct,
            code => return Err(Error::corrupt(format!("no thrift type has the number {code}"))),
        })
    }
}

/// The value of a field or an element.
#[derive(Debug)]
pub(crate) struct FieldValue<'r, 'a> {
    reader: &'r mut ThriftReader<'a>,
    field_type: FieldType,
    /// A boolean in a list is a byte. A boolean field is encoded in its type.
    in_list: bool,
    is_consumed: bool,
}

impl<'a> FieldValue<'_, 'a> {
    fn expect(&mut self, types: &[FieldType], name: &str) -> Result<()> {
        if self.is_consumed || !types.contains(&self.field_type) {
            return Err(Error::corrupt(format!("a thrift field is no {name}")));
        }
        self.is_consumed = true;
        Ok(())
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        self.expect(&[FieldType::True, FieldType::False], "boolean")?;
        Ok(if self.in_list { self.reader.byte()? == 1 } else { self.field_type == FieldType::True })
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        self.expect(&[FieldType::Integer], "number")?;
        self.reader.zigzag()
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        let value = self.i64()?;
        i32::try_from(value).map_err(|_| Error::corrupt(format!("{value} does not fit into 32 bits")))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        self.expect(&[FieldType::Binary], "text")?;
        let bytes = self.reader.slice()?;
        self.reader.reserve(bytes.len())?;
        Ok(bytes)
    }

    pub(crate) fn string(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    pub(crate) fn read_struct<T: ThriftStruct>(&mut self) -> Result<T> {
        self.expect(&[FieldType::Struct], "struct")?;
        self.reader.read_struct()
    }

    /// Reads a list.
    pub(crate) fn list<T>(&mut self, mut element: impl FnMut(&mut FieldValue<'_, 'a>) -> Result<T>) -> Result<Vec<T>> {
        self.expect(&[FieldType::List], "list")?;
        let mut all = Vec::new();
        self.elements(&mut |value| {
            value.reader.reserve(size_of::<T>())?;
            all.push(element(value)?);
            Ok(())
        })?;
        Ok(all)
    }

    fn elements(&mut self, read_element: &mut dyn FnMut(&mut FieldValue<'_, 'a>) -> Result<()>) -> Result<()> {
        let header = self.reader.byte()?;
        let count = match header >> 4 {
            15 => self.reader.varint()?,
            count => u64::from(count),
        };
        let field_type = FieldType::of(header & 15)?;
        self.reader.check_count(count)?;
        self.reader.descend()?;
        for _ in 0..count {
            let mut value = FieldValue { field_type, in_list: true, is_consumed: false, reader: self.reader };
            read_element(&mut value)?;
            value.skip()?;
        }
        self.reader.depth -= 1;
        Ok(())
    }

    /// Reads a map of strings.
    pub(crate) fn string_map(&mut self) -> Result<Vec<(String, String)>> {
        self.expect(&[FieldType::Map], "map")?;
        let (count, key, value) = self.reader.map()?;
        if count > 0 && (key, value) != (FieldType::Binary, FieldType::Binary) {
            return Err(Error::corrupt("a thrift map is none of texts"));
        }
        self.reader.check_count(count)?;
        let mut all = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for _ in 0..count {
            let (key, value) = (self.reader.slice()?, self.reader.slice()?);
            self.reader.reserve(size_of::<(String, String)>() + key.len() + value.len())?;
            all.push((text(key), text(value)));
        }
        Ok(all)
    }

    /// Skips the value unless it was read.
    fn skip(&mut self) -> Result<()> {
        if self.is_consumed {
            return Ok(());
        }
        self.is_consumed = true;
        match self.field_type {
            FieldType::True | FieldType::False if !self.in_list => {}
            FieldType::True | FieldType::False | FieldType::Byte => _ = self.reader.byte()?,
            FieldType::Integer => _ = self.reader.varint()?,
            FieldType::Double => _ = self.reader.fixed(8)?,
            FieldType::Binary => _ = self.reader.slice()?,
            FieldType::Struct => self.reader.fields(&mut |_, _| Ok(()))?,
            FieldType::List => self.elements(&mut |_| Ok(()))?,
            FieldType::Map => {
                let (count, key, value) = self.reader.map()?;
                self.reader.check_count(count)?;
                self.reader.descend()?;
                for _ in 0..count {
                    for field_type in [key, value] {
                        FieldValue { field_type, in_list: true, is_consumed: false, reader: self.reader }.skip()?;
                    }
                }
                self.reader.depth -= 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Debug, PartialEq)]
    struct Sample {
        number: i64,
        flags: Vec<bool>,
        texts: Vec<(String, String)>,
        inner: Vec<Sample>,
    }

    impl ThriftStruct for Sample {
        fn field(&mut self, id: i16, value: &mut FieldValue<'_, '_>) -> Result<()> {
            match id {
                1 => self.number = value.i64()?,
                2 => self.flags = value.list(|value| value.bool())?,
                3 => self.texts = value.string_map()?,
                4 => self.inner = value.list(|value| value.read_struct())?,
                _ => {}
            }
            Ok(())
        }
    }

    #[test]
    fn unknown_fields_are_skipped() {
        let bytes = [
            0x16, 3, // 1: -2
            0x19, 0x21, 1, 2, // 2: true, false
            0x1b, 1, 0x88, 1, b'a', 1, b'b', // 3: {a: b}
            0x19, 0x1c, 0x16, 2, 0,    // 4: [{1: 1}]
            0x31, // 7: true
            0x1b, 1, 0x85, 1, b'a', 9, // 8: {a: -5}
            0x17, 0, 0, 0, 0, 0, 0, 0, 0, // 9: 0.0
            0x06, 0x80, 0x10, 4, // 1024: 2
            0,
        ];
        let mut reader = ThriftReader::new(&bytes, &Limits::default());
        let sample: Sample = reader.read_struct().unwrap();
        let inner = Sample { number: 1, ..Sample::default() };
        let texts = vec![("a".to_owned(), "b".to_owned())];
        assert_eq!(sample, Sample { number: -2, flags: vec![true, false], texts, inner: vec![inner] });
        assert!(reader.is_empty() && reader.position() == bytes.len());
        for end in 0..bytes.len() {
            assert!(ThriftReader::new(&bytes[..end], &Limits::default()).read_struct::<Sample>().is_err());
        }
    }

    #[test]
    fn nesting_and_lengths_are_bounded() {
        let deep = [0x1c; 1000];
        assert!(ThriftReader::new(&deep, &Limits::default()).read_struct::<Sample>().is_err());
        let lists = [&[0x59][..], &[0x19; 1000]].concat();
        assert!(ThriftReader::new(&lists, &Limits::default()).read_struct::<Sample>().is_err());
        let long = [0x29, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(ThriftReader::new(&long, &Limits::default()).read_struct::<Sample>().is_err());
    }

    #[test]
    fn memory_is_limited() {
        // A list of empty structs, which take one byte each.
        let bytes = [&[0x49, 0xfc, 0xa0, 0x8d, 0x06][..], &[0; 100_000], &[0]].concat();
        assert_eq!(ThriftReader::new(&bytes, &Limits::default()).read_struct::<Sample>().unwrap().inner.len(), 100_000);
        let limits = Limits::default().with_memory(1 << 20);
        let error = ThriftReader::new(&bytes, &limits).read_struct::<Sample>().unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
    }
}
