//! Reference decoders for tests of the encoders and the fast decoders, written from the specification alone.
//!
//! A decoder returns all values of a stream, or a message. Bits are read one by one. Integers have 128 bits, so that every
//! overflow is found.

type Answer<T> = Result<T, String>;

/// Reads bits and bytes from the front of a stream.
struct BitReader<'a> {
    bytes: &'a [u8],
    bit: usize,
}

impl<'a> BitReader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, bit: 0 }
    }

    fn at_end(&self) -> bool {
        self.bit >= self.bytes.len() * 8
    }

    fn bits(&mut self, count: u32) -> Answer<u128> {
        let mut value = 0;
        for _ in 0..count {
            let byte = self.bytes.get(self.bit / 8).ok_or("the stream ends early")?;
            value = value * 2 + u128::from(byte >> (7 - self.bit % 8) & 1);
            self.bit += 1;
        }
        Ok(value)
    }

    /// An integer of `count` bits, which fits into `T`.
    fn small<T: TryFrom<u128>>(&mut self, count: u32) -> Answer<T> {
        T::try_from(self.bits(count)?).map_err(|_| "a field is too wide".into())
    }

    fn byte(&mut self) -> Answer<u8> {
        self.small(8)
    }

    fn fields(&mut self, count: usize, width: u32) -> Answer<Vec<u128>> {
        let fields = (0..count).map(|_| self.bits(width)).collect();
        self.bit = self.bit.next_multiple_of(8);
        fields
    }

    fn varint(&mut self) -> Answer<u128> {
        let mut value = 0u128;
        for place in 0.. {
            let byte = self.byte()?;
            let digit = u128::from(byte % 128);
            if place > 18 || digit << (7 * place) >> (7 * place) != digit {
                return Err("a varint is too long".into());
            }
            value += digit << (7 * place);
            if byte < 128 {
                break;
            }
        }
        Ok(value)
    }
}

fn unzigzag(value: u128) -> i128 {
    if value.is_multiple_of(2) { (value / 2).cast_signed() } else { -(value / 2).cast_signed() - 1 }
}

/// A stored integer: zigzag encoded if signed, else the unsigned integer of the same 64 bits.
fn number(value: u128, signed: bool) -> Answer<i64> {
    if signed {
        i64::try_from(unzigzag(value)).map_err(|_| "a number has more than 64 bits".into())
    } else {
        u64::try_from(value).map(u64::cast_signed).map_err(|_| "a number has more than 64 bits".into())
    }
}

/// All varints of a stream, unsigned.
pub(crate) fn varints_u64(bytes: &[u8]) -> Answer<Vec<u64>> {
    let mut source = BitReader::new(bytes);
    let mut values = Vec::new();
    while !source.at_end() {
        values.push(u64::try_from(source.varint()?).map_err(|_| "a varint has more than 64 bits")?);
    }
    Ok(values)
}

/// All varints of a stream, zigzag encoded.
pub(crate) fn varints_i128(bytes: &[u8]) -> Answer<Vec<i128>> {
    let mut source = BitReader::new(bytes);
    let mut values = Vec::new();
    while !source.at_end() {
        values.push(unzigzag(source.varint()?));
    }
    Ok(values)
}

/// Decodes the nanoseconds of a timestamp.
pub(crate) fn nanos(coded: u64) -> u64 {
    let zeros = coded % 8;
    coded / 8 * if zeros == 0 { 1 } else { 10u64.pow(u32::try_from(zeros).unwrap() + 1) }
}

/// Byte run length encoding.
pub(crate) fn bytes(stream: &[u8]) -> Answer<Vec<u8>> {
    let mut source = BitReader::new(stream);
    let mut values = Vec::new();
    while !source.at_end() {
        let header = source.byte()?.cast_signed();
        if header >= 0 {
            let value = source.byte()?;
            values.extend(std::iter::repeat_n(value, usize::from(header.unsigned_abs()) + 3));
        } else {
            for _ in 0..header.unsigned_abs() {
                values.push(source.byte()?);
            }
        }
    }
    Ok(values)
}

/// The first `count` values of boolean run length encoding.
pub(crate) fn bools(stream: &[u8], count: usize) -> Answer<Vec<bool>> {
    let bytes = bytes(stream)?;
    let mut source = BitReader::new(&bytes);
    (0..count).map(|_| Ok(source.bits(1)? == 1)).collect()
}

