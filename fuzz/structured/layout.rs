//! A file taken apart into messages and streams, and put together again.

use std::io::Write as _;

use bytes::Bytes;
use orcish::Compression;
use orcish::codec::Stream;
use orcish::source::ByteSource as _;

use super::random::Random;
use super::wire::{BLOOM_FILTERS, FOOTER, MARK, METADATA, Message, POSTSCRIPT, ROW_INDEX, STRIPE_FOOTER, Shape};

/// Most bytes of a stream when it is decompressed, and of all messages of a file: a message of two bytes takes a hundred.
const MOST: usize = 1 << 20;

/// Bytes of a file after which it gets no more streams.
const MOST_WRITTEN: usize = 64 << 20;

/// A file.
pub struct File {
    /// What is before the first stripe.
    head: Vec<u8>,
    pub stripes: Vec<Stripe>,
    pub metadata: Message,
    pub footer: Message,
    pub postscript: Message,
    pub framing: Framing,
}

pub struct Stripe {
    pub streams: Vec<Content>,
    pub footer: Message,
}

/// What is in a stream.
#[derive(Clone)]
pub enum Content {
    /// As it is stored.
    Stored(Vec<u8>),
    /// Decompressed.
    Plain(Vec<u8>),
    Message(Message),
}

#[derive(Clone, Copy)]
pub struct Framing {
    pub codec: Compression,
    pub chunk_size: usize,
}

const CODECS: [Compression; 7] = [
    Compression::None,
    Compression::Zlib,
    Compression::Snappy,
    Compression::Lzo,
    Compression::Lz4,
    Compression::Zstd,
    Compression::Brotli,
];

impl Framing {
    /// Decompresses a section or a stream.
    pub fn unpack(self, stored: &[u8]) -> Option<Vec<u8>> {
        let framing = orcish::codec::Framing { codec: self.codec, chunk_size: self.chunk_size };
        let mut stream = Stream::new(Bytes::copy_from_slice(stored), framing);
        let mut out = Vec::new();
        loop {
            let there = stream.fill(1).ok()?;
            if there.is_empty() || out.len() > MOST {
                return Some(out).filter(|out| out.len() <= MOST);
            }
            out.extend_from_slice(there);
            let length = there.len();
            stream.consume(length);
        }
    }

    /// The chunks of `plain`: as they are, or deflated where that is the codec.
    fn pack(self, plain: &[u8], random: &mut Random) -> Vec<u8> {
        if self.codec == Compression::None {
            return plain.to_vec();
        }
        let deflates = self.codec == Compression::Zlib && (plain.len() > 300 || random.below(3) == 0);
        let mut out = Vec::new();
        for chunk in plain.chunks(self.chunk_size.clamp(1, (1 << 23) - 1)) {
            let mut body = chunk.to_vec();
            if deflates {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(chunk).expect("memory");
                body = encoder.finish().expect("memory");
            }
            let header = (body.len() as u32) << 1 | u32::from(!deflates);
            out.extend_from_slice(&header.to_le_bytes()[..3]);
            out.extend_from_slice(&body);
        }
        out
    }
}

/// What the streams of an index are.
fn shape_of(kind: u64) -> Option<&'static Shape> {
    match kind {
        6 => Some(&ROW_INDEX),
        7 | 8 => Some(&BLOOM_FILTERS),
        _ => None,
    }
}

