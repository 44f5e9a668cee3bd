//! child: METIS in a child process, which can be killed at its time limit or when the stage stops,
//! without harm to the stage.
//!
//! promises  the child ends with its parent process; a failure is an error with METIS's own message
//! never     reads or writes a file
use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use metis::Idx;
use warploom_contract::{ErrorKind, StageError};

use super::{CutRequest, Pairs, cut_parts};

/// This program, also when an installation has replaced its file since it was started.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// The only argument of a program that is the child.
const ROLE: &str = "cut-with-metis";

/// To be called first by every program with this stage: does not return if this process is the
/// child.
pub fn serve_if_child() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(ROLE) && arguments.next().is_none() {
        std::process::exit(i32::from(run_child()));
    }
}

/// Calls METIS in a child with a time limit in seconds.
pub fn cut_in_child(
    seconds: u64,
) -> impl FnOnce(Pairs, CutRequest) -> Result<Vec<Idx>, StageError> {
    move |pairs, wish| {
        let wrong = |error: &std::io::Error| {
            StageError::new(
                ErrorKind::Transient,
                format!("METIS could not be run in a child process: {error}"),
            )
        };
        let mut child = Command::new(OWN_PROGRAM)
            .arg(ROLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| wrong(&error))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let nodes = pairs.starts.len() - 1;
        // A child that ends early breaks the pipe: its exit status and stderr say why.
        let writer =
            spawn_thread(move || stdin.map(|mut stdin| write_graph(&mut stdin, &pairs, wish)))
                .map_err(|error| wrong(&error))?;
        let (told, answer) = mpsc::channel();
        // Missing numbers are not reported: the child's stderr says why.
        let reader = spawn_thread(move || {
            told.send(stdout.and_then(|mut stdout| read_numbers(&mut stdout, nodes).ok()))
        })
        .map_err(|error| wrong(&error))?;
        let talk = spawn_thread(move || {
            stderr
                .map(|stderr| std::io::read_to_string(stderr).unwrap_or_default())
                .unwrap_or_default()
        });
        let talk = talk.map_err(|error| wrong(&error))?;
        let answered = wait_for_child(Duration::from_secs(seconds), &answer, &mut child)
            .map_err(|error| wrong(&error))?;
        // All three end with the child.
        let (_, _, said) = (writer.join(), reader.join(), talk.join().unwrap_or_default());
        let Some(found) = answered else {
            let what = format!(
                "METIS did not cut the graph into {} parts within {seconds} seconds",
                wish.parts
            );
            return Err(StageError::new(ErrorKind::LimitReached, what).hint(
                "give it longer with  --set reorder.seconds=N  or use  --set reorder.method=rabbit",
            ));
        };
        found.ok_or_else(|| {
            StageError::new(
                ErrorKind::Memory,
                format!("METIS did not cut the graph into {} parts", wish.parts),
            )
            .detail(said.trim())
        })
    }
}

/// Spawns a thread for a pipe of the child. If that fails, the pipe is dropped, which ends the
/// child.
fn spawn_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<std::thread::JoinHandle<T>> {
    std::thread::Builder::new().name("metis".into()).spawn(work)
}

/// The child's answer, if it comes in time; the child has ended in any case.
fn wait_for_child<T>(
    limit: Duration,
    answer: &mpsc::Receiver<T>,
    child: &mut Child,
) -> std::io::Result<Option<T>> {
    let found = answer.recv_timeout(limit).ok();
    if found.is_none() {
        child.kill()?;
    }
    child.wait()?;
    Ok(found)
}

/// The child's work: a graph from stdin, parts to stdout.
fn run_child() -> u8 {
    #[cfg(target_os = "linux")]
    let _unsupported =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let done = read_graph(&mut std::io::stdin().lock())
        .map_err(|error| error.to_string())
        .and_then(|(pairs, wish)| {
            let part = cut_parts(&pairs, wish).map_err(|error| error.what)?;
            write_numbers(&mut std::io::stdout().lock(), &part).map_err(|error| error.to_string())
        });
    match done {
        Ok(()) => 0,
        Err(what) => {
            let _closed = writeln!(std::io::stderr(), "{what}");
            1
        }
    }
}

fn write_graph(to: &mut impl Write, pairs: &Pairs, wish: CutRequest) -> std::io::Result<()> {
    let sizes = [wish.parts, wish.seed, pairs.starts.len() as u64, pairs.neighbours.len() as u64];
    sizes.iter().try_for_each(|size| to.write_all(&size.to_ne_bytes()))?;
    write_numbers(to, &pairs.starts)?;
    write_numbers(to, &pairs.neighbours)
}

fn read_graph(from: &mut impl Read) -> std::io::Result<(Pairs, CutRequest)> {
    let mut size = || {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes).map(|()| u64::from_ne_bytes(bytes))
    };
    let (parts, seed, starts, neighbours) = (size()?, size()?, size()? as usize, size()? as usize);
    let pairs =
        Pairs { starts: read_numbers(from, starts)?, neighbours: read_numbers(from, neighbours)? };
    Ok((pairs, CutRequest { parts, seed }))
}

fn write_numbers(to: &mut impl Write, numbers: &[Idx]) -> std::io::Result<()> {
    numbers.chunks(1 << 14).try_for_each(|some| {
        to.write_all(&some.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>())
    })
}

fn read_numbers(from: &mut impl Read, count: usize) -> std::io::Result<Vec<Idx>> {
    let mut numbers = Vec::with_capacity(count);
    let mut bytes = vec![0; 4 << 14];
    while numbers.len() < count {
        let some = &mut bytes[..4 * (count - numbers.len()).min(1 << 14)];
        from.read_exact(some)?;
        numbers.extend(
            some.chunks_exact(4)
                .map(|four| Idx::from_ne_bytes([four[0], four[1], four[2], four[3]])),
        );
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let pairs =
            Pairs { starts: (0..40_000).collect(), neighbours: (0..70_000).rev().collect() };
        let mut bytes = Vec::new();
        write_graph(&mut bytes, &pairs, CutRequest { parts: 5, seed: 7 }).unwrap();
        assert_eq!(
            read_graph(&mut bytes.as_slice()).unwrap(),
            (pairs, CutRequest { parts: 5, seed: 7 })
        );
        assert!(read_graph(&mut &bytes[..100]).is_err());
    }

    #[test]
    fn a_child_that_takes_too_long_is_ended() {
        let (told, answer) = mpsc::channel();
        let mut slow = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(wait_for_child(Duration::ZERO, &answer, &mut slow).unwrap(), None);
        assert!(!slow.wait().unwrap().success());
        told.send(7).unwrap();
        let mut quick = Command::new("true").spawn().unwrap();
        assert_eq!(wait_for_child(Duration::from_secs(60), &answer, &mut quick).unwrap(), Some(7));
        assert!(quick.wait().unwrap().success());
    }
}
