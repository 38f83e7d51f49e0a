//! What becomes of text as it is read: bytes that are not UTF-8, values longer than their type, and padding.

use super::strings::Concatenated;
use crate::error::{Error, Result};
use crate::options::{InvalidUtf8, LongChar, ReadOptions};
use crate::schema::{Kind, Type};

/// Bytes that a byte becomes at most where what is not UTF-8 is replaced.
const REPLACEMENT: usize = '\u{FFFD}'.len_utf8();

/// How values of a text column are changed as they are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextForm {
    invalid: InvalidUtf8,
    /// Most characters of a value, and what becomes of more.
    most: Option<(usize, LongChar)>,
    /// Cut trailing blanks off.
    trim: bool,
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
        if self.invalid == InvalidUtf8::Replace { REPLACEMENT } else { 1 }
    }

    /// The values as they are read, and which of them are null: those are empty.
    ///
    /// # Errors
    /// `Corrupt` for values that are too long, where that is an error.
    pub(super) fn apply(&self, values: Concatenated) -> Result<(Concatenated, Vec<usize>)> {
        let (mut values, mut lost) = (values, Vec::new());
        let is_sought = matches!(self.invalid, InvalidUtf8::Replace | InvalidUtf8::Null) && !values.checked;
        if is_sought && !values.bytes.is_ascii() && values.iter().any(|value| std::str::from_utf8(value).is_err()) {
            (values, lost) = self.valid(&values);
        }
        values.checked |= is_sought;
        if let Some((most, long)) = self.most {
            values = cut(values, most, long)?;
        }
        Ok((if self.trim { values.trim() } else { values }, lost))
    }

    /// The values without what is not UTF-8, and which of them are null.
    fn valid(&self, values: &Concatenated) -> (Concatenated, Vec<usize>) {
        let mut lost = Vec::new();
        let mut made = Concatenated { lengths: Vec::new(), bytes: Vec::new(), checked: true };
        for (at, value) in values.iter().enumerate() {
            let text = match std::str::from_utf8(value) {
                Ok(text) => text.into(),
                Err(_) if self.invalid == InvalidUtf8::Null => {
                    lost.push(at);
                    "".into()
                }
                Err(_) => String::from_utf8_lossy(value),
            };
            made.lengths.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            made.bytes.extend_from_slice(text.as_bytes());
        }
        (made, lost)
    }
}

/// Values of no more than `most` characters.
fn cut(values: Concatenated, most: usize, long: LongChar) -> Result<Concatenated> {
    let end = |value: &[u8]| {
        // A value has no more characters than bytes.
        let ends = value.len() > most;
        let starts = value.iter().enumerate().filter(|(_, byte)| *byte & 0xc0 != 0x80);
        starts.map(|(at, _)| at).nth(most).filter(|_| ends).unwrap_or(value.len())
    };
    let Some(first) = values.iter().position(|value| end(value) < value.len()) else { return Ok(values) };
    if long == LongChar::Error {
        return Err(Error::corrupt(format!("value {first} of the batch has more than {most} characters")));
    }
    let mut made = Concatenated { lengths: Vec::new(), bytes: Vec::new(), checked: values.checked };
    for value in values.iter() {
        let value = value.get(..end(value)).unwrap_or_default();
        made.lengths.push(u32::try_from(value.len()).unwrap_or(u32::MAX));
        made.bytes.extend_from_slice(value);
    }
    Ok(made)
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

    fn applied(form: TextForm, all: &[&[u8]]) -> (Vec<String>, Vec<usize>) {
        let (values, lost) = form.apply(values(all)).unwrap();
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
    fn characters_are_code_points() {
        let form = |long| TextForm { most: Some((2, long)), ..TextForm::default() };
        let all: [&[u8]; 4] = ["äöü".as_bytes(), b"ab ", b"", "a😀".as_bytes()];
        let want = ["äö", "ab", "", "a😀"].map(str::to_owned).to_vec();
        assert_eq!(applied(form(LongChar::Cut), &all), (want, vec![]));
        let error = form(LongChar::Error).apply(values(&all)).err().unwrap();
        assert!(error.to_string().contains("value 0 of the batch has more than 2 characters"), "{error}");
    }
}
