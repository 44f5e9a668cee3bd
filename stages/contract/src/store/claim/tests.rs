//! Claims of processes that live, have ended, are frozen or run on other hosts.
use super::*;

struct Place {
    _folder: tempfile::TempDir,
    store: Store,
    key: Key,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("store"));
        Place { store, key: Key::parse(&"5".repeat(32)).unwrap(), _folder: folder }
    }

    fn observer(&self) -> ClaimObserver {
        self.store.observe_claim("ingest", &self.key)
    }

    /// The claim of a process on another host, or of one that has ended on this host.
    fn write(&self, process: u32, place: &str) -> PathBuf {
        let path = self.observer().path;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let key = &self.key;
        let text = format!(".tmp-ingest-{key}-{process}-0@{place}\nprocess {process} on {place}\n");
        fs::write(&path, text).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.store.root().join(FOLDER))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn set_time(path: &Path, time: SystemTime) {
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

fn is_held(attempt: Attempt, by: &str) -> bool {
    matches!(attempt, Attempt::Held(holder) if holder.to_string() == by)
}

#[test]
fn one_process_takes_a_claim_and_leaves_nothing() {
    let place = Place::new();
    let Attempt::Taken(claim) = place.observer().attempt() else { panic!("it is free") };
    assert_eq!(place.names(), [format!("ingest-{}", place.key)]);
    let Attempt::Held(holder) = place.observer().attempt() else { panic!("it is taken") };
    assert_eq!(holder.to_string(), Writer::own().to_string());
    assert!(holder.since().is_some_and(|since| since.ends_with('Z')));
    let other = place.store.observe_claim("extract", &place.key).attempt();
    assert!(matches!(other, Attempt::Taken(_)), "another stage");
    drop((claim, other));
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn of_many_at_once_one_takes_it() {
    let place = Place::new();
    for stale in [false, true] {
        if stale {
            let path = place.write(7, "elsewhere");
            set_time(&path, SystemTime::now() - 2 * EXPIRY);
        }
        let barrier = std::sync::Barrier::new(8);
        let take = || {
            barrier.wait();
            place.observer().attempt()
        };
        let attempts: Vec<Attempt> = std::thread::scope(|scope| {
            let threads = [(); 8].map(|()| scope.spawn(take));
            threads.map(|thread| thread.join().unwrap()).into()
        });
        let count = |is_it: fn(&Attempt) -> bool| attempts.iter().filter(|a| is_it(a)).count();
        assert_eq!(
            (
                count(|attempt| matches!(attempt, Attempt::Taken(_))),
                count(|attempt| matches!(attempt, Attempt::Held(_)))
            ),
            (1, 7),
            "{attempts:?}"
        );
        drop(attempts);
        assert_eq!(place.names(), [""; 0]);
    }
}

#[test]
fn the_clock_of_the_file_system_decides_and_not_that_of_this_host() {
    let place = Place::new();
    let path = place.write(7, "elsewhere");
    fn tomorrow() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000)
    }
    // The file system's clock is decades ahead of this host's.
    for (age, is_taken) in [(EXPIRY / 2, false), (EXPIRY + Duration::from_secs(1), true)] {
        set_time(&path, tomorrow() - age);
        let observer = || ClaimObserver { clock: |_| Some(tomorrow()), ..place.observer() };
        let attempt = observer().attempt();
        assert_eq!(matches!(attempt, Attempt::Taken(_)), is_taken, "{age:?}: {attempt:?}");
    }
    // By this host's clock it would be ages old.
    let path = place.write(7, "elsewhere");
    set_time(&path, SystemTime::UNIX_EPOCH + Duration::from_secs(1000));
    let clock = |_: &Path| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1010));
    let mut observer = ClaimObserver { clock, ..place.observer() };
    assert!(is_held(observer.attempt(), "process 7 on elsewhere"));
}

#[test]
fn a_claim_that_never_changes_is_stolen_without_any_clock_of_the_file_system() {
    let place = Place::new();
    let path = place.write(7, "elsewhere");
    set_time(&path, SystemTime::now() + Duration::from_secs(86_400));
    let expiry = Duration::from_millis(50);
    let mut observer = ClaimObserver { expiry, clock: |_| None, ..place.observer() };
    assert!(is_held(observer.attempt(), "process 7 on elsewhere"));
    std::thread::sleep(Duration::from_millis(60));
    assert!(matches!(observer.attempt(), Attempt::Taken(_)));
}

