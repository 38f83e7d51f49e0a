//! A file as messages and streams: parsing and assembly.

use std::io::Write as _;

use bytes::Bytes;
use orcish::Compression;
use orcish::internals::codec::Stream;
use orcish::internals::source::ByteSource as _;

use super::random::Random;
use super::wire::{BLOOM_FILTERS, FOOTER, MARK, METADATA, Message, POSTSCRIPT, ROW_INDEX, STRIPE_FOOTER, Shape};

/// Maximum decompressed bytes of a stream, and of all messages of a file: a message of two bytes needs a hundred in
/// memory.
const MAX_DECOMPRESSED: usize = 1 << 20;

/// Size of an assembled file at which further streams are left out.
const MAX_WRITTEN: usize = 64 << 20;

/// The parts of a file.
pub struct File {
    /// The bytes before the first stripe.
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

/// The content of a stream.
#[derive(Clone)]
pub enum Content {
    /// Stored bytes, which may be compressed.
    Stored(Vec<u8>),
    /// Decompressed bytes.
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
    pub fn decompress(self, stored: &[u8]) -> Option<Vec<u8>> {
        let framing = orcish::internals::codec::Framing { codec: self.codec, chunk_size: self.chunk_size };
        let mut stream = Stream::new(Bytes::copy_from_slice(stored), framing);
        let mut out = Vec::new();
        loop {
            let available = stream.fill(1).ok()?;
            if available.is_empty() || out.len() > MAX_DECOMPRESSED {
                return Some(out).filter(|out| out.len() <= MAX_DECOMPRESSED);
            }
            out.extend_from_slice(available);
            let length = available.len();
            stream.consume(length);
        }
    }

    /// The chunks of `plain`. They are compressed with zlib only, and original chunks with other codecs.
    fn to_chunks(self, plain: &[u8], random: &mut Random) -> Vec<u8> {
        if self.codec == Compression::None {
            return plain.to_vec();
        }
        let is_deflated = self.codec == Compression::Zlib && (plain.len() > 300 || random.below(3) == 0);
        let mut out = Vec::new();
        for chunk in plain.chunks(self.chunk_size.clamp(1, (1 << 23) - 1)) {
            let mut body = chunk.to_vec();
            if is_deflated {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(chunk).expect("memory");
                body = encoder.finish().expect("memory");
            }
            let header = (body.len() as u32) << 1 | u32::from(!is_deflated);
            out.extend_from_slice(&header.to_le_bytes()[..3]);
            out.extend_from_slice(&body);
        }
        out
    }
}

/// The message type of an index stream.
fn shape_of(kind: u64) -> Option<&'static Shape> {
    match kind {
        6 => Some(&ROW_INDEX),
        7 | 8 => Some(&BLOOM_FILTERS),
        _ => None,
    }
}

/// Parses a file. `None` for bytes that are not a file.
pub fn parse(file: &[u8]) -> Option<File> {
    let (&length, before) = file.split_last()?;
    let at = before.len().checked_sub(length.into())?;
    let (before, postscript) = before.split_at(at);
    let postscript = Message::parse(postscript, &POSTSCRIPT)?;
    let codec = *CODECS.get(usize::try_from(postscript.number(2)).ok()?)?;
    let chunk_size = usize::try_from(postscript.number(3)).ok()?;
    let framing = Framing { codec, chunk_size: if chunk_size == 0 { 256 << 10 } else { chunk_size } };
    if framing.chunk_size > MAX_DECOMPRESSED {
        return None;
    }
    let footer_at = before.len().checked_sub(usize::try_from(postscript.number(1)).ok()?)?;
    let metadata_at = footer_at.checked_sub(usize::try_from(postscript.number(5)).ok()?)?;
    let mut available = MAX_DECOMPRESSED;
    let mut section = |bytes: &[u8], shape| {
        let plain = framing.decompress(bytes)?;
        available = available.checked_sub(plain.len())?;
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
        let mut stripe_footer = section(in_file(end, end.checked_add(length)?)?, &STRIPE_FOOTER)?;
        let mut streams = Vec::new();
        let mut at = offset;
        for (index, stream) in stripe_footer.messages(1).enumerate() {
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
        stripes.push(Stripe { streams, footer: stripe_footer });
    }
    Some(File { head, stripes, metadata, footer, postscript, framing })
}

/// The bytes of a file. Lengths and offsets in its messages are set.
pub fn assemble(file: &File, random: &mut Random) -> Vec<u8> {
    let framing = file.framing;
    let mut out = file.head.clone();
    let mut places = Vec::new();
    for stripe in &file.stripes {
        let offset = out.len();
        let mut stripe_footer = stripe.footer.clone();
        let (mut index_length, mut data) = (0, 0);
        // A stream that the footer lists twice is stored twice.
        for stream in stripe_footer.messages(1) {
            if out.len() > MAX_WRITTEN {
                break;
            }
            let stored = match stripe.streams.get(stream.number(MARK) as usize) {
                Some(Content::Stored(bytes)) => bytes.clone(),
                Some(Content::Plain(bytes)) => framing.to_chunks(bytes, random),
                Some(Content::Message(message)) => framing.to_chunks(&message.to_bytes(), random),
                None => Vec::new(),
            };
            let sum = if shape_of(stream.number(1)).is_some() { &mut index_length } else { &mut data };
            *sum += stored.len();
            stream.set(3, stored.len() as u64);
            out.extend_from_slice(&stored);
        }
        let stored = framing.to_chunks(&stripe_footer.to_bytes(), random);
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
    let metadata = framing.to_chunks(&file.metadata.to_bytes(), random);
    let footer = framing.to_chunks(&footer.to_bytes(), random);
    postscript.set(1, footer.len() as u64);
    postscript.set(5, metadata.len() as u64);
    out.extend_from_slice(&metadata);
    out.extend_from_slice(&footer);
    let mut postscript = postscript.to_bytes();
    postscript.truncate(255);
    out.extend_from_slice(&postscript);
    out.push(postscript.len() as u8);
    out
}
