//! Objects that Java has serialized, as far as the encoder metas of versions 1 and 2 need them: classes whose fields
//! are numbers and other such objects.

use orcish_core::{Error, Result};

use super::measure::{Bounds, Meta};
use crate::bytes::Bytes;

/// How serialized objects begin.
pub(super) const MAGIC: u16 = 0xaced;
const VERSION: u16 = 5;
const NULL: u8 = 0x70;
const REFERENCE: u8 = 0x71;
const CLASS: u8 = 0x72;
const OBJECT: u8 = 0x73;
const STRING: u8 = 0x74;
const END: u8 = 0x78;
const FIRST_HANDLE: i32 = 0x7e_0000;

/// Classes above a class; those of the format have one.
const MOST_DEPTH: usize = 8;
/// Things with a handle; those of the format are ten.
const MOST_HANDLES: usize = 64;
/// Flags of a class that writes its fields by itself; its bytes tell nothing of where they end.
const WRITES_ITSELF: u8 = 1;

/// A class, with the fields of those above it first.
#[derive(Debug, Clone)]
struct Class {
    fields: Vec<(u8, String)>,
    writes_itself: bool,
}

#[derive(Debug, Clone)]
enum Handle {
    Class(Class),
    Number(Number),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    Long(i64),
    Double(f64),
    None,
}

struct Reader<'a> {
    bytes: Bytes<'a>,
    handles: Vec<Handle>,
}

/// The `ValueEncoderMeta` of a measure.
///
/// # Errors
/// `Corrupt` for bytes that are none.
pub(super) fn encoder_meta(bytes: &[u8]) -> Result<Meta> {
    read(bytes).map_err(|error| Error::corrupt(format!("the meta of a measure: {}", error.message())))
}

fn read(bytes: &[u8]) -> Result<Meta> {
    let mut reader = Reader { bytes: Bytes::new(bytes), handles: Vec::new() };
    if (reader.bytes.u16()?, reader.bytes.u16()?) != (MAGIC, VERSION) || reader.bytes.u8()? != OBJECT {
        return Err(Error::corrupt("it is no object of Java"));
    }
    let class = reader.class(0)?;
    reader.add(Handle::Other)?;
    let (mut selected, mut decimals, mut kind) = (0, 0, 0);
    let (mut max, mut min) = (Number::None, Number::None);
    // Numbers come before objects, whatever their names.
    for (code, name) in &class.fields {
        match (code, name.as_str()) {
            (b'B', "dataTypeSelected") => selected = reader.bytes.u8()?,
            (b'I', "decimal") => decimals = reader.bytes.i32()?,
            (b'C', "type") => kind = reader.bytes.u16()?,
            // Its bounds are objects of many fields that nobody needs.
            (b'L', _) if kind == u16::from(b'b') => break,
            (b'L', "maxValue") => max = reader.number()?,
            (b'L', "minValue") => min = reader.number()?,
            (b'L', _) => _ = reader.number()?,
            (code, _) => reader.pass_over(*code)?,
        }
    }
    let bounds = match (kind.to_be_bytes(), max, min) {
        ([0, b'b'], ..) => Bounds::Decimal,
        ([0, b'l'], ..) => Bounds::Plain,
        ([0, b'd'], Number::Long(max), Number::Long(min)) => Bounds::Long { max, min },
        ([0, b'n'], Number::Double(max), Number::Double(min)) => Bounds::Double { max, min },
        _ => {
            return Err(Error::corrupt(format!("type {kind}, maximum {max:?} and minimum {min:?} do not go together")));
        }
    };
    Ok(Meta { bounds, decimals, is_float: selected == 1 })
}

