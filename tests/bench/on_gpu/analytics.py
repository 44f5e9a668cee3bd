"""Graph analytics on the GPU beside our own CPU, PageRank beside CuPy, and levels of searches beside BLEST, where the environment has BLEST=CHECKOUT. The values of both devices are compared first: whole numbers and minima have to be the same, sums
nearly so. The time of a loop is that from its call to its end; of a program without loops that of a pass, the mean of replays."""
import math, os

from .scene import Failed, HERE, geometric_mean, python, record

STEPS = 50
SEARCHES, PASSES = ("bfs", "sssp", "components", "kcore"), ("triangles", "label_propagation")
RANKS = (f"run.max_supersteps={STEPS}", "run.allow_unconverged=true", "plan.set.tolerance=0.0")
# What core numbers and triangles expect; the others read the same.
TAKING = ("ingest.symmetrize=true", "ingest.duplicates=merge", "ingest.self_loops=drop")
SETTINGS = {**{name: () for name in SEARCHES}, "pagerank": RANKS, "hits": (), **{name: ("run.passes=5",) for name in PASSES}}
ROUNDED = ("pagerank", "hits")


def columns(run):
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(run / "values.parquet")
    return {name: table[name].to_numpy() for name in table.column_names}


def differ(program, one, other):
    """Why the values of two runs are not those of one program; nothing where they are."""
    import numpy
    one, other = columns(one), columns(other)
    for name in one:
        # What has no value, as the parent of a vertex out of reach, is not a number.
        missing = {"equal_nan": one[name].dtype.kind == "f"}
        same = numpy.allclose(one[name], other[name], rtol=1e-3, atol=1e-9) if program in ROUNDED else numpy.array_equal(one[name], other[name], **missing)
        if not same:
            return f"`{name}` differs between the devices"
    return None


def milliseconds(run):
    """Of the loop of a run, or of a pass; and how many supersteps the loop had."""
    said = record(run)
    steps = said.get("supersteps") or 1
    return said["seconds_step"] * 1e3 * steps, steps, said.get("courses", [])


def ours(scene, program):
    row = {}
    try:
        runs = {}
        for device in ("cuda", "cpu"):
            scene.device = device
            # Not by `ours`, which keeps a run whatever its device. The second run has what the first one set up.
            settings = (*TAKING, *SETTINGS[program])
            for seed in (1, 0):
                runs[device] = scene.run(f"pipelines/{program}.yaml", (*settings, f"run.seed={seed}"), "bare")["run"]
            row[f"{device}_ms"], row["supersteps"], courses = milliseconds(runs[device])
            row[f"{device}_course"] = ", ".join(courses)
        problem = differ(program, runs["cuda"], runs["cpu"])
        if problem:
            row["error"] = problem
    except Failed as error:
        row["error"] = str(error)
    finally:
        scene.device = "cuda"
    if program == "pagerank" and "cuda_ms" in row:
        row["cuda_step_ms"] = row["cuda_ms"] / row["supersteps"]
    return row


# Levels alone, as BLEST finds them, from vertices by their rows.
LEVELS = '''def levels(v, source=0):
    v.level = 0 if v.id == source else v.graph.nodes
    while changed(v.level):
        v.level = min(v.level, min(u.level + 1 for u in v.innbs))
    return v.level
'''
PIPELINE = "plan: {program: levels.py, set: {source: 'row:0'}}\nrun: {mode: iterate}\n"
SOURCES = 16


def levels_beside_blest(scene, checkout):
    import numpy, pyarrow.feather
    file = scene.written("levels", LEVELS, PIPELINE, "bare")
    # The csr in the order of ids, which both have; then ours in the order that pays, as BLEST has its own.
    settings = (*TAKING, "reorder.method=none")
    csr = scene.run(file, settings, "bare")["csr"]
    degrees = numpy.diff(pyarrow.feather.read_table(csr / "in_offsets.arrow").column(0).to_numpy())
    rows = sorted(numpy.random.default_rng(1).choice(numpy.flatnonzero(degrees > 0), SOURCES, replace=False).tolist())
    sources = ", ".join(f'"row:{row}"' for row in rows)
    run = scene.run(file, (*TAKING, "reorder.method=degree", f"run.sources=[{sources}]"), "bare")["run"]
    spent = [search["seconds"] * 1e3 for search in record(run)["searches"]]
    theirs = python(HERE / "blest_levels.py", checkout, csr, scene.path / "blest", *rows, seconds_most=scene.seconds_most)
    return {"graph": scene.graph, "program": "levels", "cuda_ms": sum(spent[1:]) / len(spent[1:]), "supersteps": "-", "blest_ms": theirs[0]["ms"]}


def measure(scene, given):
    checkout = os.environ.get("BLEST")
    if checkout:
        try:
            yield levels_beside_blest(scene, checkout)
        except Failed as error:
            yield {"graph": scene.graph, "program": "levels", "error": str(error)}
    try:
        cupy = scene.beside(HERE / "cupy_ranks.py", scene.graph, str(STEPS))
    except Failed as error:
        cupy = [{"error": str(error)}]
    for program in SETTINGS:
        row = {"graph": scene.graph, "program": program, **ours(scene, program)}
        if program == "pagerank":
            row["cupy"] = cupy[0] if cupy else {"error": "it said nothing"}
        yield row


def table(rows):
    page = ["| graph | program | GPU, ms | CPU, ms | times | supersteps | how | problem |", "|---|---|---|---|---|---|---|---|"]
    number = lambda row, key: f"{row[key]:.3f}" if row.get(key) is not None and math.isfinite(row[key]) else "-"
    for row in rows:
        known = row.get("cuda_ms") and row.get("cpu_ms")
        times = f"{row['cpu_ms'] / row['cuda_ms']:.1f}" if known else "-"
        page.append(f"| {row['graph']} | {row['program']} | {number(row, 'cuda_ms')} | {number(row, 'cpu_ms')} | {times} | {row.get('supersteps', '-')} | {row.get('cuda_course', '')} | {row.get('error', '')} |")
    right = [row for row in rows if row.get("cuda_ms") and row.get("cpu_ms") and "error" not in row]
    if right:
        page += ["", f"- {geometric_mean(row['cpu_ms'] / row['cuda_ms'] for row in right):.1f} times as fast as the CPU in geometric mean, over {len(right)} rows"]
    for row in rows:
        if row.get("blest_ms"):
            page.append(f"- levels on {row['graph']}: {row['cuda_ms']:.3f} ms by the host's clock, the mean of {SOURCES - 1} searches after the first; BLEST {row['blest_ms']:.3f} ms")
        cupy = row.get("cupy", {})
        if cupy.get("ms") and row.get("cuda_step_ms"):
            page.append(f"- pagerank on {row['graph']}: {row['cuda_step_ms']:.4f} ms a superstep, CuPy {cupy['ms']:.4f} ms")
        elif cupy.get("error"):
            page.append(f"- pagerank of CuPy on {row['graph']}: {cupy['error']}")
    return page
