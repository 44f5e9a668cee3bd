//! caught_panics: turns panics of decoders and stages, for example on damaged bytes, into errors.
//!
//! promises  a caught panic prints nothing; the catching code gets its message and place
//! never     hides a panic that is not caught
use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{ErrorKind, StageError};

/// Active catches of all threads: a panic in a thread pool reaches the thread that waits for it.
static CATCHES: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    /// Active catches of this thread.
    static HERE: Cell<usize> = const { Cell::new(0) };
}
/// The first panic since the last catch; later ones are consequences.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// For the program's panic hook: records the message of a panic that will be caught. Returns false
/// if it will not be caught.
pub fn record_panic(info: &PanicHookInfo<'_>) -> bool {
    let caught = is_caught();
    if caught {
        first_panic().get_or_insert_with(|| info.to_string());
    }
    caught
}

/// Whether a panic of this thread reaches a catch. One of an independent thread may not.
fn is_caught() -> bool {
    HERE.get() > 0 || rayon::current_thread_index().is_some() && CATCHES.load(Ordering::SeqCst) > 0
}

/// Runs work that may panic, on this thread or on threads that it waits for; the error is the
/// message of the first panic.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CATCHES.fetch_add(1, Ordering::SeqCst);
    HERE.set(HERE.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    HERE.set(HERE.get() - 1);
    CATCHES.fetch_sub(1, Ordering::SeqCst);
    done.map_err(|payload| {
        let plain = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        // Without the program's hook, as in tests, there is only the payload.
        first_panic().take().or(plain).unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

/// The error of a caught panic: a defect, or out of memory in a library that then panics.
pub fn panic_error(said: String) -> StageError {
    out_of_memory(&said).unwrap_or_else(|| StageError::defect(said))
}

/// The error of a panic with an out-of-memory message.
pub fn out_of_memory(said: &str) -> Option<StageError> {
    let hint =
        "see  ulimit -v  and the memory of the job; a lower  --memory  or  --threads  needs less";
    let is_zstd = said.contains("zstd returned null pointer");
    is_zstd.then(|| {
        StageError::new(
            ErrorKind::Memory,
            "out of memory: the system refused what zstd needs to read or write a table",
        )
        .hint(hint)
    })
}

fn first_panic() -> MutexGuard<'static, Option<String>> {
    FIRST.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(catch(|| 5), Ok(5));
        let of_pool = || rayon::scope(|_| is_caught());
        let of_own = || std::thread::spawn(is_caught).join().unwrap();
        assert_eq!(catch(|| (is_caught(), of_pool(), of_own())), Ok((true, true, false)));
        assert!(!is_caught());
        assert_eq!(catch(|| panic!("row {} of 3", 7)), Err::<(), _>("row 7 of 3".to_owned()));
        let kind = |said: &str| panic_error(said.to_owned()).kind;
        assert_eq!(
            kind("panicked at lib.rs:1: zstd returned null pointer when creating new context"),
            ErrorKind::Memory
        );
        assert_eq!(kind("index out of bounds"), ErrorKind::Defect);
    }
}
