//! Conversion of text: invalid UTF-8, values longer than their type, and padding.

use orcish_core::error::{Error, Result};
use orcish_core::strings::{Values, ValuesBuilder};

use super::Budget;
use crate::options::{InvalidUtf8, LongChar, ReadOptions};
use crate::schema::{Kind, Type};

/// The replacement of invalid UTF-8, of at least one byte.
const REPLACEMENT: &str = "\u{FFFD}";

/// The conversion of values of a text column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextForm {
    invalid: InvalidUtf8,
    /// Maximum characters of a value, and the treatment of longer values.
    char_limit: Option<(usize, LongChar)>,
    /// Removes trailing blanks.
    trim: bool,
}

/// Converted values.
pub(super) struct Applied {
    pub(super) values: Values,
    /// Places of values that become null. They are empty.
    pub(super) lost: Vec<usize>,
    /// Places of values that are too long, if this is an error.
    pub(super) long: Vec<usize>,
}

impl TextForm {
    /// The conversion of a column of type `this`, as text or as bytes.
    pub(super) fn new(this: &Type, options: &ReadOptions, is_text: bool) -> Self {
        let is_char = matches!(this.kind, Kind::Char | Kind::Varchar) && options.long_char != LongChar::Keep;
        let max_length = this.max_length.filter(|_| is_char).and_then(|max_length| usize::try_from(max_length).ok());
        TextForm {
            invalid: if is_text { options.invalid_utf8 } else { InvalidUtf8::Binary },
            char_limit: max_length.map(|length| (length, options.long_char)),
            trim: this.kind == Kind::Char && options.trim_char,
        }
    }

    /// Maximum factor by which values grow.
    pub(super) fn growth(&self) -> usize {
        if self.invalid == InvalidUtf8::Replace { REPLACEMENT.len() } else { 1 }
    }

    /// Converts values. Replaced text has at most `budget` bytes.
    ///
    /// # Errors
    /// `LimitExceeded` if replaced text exceeds the budget.
    pub(super) fn apply(&self, values: Values, budget: Budget) -> Result<Applied> {
        let (mut values, mut lost, mut long) = (values, Vec::new(), Vec::new());
        let is_sought = matches!(self.invalid, InvalidUtf8::Replace | InvalidUtf8::Null);
        if is_sought && !values.check_utf8() {
            (values, lost) = self.valid(&values, budget)?;
        }
        match self.char_limit {
            Some((max_length, LongChar::Cut)) => values = values.truncate_characters(max_length),
            Some((max_length, LongChar::Error)) => long = values.longer_than(max_length),
            Some((_, LongChar::Keep)) | None => {}
        }
        Ok(Applied { values: if self.trim { values.trim_end_blanks() } else { values }, lost, long })
    }

    /// The error of a value that is too long.
    pub(super) fn too_long(&self, at: usize) -> Error {
        let max_length = self.char_limit.map_or(0, |(max_length, _)| max_length);
        Error::corrupt(format!("value {at} of the batch has more than {max_length} characters"))
    }

    /// Converts invalid UTF-8. Returns the indexes of values that become null.
    fn valid(&self, values: &Values, budget: Budget) -> Result<(Values, Vec<usize>)> {
        let max_bytes = budget.bytes().min(i32::MAX as usize);
        let (mut lost, mut total) = (Vec::new(), 0usize);
        for (at, value) in values.iter().enumerate() {
            let replaced = parts(value).filter(|(_, is_followed)| *is_followed).count();
            if self.invalid == InvalidUtf8::Null && replaced > 0 {
                lost.push(at);
                continue;
            }
            let length = parts(value).map(|(text, _)| text.len()).sum::<usize>() + replaced * REPLACEMENT.len();
            total = total.saturating_add(length);
            if total > max_bytes {
                let what = format!("{total} bytes of values, with U+FFFD for what is not UTF-8,");
                return Err(budget.exceeded(&what));
            }
        }
        let mut built = ValuesBuilder::with_capacity(values.len(), total);
        let mut next_lost = lost.iter().peekable();
        for (at, value) in values.iter().enumerate() {
            if next_lost.next_if_eq(&&at).is_none() {
                for (text, is_followed) in parts(value) {
                    built.push_str(text);
                    built.push_str(if is_followed { REPLACEMENT } else { "" });
                }
            }
            built.end_value()?;
        }
        Ok((built.finish(), lost))
    }
}

/// The valid parts of a value, each with whether an invalid part follows.
fn parts(value: &[u8]) -> impl Iterator<Item = (&str, bool)> {
    value.utf8_chunks().map(|chunk| (chunk.valid(), !chunk.invalid().is_empty()))
}

/// `dense` without the values at the places `lost`, which are ascending.
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

    fn values(all: &[&[u8]]) -> Values {
        let lengths = all.iter().map(|value| u32::try_from(value.len()).unwrap()).collect();
        Values::try_new(lengths, all.concat()).unwrap()
    }

    fn budget(bytes: usize) -> Budget<'static> {
        Budget { bytes, group: bytes, max_bytes: bytes, remaining_bytes: None }
    }

    fn applied(form: TextForm, all: &[&[u8]]) -> (Vec<String>, Vec<usize>) {
        let Applied { values, lost, .. } = form.apply(values(all), budget(100)).unwrap();
        (values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect(), lost)
    }

    #[test]
    fn what_is_not_utf8() {
        let all: [&[u8]; 5] = [b"a", b"\xff", b"\xe2\x82", b"x\xf0\x9f\x98y", "ä".as_bytes()];
        let form = TextForm { invalid: InvalidUtf8::Replace, ..TextForm::default() };
        // One replacement character for each maximal part of an invalid sequence.
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
        assert_eq!((made.lengths(), made.bytes().len()), (&[2, 7, 3][..], 12));
        let error = form.apply(values(&all), budget(11)).err().unwrap();
        assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
        // Values that become null are not longer.
        let form = TextForm { invalid: InvalidUtf8::Null, ..TextForm::default() };
        assert_eq!(form.apply(values(&all), budget(2)).unwrap().lost, [1, 2]);
    }

    #[test]
    fn characters_are_code_points() {
        let form = |long| TextForm { char_limit: Some((2, long)), ..TextForm::default() };
        let all: [&[u8]; 4] = ["äöü".as_bytes(), b"ab ", b"", "a😀".as_bytes()];
        let want = ["äö", "ab", "", "a😀"].map(str::to_owned).to_vec();
        assert_eq!(applied(form(LongChar::Cut), &all), (want, vec![]));
        let form = form(LongChar::Error);
        assert_eq!(form.apply(values(&all), budget(100)).unwrap().long, [0, 1]);
        assert_eq!(form.too_long(1).message(), "value 1 of the batch has more than 2 characters");
    }
}
