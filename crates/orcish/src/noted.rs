//! What decoders pass over because it changes no value, kept for who asks: reading does not, `check` does.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Column ids, and what is not as the format says in the streams of each.
pub(crate) type Noted = BTreeSet<(u32, &'static str)>;

thread_local! {
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
    static COLUMN: Cell<u32> = const { Cell::new(0) };
}

/// Something is not as the format says, and is passed over.
pub(crate) fn note(what: &'static str) {
    NOTED.with_borrow_mut(|noted| noted.as_mut().map(|noted| noted.insert((COLUMN.get(), what))));
}

/// What `work`, which reads on this thread, passes over.
pub(crate) fn listen<T>(work: impl FnOnce() -> T) -> (T, Noted) {
    let before = NOTED.replace(Some(Noted::new()));
    let done = work();
    (done, NOTED.replace(before).unwrap_or_default())
}

/// Does `work` on streams of column `id`.
pub(crate) fn of_column<T>(id: u32, work: impl FnOnce() -> T) -> T {
    let before = COLUMN.replace(id);
    let done = work();
    COLUMN.set(before);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listened_to_is_kept() {
        note("unheard");
        let (_, noted) = listen(|| {
            of_column(3, || {
                of_column(4, || note("inner"));
                note("outer");
                note("outer");
            });
        });
        assert_eq!(noted.into_iter().collect::<Vec<_>>(), [(3, "outer"), (4, "inner")]);
        assert_eq!(listen(|| ()).1.len(), 0);
    }
}
