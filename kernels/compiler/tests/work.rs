//! work: bytes and flops of launches whose sizes are known.
use std::collections::BTreeMap;

use warploom_compiler::compile;
use warploom_ir::{Data, Loss, Target};
use warploom_launch::{GraphFacts, Work};

const GAT: &str = "def gat(v):
    v.z = linear(v.x, (2, 4), bias=False)
    v.left, v.right = dot(v.z, param((2, 4))), dot(v.z, param((2, 4)))
    share = softmax([leaky_relu(e.src.left + v.right, 0.2) for e in v.inedges])
    v.h = sum(a * e.src.z for a, e in zip(share, v.inedges))
    return linear(flatten(v.h), v.classes)
";

#[test]
fn gathers_are_a_part_of_the_bytes_and_products_are_counted() {
    let target = Some(Target { columns: 3, loss: Loss::CrossEntropy });
    let data = Data { features: Some(10), target, training: true, ..Data::bare(1000, 20_000) };
    let compiled = compile(GAT, "gat", &BTreeMap::new(), &data).unwrap();
    let (list, facts) = (&compiled.list, GraphFacts::from_data(&data));
    let works: Vec<Work> =
        list.launches().into_iter().map(|launch| list.work(launch, &facts)).collect();
    for (launch, work) in list.launches().iter().zip(&works) {
        let gathered: u64 = work.gathers.iter().map(|gather| gather.bytes()).sum();
        assert!(gathered <= work.bytes, "{}: {gathered} of {}", launch.name, work.bytes);
    }
    let widest =
        works.iter().flat_map(|work| &work.gathers).max_by_key(|gather| gather.row_bytes).unwrap();
    assert_eq!((widest.count, widest.row_bytes, widest.table_bytes), (20_000, 32, 32_000));
    let forward = 2 * 1000 * 10 * 8;
    let found: u64 = works.iter().map(|work| work.flops).sum();
    assert_eq!(
        found,
        2 * forward + 3 * (2 * 1000 * 8 * 3),
        "the first product and its weight's gradient; the second, its weight's gradient and its \
         input's"
    );
}
