//! Protobuf messages as trees of fields, without schemas.

/// The fields of a message that are messages, by tag.
pub struct Shape(pub &'static [(u32, &'static Shape)]);

/// The value of a field.
#[derive(Clone, Debug)]
pub enum Value {
    Number(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
    Message(Message),
    /// Encoded fields, which replace the field with its tag.
    #[allow(dead_code, reason = "only tests use it")]
    Raw(Vec<u8>),
}

/// The fields of a message, in order.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<(u32, Value)>);

static LEAF: Shape = Shape(&[]);
static GEOSPATIAL: Shape = Shape(&[(1, &LEAF)]);
static STATISTICS: Shape = Shape(&[
    (2, &LEAF),
    (3, &LEAF),
    (4, &LEAF),
    (5, &LEAF),
    (6, &LEAF),
    (7, &LEAF),
    (8, &LEAF),
    (9, &LEAF),
    (12, &LEAF),
    (13, &GEOSPATIAL),
]);
static TYPE: Shape = Shape(&[(7, &LEAF)]);
static VARIANT: Shape = Shape(&[(4, &LEAF)]);
static ENCRYPTION: Shape = Shape(&[(1, &LEAF), (2, &LEAF), (3, &VARIANT)]);
static STRIPE_VARIANT: Shape = Shape(&[(1, &LEAF), (2, &LEAF)]);
static STRIPE_STATISTICS: Shape = Shape(&[(1, &STATISTICS)]);
static ENTRY: Shape = Shape(&[(2, &STATISTICS)]);
static FIELD: Shape = Shape(&[(6, &LEAF), (7, &FIELD), (8, &FIELD)]);
static SCHEMA: Shape = Shape(&[(1, &FIELD), (2, &LEAF)]);
/// The value of user metadata. Most files with user metadata have an Arrow schema.
static ITEM: Shape = Shape(&[(2, &SCHEMA)]);
pub static POSTSCRIPT: Shape = Shape(&[]);
pub static FOOTER: Shape = Shape(&[(3, &LEAF), (4, &TYPE), (5, &ITEM), (7, &STATISTICS), (10, &ENCRYPTION)]);
pub static METADATA: Shape = Shape(&[(1, &STRIPE_STATISTICS)]);
pub static STRIPE_FOOTER: Shape = Shape(&[(1, &LEAF), (2, &LEAF), (4, &STRIPE_VARIANT)]);
pub static ROW_INDEX: Shape = Shape(&[(1, &ENTRY)]);
pub static BLOOM_FILTERS: Shape = Shape(&[(1, &LEAF)]);

impl Message {
    /// Parses a message. `None` for invalid bytes.
    pub fn parse(bytes: &[u8], shape: &Shape) -> Option<Self> {
        let (mut remaining, mut fields) = (bytes, Vec::new());
        while !remaining.is_empty() {
            let key = number(&mut remaining)?;
            let tag = u32::try_from(key >> 3).ok()?;
            let value = match key & 7 {
                0 => Value::Number(number(&mut remaining)?),
                1 => Value::Fixed64(take(&mut remaining, 8)?.try_into().ok()?),
                5 => Value::Fixed32(take(&mut remaining, 4)?.try_into().ok()?),
                2 => {
                    let length = number(&mut remaining)?;
                    let body = take(&mut remaining, usize::try_from(length).ok()?)?;
                    let inner = shape.0.iter().find(|(key, _)| *key == tag);
                    let message = inner.and_then(|(_, inner)| Message::parse(body, inner));
                    message.map_or_else(|| Value::Bytes(body.to_vec()), Value::Message)
                }
                _ => return None,
            };
            fields.push((tag, value));
        }
        Some(Message(fields))
    }

    /// Appends the bytes of the message, without [`MARK`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        for (tag, value) in &self.0 {
            if *tag == MARK {
                continue;
            }
            let key = |wire_type: u64| u64::from(*tag) << 3 | wire_type;
            match value {
                Value::Number(number) => {
                    put(key(0), out);
                    put(*number, out);
                }
                Value::Fixed64(bytes) => {
                    put(key(1), out);
                    out.extend_from_slice(bytes);
                }
                Value::Fixed32(bytes) => {
                    put(key(5), out);
                    out.extend_from_slice(bytes);
                }
                Value::Bytes(bytes) => {
                    put(key(2), out);
                    put(bytes.len() as u64, out);
                    out.extend_from_slice(bytes);
                }
                Value::Raw(fields) => out.extend_from_slice(fields),
                Value::Message(message) => {
                    let mut body = Vec::new();
                    message.encode(&mut body);
                    put(key(2), out);
                    put(body.len() as u64, out);
                    out.extend_from_slice(&body);
                }
            }
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    /// The number in a field. 0 for a missing field.
    pub fn number(&self, tag: u32) -> u64 {
        let number = self.0.iter().find_map(|(key, value)| match value {
            Value::Number(number) if *key == tag => Some(*number),
            _ => None,
        });
        number.unwrap_or(0)
    }

    /// Sets the number in a field.
    pub fn set(&mut self, tag: u32, number: u64) {
        match self.0.iter_mut().find(|(key, _)| *key == tag) {
            Some((_, value)) => *value = Value::Number(number),
            None => self.0.push((tag, Value::Number(number))),
        }
    }

    /// The messages in a field.
    pub fn messages(&mut self, tag: u32) -> impl Iterator<Item = &mut Message> {
        self.0.iter_mut().filter_map(move |(key, value)| match value {
            Value::Message(message) if *key == tag => Some(message),
            _ => None,
        })
    }
}

/// A field that is not encoded: the index of the stripe or stream that the message describes.
pub const MARK: u32 = 1 << 20;

/// Removes a varint from the front.
fn number(remaining: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, tail) = remaining.split_first()?;
        *remaining = tail;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Removes bytes from the front.
fn take<'a>(remaining: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (body, tail) = remaining.split_at_checked(length)?;
    *remaining = tail;
    Some(body)
}

/// Appends a varint.
fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
