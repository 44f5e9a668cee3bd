//! page: formats a graph profile as a text page.
//!
//! promises  all figures of the profile are in words or in a plot; no line is wider than
//!           `plot::WIDTH`, except for a long path
//! never     rounds a count
use warploom_contract::{
    Artifact, Provenance,
    kinds::{
        graph::Names,
        profile::{BlockFigures, FeatureFigures, GraphFigures, LabelFigures, Profile, Spread},
    },
    row_order,
};

use super::plot::{Plot, group_digits, side_by_side, text_entry as line};

/// Most bars of a plot.
const BARS_MOST: usize = 12;

/// The data of the page.
pub struct PageData {
    /// The graph artifact.
    pub graph: Artifact,
    /// The profile artifact.
    pub artifact: Artifact,
    /// The profile.
    pub profile: Profile,
    /// Names of classes, relations and node types.
    pub names: Names,
}

/// The whole page.
pub fn page(shown: &PageData) -> String {
    let PageData { graph, artifact, profile, names } = shown;
    let mut text = String::from("\n");
    if graph.manifest.provenance == Provenance::StandIn {
        text += &line(
            "STAND-IN",
            "a generated graph with the counts of the catalogue: what follows says nothing about \
             the real data",
        );
    }
    if !graph.manifest.made_up.is_empty() {
        text += &line(
            "MADE UP",
            &format!(
                "{}: drawn, because the data set has none",
                graph.manifest.made_up.join(" and ")
            ),
        );
    }
    text += &shape_text(profile);
    text += &components_text(profile);
    text += &locality_text(profile);
    if let Some(graphs) = &profile.graphs {
        text += &line("graphs", &graphs_text(graphs));
    }
    for features in &profile.features {
        text += &line("features", &features_text(features));
    }
    // How columns were interpreted was printed when the graph was built.
    for told in graph
        .manifest
        .facts
        .get("columns")
        .and_then(|told| told.as_array())
        .into_iter()
        .flatten()
        .filter_map(|told| told.as_str())
    {
        text += &line("columns", told);
    }
    text += &learned_text(profile, graph);
    text += &line("profile", &artifact.path.display().to_string());
    text.push('\n');
    text += &degree_table(profile);
    text += &side_by_side(&plots(profile, names));
    text
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = if percent == 0.0 || percent >= 10.0 {
        1
    } else {
        (1.0 - percent.log10().floor()).clamp(1.0, 6.0) as usize
    };
    format!("{percent:.digits$}%")
}

