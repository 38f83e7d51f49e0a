//! Timestamps and dates of ORC files (ORCv1, Timestamp Columns): time zones of writers, the epoch in 2015, fractions before
//! 1970, and the two calendars.
//!
//! `TIMESTAMP` is a local time. It is stored as an instant by the time zone of the writing JVM ([`WriterZone`]).
//! [`TimestampDecoder`] converts the instant back to local time by the same time zone, independent of the time zone of the
//! reader. [`InstantDecoder`] decodes instants instead. `TIMESTAMP_INSTANT` is an instant. Dates and timestamps before
//! 1582-10-15 may be in the Julian calendar ([`calendar`]). Rebasing is the last step, on the local time.
//!
//! ```text
//! DATA ──┐                                    ┌─ seconds ─ calendar ─► local time, seconds since 1970
//!        ├─ TimestampDecoder ── WriterZone ───┤
//! SECONDARY                                   └─ nanoseconds, 0..1e9
//! ```

pub mod calendar;
mod iana;
mod instants;
mod offsets;
mod timestamp;
mod zone;

pub use instants::InstantDecoder;
pub(crate) use timestamp::is_in_range;
pub use timestamp::{TimestampDecoder, decode_nanos};
pub use zone::{WriterZone, zone_offsets};

/// Seconds of a day. ORC has no leap seconds, as POSIX.
pub const SECONDS_PER_DAY: i64 = 86_400;
/// Nanoseconds of a second, in the type of stored nanoseconds.
pub(crate) const NANOS: i64 = 1_000_000_000;
/// Nanoseconds of a second, in the type of nanoseconds since 1970.
pub const NANOS_PER_SECOND: i128 = NANOS as i128;
/// Nanoseconds of a millisecond.
pub const NANOS_PER_MILLI: i128 = NANOS_PER_SECOND / 1000;
