"""The share of an epoch's own limit that is reached.

The limit counts what has to move: each dense operand once for each product that reads it, and for each sum over edges the larger of its
rows at the rate of rows read at random (RATES) and, at that of a copy, of 4 bytes an edge and every row read and written once. Sums of
what no epoch changes are made once and count nothing; sums stand on the narrower side of a product. Beside it, the same with every
row read once (the floor of the memory), and the bytes that the plan counts for its launches, both at the rate of a copy, which is
measured here.
"""
import json, sys

from . import epochs
from .scene import Failed, RULER, child, geometric_mean, plan, shown

# TB/s of rows at random on an H200 by columns and megabytes of the table (gather_limit.cu); other devices by their copy beside its.
RATES = {
    16: [(24, 7.7), (40, 5.3), (128, 2.8), (2048, 2.2)],
    32: [(24, 9.1), (40, 8.6), (128, 5.0), (2048, 3.75)],
    64: [(24, 9.3), (40, 9.0), (128, 5.2), (2048, 4.0)],
    128: [(24, 9.3), (40, 9.3), (128, 5.3), (2048, 4.1)],
}
COPY_OF_RATES = 4.28
MANY_EDGES = 1_000_000
ABOUT = f"""
import json, sys
sys.path.insert(0, {str(RULER)!r})
import torch, gpu_baseline as ruler
x = torch.empty(1 << 28, device="cuda").normal_()
y = torch.empty_like(x)
print(json.dumps(dict(TBps=2 * x.numel() * 4 / ruler.timed(lambda: y.copy_(x)) / 1e9, shapes=ruler.SHAPES)))
"""
_ABOUT = {}


def about(seconds_most):
    """TB/s of a copy, and the shapes of the graphs; measured once."""
    if not _ABOUT:
        _ABOUT.update(json.loads(child([sys.executable, "-c", ABOUT], seconds_most).splitlines()[-1]))
    return _ABOUT["TBps"], _ABOUT["shapes"]


def rate(columns, nodes):
    """TB/s of rows of so many columns of a table with so many rows."""
    points = RATES[max(width for width in RATES if width <= max(columns, 16))]
    size = nodes * columns * 4 / 2**20
    if size <= points[0][0]:
        return points[0][1]
    for (low, fast), (high, slow) in zip(points, points[1:]):
        if size <= high:
            return fast + (slow - fast) * (size - low) / (high - low)
    return points[-1][1]


def work(program, features, classes):
    """Numbers a node that products read in an epoch; for each walk over edges, columns of its rows and numbers of an edge beside them; and
    whether each node is its own neighbour."""
    if program == "gcn":
        narrow = min(16, classes)
        return 2 * features + 3 * 16 + 2 * classes, [(16, 0), (narrow, 0), (narrow, 0), (16, 0)], True
    if program == "gin":
        return 2 * features + 5 * 64 + 3 * 512 + 6 * 64 + 2 * classes, [(64, 0)] * 8, False
    if program == "sage":
        narrow = min(64, classes)
        return 4 * features + 6 * 64 + 4 * classes, [(narrow, 0), (narrow, 0)], False
    return 2 * features + 3 * 64 + 2 * classes, [(64, 8), (classes, 1), (classes, 3), (64, 24)], True


def work_of_pass(program, features, classes):
    """The same of a pass that only predicts: features and each layer's rows once."""
    if program == "gcn":
        return features + 16, [(16, 0), (min(16, classes), 0)], True
    return features + 5 * 64, [(min(features, 64), 0)] + [(64, 0)] * 4, False


def limits(program, shape, copy, work=work):
    """Milliseconds: the limit, and the floor of the memory."""
    nodes, edges, features, classes, _ = shape
    dense, walks, is_own = work(program, features, classes)
    edges += nodes if is_own else 0
    limit = floor = 4 * nodes * dense / copy / 1e9
    for columns, beside in walks:
        streamed = (4 * edges + 8 * nodes * columns) / copy / 1e9
        gathered = 4 * edges * (columns + beside) / (rate(columns, nodes) * copy / COPY_OF_RATES) / 1e9
        limit, floor = limit + max(streamed, gathered), floor + streamed
    return limit, floor


def planned_bytes(page):
    """What the plan says that an epoch's launches move at least."""
    body = page["launches"]["body"]["train"]
    return sum(launch.get("bytes", 0) for part in ("forward", "backward", "update") for launch in body[part]) + body["loss"].get("bytes", 0)


def measure(scene, given):
    for program in given.programs:
        row = {"graph": scene.graph, "program": program}
        try:
            copy, shapes = about(scene.seconds_most)
            planned, _ = epochs.trained(scene, program)
            shape = scene.shape(shapes)
            limit, floor = limits(program, shape, copy)
            page = plan(planned)
            row.update({"copy_TBps": copy, "limit_ms": limit, "floor_ms": floor, "plan_bytes": planned_bytes(page), "predicted_ms": page["predicted"]["nanoseconds_step"] / 1e6, "edges": shape[1]})
            row["plan_ms"] = row["plan_bytes"] / copy / 1e9
            row["ms"] = epochs.ours(scene, program).get("ms")
        except Failed as error:
            row["error"] = str(error)
        yield row


def table(rows):
    page = ["Milliseconds an epoch. Share: of the limit in what was measured.", ""]
    page += ["| graph | program | Warploom | limit | share | floor of the memory | the plan's bytes | the plan's prediction |", "|---|---|---|---|---|---|---|---|"]
    shares = {}
    for row in rows:
        if not row.get("ms"):
            page.append(f"| {row['graph']} | {row['program']} | {row.get('error', '-')} | | | | | |")
            continue
        share = row["limit_ms"] / row["ms"]
        if row["edges"] > MANY_EDGES:
            shares.setdefault(row["program"], []).append((share, row["graph"]))
        page.append(f"| {row['graph']} | {row['program']} | {row['ms']:.4f} | {row['limit_ms']:.4f} | {share:.2f} | {shown(row['floor_ms'], 4)} | {shown(row['plan_ms'], 4)} | {shown(row['predicted_ms'], 4)} |")
    page.append("")
    for program, values in shares.items():
        least, where = min(values)
        page.append(f"- {program}, graphs above 1 M edges: {geometric_mean(value for value, _ in values):.2f} of the limit in geometric mean, at least {least:.2f} ({where})")
    return page
