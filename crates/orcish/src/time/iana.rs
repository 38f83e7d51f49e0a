//! The time zones of the IANA database, behind the feature `chrono-tz`.

pub(super) use zones::{Zone, find, offset_at};

#[cfg(feature = "chrono-tz")]
mod zones {
    use chrono::{DateTime, Offset as _, TimeZone as _, Utc};
    use orcish_core::error::Result;

    /// A time zone.
    pub(in crate::time) type Zone = chrono_tz::Tz;

    /// The time zone of an id; `None` if there is none.
    #[expect(clippy::unnecessary_wraps, reason = "without the feature it fails")]
    pub(in crate::time) fn find(id: &str) -> Result<Option<Zone>> {
        Ok(id.parse().ok())
    }

    /// Seconds to add to an instant, in seconds since 1970, for the local time.
    pub(in crate::time) fn offset_at(zone: Zone, utc: i64) -> i32 {
        // An instant outside of the range of chrono has the offset at the end of the range.
        let end = if utc < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
        let instant = DateTime::from_timestamp(utc, 0).unwrap_or(end);
        zone.offset_from_utc_datetime(&instant.naive_utc()).fix().local_minus_utc()
    }
}

#[cfg(not(feature = "chrono-tz"))]
mod zones {
    use orcish_core::error::{Error, Result};

    /// A time zone, of which there is none.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::time) enum Zone {}

    pub(in crate::time) fn find(id: &str) -> Result<Option<Zone>> {
        let shown: String = id.chars().take(64).collect();
        Err(Error::unsupported(format!("time zone {shown:?}: this build of orcish is without the feature `chrono-tz`")))
    }

    pub(in crate::time) fn offset_at(zone: Zone, _utc: i64) -> i32 {
        match zone {}
    }
}
