//! compile_speed: times text -> launch list for every program of a folder, with its
//! defaults. One JSON line for each.
//!
//! usage: compile_speed FOLDER      (FOLDER: `pipelines/programs`)
use std::{collections::BTreeMap, path::Path};

use warploom_bench::time;
use warploom_compiler::compile;
use warploom_ir::{Data, Loss, Target, Type};
use warploom_language::trace::trace;

const ROUNDS: usize = 9;

/// A data set of the size of amazon0505, with a little of everything.
fn data(training: bool) -> Data {
    Data {
        features: Some(96),
        edge_features: 4,
        weighted: true,
        relations: vec!["0".to_owned(), "1".to_owned(), "2".to_owned()],
        columns: BTreeMap::from([("age".to_owned(), Type::Int)]),
        target: Some(Target { columns: 22, loss: Loss::CrossEntropy }),
        training,
        ..Data::bare(410_236, 5_289_110)
    }
}

fn main() {
    let folder = std::env::args().nth(1).expect("usage: compile_speed FOLDER");
    let mut programs: Vec<_> = Path::new(&folder)
        .read_dir()
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    programs.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    programs.sort();
    for path in programs {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a program");
        let traced =
            trace(&text, &name, &BTreeMap::new(), &data(false)).expect("a program with a meaning");
        let learns = traced.gir.parameters.iter().any(|parameter| parameter.learned);
        let mut times: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let compiled = || compile(&text, &name, &BTreeMap::new(), &data(learns));
                let (seconds, compiled) = time(|| compiled().expect("a program with a meaning"));
                assert_eq!(compiled.list.validate(), Ok(()), "{name}");
                seconds
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{{\"program\": \"{name}\", \"milliseconds\": {}, \"worst\": {}}}",
            times[ROUNDS / 2] * 1e3,
            times[ROUNDS - 1] * 1e3
        );
    }
}
