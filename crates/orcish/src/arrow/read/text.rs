//! What becomes of text as it is read: bytes that are not UTF-8, values longer than their type, and padding.

use super::Budget;
use super::strings::{Concatenated, Place};
use crate::error::{Error, Result};
use crate::options::{InvalidUtf8, LongChar, ReadOptions};
use crate::schema::{Kind, Type};

/// What takes the place of what is not UTF-8: of a byte at least.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// How values of a text column are changed as they are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextForm {
    invalid: InvalidUtf8,
    /// Most characters of a value, and what becomes of more.
    most: Option<(usize, LongChar)>,
    /// Cut trailing blanks off.
    trim: bool,
}

/// Values as they are read.
pub(super) struct Applied {
    pub(super) values: Concatenated,
    /// Which of them are null; they are empty.
    pub(super) lost: Vec<usize>,
    /// Which of them are too long, where that is an error.
    pub(super) long: Vec<usize>,
}

impl TextForm {
    /// That of a column of type `this`, which is read as text or, without `is_text`, as bytes.
    pub(super) fn new(this: &Type, options: &ReadOptions, is_text: bool) -> Self {
        let is_char = matches!(this.kind, Kind::Char | Kind::Varchar) && options.long_char != LongChar::Keep;
        let most = this.max_length.filter(|_| is_char).and_then(|most| usize::try_from(most).ok());
        TextForm {
            invalid: if is_text { options.invalid_utf8 } else { InvalidUtf8::Binary },
            most: most.map(|most| (most, options.long_char)),
            trim: this.kind == Kind::Char && options.trim_char,
        }
    }

    /// How many times longer values may become.
    pub(super) fn growth(&self) -> usize {
        if self.invalid == InvalidUtf8::Replace { REPLACEMENT.len() } else { 1 }
    }

    /// The values as they are read. Text that is replaced takes no more than the `budget`.
    ///
    /// # Errors
    /// `LimitExceeded` where they get more bytes as they are replaced.
    pub(super) fn apply(&self, values: Concatenated, budget: Budget) -> Result<Applied> {
        let (mut values, mut lost, mut long) = (values, Vec::new(), Vec::new());
        let is_sought = matches!(self.invalid, InvalidUtf8::Replace | InvalidUtf8::Null) && !values.checked;
        if is_sought && !values.bytes.is_ascii() && values.iter().any(|value| std::str::from_utf8(value).is_err()) {
            (values, lost) = self.valid(&values, budget)?;
        }
        values.checked |= is_sought;
        match self.most {
            Some((most, LongChar::Cut)) => values = cut(values, most),
            Some((most, LongChar::Error)) => {
                let is_long = |(_, value): &(usize, &[u8])| end(value, most) < value.len();
                long = values.iter().enumerate().filter(is_long).map(|(at, _)| at).collect();
            }
            Some((_, LongChar::Keep)) | None => {}
        }
        Ok(Applied { values: if self.trim { values.trim() } else { values }, lost, long })
    }

    /// The error of a value that is too long.
    pub(super) fn too_long(&self, at: usize) -> Error {
        let most = self.most.map_or(0, |(most, _)| most);
        Error::corrupt(format!("{} has more than {most} characters", Place::Batch.named(at)))
    }

    /// The values without what is not UTF-8, and which of them are null.
    fn valid(&self, values: &Concatenated, budget: Budget) -> Result<(Concatenated, Vec<usize>)> {
        let most = budget.bytes().min(i32::MAX as usize);
        let (mut lost, mut lengths, mut total) = (Vec::new(), Vec::with_capacity(values.lengths.len()), 0usize);
        for (at, value) in values.iter().enumerate() {
            let replaced = parts(value).filter(|(_, is_followed)| *is_followed).count();
            let length = match self.invalid {
                InvalidUtf8::Null if replaced > 0 => {
                    lost.push(at);
                    0
                }
                _ => parts(value).map(|(text, _)| text.len()).sum::<usize>() + replaced * REPLACEMENT.len(),
            };
            total = total.saturating_add(length);
            let length = u32::try_from(length).ok().filter(|_| total <= most);
            let exceeded = || budget.exceeded(&format!("{total} bytes of values, with U+FFFD for what is not UTF-8,"));
            lengths.push(length.ok_or_else(exceeded)?);
        }
        let mut bytes = Vec::with_capacity(total);
        for (value, _) in values.iter().zip(&lengths).filter(|(_, length)| **length > 0) {
            for (text, is_followed) in parts(value) {
                bytes.extend_from_slice(text.as_bytes());
                bytes.extend_from_slice(if is_followed { REPLACEMENT } else { b"" });
            }
        }
        Ok((Concatenated { lengths, bytes, checked: true }, lost))
    }
}

