"""One attention step of GAT, forward and backward, beside the plain kernels.

Ours is the difference between programs of 2 and of 4 steps, so that products, loss and optimiser go out: of epochs (a step forward with
what the backward pass needs, and backward) and of passes that only predict. Each step of ours also sums rows into the two scores and takes
their gradients, which the plain kernels are given. All in captured graphs. `seconds_by_launch` of GAT's own epoch, each launch timed
once and on its own, is beside it: of the launches that walk edges.
"""
import json

from . import epochs, scene as scenes
from .scene import Failed, HERE, geometric_mean, plan, ratio, record, shown

SHAPES = ((8, 8), (1, 32))
FEW, MANY = 2, 4
PROGRAM = '''def attention(v, heads=8, width=8, steps=2, slope=0.2):
    "Attention steps one after the other, with scores that are sums of rows."
    v.z = linear(v.x, (heads, width), bias=False)
    for k in range(steps):
        total = reshape(sum(v.z, axis=1), (heads, 1))
        v.left, v.right = total / width, 0.5 * total
        score = [leaky_relu(e.src.left + v.right, slope) for e in v.inedges]
        share = softmax(score)
        v.z = sum(a * e.src.z for a, e in zip(share, v.inedges))
    return linear(flatten(v.z), v.classes)
'''
PIPELINE = """ingest: {symmetrize: false, duplicates: keep}
reorder: {method: none}
plan: {program: attention.py}
"""


def walks(planned, ran):
    """Microseconds of the launches that walk edges, by part of the epoch and name."""
    page, spent = plan(planned), record(ran)["seconds_by_launch"]
    predicted = json.loads((planned / "advice.json").read_text())["predicted"]
    walking = {launch["name"] for launch in predicted["launches"] if launch["limit"] == "rows read at random"}
    body = page["launches"]["body"]["train"]
    return {part: {launch["name"]: spent.get(launch["name"], 0) * 1e6 for launch in body[part] if launch["name"] in walking} for part in ("forward", "backward")}


def ours(scene, heads, width):
    """Microseconds of a step: both passes by epochs, one pass by predictions."""
    epoch, forward, found = {}, {}, {}
    for steps in (FEW, MANY):
        shape = (f"plan.set.heads={heads}", f"plan.set.width={width}", f"plan.set.steps={steps}", f"run.epochs={epochs.EPOCHS}")
        planned, ran = scene.own("attention", PROGRAM, PIPELINE, shape, "full")
        epoch[steps] = record(ran)["seconds_step"]
        found["walks_us"] = walks(planned, ran)
        applied = scene.own("attention", PROGRAM, PIPELINE, (*shape, "run.mode=infer", f"run.init={ran / 'parameters.safetensors'}", "run.passes=51"), "full")
        forward[steps] = record(applied[1])["seconds_step"]
    each = lambda seconds: (seconds[MANY] - seconds[FEW]) / (MANY - FEW) * 1e6
    return {"step_us": each(epoch), "forward_us": each(forward), **found}


def measure(scene, given):
    shapes = ",".join(f"{heads}x{width}" for heads, width in SHAPES)
    try:
        theirs, trouble = scene.beside(HERE / "plain.py", "attention", scene.graph, shapes), {}
    except Failed as error:
        theirs, trouble = scenes.lines(error.said), {"problem": str(error)}
    theirs = {(line["heads"], line["width"]): line for line in theirs if line.get("what") == "attention"}
    for heads, width in SHAPES:
        row = {"graph": scene.graph, "heads": heads, "width": width, **trouble, **theirs.get((heads, width), {})}
        try:
            row.update(ours(scene, heads, width))
            if (heads, width) == SHAPES[0]:
                row["walks_of_gat_us"] = walks(*epochs.trained(scene, "gat"))
        except Failed as error:
            row["error"] = str(error)
        yield row


def table(rows):
    page = ["Microseconds of one step in captured graphs. Ours forward is of a pass that only predicts; both, of an epoch. GAT's walks: both layers, launch by launch.", ""]
    page += ["| graph | shape | ours, both | plain, both | over ours | ours, forward | plain, forward | over ours | walks of GAT's epoch, forward + backward |", "|---|---|---|---|---|---|---|---|---|"]
    ratios, behind = {}, []
    for row in rows:
        step, forward, theirs = row.get("step_us"), row.get("forward_us"), row.get("probe_forward_us")
        both = theirs + row["probe_backward_us"] if theirs else None
        compared = {"both": ratio(both, step), "forward": ratio(theirs, forward)}
        for what, value in compared.items():
            if value:
                ratios.setdefault((f"{row['heads']}x{row['width']}", what), []).append(value)
                if value < 1:
                    behind.append(f"{row['graph']} {row['heads']}x{row['width']} {what}: {value:.2f}")
        walked = " + ".join(shown(sum(of_part.values()), 1) for of_part in row.get("walks_of_gat_us", {}).values())
        cells = [shown(step, 1) if step else row.get("error", "-"), shown(both, 1), shown(compared["both"], 2), shown(forward, 1), shown(theirs, 1), shown(compared["forward"], 2), walked]
        page.append(f"| {row['graph']} | {row['heads']}x{row['width']} | {' | '.join(cells)} |")
    page.append("")
    page += [f"- {shape}, {what}: {geometric_mean(values):.2f} times as fast as the plain kernels in geometric mean, at least {min(values):.2f}" for (shape, what), values in ratios.items()]
    page += [f"- behind: {'; '.join(behind)}"] if behind else []
    return page
