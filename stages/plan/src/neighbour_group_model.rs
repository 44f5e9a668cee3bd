//! neighbour_group_model: the cost model that picks the tile sizes of GNNAdvisor's schedule on a
//! GPU: neighbours of a group (ngs), lanes that share one (dw), threads of a block (tpb), and the
//! shared memory that its kernel takes.
//!
//! promises  the candidate with the least predicted time; a prediction is a model of bytes and
//!           latencies, corrected by measurements of a plain kernel on that device, weighted by how
//!           similar their graph and width are; where this graph and width were measured, that
//!           measurement alone; the prediction of GNNAdvisor's own rule (section 3.4: WPT = ngs * D
//!           / dw of about 1024) is reported beside the choice
//! never     measures; reads an edge
//! limits    a device without a measured table is planned for by the model alone
use std::collections::BTreeMap;

use warploom_contract::kinds::plan::Grouping;
use warploom_device::Facts;
use warploom_tuning as tuning;

/// The figures of a graph that decide the tile sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows {
    /// Number of rows.
    pub nodes: f64,
    /// Number of entries.
    pub edges: f64,
    /// Gini coefficient of the entries by row: 0 for equal rows, towards 1 for all in one row.
    pub gini: f64,
}

/// Tile sizes: a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    ngs: u32,
    dw: u32,
    tpb: u32,
}

/// The time of a plain kernel on one graph and width.
#[derive(Clone, Debug, PartialEq)]
struct Measurement {
    shape: String,
    rows: Rows,
    columns: u64,
    cut: Cut,
    nanoseconds: f64,
}

/// Bytes of an element of a row.
const NUMBER: u64 = 4;
/// Elements that a lane reads at once.
const AT_ONCE: u64 = 4;
/// Added to squared distances, so that the weight of an equal graph stays finite.
const ALIKE: f64 = 1e-9;
/// Work per thread (WPT) that GNNAdvisor aims at.
const WORK_WANTED: u64 = 1024;
/// Bytes of the record of a group.
const RECORD: f64 = 12.0;

/// Chooses tile sizes for the launches of one list: the table is read once, and candidates are
/// weighed once for each width of rows.
pub struct Decider<'facts> {
    facts: &'facts Facts,
    rows: Rows,
    table: Vec<Measurement>,
    decided: BTreeMap<u64, Option<Grouping>>,
}

impl<'facts> Decider<'facts> {
    /// For a graph on a device, with the measurements of that device.
    pub fn new(facts: &'facts Facts, rows: Rows) -> Self {
        let table =
            warploom_device::groupings(&facts.name).map(parse_measurements).unwrap_or_default();
        Decider { facts, rows, table, decided: BTreeMap::new() }
    }

    /// Chooses for rows of so many columns; none for a device without a grid.
    pub fn decide(&mut self, columns: u64) -> Option<Grouping> {
        let (facts, rows, table) = (self.facts, self.rows, &self.table);
        self.decided
            .entry(columns)
            .or_insert_with(|| choose_grouping(facts, table, rows, columns))
            .clone()
    }
}

fn choose_grouping(
    facts: &Facts,
    table: &[Measurement],
    rows: Rows,
    columns: u64,
) -> Option<Grouping> {
    let grid = facts.grid.as_ref()?;
    let alike = measured_distances(table, rows, columns);
    let weigh = |cut: Cut| {
        let of_cut = || alike.iter().filter(|(measured, _)| measured.cut == cut);
        if let Some((measured, _)) = of_cut().find(|(_, distance)| *distance == 0.0) {
            return measured.nanoseconds;
        }
        // The factor by which the model was off where this candidate was measured, weighted by
        // similarity.
        let (sum, weights) = of_cut().fold((0.0, 0.0), |(sum, weights), (measured, distance)| {
            let off = measured.nanoseconds
                / predict_nanoseconds(facts, measured.rows, measured.columns, cut);
            let weight = 1.0 / (distance.powi(2) + ALIKE);
            (sum + weight * off.ln(), weights + weight)
        });
        predict_nanoseconds(facts, rows, columns, cut)
            * if weights > 0.0 { (sum / weights).exp() } else { 1.0 }
    };
    let fits = |cut: &Cut| {
        cut.tpb <= grid.threads_most
            && shared_bytes(*cut, columns, grid.lanes) <= u64::from(grid.shared_bytes_most)
    };
    let weighed = candidate_cuts(columns).into_iter().filter(fits).map(|cut| (weigh(cut), cut));
    let (nanoseconds, best) = weighed.min_by(|first, second| first.0.total_cmp(&second.0))?;
    let document = gnnadvisor_cut(columns, grid.lanes);
    let why = match alike.iter().min_by(|first, second| first.1.total_cmp(&second.1)) {
        Some((measured, 0.0)) => format!(
            "as measured on {} for `{}` with rows of {}",
            facts.name, measured.shape, measured.columns
        ),
        Some((measured, _)) => {
            format!(
                "corrected by what was measured on {}, most of all by `{}` with rows of {}",
                facts.name, measured.shape, measured.columns
            )
        }
        None => format!("by the model alone: nothing was measured on {}", facts.name),
    };
    let name = |cut: Cut| format!("ngs {}, dw {}, tpb {}", cut.ngs, cut.dw, cut.tpb);
    Some(Grouping {
        neighbours: best.ngs,
        lanes: best.dw,
        threads: best.tpb,
        shared_bytes: shared_bytes(best, columns, grid.lanes),
        why,
        alternatives: [
            (name(best), nanoseconds as u64),
            (format!("{} (WPT about {WORK_WANTED})", name(document)), weigh(document) as u64),
        ]
        .into(),
    })
}

