//! Deviations from the specification that decoders tolerate, as they change no value. `check` reports them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Warnings, each with the id of its column.
pub(crate) type Warnings = BTreeSet<(u32, &'static str)>;

thread_local! {
    static IS_COLLECTING: Cell<bool> = const { Cell::new(false) };
    static WARNINGS: RefCell<Warnings> = const { RefCell::new(Warnings::new()) };
    static COLUMN: Cell<u32> = const { Cell::new(0) };
}

/// Records a warning about the current column, if this thread collects warnings.
pub(crate) fn warn(message: &'static str) {
    if IS_COLLECTING.get() {
        WARNINGS.with_borrow_mut(|warnings| warnings.insert((COLUMN.get(), message)));
    }
}

/// Runs `work`, and collects the warnings of this thread.
pub(crate) fn collect_warnings<T>(work: impl FnOnce() -> T) -> (T, Warnings) {
    let (was_collecting, outer) = (IS_COLLECTING.replace(true), WARNINGS.take());
    let result = work();
    IS_COLLECTING.set(was_collecting);
    (result, WARNINGS.replace(outer))
}

/// Runs `work` with the column `id` as the current column.
pub(crate) fn with_column<T>(id: u32, work: impl FnOnce() -> T) -> T {
    let outer = COLUMN.replace(id);
    let result = work();
    COLUMN.set(outer);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_kept_only_where_they_are_collected() {
        warn("not collected");
        let (_, warnings) = collect_warnings(|| {
            with_column(3, || {
                with_column(4, || warn("inner"));
                warn("outer");
                warn("outer");
            });
        });
        assert_eq!(warnings.into_iter().collect::<Vec<_>>(), [(3, "outer"), (4, "inner")]);
        assert_eq!(collect_warnings(|| ()).1.len(), 0);
    }
}
