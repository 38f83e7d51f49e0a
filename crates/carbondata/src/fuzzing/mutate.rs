//! Structure-aware mutation of headers, footers, chunk headers and index files. The rest of a file stays valid.

use super::tree::Node;

/// Length of the offset of the footer, at the end of a data file.
const POINTER: usize = 8;
/// Maximum number of structs of an index file.
const MAX_STRUCTS: usize = 10_000;

/// Random number generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) ^ (self.0 << 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 8) % end.max(1) as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[3]
    }
}

/// Mutates a data file, an index file or a schema; `None` for other bytes.
pub fn mutate(bytes: &[u8], seed: u64) -> Option<Vec<u8>> {
    let mut random = Random(seed);
    random.next();
    match random.below(4) {
        0 => chunk(bytes, &mut random).or_else(|| footer(bytes, &mut random)),
        1 => header(bytes, &mut random),
        _ => footer(bytes, &mut random),
    }
    .or_else(|| structs(bytes, &mut random))
}

/// The footer of a data file, and its offset.
fn footer_of(bytes: &[u8]) -> Option<(Node, usize)> {
    let end = bytes.len().checked_sub(POINTER)?;
    let start = usize::try_from(i64::from_be_bytes(*bytes.last_chunk::<POINTER>()?)).ok()?;
    let (footer, length) = Node::read(bytes.get(start..end)?)?;
    (start + length == end).then_some((footer, start))
}

fn with_footer(start: &[u8], footer: &Node) -> Vec<u8> {
    let pointer = (start.len() as u64).to_be_bytes();
    [start, &footer.bytes(), &pointer].concat()
}

fn footer(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let (mut footer, start) = footer_of(bytes)?;
    change_some(&mut footer, random);
    Some(with_footer(bytes.get(..start)?, &footer))
}

/// The offsets of a blocklet: its chunks, and the ends of dimensions and measures.
fn chunk_offsets(blocklet: &mut Node) -> Vec<&mut i64> {
    let Node::Struct(fields) = blocklet else { return Vec::new() };
    let chunk_offsets = fields.iter_mut().flat_map(|(id, node)| match (*id, node) {
        (2, Node::List(_, all)) => all.iter_mut().collect(),
        (4 | 5, node) => vec![node],
        _ => Vec::new(),
    });
    chunk_offsets.filter_map(|node| if let Node::Int(_, at) = node { Some(at) } else { None }).collect()
}

/// Mutates the header. Offsets in the footer are moved by the change of its length.
fn header(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let (mut footer, start) = footer_of(bytes)?;
    let (mut header, length) = Node::read(bytes)?;
    change_some(&mut header, random);
    let header = header.bytes();
    let shift = i64::try_from(header.len()).ok()? - i64::try_from(length).ok()?;
    if let Some(Node::List(_, blocklets)) = footer.field(4) {
        blocklets.iter_mut().flat_map(chunk_offsets).for_each(|at| *at = at.wrapping_add(shift));
    }
    Some(with_footer(&[&header, bytes.get(length..start)?].concat(), &footer))
}

/// Mutates a chunk header. The chunk is moved behind the others.
fn chunk(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let (mut footer, start) = footer_of(bytes)?;
    let Some(Node::List(_, blocklets)) = footer.field(4) else { return None };
    let count = blocklets.len();
    let blocklet = blocklets.get_mut(random.below(count))?;
    let Some(Node::List(_, offsets)) = blocklet.field(2) else { return None };
    let mut all: Vec<usize> = offsets
        .iter()
        .filter_map(|at| if let Node::Int(_, at) = at { usize::try_from(*at).ok() } else { None })
        .collect();
    let at = random.below(all.len());
    let start_of_chunk = *all.get(at)?;
    *offsets.get_mut(at)? = Node::Int(6, i64::try_from(start).ok()?);
    all.push(start);
    let end = all.into_iter().filter(|&other| other > start_of_chunk).min()?;
    let (mut head, length) = Node::read(bytes.get(start_of_chunk..end)?)?;
    change_some(&mut head, random);
    let head = head.bytes();
    let Some(Node::List(_, lengths)) = blocklet.field(3) else { return None };
    *lengths.get_mut(at)? = Node::Int(5, i64::try_from(head.len()).ok()?);
    let pages = bytes.get(start_of_chunk + length..end)?;
    Some(with_footer(&[bytes.get(..start)?, &head, pages].concat(), &footer))
}