/// The parts of a value that are UTF-8, and whether each is followed by a part that is not.
fn parts(value: &[u8]) -> impl Iterator<Item = (&str, bool)> {
    value.utf8_chunks().map(|chunk| (chunk.valid(), !chunk.invalid().is_empty()))
}

/// Where a value ends that has no more than `most` characters.
fn end(value: &[u8], most: usize) -> usize {
    // A value has no more characters than bytes.
    if value.len() <= most {
        return value.len();
    }
    let starts = value.iter().enumerate().filter(|(_, byte)| *byte & 0xc0 != 0x80);
    starts.map(|(at, _)| at).nth(most).unwrap_or(value.len())
}

/// Values of no more than `most` characters.
fn cut(values: Concatenated, most: usize) -> Concatenated {
    if values.iter().all(|value| end(value, most) == value.len()) {
        return values;
    }
    let mut made = Concatenated { lengths: Vec::new(), bytes: Vec::new(), checked: values.checked };
    for (value, &length) in values.iter().zip(&values.lengths) {
        let value = value.get(..end(value, most)).unwrap_or(value);
        // It is no longer than it was.
        made.lengths.push(u32::try_from(value.len()).unwrap_or(length));
        made.bytes.extend_from_slice(value);
    }
    made
}

/// `dense` without what is at the places that are `lost`, which ascend.
pub(super) fn without<T>(dense: &mut Vec<T>, lost: &[usize]) {
    if lost.is_empty() {
        return;
    }
    let (mut at, mut lost) = (0, lost.iter().peekable());
    dense.retain(|_| {
        let is_lost = lost.next_if_eq(&&at).is_some();
        at += 1;
        !is_lost
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(all: &[&[u8]]) -> Concatenated {
        let lengths = all.iter().map(|value| u32::try_from(value.len()).unwrap()).collect();
        Concatenated { lengths, bytes: all.concat(), checked: false }
    }

    fn budget(bytes: usize) -> Budget<'static> {
        Budget { bytes, most: bytes, left: None }
    }

    fn applied(form: TextForm, all: &[&[u8]]) -> (Vec<String>, Vec<usize>) {
        let Applied { values, lost, .. } = form.apply(values(all), budget(100)).unwrap();
        (values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect(), lost)
    }

    #[test]
    fn what_is_not_utf8() {
        let all: [&[u8]; 5] = [b"a", b"\xff", b"\xe2\x82", b"x\xf0\x9f\x98y", "ä".as_bytes()];
        let form = TextForm { invalid: InvalidUtf8::Replace, ..TextForm::default() };
        // One character for each maximal part of one that is not whole.
        let want = ["a", "\u{fffd}", "\u{fffd}", "x\u{fffd}y", "ä"].map(str::to_owned).to_vec();
        assert_eq!(applied(form, &all), (want, vec![]));
        let form = TextForm { invalid: InvalidUtf8::Null, ..TextForm::default() };
        let want = ["a", "", "", "", "ä"].map(str::to_owned).to_vec();
        assert_eq!(applied(form, &all), (want, vec![1, 2, 3]));
        let mut dense = vec![0, 1, 2, 3, 4];
        without(&mut dense, &[1, 2, 3]);
        assert_eq!(dense, [0, 4]);
    }

    #[test]
    fn what_is_replaced_takes_no_more_than_is_allowed() {
        let form = TextForm { invalid: InvalidUtf8::Replace, ..TextForm::default() };
        let all: [&[u8]; 3] = [b"ab", b"x\xff\xff", b"\xff"];
        let Applied { values: made, .. } = form.apply(values(&all), budget(12)).unwrap();
        assert_eq!((made.lengths.as_slice(), made.bytes.len(), made.bytes.capacity()), (&[2, 7, 3][..], 12, 12));
        let error = form.apply(values(&all), budget(11)).err().unwrap();
        assert_eq!(error.kind(), crate::ErrorKind::LimitExceeded);
        // Nothing is longer as null.
        let form = TextForm { invalid: InvalidUtf8::Null, ..TextForm::default() };
        assert_eq!(form.apply(values(&all), budget(2)).unwrap().lost, [1, 2]);
    }

    #[test]
    fn characters_are_code_points() {
        let form = |long| TextForm { most: Some((2, long)), ..TextForm::default() };
        let all: [&[u8]; 4] = ["äöü".as_bytes(), b"ab ", b"", "a😀".as_bytes()];
        let want = ["äö", "ab", "", "a😀"].map(str::to_owned).to_vec();
        assert_eq!(applied(form(LongChar::Cut), &all), (want, vec![]));
        let form = form(LongChar::Error);
        assert_eq!(form.apply(values(&all), budget(100)).unwrap().long, [0, 1]);
        assert_eq!(form.too_long(1).message(), "value 1 of the batch has more than 2 characters");
    }
}
