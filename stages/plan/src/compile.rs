//! compile: the forms of a vertex program on its way to a launch list, as text.
//!
//! promises  every form on the way can be shown; what a program is and how it is compiled stands in `shell::program`
//! never     reads a file
use warploom_contract::StageError;
use warploom_device::Facts;
use warploom_shell::program::emitted;
pub use warploom_shell::program::{Compiled, Program};
use warploom_spec::EdgeSchedule;
use warploom_vertex::emit::cuda::{Matmul, Order};

/// Forms that can be shown.
pub const FORMS: [&str; 6] = ["gir", "autodiff", "clean", "fused", "launches", "source"];

/// One of the forms as text.
pub fn show(
    compiled: &Compiled,
    form: &str,
    (text, device, (matmul, schedule, order)): (&str, &Facts, (Matmul, EdgeSchedule, Order)),
) -> Result<String, StageError> {
    match form {
        "gir" => Ok(compiled.traced.gir.print(Some(text))),
        "autodiff" => Ok(compiled.with_gradients.print(Some(text))),
        "clean" => Ok(format!("{}{}", compiled.clean.print(Some(text)), compiled.decisions())),
        "launches" => Ok(compiled.apart.render()),
        "fused" => Ok(compiled.list.render()),
        // As for a graph whose rows have as many edges each: its profile is not at hand.
        _ => {
            let groups = match schedule {
                EdgeSchedule::Rows => Vec::new(),
                EdgeSchedule::NeighbourGroups => crate::predict::groups(&compiled.list, &warploom_vertex::Facts::of(&compiled.data), device, 0.0),
            };
            Ok(emitted(&compiled.list, (compiled.data.bytes_per_real, matmul, order, &groups), device)?.source)
        }
    }
}