/// Mutates one of the structs of an index file, a merged index file or a schema.
fn structs(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() && all.len() < MAX_STRUCTS {
        let (node, length) = Node::read(bytes.get(at..)?)?;
        all.push(node);
        at += length;
    }
    let count = all.len();
    let node = all.get_mut(random.below(count))?;
    // A part of a merged index file is an index file.
    let parts = match node.field(1) {
        Some(Node::List(8, parts)) if !parts.is_empty() && random.below(2) == 0 => Some(parts),
        _ => None,
    };
    let inner = parts.and_then(|parts| {
        let count = parts.len();
        parts.get_mut(random.below(count))
    });
    match inner {
        Some(Node::Binary(part)) => match structs(part, random) {
            Some(changed) => *part = changed,
            // The part is a name.
            None => change_bytes(part, random),
        },
        _ => change_some(node, random),
    }
    Some(all.iter().flat_map(Node::bytes).collect())
}

/// Mutates up to four values.
fn change_some(node: &mut Node, random: &mut Random) {
    for _ in 0..=random.below(4) {
        change_one(node, random);
    }
}

/// Mutates this value or a nested value.
fn change_one(node: &mut Node, random: &mut Random) {
    let mut children = node.children();
    let count = children.len();
    if count > 0
        && random.below(6) > 0
        && let Some(child) = children.get_mut(random.below(count))
    {
        return change_one(child, random);
    }
    let numbers = [0, 1, -1, 2, 3, 255, 32_767, 65_536, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN];
    match node {
        Node::Bool(value) => *value = !*value,
        Node::Byte(value) => *value = random.byte(),
        Node::Int(_, value) => {
            *value = match random.below(3) {
                0 => value.wrapping_add(i64::from(random.byte() % 9) - 4),
                1 => value.wrapping_mul(2),
                _ => numbers.get(random.below(numbers.len())).copied().unwrap_or(*value),
            }
        }
        Node::Double(bytes) => *bytes = random.next().to_be_bytes(),
        Node::Binary(bytes) => change_bytes(bytes, random),
        Node::List(_, all) => change_list(all, random, 1),
        Node::Map(_, _, all) => change_list(all, random, 2),
        Node::Struct(fields) => {
            let at = random.below(fields.len());
            match random.below(3) {
                0 if at < fields.len() => _ = fields.remove(at),
                1 if at < fields.len() => {
                    let field = fields.get(at).cloned();
                    fields.extend(field);
                }
                _ => fields.push(((random.byte() % 20).into(), Node::Binary(vec![0; 9]))),
            }
        }
    }
}

fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(5) {
        0 => bytes.truncate(at),
        1 => bytes.extend(random.next().to_le_bytes()),
        2 => bytes.clear(),
        3 => bytes.extend_from_slice(b"/../\x1b[2J\xe2\x80\xae"),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.byte();
            }
        }
    }
}

/// Removes, repeats or swaps elements of `width` values.
fn change_list(all: &mut Vec<Node>, random: &mut Random, width: usize) {
    let count = all.len() / width;
    let (one, other) = (random.below(count) * width, random.below(count) * width);
    match random.below(4) {
        0 => all.clear(),
        1 if count > 0 => _ = all.drain(one..one + width),
        2 if count > 0 => {
            let element: Vec<Node> = all.iter().skip(one).take(width).cloned().collect();
            let times = if random.below(8) == 0 { 1000 } else { 1 };
            (0..times).for_each(|_| all.extend(element.iter().cloned()));
        }
        _ if one.max(other) < all.len() => all.swap(one, other),
        _ => {}
    }
}
