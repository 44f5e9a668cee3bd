"""PageRank, breadth-first search, shortest paths, components, core numbers and triangles beside networkit, igraph and scipy.

Promises that all have the same graph in memory before a clock starts, the same sources and the same number of threads (where they use
threads), and that every answer of every peer is compared with ours: whole numbers exactly, others to 1e-5. Only computing is
timed: ours is `seconds_compute` of record.json, from the first launch to the last; theirs is the call that computes.
igraph's PageRank and scipy's triangles are left out: the one spreads the rank of pages without links and stops where it likes, the other
needs the square of the matrix in memory.
"""
import os, subprocess, time

from rig import Skip, THREADS, WORK, by_stages, geometric_mean, made_by, modules, record_of

# What counts in the means, and what stands beside.
SETS = {"uk-2007-05@100000": "web", "cnr-2000": "web", "soc-Epinions1": "social", "soc-Slashdot0902": "social", "email-Enron": "social", "dblp-2010": "social",
        "rmat-20": "rmat", "road-california": "road", "road-NY": "road"}
ALGORITHMS = ["pagerank", "bfs", "sssp", "components", "kcore", "triangles"]
SOURCES = int(os.environ.get("BENCH_SOURCES", "16"))
SECONDS_MOST = float(os.environ.get("BENCH_SECONDS_MOST", "300"))
SUPERSTEPS = 50
DAMPING = 0.85


class Graph:
    """A graph artifact as arrays: rows of nodes.parquet, and its edges."""

    def __init__(self, folder):
        parquet, numpy = modules("pyarrow.parquet", "numpy")
        edges = parquet.read_table(folder / "edges.parquet")
        self.ids = parquet.read_table(folder / "nodes.parquet", columns=["id"])["id"].to_pylist()
        self.nodes = len(self.ids)
        self.source, self.target = (edges[name].to_numpy().astype(numpy.int64) for name in ("source", "target"))
        self.weight = edges["weight"].to_numpy().astype(numpy.float64) if "weight" in edges.column_names else numpy.ones(len(self.source))

    def sources(self):
        """Rows with an out-edge, drawn once for all."""
        (numpy,) = modules("numpy")
        able = numpy.unique(self.source)
        return numpy.random.default_rng(16).choice(able, min(SOURCES, len(able)), replace=False).tolist()

    def networkit(self, directed, weighted=False):
        numpy, networkit = modules("numpy", "networkit")
        networkit.setNumberOfThreads(THREADS)
        kept = slice(None) if directed else self.source < self.target
        weights = self.weight[kept] if weighted else numpy.ones(len(self.source[kept]))
        return networkit.GraphFromCoo((weights, (self.source[kept], self.target[kept])), n=self.nodes, weighted=weighted, directed=directed)

    def igraph(self, directed):
        numpy, igraph = modules("numpy", "igraph")
        kept = slice(None) if directed else self.source < self.target
        graph = igraph.Graph(n=self.nodes, edges=numpy.stack([self.source[kept], self.target[kept]], axis=1), directed=directed)
        graph.es["weight"] = self.weight[kept]
        return graph

    def scipy(self, weighted=False):
        numpy, scipy = modules("numpy", "scipy.sparse")
        weights = self.weight if weighted else numpy.ones(len(self.source))
        return scipy.csr_matrix((weights, (self.source, self.target)), shape=(self.nodes, self.nodes))


def timed(work, times=3):
    """Result and least seconds; a slow one is not repeated."""
    least, result = float("inf"), None
    for _ in range(times):
        begun = time.perf_counter()
        result = work()
        least = min(least, time.perf_counter() - begun)
        if least > 2:
            break
    return least, result


def close(ours, theirs, what):
    """To 1e-5 of the larger of the value and the mean; infinities meet."""
    (numpy,) = modules("numpy")
    ours, theirs = numpy.asarray(ours, numpy.float64), numpy.asarray(theirs, numpy.float64)
    finite = numpy.isfinite(theirs)
    assert (numpy.isfinite(ours) == finite).all(), f"{what}: other vertices are out of reach"
    size = numpy.maximum(numpy.abs(theirs[finite]), numpy.abs(theirs[finite]).mean())
    assert (numpy.abs(ours[finite] - theirs[finite]) <= 1e-5 * size).all(), what


