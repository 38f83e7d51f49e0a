//! Quotes and escapes.

/// The text of a string or of a step of a name, without quotes and escapes. `piece` has quotes at both ends, which may be
/// backticks, or is a bare word.
///
/// # Errors
/// Position, length and description of an invalid escape.
pub(super) fn unquoted(piece: &str) -> Result<String, (usize, usize, &'static str)> {
    let quoted = ['`', '\'', '"'].into_iter().find_map(|quote| {
        let inner = piece.strip_prefix(quote)?.strip_suffix(quote)?;
        Some((quote, inner))
    });
    let Some((quote, inner)) = quoted else { return Ok(piece.to_owned()) };
    if quote == '`' {
        return Ok(inner.replace("``", "`"));
    }
    let mut result = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            let escaped = chars.as_str();
            // The quote before the text is as long as the backslash.
            let start = inner.len() - escaped.len();
            chars = escape(escaped, &mut result).map_err(|(length, what)| (start, 1 + length, what))?.chars();
            continue;
        }
        if c == quote {
            // A quote within quotes is doubled.
            chars.next();
        }
        result.push(c);
    }
    Ok(result)
}

/// Appends the character of the escape whose backslash is before a text, and returns the text behind the escape.
///
/// # Errors
/// Length and description of an invalid escape, without its backslash.
fn escape<'a>(text: &'a str, result: &mut String) -> Result<&'a str, (usize, &'static str)> {
    const UNKNOWN: &str = r"is no escape: a backslash itself is written \\";
    let mut chars = text.chars();
    let Some(marker) = chars.next() else {
        return Err((0, UNKNOWN));
    };
    let behind = chars.as_str();
    let (code, rest) = match marker {
        'u' => match code(behind, 4, 16) {
            Some((high @ 0xD800..=0xDBFF, rest))
                if let Some((low @ 0xDC00..=0xDFFF, rest)) =
                    rest.strip_prefix("\\u").and_then(|rest| code(rest, 4, 16)) =>
            {
                (0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), rest)
            }
            single => single.ok_or((1, UNKNOWN))?,
        },
        'U' => code(behind, 8, 16).ok_or((1, UNKNOWN))?,
        '0'..='3' => match code(text, 3, 8) {
            None if marker == '0' => (0, behind),
            code => code.ok_or((1, UNKNOWN))?,
        },
        'b' => (0x08, behind),
        'n' => (0x0A, behind),
        'r' => (0x0D, behind),
        't' => (0x09, behind),
        'Z' => (0x1A, behind),
        // The backslashes of these are significant in patterns of `like`.
        '%' | '_' => {
            result.push('\\');
            (marker.into(), behind)
        }
        marker if marker.is_alphanumeric() => return Err((marker.len_utf8(), UNKNOWN)),
        marker => (marker.into(), behind),
    };
    let length = text.len() - rest.len();
    match char::from_u32(code) {
        Some(c) => result.push(c),
        None if (0xD800..0xE000).contains(&code) => return Err((length, "is half of a pair of surrogates")),
        None => return Err((length, UNKNOWN)),
    }
    Ok(rest)
}

/// The number of `count` digits at the beginning of a text, and the text behind them.
fn code(text: &str, count: usize, radix: u32) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    let is_number = digits.bytes().all(|digit| char::from(digit).is_digit(radix));
    let code = u32::from_str_radix(digits, radix).ok()?;
    is_number.then_some((code, rest))
}
