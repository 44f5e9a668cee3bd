//! tests: bus traffic of programs whose walks over input rows can be counted by hand.
use super::*;
use crate::memory_estimate::GroupRows;
use crate::{GpuTarget, Matmul, Order, emit, memory_estimate};
use warploom_compiler::compile;
use warploom_ir::{Data, Loss, Target as Wanted};

const NODES: u64 = 10_000;
const EDGES: u64 = 50_000;

/// A program for training on a GPU, with features of this many columns.
fn made(
    text: &str,
    columns: u64,
    data: impl FnOnce(Data) -> Data,
) -> (LaunchList, DevicePlan, GraphFacts) {
    let target = Some(Wanted { columns: 3, loss: Loss::CrossEntropy });
    let data = data(Data {
        features: Some(columns),
        target,
        training: true,
        lanes: true,
        ..Data::bare(NODES, EDGES)
    });
    let compiled =
        compile(text, "it", &Default::default(), &data).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let emitted = emit(
        &compiled.list,
        GpuTarget {
            bytes_per_real: 4,
            processors: 132,
            shared_bytes: 232_448,
            matmul: Matmul::F32,
            order: Order::Spread,
            warpgroups: false,
        },
    )
    .unwrap();
    (compiled.list, emitted.plan, GraphFacts::from_data(&data))
}

fn names(list: &LaunchList) -> Vec<BufferName> {
    may_stay(list).map(|buffer| buffer.name.clone()).collect()
}

fn traffic_of(text: &str, columns: u64) -> Traffic {
    let (list, emitted, facts) = made(text, columns, |data| data);
    let on_host = names(&list);
    assert_eq!(on_host.len(), 1, "{on_host:?}");
    let traffic = traffic(&list, &emitted, &facts, &on_host);
    // Only a kernel with the rows among its arguments reads them.
    let reads = |kernel: &Kernel| kernel.arguments.contains(&Argument::Buffer(on_host[0].clone()));
    for (kernels, bytes) in emitted.launches.iter().zip(&traffic.by_launch) {
        assert_eq!(kernels.iter().any(reads), *bytes > 0, "{traffic:?}");
    }
    traffic
}

#[test]
fn a_product_and_the_gradient_of_its_weight_read_rows_once_each() {
    let rows = NODES * 100 * 4;
    let plain = traffic_of(
        "def it(v):\n    v.z = relu(linear(v.x, 16))\n    return linear(v.z, v.classes)\n",
        100,
    );
    assert_eq!((plain.once, plain.step, plain.launches, plain.by_edges), (0, 2 * rows, 2, 0));
    assert_eq!(plain.by_launch.iter().sum::<u64>(), 2 * rows);
    // With dropout an epoch has an evaluation and a training pass. The gradient reads the rows
    // after dropout, which are on the device.
    let drawn = traffic_of(
        "def it(v):\n    v.z = relu(linear(dropout(v.x, 0.5), 16))\n    return linear(v.z, \
            v.classes)\n",
        100,
    );
    assert_eq!((drawn.once, drawn.step, drawn.launches), (0, 2 * rows, 2));
}

#[test]
fn rows_of_two_outer_products_of_one_kernel_are_read_once() {
    let rows = NODES * 100 * 4;
    // The product of the vertices' own rows, and the gradients of both weights. One gradient is of
    // the means, which are on the device.
    let own = traffic_of(
        "def it(v):\n    v.z = relu(linear(mean(u.x for u in v.innbs), 16) + linear(v.x, 16, \
            bias=False))\n    return linear(v.z, v.classes)\n",
        100,
    );
    assert_eq!((own.step, own.launches), (2 * rows, 2), "{own:?}");
    // Two products of the same rows, and one kernel for both gradients.
    let both = traffic_of(
        "def it(v):\n    v.a = linear(v.x, 16)\n    v.b = elu(linear(v.x, 8))\n    return \
            linear(relu(v.a), v.classes) + linear(v.b, v.classes)\n",
        100,
    );
    assert_eq!((both.step, both.launches), (3 * rows, 3), "{both:?}");
}

