"""A real graph as Warploom took it in, for the programs that are measured beside it.

usage: python3 real_graph.py write GRAPH FORM FOLDER      its edges as arrays, from the folder of the artifact: `peers` with what there is of it
                                                          (shape.json), `full` with features and classes that are drawn, as many as it has,
                                                          or FEATURES (where it has none or more than MOST) and CLASSES, `bare` with few features and weights
       python3 real_graph.py beside FOLDER SCRIPT ...     runs a script of the rulers, or one beside this, for which the graph that it is asked for
                                                          is that of a folder written as `peers`
Promises that edges are in the order of their targets, as the rulers have them, and that what is drawn is so from one seed.
"""
import json, pathlib, runpy, sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FEATURES, MOST, CLASSES, FEW = 96, 5000, 22, 16


def write(graph, form, folder):
    import numpy, pyarrow.parquet
    graph, folder = pathlib.Path(graph), pathlib.Path(folder)
    manifest = json.loads((graph / "manifest.json").read_text())
    counts = manifest["counts"]
    if manifest["provenance"] != "real":
        raise SystemExit(f"{graph} is no real graph: {manifest['provenance']}")
    for file, column in (("edges", "type"), ("nodes", "type")):
        if column in pyarrow.parquet.read_schema(graph / f"{file}.parquet").names:
            raise SystemExit(f"its {file} have a {column}, which none of the programs that are measured reads")
    edges = pyarrow.parquet.read_table(graph / "edges.parquet", columns=["source", "target"])
    source, target = (edges[name].to_numpy().astype(numpy.int64) for name in ("source", "target"))
    order = numpy.lexsort((source, target))
    nodes, index = counts["nodes"], numpy.stack([source[order], target[order]])
    features, classes = counts.get("feature_columns", 0), counts.get("classes") or CLASSES
    features = features if 0 < features <= MOST else FEATURES
    folder.mkdir(parents=True)
    if form == "peers":
        learns = manifest["facts"]["target"] == "nodes" and manifest["facts"]["labels"] == "classes" and "feature_columns" in counts
        # Of an entry of sparse features, value and column are read.
        numbers = 2 * counts["feature_entries"] / nodes if learns and "feature_entries" in counts else features
        about = {"nodes": nodes, "edges": index.shape[1], "features": features, "classes": classes, "learns": learns, "numbers": numbers}
        (folder / "shape.json").write_text(json.dumps(about))
        return numpy.save(folder / "edges.npy", index)
    draw = numpy.random.default_rng(1)
    more = {}
    if form == "bare":
        features, more = FEW, {"edge_weight": draw.random(index.shape[1], dtype=numpy.float32) + numpy.float32(0.5)}
    numpy.savez(folder / "edges.npz", edge_index=index, num_nodes=nodes, **more)
    numpy.save(folder / "features.npy", draw.standard_normal((nodes, features), dtype=numpy.float32))
    if form == "full":
        numpy.save(folder / "labels.npy", draw.integers(0, classes, nodes))


def beside(folder, script, *arguments):
    sys.path[:0] = [str(ROOT / "tests/bench/rulers"), str(pathlib.Path(script).parent)]
    import numpy, torch
    import gpu_baseline as ruler
    shape = json.loads((pathlib.Path(folder) / "shape.json").read_text())
    edges = torch.from_numpy(numpy.load(pathlib.Path(folder) / "edges.npy"))

    class Shapes(dict):
        def __missing__(self, name):
            return shape["nodes"], shape["edges"], shape["features"], shape["classes"], "real"

    def graph(name):
        source, target = edges.cuda()
        return source, target, shape["nodes"]

    ruler.SHAPES, ruler.graph = Shapes(), graph
    if pathlib.Path(script).stem == ruler.__name__:
        # The ruler itself is here already.
        part, _, name = arguments
        return getattr(ruler, part)([name])
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    {"write": write, "beside": beside}[sys.argv[1]](*sys.argv[2:])
