//! Changes of messages and streams of a file.

use super::layout::{Content, File};
use super::random::Random;
use super::wire::{Message, Value};

/// Maximum number of copies of a field.
const MAX_COPIES: usize = 4096;

/// Maximum bytes of the copies.
const MAX_COPIED_BYTES: usize = 256 << 10;

/// Changes a message or a stream of a file.
pub fn file(file: &mut File, random: &mut Random) {
    let framing = file.framing;
    let stripe = if file.stripes.is_empty() { 0 } else { random.below(file.stripes.len()) };
    match (random.below(16), file.stripes.get_mut(stripe)) {
        (0 | 1, _) => message(&mut file.postscript, random),
        (2 | 3, _) => message(&mut file.metadata, random),
        (4..7, Some(stripe)) => message(&mut stripe.footer, random),
        (7..12, Some(stripe)) if !stripe.streams.is_empty() => {
            let at = random.below(stripe.streams.len());
            let Some(stream) = stripe.streams.get_mut(at) else { return };
            if let Content::Stored(stored) = stream
                && random.below(8) > 0
                && let Some(plain) = framing.decompress(stored)
            {
                *stream = Content::Plain(plain);
            }
            match stream {
                Content::Message(content) => message(content, random),
                Content::Stored(stream) | Content::Plain(stream) => bytes(stream, random),
            }
        }
        _ => message(&mut file.footer, random),
    }
}

/// Changes a field of a message or of a nested message.
fn message(message: &mut Message, random: &mut Random) {
    let fields = &mut message.0;
    if fields.is_empty() {
        insert(fields, random);
        return;
    }
    let at = random.below(fields.len());
    if let Some((_, Value::Message(inner))) = fields.get_mut(at)
        && random.below(4) > 0
    {
        self::message(inner, random);
        return;
    }
    match random.below(12) {
        0 => _ = fields.remove(at),
        1 => {
            let other = random.below(fields.len());
            fields.swap(at, other);
        }
        2 => fields.extend(fields.get(at).cloned()),
        3 => {
            let field = Message(fields.get(at).cloned().into_iter().collect());
            let count = 1 << random.below(MAX_COPIES.ilog2() as usize + 1);
            let fit = MAX_COPIED_BYTES / field.to_bytes().len().max(1);
            fields.extend(field.0.into_iter().cycle().take(count.min(fit)));
        }
        4 => {
            let from = random.below(fields.len());
            let other = fields.get(from).cloned();
            other.into_iter().for_each(|other| fields.insert(at, other));
        }
        5 => insert(fields, random),
        6 => fields.get_mut(at).into_iter().for_each(|(tag, _)| *tag = 1 + random.below(16) as u32),
        _ => fields.get_mut(at).into_iter().for_each(|(_, value)| change(value, random)),
    }
}

/// Inserts a new field at a random place.
fn insert(fields: &mut Vec<(u32, Value)>, random: &mut Random) {
    let value = match random.below(5) {
        0 => Value::Bytes(Vec::new()),
        1 => Value::Bytes((0..random.below(20)).map(|_| random.number() as u8).collect()),
        2 => Value::Fixed64(random.number().to_le_bytes()),
        _ => Value::Number(random.interesting()),
    };
    let at = random.below(fields.len() + 1);
    fields.insert(at, (1 + random.below(16) as u32, value));
}

fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Number(number) => {
            *number = match random.below(6) {
                0 => number.wrapping_add(1),
                1 => number.wrapping_sub(1),
                2 => number.wrapping_mul(2),
                3 => *number ^ 1 << random.below(64),
                _ => random.interesting(),
            }
        }
        Value::Fixed64(bytes) => *bytes = random.number().to_le_bytes(),
        Value::Fixed32(bytes) => *bytes = (random.number() as u32).to_le_bytes(),
        Value::Bytes(content) | Value::Raw(content) => bytes(content, random),
        Value::Message(message) => message.0.clear(),
    }
}

/// Changes some bytes.
pub fn bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..[1, 1, 2, 4][random.below(4)] {
        let at = random.below(bytes.len() + 1);
        let Some(byte) = bytes.get_mut(at) else {
            bytes.extend((0..1 + random.below(12)).map(|_| random.number() as u8));
            continue;
        };
        match random.below(9) {
            0 | 1 => *byte ^= 1 << random.below(8),
            2 => *byte = random.number() as u8,
            3 => *byte = [0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x40, 0xc0][random.below(8)],
            4 => {
                // A varint.
                let (mut number, mut to) = (random.interesting(), at);
                while let Some(byte) = bytes.get_mut(to) {
                    *byte = number as u8 & 0x7f | if number >= 0x80 { 0x80 } else { 0 };
                    number >>= 7;
                    to += 1;
                    if number == 0 {
                        break;
                    }
                }
            }
            5 => {
                let end = (at + 1 + random.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let end = (at + 1 + random.below(16)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            7 => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                let copies = bytes[at..end].repeat(1 + random.below(64));
                bytes.splice(at..at, copies);
            }
            _ => bytes.truncate(at),
        }
    }
}
