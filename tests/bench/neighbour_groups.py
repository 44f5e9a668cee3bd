"""Neighbour groups beside rows on a CPU: a GCN of several widths on the graphs of GNNAdvisor's table, stand-ins where the files are not here.

Nothing is timed that was not compared: the loss of each epoch by groups is that by rows, to rounding. BENCH_ONLY names graphs, BENCH_GROUPS
sizes of groups. Prints a line for each graph, width and division: milliseconds of an epoch, the least of REPEATS runs that take turns.
"""
import json, os

from rig import THREADS, by_stages, made_by, modules, no_network, record_of

GRAPHS = [
    "citeseer", "cora", "pubmed", "ppi", "PROTEINS_full", "OVCAR-8H", "Yeast", "DD", "TWITTER-Partial", "SW-620H",
    "amazon0505", "artist", "com-amazon", "soc-BlogCatalog", "amazon0601",
]
WIDTHS = [16, 32, 64, 128, 256]
SIZES = [int(size) for size in os.environ.get("BENCH_GROUPS", "8,32,256").split(",")]
EPOCHS = 20
REPEATS = 3


def losses(lines):
    (parquet,) = modules("pyarrow.parquet")
    return parquet.read_table(made_by(lines, "run", "run") / "metrics.parquet")["loss"].to_pylist()


def epoch_milliseconds(lines):
    return 1e3 * record_of(lines)["seconds_compute"] / EPOCHS


def divisions():
    yield "rows", []
    for size in SIZES:
        yield f"groups of {size}", ["partition.scheme=neighbour-groups", f"partition.ngs={size}"]


def main():
    only = [part for part in os.environ.get("BENCH_ONLY", "").split(",") if part]
    for name in (name for name in GRAPHS if not only or name in only):
        no_network(name)
        for width in WIDTHS:
            least, expected = {}, None
            for _ in range(REPEATS):
                for division, settings in divisions():
                    lines = by_stages("gcn", name, "ingest.graphs=union", f"plan.set.hidden={width}", f"run.epochs={EPOCHS}", *settings)
                    found = losses(lines)
                    expected = expected or found
                    apart = max(abs(one - other) / max(abs(other), 1e-3) for one, other in zip(found, expected, strict=True))
                    if apart > 1e-4:
                        raise RuntimeError(f"{name}, {width} columns, {division}: losses differ by {apart}")
                    least[division] = min(least.get(division, float("inf")), epoch_milliseconds(lines))
            for division, milliseconds in least.items():
                print(json.dumps({"graph": name, "columns": width, "division": division, "threads": THREADS, "epoch_ms": round(milliseconds, 3)}), flush=True)


if __name__ == "__main__":
    main()
