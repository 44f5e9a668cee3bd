"""The neighbour sum alone, unweighted and weighted, beside the plain kernel and cuSPARSE's better algorithm, all in captured graphs.

One program has a chain of sums of every width, so that no two can share a walk: of each width a first sum, whose rows may be made on the
way; the sum that is measured, which reads rows that lie there and writes such; the weighted one behind it, likewise; and a last one that
reads it. `seconds_by_launch` of a run with `run.passes` is the time of each in a captured graph. The graph is as the ruler makes it,
ids shuffled, for both sides (`reorder.method=none`, unless `--order` says otherwise of ours): ours walks rows by falling degree where its plan says so, the plain kernel cuts
rows and takes the longest pieces first, cuSPARSE takes rows as they come.
"""
import os, pathlib, shutil

from . import scene as scenes
from .scene import FEATURES, Failed, HERE, RULER, geometric_mean, plan, ratio, record, shown

EVEN, ODD = (16, 32, 64, 128, 256), (22, 39, 47, 100, 121)
# What an odd width must not be slower than.
NEXT = {width: -(-width // 4) * 4 for width in ODD}
WIDTHS = sorted({*EVEN, *ODD, *NEXT.values()})
PIPELINE = """ingest: {symmetrize: false, duplicates: keep}
reorder: {method: none}
plan: {program: sums.py}
"""


def program(widths):
    """Its text: rows of a width are made of the 16 features and one number, by doubling."""
    text = ["def sums(v):", '    "Sums over neighbours of every width, one after the other."', "    v.seed = tanh(norm(v.x))"]
    for width in widths:
        powers = [1 << bit for bit in range(width.bit_length()) if width >> bit & 1]
        text += doubled(1, "reshape(v.x[..., 0] * v.seed, 1)", [power for power in powers if power < FEATURES])
        text += doubled(FEATURES, "v.x * v.seed", [power for power in powers if power >= FEATURES])
        parts = ", ".join(f"v.part{power}" for power in powers)
        text.append(f"    v.row{width} = concat({parts})" if len(powers) > 1 else f"    v.row{width} = {parts}")
        text.append(f"    v.first{width} = sum(u.row{width} for u in v.innbs)")
        text.append(f"    v.plain{width} = sum(u.first{width} for u in v.innbs)")
        text.append(f"    v.weighted{width} = sum(e.w * e.src.plain{width} for e in v.inedges)")
        text.append(f"    v.last{width} = sum(u.weighted{width} for u in v.innbs)")
        text.append(f"    v.seed = tanh(norm(v.last{width}))")
    return "\n".join([*text, "    return v.seed"]) + "\n"


def doubled(first, begin, powers):
    """Lines that make rows of `first` columns, and twice as many, up to the widest that is wanted."""
    if not powers:
        return []
    widths = [first << times for times in range(20) if first << times <= max(powers)]
    return [f"    v.part{first} = {begin}", *(f"    v.part{width} = concat(v.part{width // 2}, v.part{width // 2})" for width in widths[1:])]


def ours(scene, widths):
    """Microseconds of each sum by kind and width."""
    settings = ("run.passes=3",)
    planned, ran = scene.own("sums", program(widths), PIPELINE, settings, "bare")
    spent, page = record(ran)["seconds_by_launch"], plan(planned)
    columns = {buffer["name"]: buffer.get("columns") for buffer in page["launches"]["buffers"]}
    found = {}
    for kind in ("plain", "weighted"):
        for width in widths:
            found[kind, width] = of_sum(f"{kind}{width}.", width, page, (columns, spent))
    return found


def of_sum(name, width, page, known):
    """Of the launch that writes such rows: its time, and nothing else's."""
    columns, spent = known
    made = [launch for launch in launches(page) if any(out.startswith(name) for out in outs(launch.get("operation", launch)))]
    if len(made) != 1:
        return {"error": f"{len(made)} launches make {name[:-1]}"}
    launch = made[0]
    buffers = {out: columns.get(out) for out in outs(launch.get("operation", launch)) if out in columns}
    if not any(out.startswith(name) and count == width for out, count in buffers.items()):
        return {"error": f"the launch {launch['name']} does not lay down rows of {width}", "buffers": buffers}
    seconds = spent.get(launch["name"], 0)
    return {"us": seconds * 1e6, "launch": launch["name"]} if seconds > 0 else {"error": "no time was taken"}


def launches(page):
    """All of a plan without loops."""
    body = page["launches"]["body"]
    return body["iterate"].get("finish", []) if "iterate" in body else body["train"]["forward"]


def outs(value):
    """Every name under `out` in an operation, fused ones too."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "out" and isinstance(inner, str):
                yield inner
            else:
                yield from outs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from outs(inner)


def library(folder):
    """cuSPARSE's ruler as a library, built once; `-` and why, where it cannot be."""
    built = pathlib.Path(folder).resolve() / "libcusparse_cached.so"
    if built.exists():
        return str(built), None
    compiler = shutil.which("nvcc") or next((path for path in ("/usr/local/cuda/bin/nvcc",) if os.path.exists(path)), None)
    if compiler is None:
        return "-", "there is no nvcc"
    command = [compiler, "-O3", "-std=c++17", "-Xcompiler", "-fPIC", "-shared", RULER / "cusparse_cached.cu", "-o", built, "-lcusparse"]
    try:
        scenes.child(command, 300)
    except Failed as error:
        return "-", str(error)
    return str(built), None


def measure(scene, given):
    widths = given.widths
    built, problem = library(given.out)
    try:
        theirs = scene.beside(HERE / "plain.py", "sums", scene.graph, ",".join(map(str, widths)), built)
        trouble = {}
    except Failed as error:
        theirs, trouble = scenes.lines(error.said), {"problem": str(error)}
    theirs = {line["width"]: line for line in theirs if line.get("what") == "sum"}
    try:
        mine = ours(scene, widths)
    except Failed as error:
        mine = {(kind, width): {"error": str(error)} for kind in ("plain", "weighted") for width in widths}
    for width in widths:
        for kind in ("plain", "weighted"):
            row = {"graph": scene.graph, "kind": kind, "width": width, "order": given.order or "none", **trouble, **theirs.get(width, {}), **mine[kind, width]}
            if problem:
                row["cusparse_problem"] = problem
            row["cusparse_us"] = min((row[key] for key in ("cusparse_2_us", "cusparse_3_us") if key in row), default=None)
            yield row


def table(rows):
    page = ["Microseconds of one sum in a captured graph; the plain kernel is unweighted, cuSPARSE (the better of 2 and 3) weighted, in both kinds.", ""]
    page += ["| graph | kind | width | ours | plain kernel | over ours | cuSPARSE | over ours | the next multiple of 4, over ours |", "|---|---|---|---|---|---|---|---|---|"]
    known = {(row["graph"], row["kind"], row["width"]): row.get("us") for row in rows}
    ratios, behind = {}, []
    for row in rows:
        us, probe, cusparse = row.get("us"), row.get("probe_us"), row.get("cusparse_us")
        after = known.get((row["graph"], row["kind"], NEXT[row["width"]])) if row["width"] in NEXT and NEXT[row["width"]] != row["width"] else None
        compared = {"the plain kernel": ratio(probe, us), "cuSPARSE": ratio(cusparse, us), "the next multiple of 4": ratio(after, us)}
        for other, value in compared.items():
            if value:
                ratios.setdefault((row["kind"], other), []).append(value)
                if value < 1:
                    behind.append(f"{row['graph']} {row['kind']} {row['width']}: {value:.2f} of {other}")
        cells = [shown(us, 1) if us else row.get("error", "-"), shown(probe, 1), shown(compared["the plain kernel"], 2), shown(cusparse, 1), shown(compared["cuSPARSE"], 2)]
        page.append(f"| {row['graph']} | {row['kind']} | {row['width']} | {' | '.join(cells)} | {shown(compared['the next multiple of 4'], 2)} |")
    page.append("")
    page += [f"- {kind}: {geometric_mean(values):.2f} times as fast as {other} in geometric mean, at least {min(values):.2f}, {sum(value >= 1 for value in values)} of {len(values)} at least as fast" for (kind, other), values in ratios.items()]
    page += [f"- behind: {'; '.join(behind)}"] if behind else []
    return page