/// GNNAdvisor's SMEM: one row for each warp of a block.
fn shared_bytes(cut: Cut, columns: u64, lanes: u32) -> u64 {
    u64::from(cut.tpb / lanes.max(1)) * columns * NUMBER
}

/// The tile sizes of GNNAdvisor's rule, with as many lanes as a row can use.
fn gnnadvisor_cut(columns: u64, lanes: u32) -> Cut {
    let dw = if columns >= u64::from(lanes) { lanes } else { lanes / 2 };
    let ngs = (WORK_WANTED * u64::from(dw) / columns.max(1)).clamp(1, WORK_WANTED);
    Cut { ngs: ngs as u32, dw, tpb: 128 }
}

fn candidate_cuts(columns: u64) -> Vec<Cut> {
    let widest = (2 * columns / AT_ONCE).max(4) as u32;
    let mut cuts = Vec::new();
    for ngs in [4, 8, 16, 32, 64, 128, 256, 1024] {
        for dw in [4, 8, 16, 32].into_iter().filter(|dw| *dw <= widest) {
            cuts.extend([32, 64, 128, 256, 512].map(|tpb| Cut { ngs, dw, tpb }));
        }
    }
    cuts
}

/// Nanoseconds: the slower of random row reads and streamed bytes, the partial sums of cut rows,
/// and the wait for the longest group.
fn predict_nanoseconds(facts: &Facts, rows: Rows, columns: u64, cut: Cut) -> f64 {
    let row_bytes = (columns * NUMBER) as f64;
    let (lanes, needed) = (f64::from(cut.dw), (columns as f64 / AT_ONCE as f64).max(1.0));
    let rounds = (needed / lanes).ceil();
    let idle = (rounds * lanes / needed).sqrt();
    let rate = facts.gathered_per_second(columns * NUMBER, (rows.nodes * row_bytes) as u64);
    let gather = rows.edges * row_bytes / rate * idle;
    let mean = rows.edges / rows.nodes.max(1.0);
    // Rows longer than a group are cut; of uneven rows some are longer even where the mean is not.
    let ngs = f64::from(cut.ngs);
    let in_long_rows = if mean > ngs { 1.0 } else { rows.gini * (mean / ngs).sqrt() };
    let parts = rows.edges * in_long_rows / ngs;
    let groups = rows.nodes + parts;
    let bytes = facts.bytes_per_second as f64;
    let streamed = (NUMBER as f64 * rows.edges + RECORD * groups + row_bytes * rows.nodes) / bytes;
    let again = 2.0 * parts * row_bytes / bytes;
    let longest = ngs.min(mean * (1.0 + tuning::neighbour_group_long_rows() * rows.gini) + 1.0)
        * rounds
        * tuning::neighbour_group_row_wait();
    1e9 * (gather.max(streamed) + again)
        + longest
        + facts.launch_nanoseconds as f64 * if parts > 0.0 { 2.0 } else { 1.0 }
}

/// All measurements with their distance from this graph and width: 0 where they are equal.
fn measured_distances(table: &[Measurement], rows: Rows, columns: u64) -> Vec<(&Measurement, f64)> {
    let distance = |measured: &Measurement| {
        let of = |first: f64, second: f64| (first.max(1e-3) / second.max(1e-3)).ln().abs();
        let mean = of(rows.edges / rows.nodes.max(1.0), measured.rows.edges / measured.rows.nodes);
        let width = of(columns as f64, measured.columns as f64);
        mean + 2.0 * (rows.gini - measured.rows.gini).abs()
            + 0.25 * of(rows.nodes, measured.rows.nodes)
            + 0.5 * width
    };
    table.iter().map(|measured| (measured, distance(measured))).collect()
}

