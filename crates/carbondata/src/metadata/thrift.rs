//! Thrift's compact protocol, read field by field: structs stand bare, one behind the other.

use orcish_core::{Error, Limits, Result};

/// Structs within structs; those of the format need six.
const MOST_DEPTH: usize = 32;

/// A struct that is filled in as its fields are met.
pub(crate) trait Structure: Default {
    /// Takes the field of a number; what is not taken is passed over.
    fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()>;
}

/// Bytes of structs.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// Bytes that what is read may still take.
    room: u64,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &Limits) -> Self {
        Reader { bytes, at: 0, depth: 0, room: limits.memory }
    }

    /// Takes room for what is to be kept: an element of a list may have a byte in the file, and a hundred in memory.
    fn take_room(&mut self, bytes: usize) -> Result<()> {
        let left = u64::try_from(bytes).ok().and_then(|bytes| self.room.checked_sub(bytes));
        self.room = left.ok_or_else(|| Error::limit("thrift structs of more bytes than are allowed"))?;
        Ok(())
    }

    /// That there may be so many elements, which have a byte at least.
    fn check_count(&self, count: u64) -> Result<()> {
        let left = self.bytes.len().saturating_sub(self.at);
        if usize::try_from(count).map_or(true, |count| count > left) {
            return Err(Error::corrupt(format!("{count} elements of a thrift list in {left} bytes")));
        }
        Ok(())
    }

    /// The struct that these bytes are, and nothing else.
    pub(crate) fn whole<T: Structure>(bytes: &'a [u8], limits: &Limits) -> Result<T> {
        let mut reader = Reader::new(bytes, limits);
        let this = reader.structure()?;
        match reader.is_empty() {
            true => Ok(this),
            false => Err(Error::corrupt(format!("{} bytes behind a thrift struct", bytes.len() - reader.at))),
        }
    }

    /// Bytes that have been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next struct.
    pub(crate) fn structure<T: Structure>(&mut self) -> Result<T> {
        let mut this = T::default();
        self.fields(&mut |id, value| this.field(id, value))?;
        Ok(this)
    }

    fn fields(&mut self, take: &mut dyn FnMut(i16, &mut Value<'_, 'a>) -> Result<()>) -> Result<()> {
        self.descend()?;
        let mut id = 0i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                break;
            }
            id = match header >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| Error::corrupt("a field number out of range"))?,
                more => id.wrapping_add(i16::from(more)),
            };
            let kind = Kind::of(header & 15)?;
            let mut value = Value { kind, in_list: false, is_read: false, reader: self };
            take(id, &mut value)?;
            value.pass_over()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn descend(&mut self) -> Result<()> {
        if self.depth >= MOST_DEPTH {
            return Err(Error::corrupt(format!("thrift structs more than {MOST_DEPTH} levels deep")));
        }
        self.depth += 1;
        Ok(())
    }

    /// The beginning of a map: how many entries, and what its keys and values are.
    fn map(&mut self) -> Result<(u64, Kind, Kind)> {
        let count = self.varint()?;
        if count == 0 {
            return Ok((0, Kind::Binary, Kind::Binary));
        }
        let kinds = self.byte()?;
        Ok((count, Kind::of(kinds >> 4)?, Kind::of(kinds & 15)?))
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| Error::corrupt("a thrift struct ends too early"))?;
        self.at += 1;
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
        let end = self.at.checked_add(length);
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        let found = found.ok_or_else(|| Error::corrupt("a thrift struct ends within a value"))?;
        self.at += length;
        Ok(found)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
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

impl Kind {
    fn of(code: u8) -> Result<Self> {
        Ok(match code {
            1 => Kind::True,
            2 => Kind::False,
            3 => Kind::Byte,
            4..=6 => Kind::Integer,
            7 => Kind::Double,
            8 => Kind::Binary,
            // Sets are lists.
            9 | 10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            code => return Err(Error::corrupt(format!("no thrift type has the number {code}"))),
        })
    }
}

/// A value that may be taken, as what it should be.
#[derive(Debug)]
pub(crate) struct Value<'r, 'a> {
    reader: &'r mut Reader<'a>,
    kind: Kind,
    /// Booleans of lists are bytes, those of fields are in the type.
    in_list: bool,
    is_read: bool,
}