def equal(ours, theirs, what):
    (numpy,) = modules("numpy")
    assert (numpy.asarray(ours, numpy.int64) == numpy.asarray(theirs, numpy.int64)).all(), what


def values_of(lines):
    """The columns of a run's result as numpy, in the order of nodes.parquet."""
    (parquet,) = modules("pyarrow.parquet")
    table = parquet.read_table(made_by(lines, "run", "run") / "values.parquet")
    return {name: table[name].to_numpy() for name in table.column_names[1:]}


def pagerank_peers(graph, ours):
    numpy, scipy, networkit = modules("numpy", "scipy.sparse", "networkit")
    ranks = ours["rank"].astype(numpy.float64)
    ranks /= ranks.sum()
    held = graph.networkit(True)

    def of_networkit():
        rank = networkit.centrality.PageRank(held, damp=DAMPING, tol=0.0, distributeSinks=networkit.centrality.SinkHandling.NoSinkHandling)
        rank.maxIterations = SUPERSTEPS
        return rank.run()

    seconds, rank = timed(of_networkit)
    scores = numpy.asarray(rank.scores())
    close(ranks, scores / scores.sum(), "ranks of networkit")
    degree = numpy.bincount(graph.source, minlength=graph.nodes)
    steps = scipy.csr_matrix((1 / degree[graph.source], (graph.target, graph.source)), shape=(graph.nodes, graph.nodes))

    def of_scipy(steps):
        number = steps.dtype.type
        rank = numpy.full(graph.nodes, 1 / graph.nodes, number)
        for _ in range(SUPERSTEPS):
            rank = number((1 - DAMPING) / graph.nodes) + number(DAMPING) * (steps @ rank)
        return rank

    # Compared in f64, for its sums in f32 are off at hubs; timed in f32, as ours.
    rank = of_scipy(steps)
    close(ranks, rank / rank.sum(), "ranks of scipy")
    narrow = steps.astype(numpy.float32)
    seconds_scipy, _ = timed(lambda: of_scipy(narrow))
    return {"networkit": seconds, "scipy": seconds_scipy}


def levels_of(order, before, nodes):
    """Levels from scipy's order and predecessors."""
    (numpy,) = modules("numpy")
    levels = numpy.full(nodes, -1)
    levels[order[0]] = 0
    for node in order[1:]:
        levels[node] = levels[before[node]] + 1
    return levels


def bfs_peers(graph, sources, ours):
    numpy, networkit, csgraph = modules("numpy", "networkit", "scipy.sparse.csgraph")
    held, other, matrix = graph.networkit(True), graph.igraph(True), graph.scipy()
    spent = {"networkit": 0.0, "igraph": 0.0, "scipy": 0.0}
    for number, source in enumerate(sources):
        search = networkit.distance.BFS(held, source, storePaths=False)
        seconds, _ = timed(search.run, 1)
        spent["networkit"] += seconds
        found = numpy.asarray(search.getDistances())
        equal(ours[number]["level"], numpy.where(found > graph.nodes, -1, found), f"levels of networkit from {source}")
        seconds, found = timed(lambda: other.distances(source=[source], mode="out"), 1)
        spent["igraph"] += seconds
        found = numpy.asarray(found[0])
        equal(ours[number]["level"], numpy.where(numpy.isfinite(found), found, -1), f"levels of igraph from {source}")
        seconds, (order, before) = timed(lambda: csgraph.breadth_first_order(matrix, source), 1)
        spent["scipy"] += seconds
        if number == 0:
            equal(ours[number]["level"], levels_of(order, before, graph.nodes), f"levels of scipy from {source}")
    return spent


def sssp_peers(graph, sources, ours):
    numpy, networkit, csgraph = modules("numpy", "networkit", "scipy.sparse.csgraph")
    held, other, matrix = graph.networkit(True, weighted=True), graph.igraph(True), graph.scipy(weighted=True)
    spent = {"networkit": 0.0, "igraph": 0.0, "scipy": 0.0}
    for number, source in enumerate(sources):
        search = networkit.distance.Dijkstra(held, source, storePaths=False)
        seconds, _ = timed(search.run, 1)
        spent["networkit"] += seconds
        found = numpy.asarray(search.getDistances())
        close(ours[number]["distance"], numpy.where(found > 1e300, numpy.inf, found), f"distances of networkit from {source}")
        seconds, found = timed(lambda: other.distances(source=[source], weights="weight", mode="out"), 1)
        spent["igraph"] += seconds
        close(ours[number]["distance"], found[0], f"distances of igraph from {source}")
        seconds, found = timed(lambda: csgraph.dijkstra(matrix, indices=source), 1)
        spent["scipy"] += seconds
        close(ours[number]["distance"], found, f"distances of scipy from {source}")
    return spent


