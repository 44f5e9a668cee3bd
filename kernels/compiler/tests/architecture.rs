//! architecture: the printed forms in ARCHITECTURE.md are those that the compiler makes of the
//! program that stands there.
//!
//! promises  each block ```gir, ```autodiff, ```clean, ```launches, ```fused is compared with the
//!           program of the ```python block before it; `UPDATE=1` writes what it should be

use std::collections::BTreeMap;
use std::path::Path;

use warploom_compiler::{Compilation, compile};
use warploom_ir::{Data, Loss, Target};
use warploom_test_support::golden_text::is_update;

/// The karate club's graph: 34 members, 78 friendships both ways, 2 factions.
fn karate() -> Data {
    let target = Target { columns: 2, loss: Loss::CrossEntropy };
    Data { features: Some(16), target: Some(target), training: true, ..Data::bare(34, 156) }
}

fn form(compiled: &Compilation, kind: &str) -> Option<String> {
    match kind {
        "gir" => Some(compiled.traced.gir.print(None)),
        "autodiff" => Some(compiled.with_gradients.print(None)),
        "clean" => Some(compiled.clean.print(None)),
        "launches" => Some(compiled.apart.render()),
        "fused" => Some(compiled.list.render()),
        _ => None,
    }
}

#[test]
fn printed_forms_are_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (mut fresh, mut compiled, mut shown) = (String::new(), None, 0);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        fresh.push_str(line);
        fresh.push('\n');
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: String = lines
            .by_ref()
            .take_while(|line| *line != "```")
            .map(|line| format!("{line}\n"))
            .collect();
        if kind == "python" {
            compiled = Some(compile(&block, "small", &BTreeMap::new(), &karate()).unwrap());
        }
        let now = compiled.as_ref().and_then(|compiled| form(compiled, kind));
        shown += usize::from(now.is_some());
        fresh.push_str(&now.unwrap_or(block));
        fresh.push_str("```\n");
    }
    assert!(shown >= 3, "ARCHITECTURE.md shows {shown} forms of its program");
    if is_update() {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert_eq!(page, fresh, "UPDATE=1 writes ARCHITECTURE.md anew");
}
