//! edge_count: refuses a graph of more edges, or more entries of features, than a program can
//! count.
//!
//! promises  the bound of edges is that of the launch list (`LaunchList::most_edges`); found before
//!           `run`
use warploom_contract::{ErrorKind, StageError};
use warploom_launch::{LaunchList, Role};

/// Refuses a graph of more edges than the list can run on.
pub fn refuse_uncounted(list: &LaunchList, edges: u64, on_gpu: bool) -> Result<(), StageError> {
    let most = |on_gpu: bool| list.most_edges(on_gpu).unwrap_or(u64::MAX);
    if edges <= most(on_gpu) {
        return Ok(());
    }
    let what = format!(
        "too many edges for `{}`: expected at most {}, found {edges}",
        list.program,
        most(on_gpu)
    );
    let hint = if on_gpu && edges <= most(false) {
        "a CPU counts the edges of this program in 64 bits:  --device cpu"
    } else {
        "rows of edges are numbered in 32 bits, those of both directions together; a program that \
         keeps no value of an edge has no such bound on a CPU"
    };
    Err(StageError::new(ErrorKind::Data, what).hint(hint))
}

/// Refuses sparse features of more entries than a GPU counts; so many are those of all nodes.
pub fn refuse_uncounted_entries(
    list: &LaunchList,
    of_all: Option<u64>,
    on_gpu: bool,
) -> Result<(), StageError> {
    let entries = list.buffers.iter().filter_map(|buffer| match buffer.role {
        Role::SparseFeatures => of_all,
        Role::SparseFeaturesOf { entries, .. } => Some(entries),
        _ => None,
    });
    let (found, most) = (entries.max().unwrap_or(0), LaunchList::most_slots_on_gpu());
    if !on_gpu || found <= most {
        return Ok(());
    }
    let what = format!(
        "too many entries of sparse features for `{}` on a GPU: expected at most {most}, found \
         {found}",
        list.program
    );
    Err(StageError::new(ErrorKind::Data, what).hint("--device cpu"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use warploom_compiler::compile;
    use warploom_ir::{Data, Loss, Target};

    use super::*;

    const SUM: &str = "def total(v):
    return sum(u.outdegree for u in v.innbs)
";
    const WEIGHTED: &str = "def total(v):
    return sum(e.w for e in v.inedges)
";

    fn list(text: &str) -> LaunchList {
        let data = Data { weighted: true, ..Data::bare(1 << 31, 5 << 30) };
        compile(text, "total", &BTreeMap::new(), &data).unwrap().list
    }

    #[test]
    fn entries_of_features_are_bounded_on_a_gpu() {
        let text = "def total(v):\n    return linear(v.x, v.classes)\n";
        let target = Some(Target { columns: 3, loss: Loss::CrossEntropy });
        let data = Data {
            features: Some(600),
            sparse_features: Some(30),
            target,
            training: true,
            ..Data::bare(10, 20)
        };
        let list = compile(text, "total", &BTreeMap::new(), &data).unwrap().list;
        let refused = |entries: u64, on_gpu: bool| {
            let refused = refuse_uncounted_entries(&list, Some(entries), on_gpu);
            refused.err().map(|error| error.to_string())
        };
        // Walks count ahead of the last slot.
        let most = u64::from(u32::MAX) - (1 << 24);
        assert_eq!((refused(most, true), refused(most + 1, false)), (None, None));
        let error = refused(most + 1, true).unwrap();
        assert!(
            error.contains("expected at most 4278190079, found 4278190080")
                && error.contains("--device cpu"),
            "{error}"
        );
    }

    #[test]
    fn edges_are_bounded_where_they_are_numbered() {
        let most = u64::from(u32::MAX);
        // Walks without values of edges have no bound on a CPU.
        assert!(refuse_uncounted(&list(SUM), 1 << 40, false).is_ok());
        assert!(refuse_uncounted(&list(WEIGHTED), most, false).is_ok());
        let text = |text: &str, edges: u64, on_gpu: bool| {
            refuse_uncounted(&list(text), edges, on_gpu).unwrap_err().to_string()
        };
        let refused = text(WEIGHTED, most + 1, false);
        assert!(
            refused.contains("expected at most 4294967295, found 4294967296")
                && refused.contains("numbered in 32 bits"),
            "{refused}"
        );
        let refused = text(SUM, most, true);
        assert!(refused.contains("--device cpu"), "{refused}");
        assert!(text(WEIGHTED, 5 << 30, true).contains("numbered in 32 bits"));
    }
}