def components_peers(graph, ours):
    numpy, networkit, csgraph = modules("numpy", "networkit", "scipy.sparse.csgraph")

    def canonical(labels):
        _, first, parts = numpy.unique(numpy.asarray(labels), return_index=True, return_inverse=True)
        return first[parts]

    expected = canonical(ours["label"])
    spent = {}

    def check(name, seconds, labels):
        equal(expected, canonical(labels), f"components of {name}")
        spent[name] = seconds

    directed, undirected, other, matrix = graph.networkit(True), graph.networkit(True), graph.igraph(True), graph.scipy()
    undirected = networkit.graphtools.toUndirected(undirected)
    undirected.removeMultiEdges()
    for name, make in [("networkit weak", lambda: networkit.components.WeaklyConnectedComponents(directed)),
                       ("networkit", lambda: networkit.components.ConnectedComponents(undirected)),
                       ("networkit parallel", lambda: networkit.components.ParallelConnectedComponents(undirected))]:
        seconds, found = timed(lambda: make().run())
        partition = found.getPartition().getVector() if hasattr(found, "getPartition") else [0] * graph.nodes
        if hasattr(found, "getComponents") and not hasattr(found, "getPartition"):
            for number, members in enumerate(found.getComponents()):
                for node in members:
                    partition[node] = number
        check(name, seconds, partition)
    seconds, found = timed(lambda: other.connected_components(mode="weak"))
    check("igraph", seconds, found.membership)
    seconds, (_, labels) = timed(lambda: csgraph.connected_components(matrix, directed=True, connection="weak"))
    check("scipy", seconds, labels)
    return spent


def kcore_peers(graph, ours):
    numpy, networkit = modules("numpy", "networkit")
    held, other = graph.networkit(False), graph.igraph(False)
    seconds, found = timed(lambda: networkit.centrality.CoreDecomposition(held).run())
    equal(ours["core"], numpy.asarray(found.scores()), "core numbers of networkit")
    seconds_igraph, found = timed(lambda: other.coreness(mode="all"))
    equal(ours["core"], found, "core numbers of igraph")
    return {"networkit": seconds, "igraph": seconds_igraph}


def triangles_peers(graph, ours):
    numpy, networkit = modules("numpy", "networkit")
    held, other = graph.networkit(False), graph.igraph(False)
    spent = {}
    # Without turbo it takes a hundred times as long on web graphs.
    spent["networkit turbo"], found = timed(lambda: networkit.centrality.LocalClusteringCoefficient(held, turbo=True).run())
    close(ours["clustering"], numpy.nan_to_num(numpy.asarray(found.scores())), "clustering of networkit")
    spent["igraph"], found = timed(lambda: other.transitivity_local_undirected(mode="zero"))
    close(ours["clustering"], found, "clustering of igraph")
    return spent


# Peers give levels alone; the library's bfs gives parents too.
SETTINGS = {"bfs": ["plan.program=tests/bench/programs/levels.py"], "pagerank": [f"plan.set={{damping: {DAMPING}, tolerance: 0}}", f"run.max_supersteps={SUPERSTEPS}", "run.allow_unconverged=true"]}
PEERS = {"pagerank": pagerank_peers, "bfs": bfs_peers, "sssp": sssp_peers, "components": components_peers, "kcore": kcore_peers, "triangles": triangles_peers}


