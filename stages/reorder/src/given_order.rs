//! given_order: an order of the user's own, from a table of ids or from a program.
//!
//! promises  the order is a bijection that keeps the nodes of each graph of a set side by side, or
//!           an error has file, row, expected and found
//! never     repairs an order
use std::path::Path;

use warploom_contract::{
    Context, Digest, ErrorKind, Inputs, Kind, Outputs, StageError, Violation,
    kinds::{
        csr::Csr,
        graph::{self, Ids},
        permutation::inverse,
    },
};
use warploom_formats::side_files::{order_table, split_table::KnownIds};
use warploom_shell::requests::{ReorderRequest, read_error};
use warploom_spec::Method;

use crate::{
    choice::Choice,
    methods::Order,
    per_graph::{mixed_error, mixed_row},
    program,
};

/// Reads the order that the request names.
pub fn read_choice(
    context: &Context,
    outputs: &Outputs,
    inputs: &Inputs,
    request: &ReorderRequest,
    csr: &Csr,
) -> Result<Choice, StageError> {
    let method = request.method();
    let new_of_old = match method {
        Method::Program => program::run(context, outputs, inputs, request, csr)?,
        _ => inverse(&read_file(inputs, request, csr)?),
    };
    Ok(Choice::from_order(method, Order { new_of_old, communities: None, cut: None }))
}

/// The table of the order and its digest, both present where the method is asked for.
fn order_file(request: &ReorderRequest) -> Result<(&Path, &str), StageError> {
    let pair = request.spec.order.as_deref().zip(request.order_digest.as_deref());
    pair.ok_or_else(|| StageError::defect("method `file` was asked for without a table"))
}

/// The old number of each new one, as the table lists them.
fn read_file(inputs: &Inputs, request: &ReorderRequest, csr: &Csr) -> Result<Vec<u32>, StageError> {
    let (path, digest) = order_file(request)?;
    let ids = graph::read_node_ids(inputs.get(Kind::Graph)?)?;
    let known = match &ids {
        Ids::Numbers(ids) => KnownIds::Numbers(ids),
        Ids::Strings(ids) => KnownIds::Words(ids),
    };
    let old_of_new = order_table::read(path, known).map_err(|error| read_error(&error))?;
    if let Some(row) = mixed_row(csr, &old_of_new) {
        let id = match &ids {
            Ids::Numbers(ids) => ids[old_of_new[row] as usize].to_string(),
            Ids::Strings(ids) => ids[old_of_new[row] as usize].clone(),
        };
        return Err(mixed_error(path, row, &format!("`{id}`")));
    }
    let now = Digest::from_file(path)
        .map_err(|error| StageError::io("read the order of `reorder.order`", path, &error))?;
    if now.as_str() != digest {
        let what = "the table of the order has changed since this stage began";
        return Err(StageError::new(ErrorKind::Input, what)
            .at(path.display())
            .hint("start again; with  --verify  its digest is recomputed"));
    }
    Ok(old_of_new)
}

/// Compares a stored order with the table.
pub fn check_file(
    inputs: &Inputs,
    request: &ReorderRequest,
    csr: &Csr,
    new_of_old: &[u32],
) -> Result<(), Violation> {
    let old_of_new = read_file(inputs, request, csr)?;
    let is_other = |(new, &old): (usize, &u32)| {
        new_of_old.get(old as usize).is_none_or(|&number| number as usize != new)
    };
    match old_of_new.iter().enumerate().position(is_other) {
        None if old_of_new.len() == new_of_old.len() => Ok(()),
        None => Err(Violation::new(format!(
            "expected {} nodes, as the table has rows, found {}",
            old_of_new.len(),
            new_of_old.len()
        ))),
        Some(new) => Err(Violation::new(format!(
            "node {}: expected the new number {new}, as the table of the order says, found {}",
            old_of_new[new], new_of_old[old_of_new[new] as usize]
        ))),
    }
}
