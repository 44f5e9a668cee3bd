"""Runs the benchmarks of definitions/*.yaml and writes a record folder with the machine described.

Each benchmark checks its answer first and then times; peers run in the same process or right after, on the same graph,
with the same threads. What misses its target is printed like what reaches it. usage: bench.py [NAME...]
"""
import datetime, json, os, pathlib, platform, shutil, subprocess, sys, time

from rig import HERE, RELEASE, ROOT, Skip, THREADS, WORK, arrow, artifact, by_stages, gcn, made_by, measured, modules, no_network, write_safetensors
from analytics import analytics
from epochs import epochs
from gather import gather, planning
from orders import orders, permuting

def csr():
    numpy, scipy, parquet = modules("numpy", "scipy.sparse", "pyarrow.parquet")
    lines = gcn(WORK / "store", "--set", "run.epochs=1")
    graph, ours = artifact(lines, "ingest", "graph"), artifact(lines, "extract", "csr")
    edges = parquet.read_table(graph / "edges.parquet")
    source, target = (edges.column(name).to_numpy().astype(numpy.int32) for name in ("source", "target"))
    nodes = json.loads((graph / "manifest.json").read_text())["counts"]["nodes"]

    def peer(source, target):
        matrix = scipy.coo_matrix((ones, (source, target)), shape=(nodes, nodes))
        rows = matrix.tocsr()
        return rows, rows.tocsc()

    ones = numpy.ones(len(source), numpy.float32)
    rows, columns = peer(source, target)
    columns.sort_indices()
    same = (arrow(ours / "in_offsets.arrow").to_numpy() == columns.indptr).all() and (arrow(ours / "in_sources.arrow").to_numpy() == columns.indices).all()
    same = same and (arrow(ours / "out_targets.arrow").to_numpy() == rows.indices).all()
    assert same, "the csr differs from scipy's"
    order = numpy.random.default_rng(7).permutation(len(source))
    peers = {}
    for name, (s, t) in {"sorted": (source, target), "shuffled": (source[order], target[order])}.items():
        times = []
        for _ in range(7):
            begun = time.perf_counter()
            peer(s, t)
            times.append(time.perf_counter() - begun)
        peers[name] = min(times)
    figures = {}
    for threads in (1, 2):
        out = subprocess.run([RELEASE / "examples/csr_speed", graph, str(threads)], capture_output=True, text=True, check=True).stdout
        for line in map(json.loads, out.splitlines()):
            figures[line["order"], threads] = line["seconds"]
    return {
        "edges": len(source),
        "seconds_scipy": peers,
        "seconds": {f"{order}, {threads} threads": seconds for (order, threads), seconds in figures.items()},
        "ratio_to_scipy": min(peers[order] / figures[order, 2] for order in peers),
        "scaling_two_threads": min(figures[order, 1] / figures[order, 2] for order in peers),
        "note": "both ratios are the worse of sorted and shuffled edges; scipy carries f32 ones and no edge ids, ours carries edge ids",
    }


