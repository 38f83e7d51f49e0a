//! Blocks of whole documents of a file, checked for what arrow-json passes over, or ends the process for.

use memchr::memchr2;
use orcish_core::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::from_python;
use crate::interpreter::{attached, gone};

/// Maximum nesting of values.
const MAX_LEVELS: usize = 128;
/// What some writers begin text with.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads blocks of whole documents.
pub(super) struct Blocks {
    read: Py<PyAny>,
    size: usize,
    /// What was read and is not part of a block yet. It begins with a document.
    buffer: Vec<u8>,
    /// The bytes of the buffer that are checked.
    checked: usize,
    checks: Checks,
    has_begun: bool,
    has_ended: bool,
}

impl Blocks {
    /// Blocks of about `size` bytes; `read` is the method of a Python file.
    pub(super) fn new(read: Py<PyAny>, size: usize) -> Self {
        let (buffer, checks) = (Vec::new(), Checks::default());
        Blocks { read, size, buffer, checked: 0, checks, has_begun: false, has_ended: false }
    }

    /// The next block, which ends in a line break; `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, a document is larger than a block or nests deeply, or the text is not JSON.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if self.has_ended {
                let block = std::mem::take(&mut self.buffer);
                return Ok((!block.trim_ascii().is_empty()).then_some(block));
            }
            while self.buffer.len() < self.size.max(self.checked + 1) && !self.has_ended {
                self.fill()?;
            }
            let ended = self.checks.check(self.buffer.get(self.checked..).unwrap_or_default())?;
            let end = ended.map(|end| self.checked + end);
            self.checked = self.buffer.len();
            if self.has_ended {
                continue;
            }
            if let Some(end) = end {
                let rest = self.buffer.split_off(end);
                self.checked = rest.len();
                let mut block = std::mem::replace(&mut self.buffer, rest);
                // A number ends only before another sign.
                block.push(b'\n');
                return Ok(Some(block));
            }
            if self.buffer.len() >= self.size {
                let text =
                    format!("row {}: a row is larger than 16 MB, or the file is one array", self.checks.rows + 1);
                return Err(Error::corrupt(text));
            }
        }
    }

    /// Reads more bytes.
    fn fill(&mut self) -> Result<()> {
        let (read, size) = (&self.read, self.size);
        let more = |py: Python<'_>| -> Result<PyBackedBytes> {
            let found = read.bind(py).call1((size,)).and_then(|found| Ok(found.extract::<PyBackedBytes>()?));
            found.map_err(|error| from_python(py, "the file cannot be read", error))
        };
        let more = attached(more).unwrap_or_else(|| Err(gone()))?;
        if more.is_empty() {
            self.has_ended = true;
            self.buffer.push(b'\n');
        }
        self.buffer.extend_from_slice(&more);
        if !self.has_begun && (self.buffer.len() >= MARK.len() || self.has_ended) {
            self.has_begun = true;
            if self.buffer.starts_with(MARK) {
                self.buffer.drain(..MARK.len());
            }
        }
        Ok(())
    }
}

/// What comes before the next sign.
#[derive(Clone, Copy, Default, PartialEq)]
enum Last {
    /// The begin of a document, an object or an array.
    #[default]
    Begin,
    Comma,
    Colon,
    Value,
}

/// Checks brackets, commas and words of documents, block by block. arrow-json checks the rest: it takes `[1 2,]` for
/// `[1,2]`, and shows deep values by recursion.
#[derive(Default)]
struct Checks {
    /// Documents that have ended.
    rows: u64,
    levels: usize,
    last: Last,
    is_string: bool,
    is_escaped: bool,
    /// The characters of a number, or of a literal such as `true`, so far.
    word: usize,
    is_literal: bool,
}

impl Checks {
    /// Checks the next bytes. The result is the end of the last document that ends in them.
    fn check(&mut self, text: &[u8]) -> Result<Option<usize>> {
        let (mut at, mut end) = (0, None);
        while let Some(&byte) = text.get(at) {
            if self.is_string {
                at += self.string(text.get(at..).unwrap_or_default());
                if !self.is_string && self.levels == 0 {
                    self.rows += 1;
                    end = Some(at);
                }
                continue;
            }
            at += 1;
            let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
            if is_word {
                self.word(byte)?;
                continue;
            }
            if self.word > 0 {
                if self.is_literal && !(4..=5).contains(&self.word) {
                    return Err(self.error("a word is none of true, false and null"));
                }
                self.word = 0;
                if self.levels == 0 {
                    self.rows += 1;
                    end = Some(at - 1);
                }
            }
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'"' => {
                    self.begin_value()?;
                    self.is_string = true;
                }
                b'{' | b'[' => {
                    self.begin_value()?;
                    self.last = Last::Begin;
                    self.levels += 1;
                    if self.levels > MAX_LEVELS {
                        let text = format!("a value nests more than {MAX_LEVELS} levels deep");
                        return Err(Error::new(ErrorKind::LimitExceeded, format!("row {}: {text}", self.rows + 1)));
                    }
                }
                b'}' | b']' if self.levels > 0 && matches!(self.last, Last::Begin | Last::Value) => {
                    self.last = Last::Value;
                    self.levels -= 1;
                    if self.levels == 0 {
                        self.rows += 1;
                        end = Some(at);
                    }
                }
                b',' if self.levels > 0 && self.last == Last::Value => self.last = Last::Comma,
                b':' if self.levels > 0 && self.last == Last::Value => self.last = Last::Colon,
                other => return Err(self.error(&format!("unexpected '{}'", char::from(other).escape_default()))),
            }
        }
        Ok(end)
    }

    /// Passes over the rest of a string, and gives its length.
    fn string(&mut self, text: &[u8]) -> usize {
        let mut at = usize::from(std::mem::take(&mut self.is_escaped));
        while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
            at += found + 1;
            if text.get(at - 1) == Some(&b'"') {
                self.is_string = false;
                return at;
            }
            self.is_escaped = at == text.len();
            at += 1;
        }
        text.len()
    }

    fn word(&mut self, byte: u8) -> Result<()> {
        if self.word == 0 {
            self.begin_value()?;
            self.is_literal = byte.is_ascii_alphabetic();
        }
        self.word += 1;
        let is_right = if self.is_literal {
            byte.is_ascii_lowercase()
        } else {
            byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
        };
        if is_right { Ok(()) } else { Err(self.error(&format!("unexpected '{}'", char::from(byte)))) }
    }

    fn begin_value(&mut self) -> Result<()> {
        if self.last == Last::Value && self.levels > 0 {
            return Err(self.error("a comma is missing between two values"));
        }
        self.last = Last::Value;
        Ok(())
    }

    fn error(&self, text: &str) -> Error {
        Error::corrupt(format!("row {}: JSON parse error: {text}", self.rows + 1))
    }
}
