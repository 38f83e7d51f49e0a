//! Arrow arrays as arrays of other types: wider ones, logical ones, and with fewer or more struct fields.

mod adapt;
mod cut;
mod list;
mod mismatch;
mod packed;
mod restore;
mod widen;

pub use adapt::{Adapt, Ways, apply_all};
pub use cut::cut;
pub use mismatch::check_room;
pub use restore::restore;
pub use widen::{cast, is_text, widen, widens};