#[test]
fn blocks_that_share_what_is_made_of_a_row_read_it_each() {
    // Strides are multiples of 4 columns. The result is wider than the columns of a block.
    let rows = NODES * 40 * 4;
    let wide = traffic_of(
        "def it(v):\n    v.z = relu(linear(v.x, 150))\n    return linear(v.z, v.classes)\n",
        39,
    );
    assert!(
        wide.launches == 2 && wide.step > 2 * rows && wide.step.is_multiple_of(rows),
        "{wide:?}"
    );
}

/// A product that is merged into the kernel of the product whose rows it reads, with an epilogue
/// that reads rows on the host.
#[test]
fn what_is_made_in_another_kernel_reads_rows_there() {
    let rows = NODES * 8 * 4;
    let text = "def it(v):\n    v.h = relu(linear(v.x, 40))\n    v.q = linear(v.h, 8) * v.x\n    \
        return linear(v.q, v.classes)\n";
    let (list, emitted, _) = made(text, 8, |data| data);
    let followers: Vec<usize> = MergedLaunches::from_list(&list)
        .followers
        .into_keys()
        .filter(|follower| emitted.launches[*follower].is_empty())
        .collect();
    let reads = |launch: usize| {
        list.launches()[launch].operation.reads().iter().any(|read| *read == names(&list)[0])
    };
    assert!(followers.iter().any(|follower| reads(*follower)), "no follower reads features");
    // Two forward passes, the gradient of the first weight, and the gradient of the factor of the
    // features.
    let made = traffic_of(text, 8);
    assert_eq!(made.step, 4 * rows, "{made:?}");
}

#[test]
fn a_sum_that_needs_no_gradient_is_gathered_once_before_the_first_epoch() {
    let gathered = EDGES * 20 * 4;
    let text = "def it(v):\n    v.h = sum(e.src.x for e in v.inedges)\n    v.z = relu(linear(v.h, \
        40))\n    return linear(v.z, v.classes)\n";
    let summed = traffic_of(text, 20);
    assert_eq!((summed.once, summed.step, summed.by_edges), (gathered, 0, gathered), "{summed:?}");
    // With a learned term the sum is gathered in every epoch, by the forward pass alone: that
    // stores where the term was above 0 for the gradient.
    let text = text
        .replace("    v.h =", "    v.t = linear(v.x, 20)\n    v.h =")
        .replace("e.src.x for", "relu(e.src.x + v.t) for");
    let learned = traffic_of(&text, 20);
    assert_eq!((learned.once, learned.by_edges), (0, gathered), "{learned:?}");
    assert_eq!(learned.step, gathered + 2 * NODES * 20 * 4, "{learned:?}");
}

#[test]
fn features_of_edges_may_stay_and_sparse_ones_may_not() {
    let text = "def it(v):\n    v.h = sum(linear(e.x, 8) for e in v.inedges)\n    return \
        linear(v.h, v.classes)\n";
    let (list, ..) = made(text, 20, |data| Data { edge_features: 5, ..data });
    assert!(
        names(&list).iter().any(|name| list
            .buffers
            .iter()
            .any(|buffer| buffer.name == *name && buffer.columns == 5)),
        "{:?}",
        names(&list)
    );
    let text = "def it(v):\n    return linear(v.x, v.classes)\n";
    let (list, ..) = made(text, 20, |data| Data { sparse_features: Some(600), ..data });
    assert_eq!(names(&list), Vec::<BufferName>::new());
}

#[test]
fn what_stays_on_the_host_is_no_memory_of_the_device() {
    let (list, emitted, facts) =
        made("def it(v):\n    return linear(v.x, v.classes)\n", 22, |data| data);
    let on_host = names(&list);
    let [all, without] = [&[][..], &on_host].map(|on_host| {
        memory_estimate::predicted(&list, &emitted, &facts, GroupRows::default(), on_host)
    });
    let bytes = memory_estimate::bytes_on_host(&list, &facts, &on_host);
    // A row of 22 columns has a stride of 24.
    assert_eq!((bytes, all.bytes - without.bytes), (NODES * 24 * 4, bytes));
    assert_eq!(all.by_use.values().sum::<u64>() - bytes, without.by_use.values().sum::<u64>());
    assert_eq!(memory_estimate::bytes_on_host(&list, &facts, &[]), 0);
}
