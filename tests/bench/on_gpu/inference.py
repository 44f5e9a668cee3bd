"""Inference beside PyG: the mean of 200 passes, with parameters that were learned on the same graph before; and what the limit of a pass allows
(limit.py: launches cost nothing there)."""
from . import epochs, limit
from .scene import Failed, HERE, geometric_mean, record

PASSES = 200
PROGRAMS = ("gcn", "gin")


def passes(scene, program):
    """Its pipeline and its settings, which name what a training has learned."""
    _, learned = epochs.trained(scene, program)
    return f"pipelines/{program}.yaml", (*epochs.SETTINGS[program], "run.mode=infer", f"run.init={learned / 'parameters.safetensors'}", f"run.passes={PASSES + 1}")


def ours(scene, program):
    try:
        said = record(scene.ours(*passes(scene, program))[1])
    except Failed as error:
        return {"error": str(error)}
    if not said["seconds_step"]:
        return {"error": "the run took no time of its passes"}
    launches = {name: seconds * 1e6 for name, seconds in said["seconds_by_launch"].items()}
    return {"ms": said["seconds_step"] * 1e3, "MiB": said["bytes_peak"] / 2**20, "launches_us": launches}


def measure(scene, given):
    best = epochs.best_of(epochs.asked(scene, HERE / "pyg.py", "infer", scene.graph))
    programs = [program for program in PROGRAMS if program in given.programs]
    scene.prepare([epochs.training(program) for program in programs])
    learned = []
    for program in programs:
        try:
            learned.append(passes(scene, program))
        except Failed:
            # It says so for itself.
            continue
    scene.prepare(learned)
    for program in programs:
        beside = {"pyg": best.get(program, best.get(epochs.WHOLE, {})), **at_limit(scene, program)}
        yield {"graph": scene.graph, "program": program, **beside, **ours(scene, program)}


def at_limit(scene, program):
    """Milliseconds of a pass at its limit, and how many edges it walks."""
    try:
        copy, shapes = limit.about(scene.seconds_most)
        shape = scene.shape(shapes)
        return {"limit_ms": limit.limits(program, shape, copy, limit.work_of_pass)[0], "edges": shape[1]}
    except Failed as error:
        return {"limit_problem": str(error)}


def table(rows):
    page = epochs.table(rows, "a pass, the mean of 200")
    for program in PROGRAMS:
        known = [row for row in rows if row["program"] == program and row.get("ms") and row.get("limit_ms") and row["pyg"].get("ms")]
        if not known:
            continue
        allowed = [(min(row["pyg"]["ms"].values()) / row["limit_ms"], row["graph"]) for row in known]
        shares = [row["limit_ms"] / row["ms"] for row in known if row["edges"] > limit.MANY_EDGES]
        share = f"; {geometric_mean(shares):.2f} of the limit reached above 1 M edges" if shares else ""
        least, where = min(allowed)
        page.append(f"- {program} at its limit: {geometric_mean(value for value, _ in allowed):.2f} times as fast as PyG in geometric mean, at least {least:.2f} ({where}){share}")
    return page