def weighted(name):
    """A set with seeded whole weights from 1 to 255, as GAP has them; roads have their own."""
    if SETS[name] == "road":
        return name
    numpy, pa, csv = modules("numpy", "pyarrow", "pyarrow.csv")
    made = f"{name}-weighted".replace("@", "-")
    path = WORK / "raw" / made / "edges.txt"
    if not path.exists():
        graph = Graph(made_by(by_stages("bfs", name, again=(), last="ingest"), "ingest", "graph"))
        path.parent.mkdir(parents=True, exist_ok=True)
        weights = numpy.random.default_rng(255).integers(1, 256, len(graph.source))
        with open(path.with_suffix(".part"), "wb") as out:
            csv.write_csv(pa.table({"source": graph.source, "target": graph.target, "weight": weights}), out, csv.WriteOptions(include_header=False, delimiter="\t"))
        path.with_suffix(".part").rename(path)
    return made


def ours_of(algorithm, name, settings):
    """One run: seconds of computing and the result."""
    lines = by_stages(algorithm, name, *SETTINGS.get(algorithm, []), *settings, first="plan", seconds_most=SECONDS_MOST)
    record = record_of(lines)
    return record["seconds_compute"], values_of(lines), record["supersteps"]


def one(algorithm, name):
    """Everything about an algorithm on a set."""
    (networkit,) = modules("networkit")
    taken = weighted(name) if algorithm == "sssp" else name
    made = by_stages(algorithm, taken, *SETTINGS.get(algorithm, []), again=(), last="partition")
    graph = Graph(made_by(made, "ingest", "graph"))
    try:
        if algorithm in ("bfs", "sssp"):
            sources = graph.sources()
            runs = [ours_of(algorithm, taken, [f"plan.set.source=row:{source}"]) for source in sources]
            seconds, supersteps = sum(run[0] for run in runs), max(run[2] for run in runs)
            peers = PEERS[algorithm](graph, sources, [run[1] for run in runs])
        else:
            runs = [ours_of(algorithm, taken, [])]
            while len(runs) < 3 and runs[0][0] < 2:
                runs.append(ours_of(algorithm, taken, []))
            seconds, supersteps = min(run[0] for run in runs), runs[0][2]
            peers = PEERS[algorithm](graph, runs[0][1])
    except subprocess.TimeoutExpired:
        return {"nodes": graph.nodes, "edges": len(graph.source), "seconds": None, "stopped_after": SECONDS_MOST}
    best = min(peers, key=peers.get)
    return {"nodes": graph.nodes, "edges": len(graph.source), "seconds": seconds, "supersteps": supersteps, "seconds_peers": peers, "best_peer": best, "ratio": peers[best] / seconds}


def analytics():
    """All algorithms on all sets; BENCH_ONLY=bfs/road,kcore/ takes those whose ALGORITHM/SET begins so."""
    networkit, igraph, scipy = modules("networkit", "igraph", "scipy")
    wanted = os.environ.get("BENCH_ONLY", "").split(",")
    results = {}
    for name in SETS:
        for algorithm in ALGORITHMS:
            key = f"{algorithm}/{name}"
            if any(key.startswith(prefix) for prefix in wanted):
                results[key] = found = one(algorithm, name)
                print(f"{key:<32} ratio {found.get('ratio', 0):7.3f}  ours {found['seconds']} s  peers { {peer: round(seconds, 5) for peer, seconds in found.get('seconds_peers', {}).items()} }", flush=True)
    if not results:
        raise Skip(f"BENCH_ONLY={','.join(wanted)} fits no algorithm and set")

    def ratios(kinds, algorithm=""):
        return {key: found.get("ratio", 0.0) for key, found in results.items() if key.startswith(algorithm) and SETS[key.split("/", 1)[1]] in kinds}

    def mean(values):
        # One that was stopped has no ratio; it counts as a thousandth, and the worst is then 0.
        return geometric_mean(max(value, 1e-3) for value in values) if values else None

    counted = ratios(["web", "social", "rmat"])
    worst = min(counted, key=counted.get, default=None)
    return {
        "ratio": mean(counted.values()), "ratio_worst": counted.get(worst), "worst": worst,
        "ratio_by_kind": {kind: mean(ratios([kind]).values()) for kind in ["web", "social", "rmat", "road"]},
        "ratio_by_algorithm": {algorithm: mean(ratios(["web", "social", "rmat"], algorithm + "/").values()) for algorithm in ALGORITHMS},
        "sources": SOURCES, "results": results, "versions": {"networkit": networkit.__version__, "igraph": igraph.__version__, "scipy": scipy.__version__},
        "note": "computing only, all graphs loaded; searches are the sum over all sources; whole graphs the best of 3",
    }
