//! allocation: the global allocator of all binaries. It is the system's; where that is out of
//! memory, the process ends with a message and exit code 1.
//!
//! promises  a failed allocation is reported with its size instead of ending the process by a
//!           signal; a draft that was being written is left behind, and the next `store gc` removes
//!           it
//! never     allocates, takes a lock or unwinds after a refusal
#![allow(unsafe_code)]
use std::{
    alloc::{GlobalAlloc, Layout, System},
    panic::PanicHookInfo,
};

use warploom_contract::ErrorKind;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

struct Allocator;

// SAFETY: every call is forwarded to `System` with the caller's arguments; a failed allocation does
// not return.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` requires.
        refuse_null(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        refuse_null(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        refuse_null(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

fn refuse_null(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        exit_out_of_memory(bytes);
    }
    block
}

/// Returns freed memory to the system, so that the peak of a run does not include earlier stages.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // SAFETY: it takes no pointer, and may be called at any time from any thread.
        unsafe { malloc_trim(0) };
    }
}

/// For the program's panic hook: ends the process where a new thread gets no memory for its signal
/// stack. The standard library panics there, outside all that could catch it.
pub fn exit_if_no_signal_stack(info: &PanicHookInfo<'_>) {
    if info.payload_as_str().is_some_and(is_refused_signal_stack) {
        exit_refused(&[b"the signal stack of a thread"]);
    }
}

fn is_refused_signal_stack(said: &str) -> bool {
    said.contains("alternative stack") && said.contains("os error 12")
}

#[cold]
fn exit_out_of_memory(bytes: usize) -> ! {
    exit_refused(&[format_decimal(bytes, &mut [0; 20]), b" bytes"])
}

fn exit_refused(what: &[&[u8]]) -> ! {
    let before: &[u8] = b"error: out of memory: the system refused ";
    let after: &[u8] =
        b"\nhint: see  ulimit -v  and the memory of the job; a lower  --memory  or  \
        --threads  needs less\n";
    for text in [before].iter().chain(what).chain(&[after]) {
        // If standard error is closed, there is nowhere left to report it.
        let _ = rustix::io::write(std::io::stderr(), text);
    }
    signal_hook::low_level::exit(i32::from(ErrorKind::Memory.exit_code()))
}

/// A number in decimal, without an allocation.
fn format_decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_an_allocation() {
        for number in [0, 7, 10, 4096, usize::MAX] {
            assert_eq!(format_decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }

    #[test]
    fn a_refused_signal_stack_is_known_by_its_words() {
        let said = "failed to allocate an alternative stack: Cannot allocate memory (os error 12)";
        assert!(is_refused_signal_stack(said));
        assert!(!is_refused_signal_stack("Cannot allocate memory (os error 12)"));
    }
}
