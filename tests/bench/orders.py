"""Orders of nodes beside networkit, scipy and METIS, what they are predicted to save, and how fast csrs are renumbered and divided.

A peer works on the same simple undirected graph, made once; what is timed on both sides is finding communities, parts or an order, with
the graph in memory. Each order's figures come from `quality.json` of the artifact that the stage wrote and proved.
"""
import json, os, pathlib, subprocess, time

from rig import RELEASE, THREADS, WORK, arrow, by_stages, geometric_mean, made_by, modules, no_network

# Real graphs and, by their names alone, stand-ins.
GRAPHS = ["wiki-Vote", "soc-Epinions1", "email-Enron", "dblp-2010", "cnr-2000", "uk-2007-05@100000", "road-NY", "com-amazon", "amazon0505"]
STAND_INS = ["com-amazon", "amazon0505"]
METHODS = ["random", "degree", "approx-degree", "hub-sort", "hub-cluster", "bfs", "rcm", "rabbit", "metis", "first-column", "columns-then-rows"]
PARTS = 64


def chosen():
    wanted = [part for part in os.environ.get("BENCH_ONLY", "").split(",") if part]
    return [name for name in GRAPHS if not wanted or name in wanted]


def extracted(name):
    """Stage lines up to the csr of a graph."""
    if name in STAND_INS:
        no_network(name)
    return by_stages("pagerank", name, "ingest.symmetrize=auto", again=(), last="extract")


