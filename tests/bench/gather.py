"""The gather limit of this machine, what the neighbour sum reaches of it by itself and inside programs, and how long planning takes.

Promises that sums are checked before they are timed (by the example itself); never counts other bytes than those of the rows read.
"""
import json, subprocess

from rig import RELEASE, THREADS, WORK, arrow, by_stages, made_by, no_network, record_of

NAME = "amazon0505"
EPOCHS = 10
SUPERSTEPS = 50


def csr_files():
    """The csr that runs of GCN read, as plain numbers; its folder."""
    folder = made_by(by_stages("gcn", NAME, again=(), last="reorder"), "reorder", "csr")
    paths = [WORK / "gather-offsets.bin", WORK / "gather-neighbours.bin"]
    for path, column in zip(paths, ["in_offsets", "in_sources"]):
        path.write_bytes(arrow(folder / f"{column}.arrow").to_numpy().tobytes())
    return paths


def neighbour_sums(lines):
    """Seconds of a call of each neighbour sum of an epoch, with its width."""
    plan = json.loads((made_by(lines, "plan", "plan") / "plan.json").read_text())["launches"]
    columns = {buffer["name"]: buffer["columns"] for buffer in plan["buffers"]}
    body = plan["body"]["train"]
    spent = record_of(lines)["seconds_by_launch"]
    for launch in body["forward"] + body["backward"]:
        walk = launch["operation"].get("fused", {})
        if isinstance(walk.get("over"), dict) and "edges_of" in walk["over"]:
            far = [buffer for buffer in far_buffers(walk["steps"]) if buffer in columns]
            for buffer in dict.fromkeys(far):
                yield launch["name"], columns[buffer], spent[launch["name"]] / EPOCHS


def far_buffers(part):
    """Buffers whose rows some steps read at the far ends of edges."""
    if isinstance(part, dict) and isinstance(part.get("view"), dict) and "far" in part["view"]:
        yield part["buffer"]
    elif isinstance(part, (dict, list)):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from far_buffers(inner)


def gather():
    """Limits, the neighbour sum beside them, and both inside GCN and PageRank."""
    no_network(NAME)
    offsets, neighbours = csr_files()
    edges, nodes = neighbours.stat().st_size // 4, offsets.stat().st_size // 8 - 1
    out = subprocess.run([RELEASE / "examples/gather_speed", "1,2", offsets, neighbours], capture_output=True, text=True, check=True).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    limits = {line["width"]: line["limit"] for line in lines if line["threads"] == THREADS and line["table_bytes"] == 4 * nodes * line["width"]}
    inside = {}
    for hidden in (16, 64):
        ran = by_stages("gcn", NAME, f"plan.set={{hidden: {hidden}, drop: 0}}", f"run.epochs={EPOCHS}")
        for name, width, seconds in neighbour_sums(ran):
            if width in limits:
                speed = edges * width * 4 / seconds / 1e9
                inside[f"gcn-{hidden}: {name}"] = {"width": width, "gigabytes_per_second": speed, "of_limit": speed / limits[width]}
    # Every edge, the loops of GCN apart, reads one rank.
    ran = by_stages("pagerank", NAME, "plan.set={tolerance: 0}", f"run.max_supersteps={SUPERSTEPS}", "run.allow_unconverged=true")
    record = record_of(ran)
    count = json.loads((made_by(ran, "ingest", "graph") / "manifest.json").read_text())["counts"]["edges"]
    speed = count * 4 * record["supersteps"] / record["seconds_compute"] / 1e9
    of_graph = {line["width"]: line["on_graph_of_limit"] for line in lines if "on_graph_of_limit" in line and line["threads"] == THREADS}
    return {
        "of_limit_16": of_graph[16], "of_limit_64": of_graph[64], "of_limit_by_width": of_graph,
        "of_limit_inside": min((found["of_limit"] for found in inside.values()), default=None), "inside": inside,
        "pagerank_of_limit": speed / limits[1], "pagerank_seconds": record["seconds_compute"], "lines": lines,
        "note": "gigabytes a second of rows read; limits are of rows drawn evenly, so that a graph with hot rows may pass them",
    }


def planning():
    """Seconds of the stage plan, as it reports them, for programs from one launch to hundreds."""
    no_network(NAME)
    seconds = {}
    for pipeline in ["gcn", "gat", "gin", "pagerank", "sssp", "triangles"]:
        by_stages(pipeline, NAME, again=(), last="partition")
        times = sorted(by_stages(pipeline, NAME, first="plan", last="plan")["plan"]["seconds"] for _ in range(5))
        seconds[pipeline] = times[2]
    return {"seconds_worst": max(seconds.values()), "seconds": seconds}
