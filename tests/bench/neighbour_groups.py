"""Neighbour groups beside rows: a GCN of several widths on the graphs of GNNAdvisor's table, stand-ins where the files are not here.

Nothing is told that was not compared: the losses by groups are those by rows, to rounding. Prints a line for each graph, width and division.

On a CPU (the default): milliseconds of an epoch, the least of REPEATS runs that take turns.
On a GPU (BENCH_DEVICE=cuda): the median epoch of a run of EPOCHS_GPU. Everything before the runs is made first, several graphs at once, and uses no
GPU. Neither cargo nor a Python package is needed: BENCH_BINARIES is a folder with the programs `warploom-ingest` to `warploom-run`. Exits with 1
where a loss differs; such a row has `apart` and no time.

BENCH_ONLY names graphs, BENCH_GROUPS sizes of groups, BENCH_WIDTHS widths, BENCH_JOBS graphs at once, BENCH_DIR the folder of stores.
"""
import concurrent.futures, json, os, pathlib, subprocess, sys, time

import rig
from rig import STAGES, THREADS, WORK, by_stages, made_by, modules, no_network, record_of

GRAPHS = [
    "citeseer", "cora", "pubmed", "ppi", "PROTEINS_full", "OVCAR-8H", "Yeast", "DD", "TWITTER-Partial", "SW-620H",
    "amazon0505", "artist", "com-amazon", "soc-BlogCatalog", "amazon0601",
]
WIDTHS = [int(width) for width in os.environ.get("BENCH_WIDTHS", "16,32,64,128,256").split(",")]
ON_GPU = os.environ.get("BENCH_DEVICE", "cpu") == "cuda"
SIZES = [int(size) for size in os.environ.get("BENCH_GROUPS", "32" if ON_GPU else "8,32,256").split(",")]
EPOCHS = 20
EPOCHS_GPU = 64
REPEATS = 3
APART = 1e-4


def losses(lines):
    (parquet,) = modules("pyarrow.parquet")
    return parquet.read_table(made_by(lines, "run", "run") / "metrics.parquet")["loss"].to_pylist()


def distance(found, expected):
    """How far losses are apart, of the larger one."""
    return max(abs(one - other) / max(abs(other), 1e-3) for one, other in zip(found, expected, strict=True))


def divisions():
    yield "rows", []
    for size in SIZES:
        yield f"groups of {size}", ["partition.scheme=neighbour-groups", f"partition.ngs={size}"]


def graphs():
    only = [part for part in os.environ.get("BENCH_ONLY", "").split(",") if part]
    return [name for name in GRAPHS if not only or name in only]


def on_cpu():
    for name in graphs():
        no_network(name)
        for width in WIDTHS:
            least, expected = {}, None
            for _ in range(REPEATS):
                for division, settings in divisions():
                    lines = by_stages("gcn", name, "ingest.graphs=union", f"plan.set.hidden={width}", f"run.epochs={EPOCHS}", *settings)
                    found = losses(lines)
                    expected = expected or found
                    apart = distance(found, expected)
                    if apart > APART:
                        raise RuntimeError(f"{name}, {width} columns, {division}: losses differ by {apart}")
                    least[division] = min(least.get(division, float("inf")), 1e3 * record_of(lines)["seconds_compute"] / EPOCHS)
            for division, milliseconds in least.items():
                print(json.dumps({"graph": name, "columns": width, "division": division, "threads": THREADS, "epoch_ms": round(milliseconds, 3)}), flush=True)


def stage(which, name, width, settings):
    """A stage on a GPU's plan; its line."""
    binaries = pathlib.Path(os.environ.get("BENCH_BINARIES", rig.RELEASE))
    sets = [f"dataset={name}", "ingest.graphs=union", f"plan.set.hidden={width}", f"run.epochs={EPOCHS_GPU}", *settings]
    command = [binaries / f"warploom-{which}", "--pipeline", "pipelines/gcn.yaml", *(part for setting in sets for part in ("--set", setting))]
    command += ["--store", WORK / f"store-{name}", "--data", WORK / "raw", "--data", rig.SHARED, "--threads", str(THREADS), "--device", "cuda"]
    command += ["--real=no", "--format", "json", "--no-progress", "--quiet"]
    environment = {**os.environ, "WARPLOOM_CATALOG": str(rig.ROOT / "data/catalog")}
    done = subprocess.run(list(map(str, command)), cwd=rig.ROOT, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{command} -> {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def prepare(name):
    """All that a graph's runs read, their kernels too."""
    no_network(name)
    for width in WIDTHS:
        for _, settings in divisions():
            for which in STAGES[:-1]:
                stage(which, name, width, settings)


def on_gpu():
    begun, is_same = time.perf_counter(), True
    jobs = int(os.environ.get("BENCH_JOBS", os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        # The largest first: the others end beside them.
        list(pool.map(prepare, sorted(graphs(), key=lambda name: name not in ("OVCAR-8H", "SW-620H", "Yeast", "TWITTER-Partial"))))
    print(json.dumps({"prepared_seconds": round(time.perf_counter() - begun, 1)}), flush=True)
    for name in graphs():
        for width in WIDTHS:
            expected = None
            for division, settings in divisions():
                record = record_of({"run": stage("run", name, width, settings)})
                found = [record["metrics"]["loss"]]
                expected = expected or found
                row, apart = {"graph": name, "columns": width, "division": division, "device": record["device"]["name"]}, distance(found, expected)
                if apart > APART:
                    row["apart"], is_same = apart, False
                else:
                    row |= {"epoch_ms": round(1e3 * record["seconds_step"], 4), "bytes": record["bytes_peak"]}
                print(json.dumps(row), flush=True)
    print(json.dumps({"seconds": round(time.perf_counter() - begun, 1)}), flush=True)
    return is_same


if __name__ == "__main__":
    if ON_GPU:
        sys.exit(0 if on_gpu() else 1)
    on_cpu()
