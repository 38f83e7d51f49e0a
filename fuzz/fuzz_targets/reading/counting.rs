//! An allocator that counts what is held.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    PEAK.fetch_max(held, Relaxed);
}

// SAFETY: everything is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Does `work`, which may hold no more than `most` bytes beside what there is before.
pub fn within_memory(most: u64, work: impl FnOnce()) {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    assert!(peak as u64 <= most, "{peak} bytes were held, more than {most}");
}
