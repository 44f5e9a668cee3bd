//! totals: what is added up over all rows: outer products, and sums of the same rows, beside loops
//! in f64 over the rows themselves.
//!
//! promises  sides of many widths, the summed one the wider, the narrower or as wide, on few rows
//!           and on many, whose number is no multiple of anything; a GPU makes each of these sums
//!           beside an outer product, and with products of fewer bits stays as near as these bits
//!           are
use std::collections::BTreeMap;

use warploom_compiler::compile;
use warploom_cuda::{GpuTarget, Matmul, Order, emit};
use warploom_ir::{Data, Loss, Op};
use warploom_launch::{LaunchList, MergedLaunches, Operand, Operation, Rows};
use warploom_run::resolved_program::{Part, Pass};

use crate::products::most;
use warploom_test_support::graph_inputs::{random, signed};
use warploom_test_support::list_runner::{
    Executor, ListInputs, buffer_values, executor_with_matmul, gpu, run_part, sampled_cases,
    separate_buffers,
};

const PASS: Pass = Pass { epoch: 0, training: true };

/// A chain of layers without an edge: of so many columns each, from the features to the result.
pub fn chain(widths: &[usize], nodes: usize) -> (ListInputs, LaunchList) {
    chain_of("relu", widths, nodes)
}

/// The same with another function between the layers.
pub fn chain_of(between: &str, widths: &[usize], nodes: usize) -> (ListInputs, LaunchList) {
    let (first, last) = (widths[0], widths[widths.len() - 1]);
    let of = |row: String| {
        if between.contains('@') { between.replace('@', &row) } else { format!("{between}({row})") }
    };
    let layers: String = widths[1..widths.len() - 1]
        .iter()
        .map(|width| format!("    v.h = {}\n", of(format!("linear(v.h, {width})"))))
        .collect();
    let text = format!("def chain(v):\n    v.h = v.x\n{layers}    return linear(v.h, v.classes)\n");
    let (source, target) = random("totals", nodes, nodes, 5).edges.into_iter().unzip();
    let direct = ListInputs {
        nodes,
        source,
        target,
        feature_columns: first,
        features: signed(31, nodes * first),
        labels: signed(32, nodes * last),
        training_rows: (0..nodes as u32).collect(),
        ..ListInputs::default()
    };
    // As for a GPU: each total is a launch.
    let known = Data { lanes: true, ..direct.known(last as u64, Loss::MeanSquares) };
    let made = compile(&text, "chain", &BTreeMap::new(), &known)
        .unwrap_or_else(|wrong| panic!("{wrong:?}"));
    (direct, made.list)
}

/// Rows of an operand that lies in a buffer, and the columns of one.
fn rows(executor: &Executor<f32>, list: &LaunchList, operand: &Operand) -> (Vec<f64>, usize) {
    let Operand::Rows(rows) = operand else { panic!("{operand:?} lies nowhere") };
    (
        buffer_values(executor, list, &rows.buffer).unwrap(),
        rows.shape.iter().product::<u64>() as usize,
    )
}

/// Elements of a total, and what their terms add up to without their signs.
fn total(op: &Op, operands: &[(Vec<f64>, usize)]) -> (Vec<f64>, Vec<f64>) {
    let one = (vec![1.0; operands[0].0.len() / operands[0].1], 1);
    let (left, right) =
        if *op == Op::Outer { (&operands[0], &operands[1]) } else { (&operands[0], &one) };
    let (mut sums, mut sizes) = (vec![0.0; left.1 * right.1], vec![0.0; left.1 * right.1]);
    for (left, right) in left.0.chunks(left.1).zip(right.0.chunks(right.1)) {
        for (place, term) in
            left.iter().flat_map(|left| right.iter().map(move |right| left * right)).enumerate()
        {
            sums[place] += term;
            sizes[place] += term.abs();
        }
    }
    (sums, sizes)
}

/// How far a total may be from what its terms add up to, relative to these without their signs.
fn tolerance(matmul: Matmul) -> f64 {
    match matmul {
        _ if gpu().is_none() => 4e-6,
        Matmul::F32 => 4e-6,
        // Each factor is off by half of its last bit, of 11 or 8.
        Matmul::Tf32 => 1.01 / 2048.0,
        Matmul::Bf16 => 1.01 / 256.0,
    }
}

/// A GPU of Hopper's size, without warpgroups.
fn target(matmul: Matmul) -> GpuTarget {
    GpuTarget {
        bytes_per_real: 4,
        processors: 132,
        shared_bytes: 232_448,
        matmul,
        order: Order::Spread,
        warpgroups: false,
    }
}

