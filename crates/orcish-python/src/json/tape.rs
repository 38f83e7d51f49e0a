//! Values as arrow-json has parsed them: places of a tape.

use arrow_json::reader::{ArrayDecoder, Tape, TapeElement};
use arrow_schema::ArrowError;

use super::error::wrong;

/// Key of the metadata of fields that are keys of maps.
pub(super) const KEY: &str = "orcish.key";

pub(super) type Decoder = Box<dyn ArrayDecoder>;

/// The error of a value that is not one of a type.
pub(super) fn not_one(tape: &Tape<'_>, pos: u32, kind: &str) -> ArrowError {
    match value_at(tape, pos) {
        Ok(shown) => wrong(format!("{shown} is not one of {kind}")),
        Err(error) => error,
    }
}

/// The begin of a value, for errors.
pub(super) fn value_at(tape: &Tape<'_>, pos: u32) -> Result<String, ArrowError> {
    match tape.error(pos, "") {
        ArrowError::JsonError(text) => Ok(text.trim_start_matches("expected  got ").chars().take(40).collect()),
        other => Err(other),
    }
}

/// The characters of a string, such as the name of a field, or of a number.
pub(super) fn text_at<'a>(tape: &Tape<'a>, pos: u32) -> Result<&'a str, ArrowError> {
    match tape.get(pos) {
        TapeElement::String(at) | TapeElement::Number(at) => Ok(tape.get_string(at)),
        _ => Err(wrong("a name of a field is no string: this is a bug in orcish, please report it")),
    }
}