def example(program, *arguments):
    out = subprocess.run([RELEASE / "examples" / program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def simple(csr):
    """Pairs of neighbours of a csr, each twice, without loops: scipy's matrix."""
    numpy, scipy = modules("numpy", "scipy.sparse")
    offsets, sources = (arrow(csr / f"in_{name}.arrow").to_numpy() for name in ("offsets", "sources"))
    nodes = len(offsets) - 1
    targets = numpy.repeat(numpy.arange(nodes), numpy.diff(offsets).astype(numpy.int64))
    apart = sources != targets
    matrix = scipy.coo_matrix((numpy.ones(apart.sum(), numpy.int8), (sources[apart], targets[apart])), shape=(nodes, nodes)).tocsr()
    matrix = matrix + matrix.T
    matrix.data[:] = 1
    matrix.sort_indices()
    return matrix


def louvain(matrix):
    """Seconds and modularity of networkit's parallel Louvain, best of three."""
    (networkit,) = modules("networkit")
    networkit.setNumberOfThreads(THREADS)
    coo = matrix.tocoo()
    upper = coo.row < coo.col
    # It takes numbers of 64 bits alone.
    graph = networkit.GraphFromCoo((coo.row[upper].astype("uint64"), coo.col[upper].astype("uint64")), n=matrix.shape[0])
    best = None
    for _ in range(3):
        plm = networkit.community.PLM(graph)
        begun = time.perf_counter()
        plm.run()
        seconds = time.perf_counter() - begun
        modularity = networkit.community.Modularity().getQuality(plm.getPartition(), graph)
        best = (seconds, modularity) if best is None else (min(best[0], seconds), max(best[1], modularity))
    return best


def band(matrix):
    """Bandwidth after scipy's reverse Cuthill-McKee."""
    numpy, csgraph = modules("numpy", "scipy.sparse.csgraph")
    order = csgraph.reverse_cuthill_mckee(matrix, symmetric_mode=True)
    number = numpy.empty(len(order), numpy.int64)
    number[order] = numpy.arange(len(order))
    coo = matrix.tocoo()
    return int(abs(number[coo.row] - number[coo.col]).max()) if coo.nnz else 0


def parts(matrix):
    """Seconds and pairs cut by METIS through pymetis."""
    numpy, pymetis = modules("numpy", "pymetis")
    begun = time.perf_counter()
    cut, _ = pymetis.part_graph(PARTS, xadj=matrix.indptr.astype(numpy.int32), adjncy=matrix.indices.astype(numpy.int32))
    return time.perf_counter() - begun, cut


def quality(line):
    folder = pathlib.Path(next(a["path"] for a in line["artifacts"] if a["kind"] == "permutation"))
    return json.loads((folder / "quality.json").read_text())


def reordered(name):
    """Figures of every method on one graph."""
    found = {}
    for method in METHODS:
        settings = ("ingest.symmetrize=auto", f"reorder.method={method}", f"reorder.parts={PARTS}")
        line = by_stages("pagerank", name, *settings, again=(), first="reorder", last="reorder")["reorder"]
        figures = quality(line)
        found[method] = {"seconds_stage": line["seconds"], "bandwidth": figures["after"]["bandwidth"], "lines_per_32_edges": figures["after"]["lines_per_32_edges"],
                         "predicted": {f"{moved['device']} {moved['columns']}": moved["memory_bytes"] for moved in figures["after"]["predicted"]},
                         "cut": figures.get("cut")}
    found["none"] = {"predicted": {f"{moved['device']} {moved['columns']}": moved["memory_bytes"] for moved in figures["before"]["predicted"]},
                     "lines_per_32_edges": figures["before"]["lines_per_32_edges"], "bandwidth": figures["before"]["bandwidth"]}
    return found


def orders():
    graphs = {}
    for name in chosen():
        csr = made_by(extracted(name), "extract", "csr")
        matrix = simple(csr)
        seconds_louvain, modularity_louvain = louvain(matrix)
        rabbit = {threads: example("rabbit_speed", csr, threads)[0] for threads in (1, THREADS)}
        methods = reordered(name)
        seconds_metis, cut = parts(matrix)
        graphs[name] = {
            "nodes": matrix.shape[0], "pairs": matrix.nnz // 2, "methods": methods,
            "rabbit_modularity": rabbit[THREADS]["modularity"], "louvain_modularity": modularity_louvain,
            "rabbit_seconds": {f"{threads} threads": line["seconds"] for threads, line in rabbit.items()}, "louvain_seconds": seconds_louvain,
            "modularity_of_louvain": rabbit[THREADS]["modularity"] / modularity_louvain, "time_of_louvain": rabbit[THREADS]["seconds"] / seconds_louvain,
            "metis_seconds": seconds_metis, "cut_of_metis": methods["metis"]["cut"]["pairs"] / cut if cut else 1.0, "band_of_scipy": methods["rcm"]["bandwidth"] / max(1, band(matrix)),
        }
        print(name, {key: value for key, value in graphs[name].items() if key != "methods"}, flush=True)
    after = lambda method: geometric_mean(value for graph in graphs.values() for value in graph["methods"][method]["predicted"].values())
    means = {method: after(method) for method in ["none", *METHODS]}
    return {
        "modularity_of_louvain": min(graph["modularity_of_louvain"] for graph in graphs.values()), "time_of_louvain": max(graph["time_of_louvain"] for graph in graphs.values()),
        "cut_of_metis": max(graph["cut_of_metis"] for graph in graphs.values()), "band_of_scipy": max(graph["band_of_scipy"] for graph in graphs.values()),
        "predicted_of_best": means["rabbit"] / min(mean for method, mean in means.items() if method != "rabbit"),
        "predicted_bytes": means, "graphs": graphs,
        "note": "ratios are the worst of all graphs; predicted bytes are geometric means over graphs, devices and widths",
    }


def permuting():
    """Edges renumbered in a second: the worst of the graphs of some millions of edges; and what else the stage does beside finding an order."""
    found = {}
    for name in ("cnr-2000", "dblp-2010", "com-amazon", "amazon0505"):
        for line in example("stage_speed", made_by(extracted(name), "extract", "csr"), THREADS):
            found[line["part"]] = min(line["edges_per_second"], found.get(line["part"], float("inf")))
    return {"edges_per_second": min(rate for part, rate in found.items() if part.startswith("permute")), "edges_per_second_of": found}
