//! build_claims: one of several processes builds a key; the others wait for it.
//!
//! promises  a process that gets the claim looks the key up again before it builds; one that waits
//!           takes what is published, or the claim once it is free or stale, and names the holder
//!           after two seconds; a signal ends the wait at once
//! never     waits for what it holds itself; fails because there are no claims
use std::time::{Duration, Instant};

use warploom_contract::{
    Key, Kind, StageError, Store,
    progress::Progress,
    store::claim::{Attempt, Claim, Holder},
};

use crate::{progress::Talk, signals};

/// The pause between two looks: the first one, by how much it grows, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const GROWTH: f64 = 1.5;
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// A wait that is shorter is not mentioned.
const MENTIONED_FROM: Duration = Duration::from_secs(2);

/// What a process does about a key.
pub(crate) enum Turn<T> {
    /// It builds it, under a claim if there are claims.
    Build(Option<Claim>),
    /// It takes what another process has built meanwhile.
    Take(T, String),
}

/// What is built under a claim.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    /// The stage, or another name of the work.
    pub stage: &'a str,
    /// The key.
    pub key: &'a Key,
    /// The kinds in whose folders it is published.
    pub writes: &'a [Kind],
}

/// Claims work, or waits for the process that does it. `look` finds what was done.
pub(crate) fn take_turn<T>(
    store: &Store,
    talk: &Talk,
    work: Work<'_>,
    mut look: impl FnMut() -> Result<Option<T>, StageError>,
) -> Result<Turn<T>, StageError> {
    let mut observer = store.observe_claim(work.stage, work.key);
    let mut wait = Wait::begin(talk);
    loop {
        match observer.attempt() {
            // It may have been published since the first look.
            Attempt::Taken(claim) => {
                work.writes.iter().for_each(|&kind| store.refresh(kind));
                return Ok(match look()? {
                    Some(found) => Turn::Take(found, wait.builder()),
                    None => Turn::Build(Some(claim)),
                });
            }
            Attempt::Impossible => return Ok(Turn::Build(None)),
            Attempt::Held(holder) => wait.pause(work.stage, holder)?,
        }
        if let Some(found) = look()? {
            return Ok(Turn::Take(found, wait.builder()));
        }
    }
}

/// A wait for another process.
struct Wait<'a> {
    talk: &'a Talk,
    begun: Instant,
    pause: Duration,
    holder: Option<Holder>,
    is_mentioned: bool,
}

impl<'a> Wait<'a> {
    fn begin(talk: &'a Talk) -> Self {
        Wait { talk, begun: Instant::now(), pause: FIRST_PAUSE, holder: None, is_mentioned: false }
    }

    /// Who built what is found.
    fn builder(&self) -> String {
        self.holder.as_ref().map_or_else(|| "another process".to_owned(), Holder::to_string)
    }

    /// Waits for a moment.
    fn pause(&mut self, stage: &str, holder: Holder) -> Result<(), StageError> {
        // A new holder after one that failed is mentioned too.
        let is_other = self.holder.as_ref().is_some_and(|last| last.since() != holder.since());
        if self.begun.elapsed() >= MENTIONED_FROM && (is_other || !self.is_mentioned) {
            let since = holder.since().map(|time| format!(" since {time}")).unwrap_or_default();
            self.talk.say(&format!("{stage}: {holder} builds this{since}; waiting for it"));
            self.talk.begin(&format!("waiting for {holder}"), 0, "");
            self.is_mentioned = true;
        }
        self.holder = Some(holder);
        std::thread::sleep(self.pause);
        self.pause = self.pause.mul_f64(GROWTH).min(LONGEST_PAUSE);
        match signals::STOP.is_set() {
            true => Err(signals::stop_error(
                "while another process built what this one needs. The same command goes on",
            )),
            false => Ok(()),
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if self.is_mentioned {
            self.talk.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn key() -> Key {
        Key::parse(&"7".repeat(32)).expect("it has the form of a key")
    }

    fn work(key: &Key) -> Work<'_> {
        Work { stage: "ingest", key, writes: &[Kind::Graph] }
    }

    #[test]
    fn who_comes_second_takes_what_the_first_has_built() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (store, key) = (Store::new(folder.path()), key());
        let talk = Talk::new(&Options::default());
        let done = std::sync::Mutex::new(0);
        let look =
            || Ok(Some(*done.lock().expect("no test panics with it")).filter(|&done| done > 0));
        let build = || match take_turn(&store, &talk, work(&key), look) {
            Ok(Turn::Build(claim)) => {
                assert!(claim.is_some());
                std::thread::sleep(Duration::from_millis(50));
                *done.lock().expect("no test panics with it") += 1;
                None
            }
            Ok(Turn::Take(found, by)) => Some((found, by)),
            Err(error) => panic!("{error}"),
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads = [(); 5].map(|()| scope.spawn(build));
            threads.map(|thread| thread.join().expect("it does not panic")).into()
        });
        assert_eq!(results.iter().flatten().count(), 4, "{results:?}");
        let by = format!("process {} on ", std::process::id());
        assert!(results.iter().flatten().all(|(found, who)| *found == 1 && who.starts_with(&by)));
    }

    #[test]
    fn after_one_that_failed_the_next_builds() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (store, key) = (Store::new(folder.path()), key());
        let talk = Talk::new(&Options::default());
        for _ in 0..2 {
            let turn = take_turn::<()>(&store, &talk, work(&key), || Ok(None));
            assert!(matches!(turn, Ok(Turn::Build(Some(_)))), "the claim was dropped");
        }
    }
}
