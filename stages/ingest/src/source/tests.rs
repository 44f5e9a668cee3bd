//! Reading is reported while it goes on.

use std::{
    fs,
    sync::Mutex,
    time::{Duration, Instant},
};

use warploom_contract::progress::{Phase, Progress};
use warploom_formats::{Options, readers::edge_list};

use super::report_reading;

/// Writes down how much is reported each time.
#[derive(Default)]
struct Listener(Mutex<Vec<u64>>);

impl Listener {
    fn moves(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Progress for Listener {
    fn begin(&self, _: &str, _: u64, _: &'static str) {}
    fn advance(&self, units: u64) {
        self.0.lock().unwrap().push(units);
    }
    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, _: &str) {}
}

#[test]
fn bytes_are_reported_while_reading_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("edges.txt");
    fs::write(&file, "0 1\n1 2\n2 0\n").unwrap();
    let listener = Listener::default();
    let reading = Phase::begin(&listener, "reading", 1 << 20, "bytes");
    report_reading(&reading, || {
        for _ in 0..3 {
            let before = listener.moves();
            edge_list::FORMAT.read(std::slice::from_ref(&file), &Options::default()).unwrap();
            let began = Instant::now();
            while listener.moves() == before {
                assert!(began.elapsed() < Duration::from_secs(60), "nobody reports what was read");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    });
}