impl<'a> Value<'_, 'a> {
    fn expect(&mut self, kinds: &[Kind], name: &str) -> Result<()> {
        if self.is_read || !kinds.contains(&self.kind) {
            return Err(Error::corrupt(format!("a thrift field is no {name}")));
        }
        self.is_read = true;
        Ok(())
    }

    pub(crate) fn boolean(&mut self) -> Result<bool> {
        self.expect(&[Kind::True, Kind::False], "boolean")?;
        Ok(if self.in_list { self.reader.byte()? == 1 } else { self.kind == Kind::True })
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        self.expect(&[Kind::Integer], "number")?;
        self.reader.zigzag()
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        let value = self.i64()?;
        i32::try_from(value).map_err(|_| Error::corrupt(format!("{value} does not fit into 32 bits")))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        self.expect(&[Kind::Binary], "text")?;
        let bytes = self.reader.slice()?;
        self.reader.take_room(bytes.len())?;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    pub(crate) fn structure<T: Structure>(&mut self) -> Result<T> {
        self.expect(&[Kind::Struct], "struct")?;
        self.reader.structure()
    }

    /// The elements of a list.
    pub(crate) fn list<T>(&mut self, mut element: impl FnMut(&mut Value<'_, 'a>) -> Result<T>) -> Result<Vec<T>> {
        self.expect(&[Kind::List], "list")?;
        let mut all = Vec::new();
        self.elements(&mut |value| {
            value.reader.take_room(size_of::<T>())?;
            all.push(element(value)?);
            Ok(())
        })?;
        Ok(all)
    }

    fn elements(&mut self, take: &mut dyn FnMut(&mut Value<'_, 'a>) -> Result<()>) -> Result<()> {
        let header = self.reader.byte()?;
        let count = match header >> 4 {
            15 => self.reader.varint()?,
            count => u64::from(count),
        };
        let kind = Kind::of(header & 15)?;
        self.reader.check_count(count)?;
        self.reader.descend()?;
        for _ in 0..count {
            let mut value = Value { kind, in_list: true, is_read: false, reader: self.reader };
            take(&mut value)?;
            value.pass_over()?;
        }
        self.reader.depth -= 1;
        Ok(())
    }

    /// A map of texts.
    pub(crate) fn texts(&mut self) -> Result<Vec<(String, String)>> {
        self.expect(&[Kind::Map], "map")?;
        let (count, key, value) = self.reader.map()?;
        if count > 0 && (key, value) != (Kind::Binary, Kind::Binary) {
            return Err(Error::corrupt("a thrift map is none of texts"));
        }
        self.reader.check_count(count)?;
        let mut all = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for _ in 0..count {
            let (key, value) = (self.reader.slice()?, self.reader.slice()?);
            self.reader.take_room(size_of::<(String, String)>() + key.len() + value.len())?;
            all.push((text(key), text(value)));
        }
        Ok(all)
    }

    /// Passes over what was not taken.
    fn pass_over(&mut self) -> Result<()> {
        if self.is_read {
            return Ok(());
        }
        self.is_read = true;
        match self.kind {
            Kind::True | Kind::False if !self.in_list => {}
            Kind::True | Kind::False | Kind::Byte => _ = self.reader.byte()?,
            Kind::Integer => _ = self.reader.varint()?,
            Kind::Double => _ = self.reader.fixed(8)?,
            Kind::Binary => _ = self.reader.slice()?,
            Kind::Struct => self.reader.fields(&mut |_, _| Ok(()))?,
            Kind::List => self.elements(&mut |_| Ok(()))?,
            Kind::Map => {
                let (count, key, value) = self.reader.map()?;
                self.reader.check_count(count)?;
                self.reader.descend()?;
                for _ in 0..count {
                    for kind in [key, value] {
                        Value { kind, in_list: true, is_read: false, reader: self.reader }.pass_over()?;
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

    impl Structure for Sample {
        fn field(&mut self, id: i16, value: &mut Value<'_, '_>) -> Result<()> {
            match id {
                1 => self.number = value.i64()?,
                2 => self.flags = value.list(|value| value.boolean())?,
                3 => self.texts = value.texts()?,
                4 => self.inner = value.list(|value| value.structure())?,
                _ => {}
            }
            Ok(())
        }
    }

    #[test]
    fn reads_what_it_knows_and_passes_over_the_rest() {
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
        let mut reader = Reader::new(&bytes, &Limits::default());
        let sample: Sample = reader.structure().unwrap();
        let inner = Sample { number: 1, ..Sample::default() };
        let texts = vec![("a".to_owned(), "b".to_owned())];
        assert_eq!(sample, Sample { number: -2, flags: vec![true, false], texts, inner: vec![inner] });
        assert!(reader.is_empty() && reader.position() == bytes.len());
        for end in 0..bytes.len() {
            assert!(Reader::new(&bytes[..end], &Limits::default()).structure::<Sample>().is_err());
        }
    }

    #[test]
    fn depth_and_lies_about_length_end() {
        let deep = [0x1c; 1000];
        assert!(Reader::new(&deep, &Limits::default()).structure::<Sample>().is_err());
        let lists = [&[0x59][..], &[0x19; 1000]].concat();
        assert!(Reader::new(&lists, &Limits::default()).structure::<Sample>().is_err());
        let long = [0x29, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(Reader::new(&long, &Limits::default()).structure::<Sample>().is_err());
    }

    #[test]
    fn what_is_kept_has_room() {
        // A list of structs without fields, each a byte in the file.
        let bytes = [&[0x49, 0xfc, 0xa0, 0x8d, 0x06][..], &[0; 100_000], &[0]].concat();
        assert_eq!(Reader::new(&bytes, &Limits::default()).structure::<Sample>().unwrap().inner.len(), 100_000);
        let limits = Limits { memory: 1 << 20, ..Limits::default() };
        let error = Reader::new(&bytes, &limits).structure::<Sample>().unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
    }
}