/// Integer run length encoding, version 1.
pub(crate) fn ints_v1(stream: &[u8], signed: bool) -> Answer<Vec<i64>> {
    let mut source = BitReader::new(stream);
    let mut values = Vec::new();
    while !source.at_end() {
        let header = source.byte()?.cast_signed();
        if header >= 0 {
            let delta = i64::from(source.byte()?.cast_signed());
            let base = number(source.varint()?, signed)?;
            for i in 0..i64::from(header) + 3 {
                values.push(base.checked_add(delta * i).ok_or("a run overflows")?);
            }
        } else {
            for _ in 0..header.unsigned_abs() {
                values.push(number(source.varint()?, signed)?);
            }
        }
    }
    Ok(values)
}

/// The width of a five-bit code. In delta runs code 0 is a fixed delta.
fn width(code: u128, delta: bool) -> u32 {
    match code {
        0 if delta => 0,
        0..=23 => u32::try_from(code).unwrap() + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// Integer run length encoding, version 2.
pub(crate) fn ints_v2(stream: &[u8], signed: bool) -> Answer<Vec<i64>> {
    Ok(runs_v2(stream, signed)?.into_iter().flat_map(|(_, values)| values).collect())
}

/// The runs of integer run length encoding, version 2: the sub-encoding and the values.
pub(crate) fn runs_v2(stream: &[u8], signed: bool) -> Answer<Vec<(u8, Vec<i64>)>> {
    let mut source = BitReader::new(stream);
    let mut runs = Vec::new();
    while !source.at_end() {
        let kind: u8 = source.small(2)?;
        runs.push((kind, run_v2(kind, &mut source, signed)?));
    }
    Ok(runs)
}

fn run_v2(kind: u8, source: &mut BitReader<'_>, signed: bool) -> Answer<Vec<i64>> {
    if kind == 0 {
        let bytes = source.small::<u32>(3)? + 1;
        let count = source.small::<usize>(3)? + 3;
        return Ok(vec![number(source.bits(8 * bytes)?, signed)?; count]);
    }
    let value_width = width(source.bits(5)?, kind == 3);
    let count = source.small::<usize>(9)? + 1;
    match kind {
        1 => source.fields(count, value_width)?.into_iter().map(|value| number(value, signed)).collect(),
        2 => patched_base(source, value_width, count),
        _ => delta(source, value_width, count, signed),
    }
}

fn patched_base(source: &mut BitReader<'_>, value_width: u32, count: usize) -> Answer<Vec<i64>> {
    let base_bytes = source.small::<u32>(3)? + 1;
    let patch_width = width(source.bits(5)?, false);
    let gap_width = source.small::<u32>(3)? + 1;
    let patches: usize = source.small(5)?;
    if patch_width + gap_width > 64 {
        return Err("patch and gap take more than 64 bits".into());
    }
    let negative = source.bits(1)? == 1;
    let magnitude = source.bits(8 * base_bytes - 1)?.cast_signed();
    let base = if negative { -magnitude } else { magnitude };

    let mut values = source.fields(count, value_width)?;
    let entry_width = (0..32).map(|code| width(code, false)).find(|&w| w >= patch_width + gap_width).unwrap();
    let mut position = 0;
    for entry in source.fields(patches, entry_width)? {
        position += usize::try_from(entry >> patch_width).map_err(|_| "a gap is too wide")?;
        let patch = entry % (1 << patch_width);
        let value = values.get_mut(position).ok_or("a patch lies beyond the run")?;
        *value |= patch << value_width;
    }
    values
        .into_iter()
        .map(|value| i64::try_from(base + value.cast_signed()).map_err(|_| "a patched value overflows".into()))
        .collect()
}

fn delta(source: &mut BitReader<'_>, value_width: u32, count: usize, signed: bool) -> Answer<Vec<i64>> {
    let base = number(source.varint()?, signed)?;
    let first = number(source.varint()?, true)?;
    let mut deltas = vec![i128::from(first)];
    if value_width == 0 {
        deltas.resize(count.max(2) - 1, i128::from(first));
    } else if first == 0 {
        return Err("the first difference has no sign".into());
    } else {
        let later = source.fields(count.saturating_sub(2), value_width)?;
        let sign = i128::from(first.signum());
        deltas.extend(later.into_iter().map(|magnitude| sign * magnitude.cast_signed()));
    }
    let mut value = i128::from(base);
    let mut values = vec![base];
    for delta in deltas.into_iter().take(count - 1) {
        value += delta;
        values.push(i64::try_from(value).map_err(|_| "a delta run overflows")?);
    }
    Ok(values)
}