#[test]
fn the_claim_of_an_ended_process_is_stolen_at_once() {
    let place = Place::new();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    place.write(child.id(), &Writer::own().place());
    assert!(matches!(place.observer().attempt(), Attempt::Taken(_)));
    place.write(std::process::id(), &Writer::own().place());
    assert!(matches!(place.observer().attempt(), Attempt::Held(_)));
}

#[test]
fn a_claim_that_was_touched_since_it_was_judged_stays() {
    let place = Place::new();
    let path = place.write(7, "elsewhere");
    let judged = read_claim(&path).unwrap().unwrap();
    set_time(&path, judged.touched + Duration::from_secs(1));
    assert!(matches!(place.observer().steal(&judged), Ok(Theft::Late)));
    assert!(is_held(place.observer().attempt(), "process 7 on elsewhere"));
    assert_eq!(place.names(), [format!("ingest-{}", place.key)]);
    let judged = read_claim(&path).unwrap().unwrap();
    assert!(matches!(place.observer().steal(&judged), Ok(Theft::Done)));
    assert!(matches!(place.observer().steal(&judged), Ok(Theft::Late)));
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn whose_claim_was_stolen_neither_touches_nor_removes_the_thiefs() {
    let place = Place::new();
    let Attempt::Taken(claim) = place.observer().attempt() else { panic!("it is free") };
    touch_own(&claim.path, &claim.mark);
    let path = place.write(7, "elsewhere");
    let old = SystemTime::now() - EXPIRY / 2;
    set_time(&path, old);
    touch_own(&claim.path, &claim.mark);
    drop(claim);
    assert_eq!(read_claim(&path).unwrap().map(|holder| holder.touched), Some(old));
}

#[test]
fn where_no_claim_can_be_made_the_work_is_done_without() {
    let place = Place::new();
    // Root may write anywhere, but not into a file.
    fs::create_dir_all(place.store.root()).unwrap();
    fs::write(place.store.root().join(FOLDER), "a file").unwrap();
    assert!(matches!(place.observer().attempt(), Attempt::Impossible));
    fs::remove_file(place.store.root().join(FOLDER)).unwrap();
    // What is no file is no claim that anybody waits for.
    fs::create_dir_all(place.observer().path).unwrap();
    assert!(matches!(place.observer().attempt(), Attempt::Impossible));
}

#[test]
fn a_stale_claim_that_cannot_be_removed_is_not_waited_for() {
    let place = Place::new();
    let path = place.write(7, "elsewhere");
    set_time(&path, SystemTime::now() - 2 * EXPIRY);
    // As in a folder of another user: nothing can be made in it.
    let folder = place.store.root().join("file");
    fs::write(&folder, "").unwrap();
    let clock = |_: &Path| Some(SystemTime::now());
    let mut observer = ClaimObserver { folder, clock, ..place.observer() };
    assert!(matches!(observer.attempt(), Attempt::Impossible));
    assert!(path.exists());
}

/// A process that was killed while it removed a stale claim does not keep others from removing it.
#[test]
fn the_claim_of_a_thief_that_ended_is_removed() {
    let place = Place::new();
    let path = place.write(7, "elsewhere");
    set_time(&path, SystemTime::now() - 2 * EXPIRY);
    let thief = path.with_added_extension("theft");
    fs::copy(&path, &thief).unwrap();
    set_time(&thief, SystemTime::now() - 2 * EXPIRY);
    assert!(is_held(place.observer().attempt(), "process 7 on elsewhere"));
    assert!(!thief.exists());
    assert!(matches!(place.observer().attempt(), Attempt::Taken(_)));
}

#[test]
fn gc_takes_stale_claims_and_no_others() {
    let place = Place::new();
    let path = place.write(7, "elsewhere");
    assert_eq!(stale_claims(&place.store).unwrap(), [""; 0].map(PathBuf::from));
    set_time(&path, SystemTime::now() - 2 * EXPIRY);
    assert_eq!(stale_claims(&place.store).unwrap(), std::slice::from_ref(&path));
    let report = place.store.collect(&crate::store::gc::Request::default()).unwrap();
    assert_eq!((report.removed.len(), path.exists()), (1, false), "{report:?}");
}