/// Parses a table of measurements; other lines are skipped.
fn parse_measurements(text: &str) -> Vec<Measurement> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [shape, nodes, edges, skew, columns, ngs, dw, tpb, microseconds] = fields.as_slice()
        else {
            return None;
        };
        let skew: f64 = skew.parse().ok()?;
        // Degrees of the measured graphs are a power of the rank, so that the Gini coefficient is
        // known.
        let rows = Rows {
            nodes: nodes.parse().ok()?,
            edges: edges.parse().ok()?,
            gini: skew / (2.0 - skew),
        };
        let cut = Cut { ngs: ngs.parse().ok()?, dw: dw.parse().ok()?, tpb: tpb.parse().ok()? };
        let nanoseconds = 1e3 * microseconds.parse::<f64>().ok()?;
        Some(Measurement {
            shape: (*shape).to_owned(),
            rows,
            columns: columns.parse().ok()?,
            cut,
            nanoseconds,
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h200() -> (Facts, Vec<Measurement>) {
        (
            warploom_device::resolve("h200", warploom_device::Best::Cpu).unwrap(),
            parse_measurements(warploom_device::groupings("h200").unwrap()),
        )
    }

    /// The time of the choice over the best measured time, for each shape and width.
    fn losses(known: impl Fn(&Measurement, &Measurement) -> bool) -> Vec<f64> {
        let (facts, table) = h200();
        let mut losses = Vec::new();
        let mut seen: Vec<(String, u64)> = Vec::new();
        for case in &table {
            if seen.contains(&(case.shape.clone(), case.columns)) {
                continue;
            }
            seen.push((case.shape.clone(), case.columns));
            let taught: Vec<Measurement> =
                table.iter().filter(|measured| known(measured, case)).cloned().collect();
            let chosen = choose_grouping(&facts, &taught, case.rows, case.columns).unwrap();
            let own = table.iter().filter(|measured| {
                measured.shape == case.shape && measured.columns == case.columns
            });
            let cut = Cut { ngs: chosen.neighbours, dw: chosen.lanes, tpb: chosen.threads };
            let taken = own
                .clone()
                .find(|measured| measured.cut == cut)
                .map(|measured| measured.nanoseconds);
            let best = own.map(|measured| measured.nanoseconds).fold(f64::MAX, f64::min);
            losses.extend(taken.map(|taken| taken / best));
        }
        losses
    }

    fn mean(losses: &[f64]) -> f64 {
        (losses.iter().map(|loss| loss.ln()).sum::<f64>() / losses.len() as f64).exp()
    }

    #[test]
    fn what_was_measured_is_chosen_by_its_measurement() {
        let losses = losses(|_, _| true);
        assert!(losses.len() == 20 && losses.iter().all(|loss| *loss == 1.0), "{losses:?}");
    }

    #[test]
    fn graphs_that_were_not_measured_are_cut_nearly_as_well() {
        let unseen = losses(|measured, case| measured.shape != case.shape);
        let model = losses(|_, _| false);
        println!(
            "unseen graphs {:.3} {unseen:.2?}\nthe model alone {:.3} {model:.2?}",
            mean(&unseen),
            mean(&model)
        );
        assert!(mean(&unseen) < 1.2, "{unseen:?}");
        assert!(mean(&model) < 1.35, "{model:?}");
    }

    #[test]
    fn the_document_s_rule_is_told_and_a_processor_has_no_groups() {
        let (facts, _) = h200();
        let mut decider = Decider::new(&facts, Rows { nodes: 4e5, edges: 5e6, gini: 0.3 });
        let grouping = decider.decide(64).unwrap();
        assert!(
            grouping
                .alternatives
                .keys()
                .any(|name| name == "ngs 512, dw 32, tpb 128 (WPT about 1024)"),
            "{grouping:?}"
        );
        assert!(
            grouping.why.contains("h200")
                && grouping.shared_bytes == u64::from(grouping.threads / 32) * 256
        );
        assert_ne!(decider.decide(32), Some(grouping.clone()));
        assert_eq!(decider.decide(64), Some(grouping));
        let processor = warploom_device::resolve("cpu", warploom_device::Best::Cpu).unwrap();
        assert_eq!(
            Decider::new(&processor, Rows { nodes: 1.0, edges: 1.0, gini: 0.0 }).decide(16),
            None
        );
    }
}
