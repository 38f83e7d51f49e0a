//! Times of day as text.

/// Hours, minutes and seconds of a number of seconds, as text.
pub(super) fn time_text(seconds: i64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// A fraction of a second with its point, without trailing zeros; empty for 0.
pub(super) fn trimmed_fraction(nanos: i64) -> String {
    match nanos {
        0 => String::new(),
        nanos => format!(".{nanos:09}").trim_end_matches('0').to_owned(),
    }
}

/// A fraction of a second with its point, of six digits, or nine if it is finer; empty for 0.
pub(super) fn whole_fraction(nanos: i64) -> String {
    match nanos {
        0 => String::new(),
        nanos if nanos % 1_000 == 0 => format!(".{:06}", nanos / 1_000),
        nanos => format!(".{nanos:09}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions() {
        assert_eq!([trimmed_fraction(0), trimmed_fraction(500_000_000)], ["", ".5"]);
        assert_eq!([whole_fraction(0), whole_fraction(500_000_000), whole_fraction(1)], ["", ".500000", ".000000001"]);
    }
}
