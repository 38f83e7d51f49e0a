//! Thrift structs as trees of values.

/// Maximum nesting of values.
const MAX_DEPTH: usize = 24;
const STRUCT: u8 = 12;

/// A value. Variants with several encodings have the type code.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Bool(bool),
    Byte(u8),
    Int(u8, i64),
    Double([u8; 8]),
    Binary(Vec<u8>),
    List(u8, Vec<Node>),
    Map(u8, u8, Vec<Node>),
    Struct(Vec<(i16, Node)>),
}

impl Node {
    /// Reads a struct, and returns its length.
    pub(super) fn read(bytes: &[u8]) -> Option<(Node, usize)> {
        let mut reader = Reader { bytes, at: 0 };
        let node = reader.read_struct(0)?;
        Some((node, reader.at))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// A field of a struct.
    pub(super) fn field(&mut self, id: i16) -> Option<&mut Node> {
        let Node::Struct(fields) = self else { return None };
        fields.iter_mut().find(|(other, _)| *other == id).map(|(_, node)| node)
    }

    /// The nested values.
    pub(super) fn children(&mut self) -> Vec<&mut Node> {
        match self {
            Node::List(_, all) | Node::Map(_, _, all) => all.iter_mut().collect(),
            Node::Struct(fields) => fields.iter_mut().map(|(_, node)| node).collect(),
            _ => Vec::new(),
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Node::Bool(true) => 1,
            Node::Bool(false) => 2,
            Node::Byte(_) => 3,
            Node::Int(kind, _) => *kind,
            Node::Double(_) => 7,
            Node::Binary(_) => 8,
            Node::List(..) => 9,
            Node::Map(..) => 11,
            Node::Struct(_) => STRUCT,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Node::Bool(value) => out.push(if *value { 1 } else { 2 }),
            Node::Byte(value) => out.push(*value),
            Node::Int(_, value) => varint(out, zigzag(*value)),
            Node::Double(bytes) => out.extend(bytes),
            Node::Binary(bytes) => {
                varint(out, bytes.len() as u64);
                out.extend(bytes);
            }
            Node::List(kind, all) => {
                match u8::try_from(all.len()) {
                    Ok(count) if count < 15 => out.push((count << 4) | kind),
                    _ => {
                        out.push(0xf0 | kind);
                        varint(out, all.len() as u64);
                    }
                }
                all.iter().for_each(|node| node.write(out));
            }
            Node::Map(key, value, all) => {
                varint(out, (all.len() / 2) as u64);
                if all.len() > 1 {
                    out.push((key << 4) | value);
                    all.iter().take(all.len() / 2 * 2).for_each(|node| node.write(out));
                }
            }
            Node::Struct(fields) => {
                let mut last = 0i16;
                for (id, node) in fields {
                    match u8::try_from(id.wrapping_sub(last)) {
                        Ok(step @ 1..=15) => out.push((step << 4) | node.kind()),
                        _ => {
                            out.push(node.kind());
                            varint(out, zigzag((*id).into()));
                        }
                    }
                    // A boolean field is encoded in its type.
                    if !matches!(node, Node::Bool(_)) {
                        node.write(out);
                    }
                    last = *id;
                }
                out.push(0);
            }
        }
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?.to_vec();
        self.at += length;
        Some(bytes)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn int(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.varint()?).ok()?;
        (count <= self.bytes.len() - self.at).then_some(count)
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Node> {
        // A nested list takes one byte, so that the nesting must be bounded.
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match kind {
            1 | 2 => Node::Bool(self.byte()? == 1),
            3 => Node::Byte(self.byte()?),
            4..=6 => Node::Int(kind, self.int()?),
            7 => Node::Double(self.take(8)?.try_into().ok()?),
            8 => {
                let length = self.count()?;
                Node::Binary(self.take(length)?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.count()? } else { usize::from(head >> 4) };
                let all = (0..count).map(|_| self.value(head & 15, depth + 1)).collect::<Option<_>>()?;
                Node::List(head & 15, all)
            }
            11 => {
                let count = self.count()?;
                let kinds = if count > 0 { self.byte()? } else { 0x88 };
                let mut all = Vec::new();
                for _ in 0..count {
                    all.push(self.value(kinds >> 4, depth + 1)?);
                    all.push(self.value(kinds & 15, depth + 1)?);
                }
                Node::Map(kinds >> 4, kinds & 15, all)
            }
            STRUCT => self.read_struct(depth)?,
            _ => return None,
        })
    }

    fn read_struct(&mut self, depth: usize) -> Option<Node> {
        let (mut fields, mut id) = (Vec::new(), 0i16);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Node::Struct(fields));
            }
            id = match head >> 4 {
                0 => i16::try_from(self.int()?).ok()?,
                step => id.wrapping_add(step.into()),
            };
            let node = match head & 15 {
                kind @ (1 | 2) => Node::Bool(kind == 1),
                kind => self.value(kind, depth + 1)?,
            };
            fields.push((id, node));
        }
    }
}
