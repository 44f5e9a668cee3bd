"""Inference beside PyG: the mean of 200 passes, with parameters that were learned on the same graph before."""
from . import epochs
from .scene import Failed, HERE, record

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
        yield {"graph": scene.graph, "program": program, "pyg": best.get(program, best.get(epochs.WHOLE, {})), **ours(scene, program)}


def table(rows):
    return epochs.table(rows, "a pass, the mean of 200")
