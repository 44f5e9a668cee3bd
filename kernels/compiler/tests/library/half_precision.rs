//! half_precision: which rows of the models are kept in 16 bits, where that is asked for.
//!
//! promises  wide rows of vertices that walks make and read are; scores, parameters, their
//!           gradients and narrow rows are not; nothing else of a list differs; a list that has
//!           halves elsewhere is found to have flaws
use std::collections::BTreeMap;

use serde_json::Value;
use warploom_compiler::compile;
use warploom_ir::{Data, Half};
use warploom_launch::{Body, Element, LaunchList, Role, Rows};
use warploom_test_support::golden_cases::Edges;

use warploom_test_support::library_programs::{problem, text};

fn list(program: &str, data: &Data) -> LaunchList {
    let settings: BTreeMap<String, Value> = BTreeMap::from([("hidden".to_owned(), 32.into())]);
    compile(&text(program), program, &settings, data).unwrap().list
}

#[test]
fn wide_rows_of_walks_are_halves_and_nothing_else() {
    let ring: Vec<(u32, u32)> = (0..300)
        .flat_map(|vertex| [(vertex, (vertex + 1) % 300), ((vertex + 1) % 300, vertex)])
        .collect();
    let (data, _) = problem(&Edges::new(300, &ring), 48, 5);
    for program in ["gcn", "sage", "gin", "gat", "gatv2", "appnp", "gcnii", "graph_transformer"] {
        let whole = list(program, &data);
        let half = list(program, &Data { half: Some(Half::F16), ..data.clone() });
        assert_eq!(half.validate(), Ok(()), "{program}");
        let Body::Train(train) = &half.body else { panic!("{program} is trained") };
        let backward: Vec<String> = train
            .backward
            .iter()
            .flat_map(|launch| launch.operation.writes().into_iter().map(String::from))
            .collect();
        let mut found = [0; 2];
        for (buffer, other) in half.buffers.iter().zip(&whole.buffers) {
            assert_eq!(
                (&buffer.name, buffer.rows, buffer.columns, &buffer.role),
                (&other.name, other.rows, other.columns, &other.role)
            );
            match buffer.element {
                Element::Half(kept) => {
                    let goes_back = backward.contains(&buffer.name);
                    assert_eq!(
                        kept,
                        if goes_back { Half::Bf16 } else { Half::F16 },
                        "{program}: {}",
                        buffer.name
                    );
                    assert!(
                        buffer.columns >= 16
                            && matches!(buffer.rows, Rows::Nodes | Rows::Edges | Rows::EdgesTwice),
                        "{program}: {buffer:?}"
                    );
                    assert!(
                        matches!(buffer.role, Role::Value | Role::Features),
                        "{program}: {buffer:?}"
                    );
                    found[usize::from(goes_back)] += 1;
                }
                element => assert_eq!(element, other.element, "{program}: {}", buffer.name),
            }
        }
        assert!(found[0] > 0, "{program} has halves: {found:?}");
        assert!(
            half.arena.bytes <= whole.arena.bytes,
            "{program}: {} bytes of {}",
            half.arena.bytes,
            whole.arena.bytes
        );
    }
}

#[test]
fn halves_out_of_walks_are_flaws() {
    let ring: Vec<(u32, u32)> = (0..30).map(|vertex| (vertex, (vertex + 1) % 30)).collect();
    let (data, _) = problem(&Edges::new(30, &ring), 48, 5);
    let sound = list("gat", &data);
    let scores = sound.results[0].buffer.clone();
    let parameter =
        sound.buffers.iter().find(|buffer| buffer.role == Role::Parameter).unwrap().name.clone();
    for name in [scores, parameter, "target".to_owned()] {
        let mut broken = sound.clone();
        if let Some(buffer) = broken.buffers.iter_mut().find(|buffer| buffer.name == name) {
            buffer.element = Element::Half(Half::Bf16);
            let flaws = broken.validate().unwrap_err();
            assert!(
                flaws.iter().any(|flaw| flaw.to_string().contains("half")),
                "{name}: {flaws:?}"
            );
        }
    }
}
