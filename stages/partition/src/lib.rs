//! partition: the stage that divides the edges or rows of a permuted csr into units of work, by one
//! scheme or several, and lists edges and entries of sparse features as executors walk them.
//!
//! reads     csr (where features are sparse, also graph and permutation; and a user's own table of
//!           groups, or what a program of the user's is given)
//! writes    partition
//! promises  each division of edges has every edge exactly once, each division of rows every row
//! never     copies weights or features; lets a scheme change a result
//! limits    memory of one scheme at a time, at most twice that of the csr, known before it is
//!           allocated
pub mod check;
pub mod directions;
pub mod program;
pub mod schemes;
pub mod size_estimate;

use warploom_contract::{
    Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        csr::Csr,
        partition::{
            self, ASCENDING_EDGES, Division, FEATURE_ENTRIES, Partition, TableFacts, Tables,
        },
    },
};
use warploom_shell::{StageName, requests::PartitionRequest};
use warploom_spec::Scheme as Asked;

use crate::{
    program::WrittenGroups,
    schemes::{
        ascending_edges,
        feature_entries::{self, SparseFeatures},
        file,
    },
    size_estimate::{Outline, Room},
};

/// The description in the help of its binary.
pub const ABOUT: &str = "Divide the work over a graph into units of equal work";

/// The stage.
pub struct PartitionStage;

impl Stage for PartitionStage {
    type Request = PartitionRequest;
    const CONTRACT: Contract = StageName::Partition.contract();

    fn run(
        context: &Context,
        outputs: &mut Outputs,
        inputs: &Inputs,
        request: &PartitionRequest,
    ) -> Result<(), StageError> {
        let csr = Csr::open(inputs.get(Kind::Csr)?)?;
        let request = &mut request.clone();
        let written = program::run(context, outputs, inputs, request)?;
        let request = &*request;
        let features = feature_entries::read(inputs, request)?;
        // Memory needs of all schemes are checked before the first is built.
        let room = Room(context.memory);
        let outlines =
            outline_schemes(&csr, request, &features, room, |scheme| match (scheme, &written) {
                (Asked::Program, Some(written)) => written.outline(&csr, request, room),
                _ => schemes::outline(scheme, &csr, request, room),
            })?;
        let mut schemes = Vec::new();
        for (outline, why) in outlines {
            context.progress.begin(
                &format!("dividing: {}", outline.scheme.name()),
                csr.edges() as u64,
                "edges",
            );
            let made = schemes::build(&outline.scheme, &csr, &features, request)?;
            let facts: Vec<TableFacts> = made.iter().map(|table| table.facts()).collect();
            if facts != outline.tables {
                return Err(StageError::defect(format!(
                    "scheme `{}` built {facts:?}, its outline has {:?}",
                    outline.scheme.name(),
                    outline.tables
                )));
            }
            made.iter().try_for_each(|table| partition::write_table(outputs, table))?;
            schemes.push(Division {
                scheme: outline.scheme,
                why: why.to_owned(),
                tables: facts,
                padding: outline.padding,
            });
            context.progress.advance(csr.edges() as u64);
        }
        written.map_or(Ok(()), WrittenGroups::remove)?;
        partition::write(
            outputs,
            &Partition { parts: request.spec.parts, schemes },
            csr.nodes() as u64,
            csr.edges() as u64,
        )
    }

    /// Expands every division to edges or entries and compares them with the csr or the features;
    /// compares settings and sizes with the request.
    fn check(
        _context: &Context,
        outputs: &Inputs,
        inputs: &Inputs,
        request: &PartitionRequest,
    ) -> Result<(), Violation> {
        let csr = Csr::open(inputs.get(Kind::Csr)?)?;
        let artifact = outputs.get(Kind::Partition)?;
        let page = partition::open(artifact)?;
        let (features, room) = (feature_entries::read(inputs, request)?, Room(u64::MAX));
        let expected = outline_schemes(&csr, request, &features, room, |scheme| match scheme {
            // What the program wrote is not kept, and no check runs it.
            Asked::Program => Ok(file::stored_outline(&page, &csr, &request.spec)),
            _ => schemes::outline(scheme, &csr, request, room),
        })?;
        let names =
            |all: &mut dyn Iterator<Item = &'static str>| all.collect::<Vec<_>>().join(", ");
        let asked = names(&mut expected.iter().map(|(outline, _)| outline.scheme.name()));
        let found = names(&mut page.schemes.iter().map(|division| division.scheme.name()));
        if asked != found {
            return Err(Violation::new(format!(
                "partition.json: expected the schemes {asked}, found {found}"
            )));
        }
        for (division, (outline, _)) in page.schemes.iter().zip(expected) {
            let name = outline.scheme.name();
            if (&division.scheme, &division.tables) != (&outline.scheme, &outline.tables) {
                return Err(Violation::new(format!(
                    "scheme `{name}`: expected {:?} with {:?}, found {:?} with {:?}",
                    outline.scheme, outline.tables, division.scheme, division.tables
                )));
            }
            let tables = Tables::open(&artifact.path, division)?;
            let padding = schemes::prove(&division.scheme, &csr, &features, &tables)?;
            if padding != division.padding {
                return Err(Violation::new(format!(
                    "scheme `{name}`: expected the padding {padding:?}, found {:?}",
                    division.padding
                )));
            }
        }
        Ok(())
    }
}

/// The outline of each requested scheme, and why it is there: `rows` first, always; last what
/// kernels of a GPU read.
fn outline_schemes(
    csr: &Csr,
    request: &PartitionRequest,
    features: &[SparseFeatures],
    room: Room,
    outline: impl Fn(Asked) -> Result<Outline, StageError>,
) -> Result<Vec<(Outline, &'static str)>, StageError> {
    let asked = &request.spec.scheme;
    let of_rows = if asked.contains(&Asked::Rows) {
        "asked for"
    } else {
        "launches that walk by no groups read it"
    };
    let others =
        asked.iter().filter(|scheme| !matches!(scheme, Asked::Auto | Asked::Rows)).map(|&scheme| {
            match scheme {
                Asked::Program => (scheme, "written by `partition.command`"),
                _ => (scheme, "asked for"),
            }
        });
    let of_features = feature_entries::outline(features).map(|outline| {
        room.refuse_beyond(FEATURE_ENTRIES, outline.bytes_peak())?;
        Ok((outline, "launches over sparse features on a GPU read it"))
    });
    let ascending = request.spec.ascending_edges.then(|| {
        let outline = ascending_edges::outline(csr);
        room.refuse_beyond(ASCENDING_EDGES, outline.bytes_peak())?;
        Ok((outline, "launches that count common neighbours on a GPU read it"))
    });
    std::iter::once((Asked::Rows, of_rows))
        .chain(others)
        .map(|(scheme, why)| Ok((outline(scheme)?, why)))
        .chain(of_features)
        .chain(ascending)
        .collect()
}
