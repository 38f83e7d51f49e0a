//! Time as ORC files keep it: writer zones, the 2015 epoch, fractions before 1970, the two calendars.
//!
//! `TIMESTAMP` is wall-clock time, unless the caller wants its instants ([`Instants`]). What is stored is an instant,
//! though, in the terms of the time zone that the writing JVM had ([`WriterZone`]); the wall clock is that instant seen in
//! that same zone, whoever reads and wherever ([`TimestampDecoder`]). `TIMESTAMP_INSTANT` is the instant itself. Before
//! 1582-10-15 both, and `DATE`, may be counted in the Julian calendar ([`calendar`]), which is undone last, on the wall
//! clock.
//!
//! ```text
//! DATA ──┐                                    ┌─ seconds ─ calendar ─► wall clock, seconds since 1970
//!        ├─ TimestampDecoder ── WriterZone ───┤
//! SECONDARY                                   └─ nanoseconds, 0..1e9
//! ```
//!
//! Specification: ORCv1, "Timestamp Columns".

pub mod calendar;
mod instants;
mod offsets;
mod timestamp;
mod zone;

pub use instants::Instants;
pub use timestamp::{TimestampDecoder, decode_nanos};
pub use zone::WriterZone;

/// Seconds of a day; ORC, like POSIX, knows no leap seconds.
pub const SECONDS_PER_DAY: i64 = 86_400;
/// Nanoseconds of a second, in the width of the two parts that a time is stored in.
const NANOS: i64 = 1_000_000_000;
/// Nanoseconds of a second, in the width of instants.
pub const NANOS_PER_SECOND: i128 = NANOS as i128;
/// Nanoseconds of a millisecond.
pub const NANOS_PER_MILLI: i128 = NANOS_PER_SECOND / 1000;