impl Reader<'_> {
    fn add(&mut self, handle: Handle) -> Result<()> {
        if self.handles.len() >= MOST_HANDLES {
            return Err(Error::corrupt(format!("more than {MOST_HANDLES} objects")));
        }
        self.handles.push(handle);
        Ok(())
    }

    /// What was read before.
    fn referred(&mut self) -> Result<Handle> {
        let number = self.bytes.i32()?;
        let place = number.checked_sub(FIRST_HANDLE).and_then(|place| usize::try_from(place).ok());
        let found = place.and_then(|place| self.handles.get(place)).cloned();
        found.ok_or_else(|| Error::corrupt(format!("no object has the handle {number:#x}")))
    }

    /// A class that is there.
    fn class(&mut self, depth: usize) -> Result<Class> {
        self.any_class(depth)?.ok_or_else(|| Error::corrupt("an object without a class"))
    }

    fn any_class(&mut self, depth: usize) -> Result<Option<Class>> {
        match self.bytes.u8()? {
            NULL => return Ok(None),
            REFERENCE => match self.referred()? {
                Handle::Class(class) => return Ok(Some(class)),
                _ => return Err(Error::corrupt("a class that is an object")),
            },
            CLASS if depth < MOST_DEPTH => {}
            code => return Err(Error::corrupt(format!("{code:#x} is where a class should be"))),
        }
        self.bytes.utf()?;
        self.bytes.i64()?;
        let place = self.handles.len();
        self.add(Handle::Other)?;
        let flags = self.bytes.u8()?;
        let mut own = Vec::new();
        for _ in 0..self.bytes.u16()? {
            let code = self.bytes.u8()?;
            let name = self.bytes.utf()?;
            if matches!(code, b'L' | b'[') {
                self.type_name()?;
            }
            own.push((code, name));
        }
        if self.bytes.u8()? != END {
            return Err(Error::corrupt("a class with annotations"));
        }
        let mut class = Class { fields: Vec::new(), writes_itself: flags & WRITES_ITSELF != 0 };
        if let Some(above) = self.any_class(depth + 1)? {
            class.fields = above.fields;
            class.writes_itself |= above.writes_itself;
        }
        class.fields.extend(own);
        if let Some(handle) = self.handles.get_mut(place) {
            *handle = Handle::Class(class.clone());
        }
        Ok(Some(class))
    }

    fn type_name(&mut self) -> Result<()> {
        match self.bytes.u8()? {
            STRING => {
                self.bytes.utf()?;
                self.add(Handle::Other)
            }
            REFERENCE => self.referred().map(drop),
            code => Err(Error::corrupt(format!("{code:#x} is where the type of a field should be"))),
        }
    }

    /// An object that holds a number, such as a `java.lang.Long`.
    fn number(&mut self) -> Result<Number> {
        match self.bytes.u8()? {
            NULL => return Ok(Number::None),
            REFERENCE => match self.referred()? {
                Handle::Number(number) => return Ok(number),
                _ => return Err(Error::corrupt("a bound that is no number")),
            },
            OBJECT => {}
            code => return Err(Error::corrupt(format!("{code:#x} is where an object should be"))),
        }
        let class = self.class(0)?;
        if class.writes_itself {
            return Err(Error::corrupt("a bound that is no number"));
        }
        let place = self.handles.len();
        self.add(Handle::Other)?;
        let mut number = Number::None;
        for (code, name) in &class.fields {
            match (code, name.as_str()) {
                (b'J', "value") => number = Number::Long(self.bytes.i64()?),
                (b'D', "value") => number = Number::Double(self.bytes.f64()?),
                (code, _) => self.pass_over(*code)?,
            }
        }
        if let Some(handle) = self.handles.get_mut(place) {
            *handle = Handle::Number(number);
        }
        Ok(number)
    }

    /// A number of no interest.
    fn pass_over(&mut self, code: u8) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn utf(text: &str) -> Vec<u8> {
        [&u16::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat()
    }

    /// What Java writes for bounds in a class of one field.
    fn serialized(kind: u8, decimals: i32, class: &str, code: u8, bounds: [[u8; 8]; 3]) -> Vec<u8> {
        let object = [&[STRING][..], &utf("Ljava/lang/Object;")].concat();
        let mut all = vec![0xac, 0xed, 0, 5, OBJECT, CLASS];
        all.extend(utf("org.apache.carbondata.core.metadata.ValueEncoderMeta"));
        all.extend([1; 8]);
        all.extend([2, 0, 6]);
        for (code, name) in [(b'B', "dataTypeSelected"), (b'I', "decimal"), (b'C', "type")] {
            all.push(code);
            all.extend(utf(name));
        }
        for (at, name) in ["maxValue", "minValue", "uniqueValue"].into_iter().enumerate() {
            all.push(b'L');
            all.extend(utf(name));
            all.extend(if at == 0 { object.clone() } else { vec![REFERENCE, 0, 0x7e, 0, 1] });
        }
        all.extend([END, NULL, 0]);
        all.extend(decimals.to_be_bytes());
        all.extend([0, kind, OBJECT, CLASS]);
        all.extend(utf(class));
        all.extend([2; 8]);
        all.extend([2, 0, 1, code]);
        all.extend(utf("value"));
        all.extend([END, CLASS]);
        all.extend(utf("java.lang.Number"));
        all.extend([3; 8]);
        all.extend([2, 0, 0, END, NULL]);
        for (at, bound) in bounds.into_iter().enumerate() {
            if at > 0 {
                all.extend([OBJECT, REFERENCE, 0, 0x7e, 0, 3]);
            }
            all.extend(bound);
        }
        all
    }

    #[test]
    fn numbers_are_found_within_objects() {
        let longs = [-5i64, -70_000, 0].map(i64::to_be_bytes);
        let bytes = serialized(b'd', 0, "java.lang.Long", b'J', longs);
        let wanted = Meta { bounds: Bounds::Long { max: -5, min: -70_000 }, decimals: 0, is_float: false };
        assert_eq!(encoder_meta(&bytes).unwrap(), wanted);
        for end in 0..bytes.len() - 6 - 8 {
            assert!(encoder_meta(bytes.get(..end).unwrap()).is_err(), "{end}");
        }
        let doubles = [1.5f64, -2.25, 0.0].map(f64::to_be_bytes);
        let bytes = serialized(b'n', 2, "java.lang.Double", b'D', doubles);
        let wanted = Meta { bounds: Bounds::Double { max: 1.5, min: -2.25 }, decimals: 2, is_float: false };
        assert_eq!(encoder_meta(&bytes).unwrap(), wanted);
    }

    #[test]
    fn bounds_of_another_type_are_an_error() {
        let bytes = serialized(b'n', 2, "java.lang.Long", b'J', [[0; 8]; 3]);
        assert!(encoder_meta(&bytes).is_err());
        let bytes = serialized(b'd', 2, "java.lang.Long", b'L', [[REFERENCE; 8]; 3]);
        assert!(encoder_meta(&bytes).is_err());
        assert!(encoder_meta(b"hello").is_err());
    }

    #[test]
    fn any_change_of_a_byte_is_no_panic() {
        let bytes = serialized(b'd', 0, "java.lang.Long", b'J', [[0; 8]; 3]);
        for at in 0..bytes.len() {
            for value in [0, 0x70, 0x71, 0x72, 0x73, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                _ = encoder_meta(&changed);
            }
        }
    }
}