/// Compares every total of the backward part; how many sums, and outer products.
fn compare(widths: &[usize], nodes: usize, matmul: Matmul) -> [usize; 2] {
    let (direct, list) = chain(widths, nodes);
    let list = &separate_buffers(&list);
    let mut executor = executor_with_matmul::<f32>(list, direct.data(list), (0, matmul));
    let drawn = |number: usize, elements: u64| {
        signed(40 + number as u32, elements as usize)
            .into_iter()
            .map(|value| value as f32 / 4.0)
            .collect()
    };
    let first: Vec<Vec<f32>> = list
        .parameters
        .iter()
        .enumerate()
        .map(|(number, parameter)| drawn(number, parameter.shape.iter().product()))
        .collect();
    executor.set_parameters(&first).unwrap();
    for part in [Part::Prepare, Part::Forward, Part::Loss, Part::Backward] {
        run_part(&mut executor, list, part, PASS);
    }
    let (mut counts, mut farthest) = ([0, 0], 0.0f64);
    let kernels = emit(list, target(matmul)).unwrap().plan.launches;
    let elsewhere = MergedLaunches::from_list(list).outers;
    for (number, (launch, kernels)) in list.launches().into_iter().zip(kernels).enumerate() {
        let Operation::Evaluate { out, op: op @ (Op::SumRows | Op::Outer), inputs, .. } =
            &launch.operation
        else {
            continue;
        };
        assert!(
            list.buffers
                .iter()
                .any(|buffer| buffer.name == *out && matches!(buffer.rows, Rows::Fixed(_))),
            "{out}"
        );
        counts[usize::from(*op == Op::Outer)] += 1;
        let is_elsewhere = *op == Op::SumRows || elsewhere.contains_key(&number);
        assert_eq!(
            kernels.is_empty(),
            is_elsewhere,
            "{widths:?}: {out} has {} kernels of its own",
            kernels.len()
        );
        let operands: Vec<(Vec<f64>, usize)> =
            inputs.iter().map(|operand| rows(&executor, list, operand)).collect();
        let (got, (want, sizes)) =
            (buffer_values(&executor, list, out).unwrap(), total(op, &operands));
        assert_eq!(got.len(), want.len(), "{out}");
        for (place, ((got, want), size)) in got.iter().zip(&want).zip(&sizes).enumerate() {
            farthest = farthest.max((got - want).abs() / size.max(f64::MIN_POSITIVE));
            assert!(
                (got - want).abs() <= tolerance(matmul) * size,
                "{widths:?}, {nodes} rows: {out}[{place}]: got {got:e}, want {want:e} of {size:e}"
            );
        }
    }
    if gpu().is_some() && matmul != Matmul::F32 {
        assert!(
            farthest > tolerance(matmul) / 100.0,
            "{matmul:?}: {farthest:e}: all bits were multiplied"
        );
    }
    counts
}

/// One chain on few rows. Each is a test of its own, since a tool has a process for each.
fn agrees(widths: &[usize]) {
    for nodes in sampled_cases(&[1, 61, 501]) {
        assert_eq!(
            compare(widths, nodes, Matmul::F32),
            [widths.len() - 1; 2],
            "{widths:?}: sums and outer products"
        );
    }
}

#[test]
fn totals_of_sides_of_whole_tiles_are_those_of_loops_over_their_rows() {
    agrees(&[64, 64, 22, 70, 7]);
}

#[test]
fn totals_of_wide_sides_are_those_of_loops_over_their_rows() {
    agrees(&[33, 100, 300, 16, 300, 5]);
}

#[test]
fn totals_of_narrow_sides_are_those_of_loops_over_their_rows() {
    agrees(&[3, 40, 40, 1, 2]);
}

#[test]
fn totals_of_long_rows_are_those_of_loops_over_them() {
    agrees(&[515, 64, 2]);
}

#[test]
fn totals_of_many_rows_are_too() {
    assert_eq!(compare(&[22, 64, 9], 9_001, Matmul::F32), [2, 2]);
}

#[test]
fn totals_of_fewer_bits_are_near() {
    for matmul in [Matmul::Tf32, Matmul::Bf16] {
        assert_eq!(compare(&[33, 64, 9], 301, matmul), [2, 2]);
        // As groups of warps multiply them.
        assert_eq!(compare(&[64, 64, 9], most(), matmul), [2, 2]);
    }
}