/// The parts of a file; none where the bytes are none, or only a damaged one.
pub fn take_apart(file: &[u8]) -> Option<File> {
    let (&length, before) = file.split_last()?;
    let at = before.len().checked_sub(length.into())?;
    let (before, postscript) = before.split_at(at);
    let postscript = Message::parse(postscript, &POSTSCRIPT)?;
    let codec = *CODECS.get(usize::try_from(postscript.number(2)).ok()?)?;
    let chunk_size = usize::try_from(postscript.number(3)).ok()?;
    let framing = Framing { codec, chunk_size: if chunk_size == 0 { 256 << 10 } else { chunk_size } };
    if framing.chunk_size > MOST {
        return None;
    }
    let footer_at = before.len().checked_sub(usize::try_from(postscript.number(1)).ok()?)?;
    let metadata_at = footer_at.checked_sub(usize::try_from(postscript.number(5)).ok()?)?;
    let mut left = MOST;
    let mut section = |bytes: &[u8], shape| {
        let plain = framing.unpack(bytes)?;
        left = left.checked_sub(plain.len())?;
        Message::parse(&plain, shape)
    };
    let mut footer = section(&before[footer_at..], &FOOTER)?;
    let metadata = section(&before[metadata_at..footer_at], &METADATA).unwrap_or_default();
    let mut head = before.get(..3)?.to_vec();
    let mut stripes = Vec::new();
    for (index, info) in footer.messages(3).enumerate() {
        info.set(MARK, index as u64);
        let [offset, index_length, data, length] = [1, 2, 3, 4].map(|tag| info.number(tag));
        let end = offset.checked_add(index_length)?.checked_add(data)?;
        let in_file = |from: u64, to: u64| before.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?);
        let mut of_stripe = section(in_file(end, end.checked_add(length)?)?, &STRIPE_FOOTER)?;
        let mut streams = Vec::new();
        let mut at = offset;
        for (index, stream) in of_stripe.messages(1).enumerate() {
            stream.set(MARK, index as u64);
            let next = at.checked_add(stream.number(3))?;
            let stored = in_file(at, next.min(end))?;
            let message = shape_of(stream.number(1)).and_then(|shape| section(stored, shape));
            streams.push(message.map_or_else(|| Content::Stored(stored.to_vec()), Content::Message));
            at = next;
        }
        if index == 0 {
            head = in_file(0, offset.min(100))?.to_vec();
        }
        stripes.push(Stripe { streams, footer: of_stripe });
    }
    Some(File { head, stripes, metadata, footer, postscript, framing })
}

/// The bytes of a file, with the lengths that its parts have.
pub fn put_together(file: &File, random: &mut Random) -> Vec<u8> {
    let framing = file.framing;
    let mut out = file.head.clone();
    let mut places = Vec::new();
    for stripe in &file.stripes {
        let offset = out.len();
        let mut of_stripe = stripe.footer.clone();
        let (mut index_length, mut data) = (0, 0);
        // What a change has put there twice is stored twice.
        for stream in of_stripe.messages(1) {
            if out.len() > MOST_WRITTEN {
                break;
            }
            let stored = match stripe.streams.get(stream.number(MARK) as usize) {
                Some(Content::Stored(bytes)) => bytes.clone(),
                Some(Content::Plain(bytes)) => framing.pack(bytes, random),
                Some(Content::Message(message)) => framing.pack(&message.to_bytes(), random),
                None => Vec::new(),
            };
            let sum = if shape_of(stream.number(1)).is_some() { &mut index_length } else { &mut data };
            *sum += stored.len();
            stream.set(3, stored.len() as u64);
            out.extend_from_slice(&stored);
        }
        let stored = framing.pack(&of_stripe.to_bytes(), random);
        places.push([offset, index_length, data, stored.len()]);
        out.extend_from_slice(&stored);
    }
    let mut footer = file.footer.clone();
    for info in footer.messages(3) {
        if let Some(place) = places.get(info.number(MARK) as usize) {
            [1, 2, 3, 4].into_iter().zip(place).for_each(|(tag, &number)| info.set(tag, number as u64));
        }
    }
    let mut postscript = file.postscript.clone();
    let metadata = framing.pack(&file.metadata.to_bytes(), random);
    let footer = framing.pack(&footer.to_bytes(), random);
    postscript.set(1, footer.len() as u64);
    postscript.set(5, metadata.len() as u64);
    out.extend_from_slice(&metadata);
    out.extend_from_slice(&footer);
    let mut last = postscript.to_bytes();
    last.truncate(255);
    out.extend_from_slice(&last);
    out.push(last.len() as u8);
    out
}