def open_large():
    store = WORK / "store-large"
    key_file = WORK / "store-large.key"
    if shutil.disk_usage(WORK).free < 12e9:
        raise Skip("less than 12 GB of free disk")
    if not key_file.exists() or not store.exists():
        shutil.rmtree(store, ignore_errors=True)
        # 24 bytes an edge (two directions of source and edge id) and one a sixteenth of an offset each.
        key = subprocess.run([RELEASE / "examples/open_speed", "make", store, "200000000"], capture_output=True, text=True, check=True).stdout.strip()
        key_file.write_text(key)
    runs = [json.loads(subprocess.run([RELEASE / "examples/open_speed", "open", store, key_file.read_text()], capture_output=True, text=True, check=True).stdout) for _ in range(10)]
    median = lambda name: sorted(run[name] for run in runs)[len(runs) // 2]
    figures = {"bytes": runs[0]["bytes"], "milliseconds": median("milliseconds"), "milliseconds_worst": max(run["milliseconds"] for run in runs), "megabytes_resident": median("megabytes_resident")}
    shutil.rmtree(store)
    key_file.unlink()
    return figures


def epoch():
    torch, pyg, parquet, numpy = modules("torch", "torch_geometric", "pyarrow.parquet", "numpy")
    from torch_geometric.nn import GCNConv
    from torch_geometric.nn.conv.gcn_conv import gcn_norm
    from torch_geometric.utils import to_torch_csr_tensor
    torch.set_num_threads(THREADS)
    torch.manual_seed(3)
    lines = gcn(WORK / "store", "--set", "run.epochs=1")
    graph = artifact(lines, "ingest", "graph")
    edges = parquet.read_table(graph / "edges.parquet")
    index = torch.tensor(numpy.stack([edges.column(name).to_numpy().astype(numpy.int64) for name in ("source", "target")]))
    nodes = parquet.read_table(graph / "nodes.parquet")
    y = torch.tensor(nodes.column("label").to_numpy().astype(numpy.int64))
    train = torch.tensor(numpy.array([split[0] == 1 for split in nodes.column("split").to_pylist()]))
    rows = arrow(graph / "features.arrow")
    x = torch.tensor(rows.values.to_numpy().reshape(len(rows), -1).copy())
    classes = int(y.max()) + 1

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = GCNConv(x.shape[1], 16, normalize=False)
            self.b = GCNConv(16, classes, normalize=False)

        def forward(self, adjacency, weight):
            hidden = self.a(x, adjacency, weight).relu()
            return self.b(hidden, adjacency, weight)

    normal, weight = gcn_norm(index, None, len(x), add_self_loops=False)
    forms = {"edge_index": (normal, weight), "csr": (to_torch_csr_tensor(normal.flip(0), weight, size=(len(x), len(x))), None)}
    start = {name: value.clone() for name, value in Net().state_dict().items()}
    seconds, losses = {}, {}
    for name, (adjacency, weight) in forms.items():
        net = Net()
        net.load_state_dict(start)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        times = []
        for step in range(23):
            begun = time.perf_counter()
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(adjacency, weight)[train], y[train])
            loss.backward()
            optimizer.step()
            times.append(time.perf_counter() - begun)
        seconds[name] = sorted(times[3:])[10]
        losses[name] = loss.item()
    init = WORK / "init.safetensors"
    write_safetensors(init, {name: value.numpy() for name, value in start.items()})
    names = {"gcn.gcn.0.linear.0.weight": "a.lin.weight", "gcn.gcn.0.bias.0": "a.bias", "gcn.gcn.0.linear.1.weight": "b.lin.weight", "gcn.gcn.0.bias.1": "b.bias"}
    lines = gcn(WORK / "store", "--set", "run.epochs=23", "--set", f"run.init={init}", "--set", f"run.init_map={json.dumps(names)}",
                "--set", "run.optimizer={adam: {lr: 0.01}}", "--force")
    folder = artifact(lines, "run", "run")
    record = json.loads((folder / "record.json").read_text())
    metrics = parquet.read_table(folder / "metrics.parquet").to_pydict()
    # PyG's last loss was taken before its 23rd step: our row 22.
    ours = metrics["loss"][22]
    best = min(seconds, key=seconds.get)
    for name, loss in losses.items():
        assert abs(ours - loss) < 1e-3 * abs(loss), f"loss {ours} against PyG's {loss} ({name})"
    return {
        "nodes": len(x), "edges": index.shape[1], "seconds": record["seconds_step"], "seconds_pyg": seconds, "loss": ours, "loss_pyg": losses,
        "ratio_to_pyg": seconds[best] / record["seconds_step"], "bytes_peak": record["bytes_peak"], "seconds_by_launch": record["seconds_by_launch"],
        "versions": {"torch": torch.__version__, "pyg": pyg.__version__},
        "note": "ours includes accuracy on three splits each epoch; PyG's edge weights are normalised once, outside",
    }


def warm():
    gcn(WORK / "store", "--set", "run.epochs=1")
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        lines = gcn(WORK / "store", "--set", "run.epochs=1")
        times.append(time.perf_counter() - begun)
        assert [line["status"] for line in lines] == ["hit"] * 6
    command = ["make", "--silent", "pipeline", "DATASET=amazon0505", 'SET=plan.set.drop=0 run.epochs=1', f"FLAGS=--store {WORK}/store --data {WORK}/raw --real=no --format json"]
    made = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        made.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    subprocess.run(["cargo", "build", "--release", "--quiet", "--workspace", "--bins"], cwd=ROOT, check=True)
    cargo = time.perf_counter() - begun
    return {"milliseconds": sorted(times)[10] * 1e3, "milliseconds_worst": max(times) * 1e3, "milliseconds_make": sorted(made)[2] * 1e3, "milliseconds_cargo_check": cargo * 1e3}


def compile_programs():
    out = subprocess.run([RELEASE / "examples/compile_speed", ROOT / "pipelines/programs"], capture_output=True, text=True, check=True).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    return {"milliseconds_worst": max(line["worst"] for line in lines), "milliseconds": {line["program"]: line["milliseconds"] for line in lines}}


def edge_list(edges, nodes, name):
    """A list of random edges as SNAP prints them, made once, in a data folder of its own; no catalogue entry describes it."""
    numpy, pa, csv = modules("numpy", "pyarrow", "pyarrow.csv")
    path = WORK / "raw" / name / "edges.txt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        random = numpy.random.default_rng(5)
        with open(path.with_suffix(".part"), "wb") as out:
            options = csv.WriteOptions(include_header=False, delimiter="\t")
            for _ in range(0, edges, 5_000_000):
                count = min(edges, 5_000_000)
                # Half of the sources are among few nodes, as in graphs that people have.
                source = (random.random(count) ** 2 * nodes).astype(numpy.uint32)
                csv.write_csv(pa.table({"source": source, "target": random.integers(0, nodes, count, dtype=numpy.uint32)}), out, options)
        path.with_suffix(".part").rename(path)
    return path


