//! Java object serialization, for the `ValueEncoderMeta` of files of versions 1 and 2.
//!
//! Only classes whose fields are primitive numbers and boxed numbers are supported.

use orcish_core::{Error, Result};

use crate::bytes::ByteReader;

/// `STREAM_MAGIC`, the first two bytes of a serialized object.
pub(super) const MAGIC: u16 = 0xaced;
const STREAM_VERSION: u16 = 5;
const TC_NULL: u8 = 0x70;
pub(super) const TC_REFERENCE: u8 = 0x71;
pub(super) const TC_CLASSDESC: u8 = 0x72;
pub(super) const TC_OBJECT: u8 = 0x73;
pub(super) const TC_STRING: u8 = 0x74;
pub(super) const TC_ENDBLOCKDATA: u8 = 0x78;
const BASE_WIRE_HANDLE: i32 = 0x7e_0000;
/// `SC_WRITE_METHOD`: the class has a `writeObject` method, whose data has no recorded length.
const SC_WRITE_METHOD: u8 = 1;

/// Maximum number of superclasses of a class. Classes of the format have one.
const MAX_DEPTH: usize = 8;
/// Maximum number of handles. Objects of the format need ten.
const MAX_HANDLES: usize = 64;

/// A class descriptor. Fields of superclasses come first.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// Type code and name of each field.
    pub(super) fields: Vec<(u8, String)>,
    has_write_method: bool,
}

#[derive(Debug, Clone)]
enum Handle {
    Class(Class),
    Number(Number),
    Other,
}

/// A boxed number, such as a `java.lang.Long`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Long(i64),
    Double(f64),
    None,
}

/// Reads the fields of a serialized object.
pub(super) struct ObjectReader<'a> {
    pub(super) bytes: ByteReader<'a>,
    handles: Vec<Handle>,
}

impl<'a> ObjectReader<'a> {
    /// Reads the stream header and the class of the object. The values of the fields follow in `bytes`.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are no serialized object.
    pub(super) fn open(bytes: &'a [u8]) -> Result<(Self, Class)> {
        let mut reader = ObjectReader { bytes: ByteReader::new(bytes), handles: Vec::new() };
        let header = (reader.bytes.u16()?, reader.bytes.u16()?, reader.bytes.u8()?);
        if header != (MAGIC, STREAM_VERSION, TC_OBJECT) {
            return Err(Error::corrupt("not a serialized Java object"));
        }
        let class = reader.class(0)?;
        reader.add(Handle::Other)?;
        Ok((reader, class))
    }
}

impl ObjectReader<'_> {
    fn add(&mut self, handle: Handle) -> Result<()> {
        if self.handles.len() >= MAX_HANDLES {
            return Err(Error::corrupt(format!("more than {MAX_HANDLES} objects")));
        }
        self.handles.push(handle);
        Ok(())
    }

    /// Resolves a reference to an earlier handle.
    fn resolve_reference(&mut self) -> Result<Handle> {
        let number = self.bytes.i32()?;
        let index = number.checked_sub(BASE_WIRE_HANDLE).and_then(|index| usize::try_from(index).ok());
        let object = index.and_then(|index| self.handles.get(index)).cloned();
        object.ok_or_else(|| Error::corrupt(format!("no object has the handle {number:#x}")))
    }

    /// Reads a class descriptor.
    fn class(&mut self, depth: usize) -> Result<Class> {
        self.class_or_null(depth)?.ok_or_else(|| Error::corrupt("an object without a class"))
    }

    fn class_or_null(&mut self, depth: usize) -> Result<Option<Class>> {
        match self.bytes.u8()? {
            TC_NULL => return Ok(None),
            TC_REFERENCE => match self.resolve_reference()? {
                Handle::Class(class) => return Ok(Some(class)),
                _ => return Err(Error::corrupt("a reference to an object in place of a class")),
            },
            TC_CLASSDESC if depth < MAX_DEPTH => {}
            code => return Err(Error::corrupt(format!("type code {code:#x} in place of a class"))),
        }
        self.bytes.utf()?;
        self.bytes.i64()?;
        let handle = self.handles.len();
        self.add(Handle::Other)?;
        let flags = self.bytes.u8()?;
        let mut own_fields = Vec::new();
        for _ in 0..self.bytes.u16()? {
            let code = self.bytes.u8()?;
            let name = self.bytes.utf()?;
            if matches!(code, b'L' | b'[') {
                self.field_type()?;
            }
            own_fields.push((code, name));
        }
        if self.bytes.u8()? != TC_ENDBLOCKDATA {
            return Err(Error::corrupt("a class with annotations"));
        }
        let mut class = Class { fields: Vec::new(), has_write_method: flags & SC_WRITE_METHOD != 0 };
        if let Some(superclass) = self.class_or_null(depth + 1)? {
            class.fields = superclass.fields;
            class.has_write_method |= superclass.has_write_method;
        }
        class.fields.extend(own_fields);
        if let Some(slot) = self.handles.get_mut(handle) {
            *slot = Handle::Class(class.clone());
        }
        Ok(Some(class))
    }

    fn field_type(&mut self) -> Result<()> {
        match self.bytes.u8()? {
            TC_STRING => {
                self.bytes.utf()?;
                self.add(Handle::Other)
            }
            TC_REFERENCE => self.resolve_reference().map(drop),
            code => Err(Error::corrupt(format!("type code {code:#x} in place of the type of a field"))),
        }
    }

    /// Reads a boxed number, such as a `java.lang.Long`.
    pub(super) fn number(&mut self) -> Result<Number> {
        match self.bytes.u8()? {
            TC_NULL => return Ok(Number::None),
            TC_REFERENCE => match self.resolve_reference()? {
                Handle::Number(number) => return Ok(number),
                _ => return Err(Error::corrupt("a bound that is not a number")),
            },
            TC_OBJECT => {}
            code => return Err(Error::corrupt(format!("type code {code:#x} in place of an object"))),
        }
        let class = self.class(0)?;
        if class.has_write_method {
            return Err(Error::corrupt("a bound that is not a number"));
        }
        let handle = self.handles.len();
        self.add(Handle::Other)?;
        let mut number = Number::None;
        for (code, name) in &class.fields {
            match (code, name.as_str()) {
                (b'J', "value") => number = Number::Long(self.bytes.i64()?),
                (b'D', "value") => number = Number::Double(self.bytes.f64()?),
                (code, _) => self.skip(*code)?,
            }
        }
        if let Some(slot) = self.handles.get_mut(handle) {
            *slot = Handle::Number(number);
        }
        Ok(number)
    }

    /// Skips a primitive field.
    pub(super) fn skip(&mut self, code: u8) -> Result<()> {
        let width = match code {
            b'B' | b'Z' => 1,
            b'C' | b'S' => 2,
            b'I' | b'F' => 4,
            b'J' | b'D' => 8,
            code => return Err(Error::corrupt(format!("a field of type {:?}", char::from(code)))),
        };
        self.bytes.take(width).map(drop)
    }
}
