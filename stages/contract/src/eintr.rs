//! eintr: retries file system calls that a signal interrupts (FUSE and some NFS mounts answer
//! EINTR).
//!
//! promises  the standard library retries `open`, `read`, `write` and `fsync`; this retries others:
//!           `mkdir`, `rename`, `link`, `unlink`, `stat`
//! never     retries forever: after `TRIES` it returns the error
use std::io;

/// Most tries of a call.
const TRIES: usize = 100;

/// Calls a function, again as long as a signal interrupts it.
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