def ingest_command(name, store, *more):
    return [RELEASE / "warploom-ingest", "--pipeline", "pipelines/pagerank.yaml", "--set", f"dataset={name}", "--set", "ingest.duplicates=keep", "--store", store, "--data", WORK / "raw",
            "--threads", str(THREADS), "--format", "json", "--no-progress", "--force", *more]


def ingest():
    numpy, pa, csv, parquet, networkit = modules("numpy", "pyarrow", "pyarrow.csv", "pyarrow.parquet", "networkit")
    path = edge_list(5_000_000, 500_000, "bench-list")
    pa.set_cpu_count(THREADS)
    networkit.setNumberOfThreads(THREADS)
    store = WORK / "store-ingest"
    best = lambda run, times: min((run() for _ in range(times)), key=lambda result: result[0])

    def timed(work):
        begun = time.perf_counter()
        result = work()
        return time.perf_counter() - begun, result

    read = csv.ReadOptions(column_names=["source", "target"])
    seconds_pyarrow, table = best(lambda: timed(lambda: csv.read_csv(path, read_options=read, parse_options=csv.ParseOptions(delimiter="\t"))), 7)
    seconds_networkit, graph = best(lambda: timed(lambda: networkit.graphio.EdgeListReader("\t", 0, directed=True).read(str(path))), 3)
    runs = [measured(ingest_command("bench-list", store)) for _ in range(7)]
    seconds, bytes_peak = min(run[1] for run in runs), max(run[2] for run in runs)
    folder = artifact(runs[0][0], "ingest", "graph")
    ours = parquet.read_table(folder / "edges.parquet")
    order = numpy.lexsort((table["target"].to_numpy(), table["source"].to_numpy()))
    distinct = len(numpy.unique(table["source"].to_numpy() << 32 | table["target"].to_numpy()))
    # networkit keeps one of parallel edges.
    assert graph.numberOfEdges() in (len(ours), distinct), graph.numberOfEdges()
    nodes = parquet.read_table(folder / "nodes.parquet")["id"].to_numpy()
    for column in ("source", "target"):
        assert (nodes[ours[column].to_numpy()] == table[column].to_numpy()[order]).all(), column
    out = subprocess.run([RELEASE / "examples/edge_list_speed", path, "7"], capture_output=True, text=True, check=True, env={**os.environ, "RAYON_NUM_THREADS": str(THREADS)}).stdout
    parse = min(float(line.split("parse ")[1].split()[0]) for line in out.splitlines() if "parse" in line)
    return {
        "edges": len(ours), "bytes": path.stat().st_size, "seconds": seconds, "seconds_parse": parse, "seconds_pyarrow": seconds_pyarrow, "seconds_networkit": seconds_networkit,
        "ratio_to_networkit": seconds_networkit / seconds, "parse_of_pyarrow": parse / seconds_pyarrow, "stage_of_pyarrow": seconds / seconds_pyarrow,
        "memory_of_edge_table": bytes_peak / (8 * len(ours)), "bytes_peak": bytes_peak,
        "versions": {"pyarrow": pa.__version__, "networkit": networkit.__version__},
        "note": "ours is the whole program: start, digest of the file, parse, rows, sort, Parquet with zstd, sync, publish; networkit builds its graph, pyarrow two columns",
    }


def external():
    (parquet,) = modules("pyarrow.parquet")
    if shutil.disk_usage(WORK).free < 12e9:
        raise Skip("less than 12 GB of free disk")
    edges = 100_000_000
    path = edge_list(edges, 2_000_000, "bench-large")
    store = WORK / "store-external"
    limit = 8 * edges // 10
    lines, seconds, bytes_peak = measured(ingest_command("bench-large", store, "--memory", str(limit)))
    folder = artifact(lines, "ingest", "graph")
    assert parquet.ParquetFile(folder / "edges.parquet").metadata.num_rows == edges
    digest = json.loads((folder / "manifest.json").read_text())["digest"]
    held, seconds_held, bytes_held = measured(ingest_command("bench-large", WORK / "store-held"))
    assert json.loads((artifact(held, "ingest", "graph") / "manifest.json").read_text())["digest"] == digest
    shutil.rmtree(store)
    shutil.rmtree(WORK / "store-held")
    shutil.rmtree(path.parent)
    return {
        "edges": edges, "memory_limit": limit, "bytes_peak": bytes_peak, "memory_of_limit": bytes_peak / limit, "seconds": seconds,
        "seconds_in_memory": seconds_held, "bytes_peak_in_memory": bytes_held, "memory_of_edge_table_in_memory": bytes_held / (8 * edges),
        "note": "the same digest both ways",
    }


