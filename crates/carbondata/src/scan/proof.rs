//! What proves that no row of a part of a file is wanted.

use orcish_core::predicate::Proof;

/// The index of the blocklet.
pub(super) const BLOCKLET_INDEX: Proof = Proof::new("index of the blocklet");
/// The bounds of the page.
pub(super) const PAGE_BOUNDS: Proof = Proof::new("bounds of the page");