fn share(part: u64, whole: u64) -> String {
    percent(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// A number with about three digits.
fn format_number(value: f64) -> String {
    match value.abs() {
        size if size >= 1e7 => format!("{value:.2e}"),
        size if size >= 1000.0 => {
            format!("{}{}", if value < 0.0 { "-" } else { "" }, group_digits(size.round() as u64))
        }
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        size if size < 1e-3 => format!("{value:.1e}"),
        _ => format!("{value:.2}"),
    }
}

/// `1 node`, `2 nodes`.
fn count_noun(number: u64, what: &str) -> String {
    format!("{} {what}{}", group_digits(number), if number == 1 { "" } else { "s" })
}

fn shape_text(profile: &Profile) -> String {
    let relations = if profile.relations == 1 {
        String::new()
    } else {
        format!(", {}", count_noun(profile.relations, "relation"))
    };
    let kinds = if profile.kind_nodes.is_empty() {
        String::new()
    } else {
        format!(" of {}", count_noun(profile.kind_nodes.len() as u64, "kind"))
    };
    let symmetric = if profile.symmetric { "symmetric" } else { "not symmetric" };
    let weighted = if profile.weighted { "weighted" } else { "without weights" };
    let graph = format!(
        "{}{kinds}, {}{relations}: {symmetric}, {weighted}",
        count_noun(profile.nodes, "node"),
        count_noun(profile.edges, "edge")
    );
    let odd = [
        count_noun(profile.isolated, "isolated node"),
        count_noun(profile.self_loops, "self loop"),
        count_noun(profile.parallel_edges, "repeated edge"),
    ];
    line("graph", &graph) + &line("", &odd.join(", "))
}

fn components_text(profile: &Profile) -> String {
    let nodes = profile.nodes;
    let of = |size: u64| format!("{} ({})", count_noun(size, "node"), share(size, nodes));
    let components = format!(
        "{}, the largest of {}",
        count_noun(profile.components, "connected part"),
        of(profile.component_largest)
    );
    let blocks = |figures: &BlockFigures| {
        format!("{}, the largest of {}", count_noun(figures.count, "block"), of(figures.largest))
    };
    let verdict = match (profile.blocks.diagonal, profile.blocks_nearly.diagonal) {
        (true, _) => "block diagonal: many small graphs, one after the other".to_owned(),
        (false, true) => format!(
            "nearly block diagonal: {} without the 1% of edges that span farthest",
            blocks(&profile.blocks_nearly)
        ),
        (false, false) => "not block diagonal".to_owned(),
    };
    let found = &profile.communities;
    let modularity = format!("modularity {:.3}", found.modularity);
    let sizes = format!(
        "of {} nodes on average (deviation {}), the largest of {}",
        format_number(found.mean),
        format_number(found.deviation),
        of(found.largest)
    );
    let number_of = if found.count == 1 {
        "1 community".to_owned()
    } else {
        format!("{} communities", group_digits(found.count))
    };
    let communities =
        if found.count == 0 { number_of } else { format!("{number_of} {sizes}; {modularity}") };
    let whole =
        if profile.blocks.count == 1 { "1 block".to_owned() } else { blocks(&profile.blocks) };
    line("parts", &components) + &line("", &communities) + &line("", &format!("{whole}; {verdict}"))
}

fn locality_text(profile: &Profile) -> String {
    let figures = &profile.order;
    let rule = row_order::aes_rule(figures.aes, profile.nodes as usize);
    let sides = format!(
        "sqrt(AES) {} {} floor(sqrt(nodes) / 100) = {}",
        format_number(rule.left),
        if rule.worth_it { ">" } else { "<=" },
        rule.right
    );
    let advice = if rule.worth_it { "reordering may pay" } else { "neighbours are close already" };
    let order = format!(
        "an edge spans {} rows on average (AES), at most {} (bandwidth)",
        format_number(figures.aes),
        group_digits(figures.bandwidth)
    );
    let lines = format!(
        "32 consecutive edges touch {:.1} lines of 128 bytes, of rows of 16 f32 values",
        figures.lines_per_32_edges
    );
    let mut text =
        line("order", &order) + &line("", &format!("{sides}: {advice}")) + &line("", &lines);
    for (at, window) in profile.windows.iter().enumerate() {
        let mean = window.vectors as f64 / (profile.nodes.div_ceil(window.rows).max(1)) as f64;
        let vectors = format!(
            "{} vectors each (at most {})",
            format_number(mean),
            group_digits(window.vectors_most)
        );
        let full = format!(
            "{} full; {} x 8 tiles {} full",
            percent(window.density),
            window.rows,
            percent(window.tile_density)
        );
        text += &line(
            if at == 0 { "windows" } else { "" },
            &format!("{} rows: {vectors}, {full}", window.rows),
        );
    }
    text
}

fn graphs_text(graphs: &GraphFigures) -> String {
    let sizes = format!(
        "of {} to {} nodes, {} on average",
        group_digits(graphs.least),
        group_digits(graphs.most),
        format_number(graphs.mean)
    );
    format!(
        "{} {sizes} (deviation {})",
        group_digits(graphs.count),
        format_number(graphs.deviation)
    )
}

fn features_text(features: &FeatureFigures) -> String {
    let of = features.kind.as_ref().map_or_else(String::new, |kind| format!("{kind}: "));
    let kept = if features.sparse { "kept sparse" } else { "kept dense" };
    let empty = if features.empty_rows == 0 {
        String::new()
    } else {
        format!(", {} without any", count_noun(features.empty_rows, "row"))
    };
    format!(
        "{of}{}, {} of the values are not 0 ({kept}){empty}",
        count_noun(features.columns, "column"),
        percent(features.density)
    )
}

/// Labels, splits, homophily.
fn learned_text(profile: &Profile, graph: &Artifact) -> String {
    let mut text = String::new();
    let graphs = profile.graphs.as_ref();
    let of_graphs = graphs
        .and_then(|graphs| graphs.labels.as_ref().map(|labels| (labels, graphs.count, "graph")));
    for (labels, members, what) in profile
        .labels
        .as_ref()
        .map(|labels| (labels, profile.nodes, "node"))
        .into_iter()
        .chain(of_graphs)
    {
        text += &line("labels", &labels_text(labels, members, what));
    }
    if let Some(homophily) = profile.homophily.filter(|homophily| homophily.edges > 0) {
        let joined = format!(
            "{} of edges join nodes of one class, {} would by chance",
            percent(homophily.share),
            percent(homophily.by_chance)
        );
        text += &line("homophily", &format!("{joined}; adjusted for it {:.3}", homophily.adjusted));
    }
    let part = |name: &str| {
        graph
            .manifest
            .counts
            .get(name)
            .filter(|count| **count > 0)
            .map(|count| format!("{} {name}", group_digits(*count)))
    };
    let split: Vec<String> =
        ["train", "validation", "test"].iter().filter_map(|name| part(name)).collect();
    match graph.manifest.counts.get("splits").copied().unwrap_or(0) {
        0 => {}
        1 => text += &line("split", &split.join(", ")),
        several => text += &line("splits", &format!("{several}; the first: {}", split.join(", "))),
    }
    text
}

fn labels_text(labels: &LabelFigures, members: u64, what: &str) -> String {
    let some = |labelled: u64| match members == labelled {
        true => String::new(),
        false => {
            format!("; {} of {} {what}s have one", group_digits(labelled), group_digits(members))
        }
    };
    match labels {
        LabelFigures::Classes { classes, present, labelled, balance, listed } => {
            let absent = if present < classes {
                format!(", of which {} have a member", group_digits(*present))
            } else {
                String::new()
            };
            let (most, least) = (
                listed.first().map_or(0, |class| class.count),
                listed.last().map_or(0, |class| class.count),
            );
            let least = if *present == listed.len() as u64 {
                format!(", the smallest {}", share(least, *labelled))
            } else {
                String::new()
            };
            let sizes = format!(
                "the largest has {}{least} of the members; balance {balance:.2} (1: all equal)",
                share(most, *labelled)
            );
            let noun = if *classes == 1 { "class" } else { "classes" };
            format!(
                "{} {noun} of {what}s{absent}, {sizes}{}",
                group_digits(*classes),
                some(*labelled)
            )
        }
        LabelFigures::Values { labelled, min, mean, max, deviation } => {
            let spread = format!(
                "{} to {}, mean {}, deviation {}",
                format_number(*min),
                format_number(*max),
                format_number(*mean),
                format_number(*deviation)
            );
            format!("a number a {what}: {spread}{}", some(*labelled))
        }
        LabelFigures::Rows {
            columns,
            labelled,
            binary: true,
            nonzero_mean,
            column_least,
            column_most,
        } => {
            let spread = format!(
                "{} at once on average; {} to {} members",
                format_number(*nonzero_mean),
                group_digits(*column_least),
                group_digits(*column_most)
            );
            format!("{} classes of {what}s, {spread}{}", group_digits(*columns), some(*labelled))
        }
        LabelFigures::Rows { columns, labelled, .. } => {
            format!("{} numbers a {what}{}", group_digits(*columns), some(*labelled))
        }
    }
}

fn degree_table(profile: &Profile) -> String {
    let mut text = format!(
        "{:<12}{:>8}{:>10}{:>10}{:>12}{:>12}{:>10}{:>8}\n",
        "degree", "min", "median", "mean", "max", "deviation", "skew", "gini"
    );
    let mut row = |name: &str, spread: &Spread| {
        let (mean, deviation, skew) = (
            format_number(spread.mean),
            format_number(spread.deviation),
            format_number(spread.skew),
        );
        let (min, median, max) =
            (group_digits(spread.min), group_digits(spread.median), group_digits(spread.max));
        text += &format!(
            "{name:<12}{min:>8}{median:>10}{mean:>10}{max:>12}{deviation:>12}{skew:>10}{:>8.3}\n",
            spread.gini
        );
    };
    if profile.in_degree == profile.out_degree {
        row("in and out", &profile.in_degree);
    } else {
        row("in", &profile.in_degree);
        row("out", &profile.out_degree);
    }
    text
}

fn plots(profile: &Profile, names: &Names) -> Vec<Plot> {
    let mut plots = Vec::new();
    if profile.in_degree.histogram == profile.out_degree.histogram {
        plots.push(Plot::log_bins(
            "nodes by degree, in and out alike",
            &profile.in_degree.histogram,
        ));
    } else {
        plots.push(Plot::log_bins("nodes by in-degree", &profile.in_degree.histogram));
        plots.push(Plot::log_bins("nodes by out-degree", &profile.out_degree.histogram));
    }
    plots.push(Plot::log_bins("edges by |source - target|", &profile.spans));
    plots.push(Plot::log_bins("communities by their nodes", &profile.communities.histogram));
    let graph_labels = profile.graphs.as_ref().and_then(|graphs| graphs.labels.as_ref());
    // Class names belong to the target: to graphs if graphs have labels.
    let names_of_nodes: &[String] = if graph_labels.is_some() { &[] } else { &names.classes };
    plots.extend(
        profile
            .labels
            .as_ref()
            .and_then(|labels| class_plot("nodes by class", labels, names_of_nodes)),
    );
    plots.extend(
        graph_labels.and_then(|labels| class_plot("graphs by class", labels, &names.classes)),
    );
    if profile.relations > 1 {
        plots.push(largest_first("edges by relation", &profile.relation_edges, &names.relations));
    }
    if !profile.kind_nodes.is_empty() {
        plots.push(largest_first("nodes by kind", &profile.kind_nodes, &names.kinds));
    }
    plots
}

fn name_or_number(number: usize, names: &[String]) -> String {
    names.get(number).cloned().unwrap_or_else(|| number.to_string())
}

fn class_plot(title: &str, labels: &LabelFigures, names: &[String]) -> Option<Plot> {
    let LabelFigures::Classes { present, labelled, listed, .. } = labels else { return None };
    let mut shown: Vec<(usize, u64)> =
        listed.iter().map(|class| (class.class as usize, class.count)).collect();
    Some(bars(title, &mut shown, names, *present, *labelled))
}

/// A plot of counts by number; if there are many, the largest first.
fn largest_first(title: &str, counts: &[u64], names: &[String]) -> Plot {
    let mut shown: Vec<(usize, u64)> = counts.iter().copied().enumerate().collect();
    shown.sort_by_key(|&(number, count)| (std::cmp::Reverse(count), number));
    bars(title, &mut shown, names, counts.len() as u64, counts.iter().sum())
}

/// All bars by number if they fit, else the largest ones and the sum of the others.
fn bars(
    title: &str,
    shown: &mut Vec<(usize, u64)>,
    names: &[String],
    present: u64,
    all: u64,
) -> Plot {
    if present <= BARS_MOST as u64 {
        shown.sort_unstable();
        return Plot {
            title: title.to_owned(),
            bars: shown
                .iter()
                .map(|&(number, count)| (name_or_number(number, names), count))
                .collect(),
        };
    }
    shown.truncate(BARS_MOST - 1);
    let rest = all - shown.iter().map(|bar| bar.1).sum::<u64>();
    let mut plot = Plot {
        title: format!("{title}, the largest of {}", group_digits(present)),
        ..Plot::default()
    };
    plot.bars =
        shown.iter().map(|&(number, count)| (name_or_number(number, names), count)).collect();
    plot.bars.push((format!("{} others", group_digits(present - shown.len() as u64)), rest));
    plot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::plot::WIDTH;
    use serde_json::json;
    use warploom_contract::progress::Silence;
    use warploom_contract::{
        Digest, KeyDocument, Kind, Manifest,
        kinds::graph::{EdgeTable, Labels},
        manifest::Producer,
    };
    use warploom_extract::{
        group::build_csr,
        profile::{Attributes, measure},
    };

    fn shown(provenance: Provenance, made_up: &[&str], profile: Profile, names: Names) -> PageData {
        let document = KeyDocument::new("extract", 1, &[Kind::Profile], json!({}));
        let manifest = Manifest {
            kind: "profile".into(),
            format: 1,
            key: document.key(),
            key_document: document,
            producer: Producer { stage: "extract".into(), version: 1 },
            inputs: Vec::new(),
            inputs_verified: None,
            files: Vec::new(),
            counts: [("splits".to_owned(), 2), ("train".to_owned(), 1200)].into(),
            facts: Default::default(),
            provenance,
            made_up: made_up.iter().map(|&what| what.to_owned()).collect(),
            digest: Digest::from_bytes(b""),
            record: None,
            created: String::new(),
            self_digest: None,
        };
        let artifact = Artifact::new(Kind::Profile, "store".into(), manifest);
        PageData { graph: artifact.clone(), artifact, profile, names }
    }

    #[test]
    fn kinds_relations_graphs_and_features_are_named_and_no_line_is_too_wide() {
        let source: Vec<u32> = (0..2000).map(|edge| edge * 7 % 300).collect();
        let target: Vec<u32> = (0..2000).map(|edge| edge * edge % 300).collect();
        let kind = Some((0..2000).map(|edge| (edge % 20) as u16).collect());
        let rows =
            build_csr(300, &EdgeTable { source, target, weight: Some(vec![1.0; 2000]), kind });
        let features = ["paper", "author"].map(|kind| FeatureFigures {
            kind: Some(kind.into()),
            rows: 100,
            columns: 5,
            density: 0.0123,
            ..Default::default()
        });
        let profile = measure(
            &rows,
            Attributes {
                labels: Some(Labels::Classes(
                    (0..300).map(|node| (node % 3 > 0).then_some(node * node % 40)).collect(),
                )),
                kinds: Some((0..300).map(|node| node % 2).collect()),
                graph_of: Some((0..300).map(|node| node / 100).collect()),
                graphs: Some((3, Some(Labels::Classes(vec![Some(0), Some(1), Some(0)])))),
                features: features.into(),
            },
            &Silence,
        );
        let words = |words: [&str; 2]| words.map(str::to_owned).to_vec();
        let names = Names {
            kinds: words(["paper", "author"]),
            relations: words(["cites", "writes"]),
            classes: words(["toxic", "harmless"]),
        };
        let page = page(&shown(Provenance::StandIn, &["features", "labels"], profile, names));
        let expected = [
            "STAND-IN",
            "MADE UP     features and labels",
            "300 nodes of 2 kinds, 2,000 edges, 20 relations: not symmetric, weighted",
            "3 of 100 to 100 nodes",
            "paper: 5 columns, 1.2%",
            "200 of 300 nodes have one",
            "2 classes of graphs",
            "cites",
            "9 others",
            "author",
            "toxic",
            "2; the first: 1,200 train",
        ];
        expected.iter().for_each(|text| assert!(page.contains(text), "no `{text}` in\n{page}"));
        page.lines().for_each(|line| assert!(line.chars().count() <= WIDTH, "{line}"));
    }

    #[test]
    fn an_empty_graph_has_a_page() {
        let page = page(&shown(
            Provenance::Real,
            &[],
            measure(&build_csr(0, &EdgeTable::default()), Attributes::default(), &Silence),
            Names::default(),
        ));
        assert!(page.contains("0 nodes, 0 edges") && !page.contains("NaN"), "{page}");
    }

    #[test]
    fn numbers_have_about_three_digits() {
        assert_eq!(
            [0.0, 0.00012, 0.5, 3.217, 28.91, 836.4, 1205.06, 2.5e9, -1500.0].map(format_number),
            ["0", "1.2e-4", "0.50", "3.22", "28.9", "836", "1,205", "2.50e9", "-1,500"]
        );
        assert_eq!(
            [0.0, 1.0, 0.0127, 0.000_123].map(percent),
            ["0.0%", "100.0%", "1.3%", "0.012%"]
        );
    }
}
