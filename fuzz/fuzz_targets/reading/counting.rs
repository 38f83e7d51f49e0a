//! An allocator that counts allocated bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    let allocated = ALLOCATED.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    PEAK.fetch_max(allocated, Relaxed);
}

// SAFETY: all calls are forwarded unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        ALLOCATED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Calls `work`, and checks that it allocates at most `max` bytes at a time.
pub fn within_memory(max: u64, work: impl FnOnce()) {
    let before = ALLOCATED.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    assert!(peak as u64 <= max, "{peak} bytes were allocated, more than {max}");
}