def stand_in():
    out = subprocess.run([RELEASE / "examples/stand_in_speed", str(THREADS), "amazon0505"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return json.loads(out)


def profile():
    lines = gcn(WORK / "store", "--set", "run.epochs=1")
    out = subprocess.run([RELEASE / "examples/profile_speed", artifact(lines, "ingest", "graph"), str(THREADS)], capture_output=True, text=True, check=True).stdout
    parts = [line for line in map(json.loads, out.splitlines()) if "part" in line]
    return {"seconds": next(part["seconds"] for part in parts if part["part"] == "all"), "seconds_by_part": {part["part"]: part["seconds"] for part in parts}}


def divisions():
    """Every scheme on a graph that has what it divides by; the slowest of its graphs counts."""
    found = {}
    for name in ("amazon0505", "am", "OVCAR-8H"):
        no_network(name)
        csr = made_by(by_stages("pagerank", name, "ingest.symmetrize=auto", "reorder.method=auto", again=(), last="reorder"), "reorder", "csr")
        out = subprocess.run([RELEASE / "examples/scheme_speed", csr, str(THREADS)], capture_output=True, text=True, check=True).stdout
        for line in map(json.loads, out.splitlines()):
            if "seconds" in line:
                found.setdefault(line["scheme"], {})[name] = {figure: line[figure] for figure in ("edges_per_second", "bytes_peak_of_csr", "seconds", "prove_seconds")}
    every = [figures for graphs in found.values() for figures in graphs.values()]
    return {
        "schemes": len(found),
        "edges_per_second_least": min(figures["edges_per_second"] for figures in every),
        "bytes_peak_of_csr_most": max(figures["bytes_peak_of_csr"] for figures in every),
        "by_scheme": found,
    }


BENCHMARKS = {"ingest": ingest, "external": external, "stand_in": stand_in, "profile": profile, "compile": compile_programs, "csr": csr, "open": open_large, "epoch": epoch, "warm": warm,
              "divisions": divisions, "gather": gather, "planning": planning, "epochs": epochs, "analytics": analytics, "orders": orders, "permuting": permuting}


def machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) // 1024
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    return {"processor": model, "cores": os.cpu_count(), "memory_mib": memory, "kernel": platform.release(), "rustc": rustc, "commit": commit, "threads": THREADS}


def targets_of(name):
    """The few lines of YAML that a definition has, read without a YAML library."""
    targets = []
    for line in (HERE / f"definitions/{name}.yaml").read_text().splitlines():
        if line.strip().startswith("- {figure:"):
            fields = dict(part.split(": ") for part in line.strip()[3:-1].split(", "))
            bound = next(key for key in fields if key != "figure")
            targets.append((fields["figure"], bound, float(fields[bound])))
    return targets


def table(results):
    """Each target beside what was found."""
    rows = []
    for name in (name for name in BENCHMARKS if name in results and "skipped" not in results[name]):
        for figure, bound, value in targets_of(name):
            found = results[name].get(figure)
            shown = "not measured" if found is None else f"{found:.3g}"
            reached = found is not None and (found >= value if bound == "at_least" else found <= value)
            rows.append("| " + " | ".join((name, figure, shown, f"{bound.replace('_', ' ')} {value:g}", "reached" if reached else "MISSED")) + " |")
    return rows


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:] or list(BENCHMARKS)
    facts = machine()
    results = {}
    for name in wanted:
        try:
            results[name] = BENCHMARKS[name]()
        except Skip as reason:
            print(f"SKIPPED: {name}: {reason}")
            results[name] = {"skipped": str(reason)}
            continue
        print(json.dumps({name: results[name]}, indent=1))
    folder = HERE / "record" / f"{datetime.date.today()}-{facts['processor'].split('@')[0].strip().replace(' ', '-').replace('(R)', '').lower()}-{facts['cores']}-cores"
    folder.mkdir(parents=True, exist_ok=True)
    known = json.loads((folder / "results.json").read_text()) if (folder / "results.json").exists() else {}
    known.update(results)
    (folder / "results.json").write_text(json.dumps(known, indent=1) + "\n")
    (folder / "machine.json").write_text(json.dumps(facts, indent=1) + "\n")
    head = ["| benchmark | figure | found | target | |", "|---|---|---|---|---|"]
    about = f"# {datetime.date.today()}, {facts['processor']}, {facts['cores']} cores\n\nMade by `make bench`; definitions stand in `tests/bench/definitions`, details in `results.json`.\n\n"
    (folder / "README.md").write_text(about + "\n".join(head + table(known)) + "\n")
    print("\n".join(head + table(results)))


main()
