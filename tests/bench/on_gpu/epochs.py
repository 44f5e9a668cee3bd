"""Epochs of training beside PyG's forms.

Without dropout, so that one forward pass serves measurement and step: Warploom's epoch measures all parts and takes a step, PyG's takes a step.
"""
import math

from .scene import Failed, HERE, RULER, geometric_mean, lines, record

# Enough for the median to be of epochs that are replayed: the first 128 of these also record their graph.
EPOCHS = 300
# What befell a child as a whole.
WHOLE = "*"
SETTINGS = {
    "gcn": ("plan.set.drop=0.0",),
    "gin": ("plan.set.drop=0.0",),
    "gat": ("plan.set.drop=0.0", "plan.set.drop_shares=0.0", "run.keep=last"),
    "sage": ("plan.set.drop=0.0", "plan.set.hidden=64"),
}


def training(program):
    """Its pipeline and its settings."""
    return f"pipelines/{program}.yaml", (f"run.epochs={EPOCHS}", *SETTINGS[program])


def trained(scene, program):
    """Folders of the plan and the run of our training."""
    return scene.ours(*training(program))


def ours(scene, program):
    try:
        said = record(trained(scene, program)[1])
    except Failed as error:
        return {"error": str(error)}
    launches = {name: seconds * 1e6 for name, seconds in said["seconds_by_launch"].items()}
    beyond = {"foreseen_MiB": said["bytes_predicted"] / 2**20, "driver_MiB": said.get("bytes_driver", 0) / 2**20}
    return {"ms": said["seconds_step"] * 1e3, "MiB": said["bytes_peak"] / 2**20, **beyond, "launches_us": launches}


def peers(scene, programs):
    """By model: milliseconds of each form, of the best that is captured, and memory of the most frugal."""
    found = []
    if set(programs) & {"gcn", "gin", "gat"}:
        found += [{**line, "ms": line.get("train_ms"), "captured_ms": line.get("train_graph_ms")} for line in asked(scene, RULER / "gpu_baseline.py", "train", "--graphs", scene.graph)]
    if "sage" in programs:
        found += asked(scene, HERE / "pyg.py", "train", scene.graph)
    return best_of(found)


def asked(scene, *command):
    """Its lines; where it failed, those before that, and why."""
    try:
        return scene.beside(*command)
    except Failed as error:
        return [*lines(error.said), {"model": WHOLE, "form": "all", "error": str(error)}]


def best_of(found):
    best = {}
    for line in found:
        if "model" not in line:
            continue
        of_model = best.setdefault(line["model"], {"ms": {}, "errors": {}, "MiB": None})
        if line.get("ms") is None:
            of_model["errors"][line["form"]] = line.get("error", "no figure")
            continue
        of_model["ms"][line["form"]] = line["ms"]
        if "peak_MiB" in line:
            of_model["MiB"] = min(of_model["MiB"] or math.inf, line["peak_MiB"])
        if line.get("captured_ms"):
            of_model["captured"] = min(of_model.get("captured", math.inf), line["captured_ms"])
    return best


def measure(scene, given):
    best = peers(scene, given.programs)
    # Halves: the second finds the graphs of the first, with and without self loops.
    for half in (given.programs[:2], given.programs[2:]):
        scene.prepare([training(program) for program in half])
    for program in given.programs:
        yield {"graph": scene.graph, "program": program, "pyg": best.get(program, best.get(WHOLE, {})), **ours(scene, program)}


def table(rows, what="an epoch"):
    page = [f"Milliseconds {what}; memory of the device.", ""]
    page += ["| graph | program | Warploom | PyG, best of its forms | times as fast | captured by hand | times as fast | memory, of PyG's |", "|---|---|---|---|---|---|---|---|"]
    plain_ratios, captured_ratios = {}, {}
    for row in rows:
        ms, forms, captured = row.get("ms"), row["pyg"].get("ms", {}), row["pyg"].get("captured")
        if ms is None or not forms:
            page.append(f"| {row['graph']} | {row['program']} | {row.get('error') or round(ms, 4)} | | | | | |")
            continue
        plain = min(forms.values())
        plain_ratios.setdefault(row["program"], []).append((plain / ms, row["graph"]))
        beside = "- | -"
        if captured:
            captured_ratios.setdefault(row["program"], []).append((captured / ms, row["graph"]))
            beside = f"{captured:.3f} | {captured / ms:.2f}"
        memory = f"{row['MiB']:.0f} MiB" if "MiB" in row else "-"
        if "MiB" in row and row["pyg"].get("MiB"):
            memory += f", {row['MiB'] / row['pyg']['MiB']:.2f}"
        page.append(f"| {row['graph']} | {row['program']} | {ms:.4f} | {plain:.3f} | {plain / ms:.2f} | {beside} | {memory} |")
    page.append("")
    told = [row for row in rows if row.get("driver_MiB")]
    if told:
        code = [row["driver_MiB"] - row["MiB"] for row in told]
        off, where = max((abs(row["foreseen_MiB"] / row["MiB"] - 1), f"{row['graph']} {row['program']}") for row in told)
        page.append(f"- memory: foreseen within {100 * off:.2f} % of what is taken ({where}); code and graphs take {min(code):.0f} to {max(code):.0f} MiB more, by the driver's own figure")
    for ratios, of in ((plain_ratios, "PyG"), (captured_ratios, "PyG captured by hand")):
        for program, values in ratios.items():
            least, where = min(values)
            page.append(f"- {program}: {geometric_mean(value for value, _ in values):.2f} times as fast as {of} in geometric mean, at least {least:.2f} ({where})")
    return page
