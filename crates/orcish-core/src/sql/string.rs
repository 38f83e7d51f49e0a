//! Quotes and escapes.

/// The text of a string or of a step of a name, without quotes and escapes. `piece` has quotes at both ends, which may be
/// backticks, or is a bare word.
///
/// # Errors
/// Byte range and description of an invalid escape.
pub(super) fn unquoted(piece: &str) -> Result<String, (std::ops::Range<usize>, &'static str)> {
    let quote = match piece.chars().next() {
        Some(quote @ ('`' | '\'' | '"')) => quote,
        _ => return Ok(piece.to_owned()),
    };
    let inner = piece.get(1..piece.len() - 1).unwrap_or_default();
    if quote == '`' {
        return Ok(inner.replace("``", "`"));
    }
    let mut result = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find(['\\', quote]) {
        let (plain, special) = rest.split_at(at);
        result.push_str(plain);
        let start = 1 + inner.len() - special.len();
        let length = if special.starts_with('\\') {
            escape(special, &mut result).map_err(|(length, what)| (start..start + length, what))?
        } else {
            result.push(quote);
            2
        };
        rest = special.get(length..).unwrap_or_default();
    }
    result.push_str(rest);
    Ok(result)
}

/// Appends the character of the escape at the beginning of a text, and returns the length of the escape in bytes.
///
/// # Errors
/// Length and description of an invalid escape.
fn escape(text: &str, result: &mut String) -> Result<usize, (usize, &'static str)> {
    const UNKNOWN: &str = r"is no escape: a backslash itself is written \\";
    let code = |range: std::ops::Range<usize>, radix: u32| {
        let digits = text.get(range)?;
        let is_number = digits.bytes().all(|digit| char::from(digit).is_digit(radix));
        is_number.then(|| u32::from_str_radix(digits, radix).ok())?
    };
    let Some(marker) = text.chars().nth(1) else {
        return Err((1, UNKNOWN));
    };
    let (length, code) = match marker {
        'u' => match (code(2..6, 16), code(8..12, 16)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) if text.get(6..8) == Some("\\u") => {
                (12, 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
            }
            (Some(code), _) => (6, code),
            (None, _) => return Err((2, UNKNOWN)),
        },
        'U' => (10, code(2..10, 16).ok_or((2, UNKNOWN))?),
        '0'..='3' => match code(1..4, 8) {
            Some(code) => (4, code),
            None if marker == '0' => (2, 0),
            None => return Err((2, UNKNOWN)),
        },
        'b' => (2, 0x08),
        'n' => (2, 0x0A),
        'r' => (2, 0x0D),
        't' => (2, 0x09),
        'Z' => (2, 0x1A),
        // The backslashes of these are significant in patterns of `like`.
        '%' | '_' => {
            result.push('\\');
            (2, marker.into())
        }
        marker if marker.is_alphanumeric() => return Err((1 + marker.len_utf8(), UNKNOWN)),
        marker => (1 + marker.len_utf8(), marker.into()),
    };
    match char::from_u32(code) {
        Some(c) => result.push(c),
        None if (0xD800..0xE000).contains(&code) => return Err((length, "is half of a pair of surrogates")),
        None => return Err((length, UNKNOWN)),
    }
    Ok(length)
}
