//! What the reader of another format shares with this one. No part of the API.

mod adapt;
mod ahead;
mod cut;
mod domain;
mod each;
mod filter;
mod known;
mod paths;
#[cfg(test)]
mod tests;
mod widen;

pub use crate::arrow::{Entries, byte_array, check_room, item_of, with_item};
pub use crate::io::{Site, part_of, requests};
pub use crate::patience::{PATIENCE, Patience};
pub use crate::projection::nearest;
pub use crate::stripe::read_within;
pub use crate::threads::asked_or_cores;
pub use adapt::{Adapt, Ways};
pub use ahead::{Ahead, Parts};
pub use cut::cut;
pub use each::each;
pub use filter::BatchFilter;
pub use known::{Bound, Known};
pub use paths::choose;
pub use widen::{cast, widen, widens};

pub(crate) use adapt::apply_all;
pub(crate) use domain::{domain_of, stored_domain};
pub(crate) use filter::column_is_missing;
pub(crate) use paths::{Choice, Places, field_at, no_value, path_of};
pub(crate) use widen::is_text;
