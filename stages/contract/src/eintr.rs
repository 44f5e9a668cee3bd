//! Calls of the file system that a signal may interrupt (FUSE and some NFS mounts answer EINTR):
//! they are tried again.
//!
//! promises  the standard library repeats `open`, `read`, `write` and `fsync`; this repeats what it
//!           does not: `mkdir`, `rename`, `link`, `unlink`, `stat`
//! never     waits for ever: after `TRIES` the error goes up
use std::io;

/// How often a call is made.
const TRIES: usize = 100;

/// Makes a call, and makes it again as long as a signal interrupts it.
pub fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..TRIES {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
    call()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_call_is_made_again_and_any_other_error_goes_up() {
        let mut calls = 0;
        let mut answer = |errors: &[i32]| {
            calls = 0;
            retry(|| {
                calls += 1;
                errors
                    .get(calls - 1)
                    .map_or(Ok(calls), |&number| Err(io::Error::from_raw_os_error(number)))
            })
        };
        assert_eq!(answer(&[4, 4]).unwrap(), 3);
        assert_eq!(answer(&[5]).unwrap_err().raw_os_error(), Some(5));
        assert_eq!(answer(&[4; TRIES + 1]).unwrap_err().raw_os_error(), Some(4));
        assert_eq!(calls, TRIES);
    }
}
