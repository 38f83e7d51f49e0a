//! What the reader of another format shares with this one. No part of the API.

mod widen;

pub use crate::arrow::{check_room, item_of, with_item};
pub use crate::io::requests;
pub use crate::patience::{PATIENCE, Patience};
pub use crate::projection::nearest;
pub use crate::threads::asked_or_cores;
pub use widen::{cast, widen, widens};

pub(crate) use widen::{is_text, misfit};
