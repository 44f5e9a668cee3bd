"""A graph of the rulers on one GPU: as arrays, with a store of its own, and how programs of ours and of others are started on it.

Promises that nothing raises because a child failed: what went wrong is the row's `error`. Never times anything by itself.
"""
import concurrent.futures, json, math, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULER = ROOT / "kernels/device/lab/rulers"
HERE = pathlib.Path(__file__).resolve().parent
# Of a bare graph.
FEATURES = 16
# A graph of the ruler, as arrays; bare: few features, weights, and nothing to learn.
WRITE = f"""
import os, sys
sys.path.insert(0, {str(RULER)!r})
import numpy, torch
import gpu_baseline as ruler
name, folder, form = sys.argv[1:]
os.makedirs(folder)
source, target, nodes = ruler.graph(name)
_, _, columns, classes, _ = ruler.SHAPES[name]
draw = torch.Generator(device=source.device).manual_seed(1)
more = {{}}
if form == "bare":
    columns, more = {FEATURES}, {{"edge_weight": torch.rand(source.numel(), generator=draw, device=source.device).add_(0.5).cpu().numpy()}}
numpy.savez(os.path.join(folder, "edges.npz"), edge_index=torch.stack([source, target]).cpu().numpy(), num_nodes=nodes, **more)
numpy.save(os.path.join(folder, "features.npy"), torch.randn(nodes, columns, generator=draw, device=source.device).cpu().numpy())
if form != "bare":
    numpy.save(os.path.join(folder, "labels.npy"), torch.randint(0, classes, (nodes,), generator=draw, device=source.device).cpu().numpy())
"""


class Failed(Exception):
    """A child failed, or took too long; `said` is what it had printed."""

    def __init__(self, what, said=""):
        super().__init__(what)
        self.said = said


def child(command, seconds_most):
    """What it printed."""
    try:
        done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=seconds_most)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"longer than {seconds_most} s", (late.stdout or b"").decode(errors="replace")) from None
    except OSError as error:
        raise Failed(str(error)) from None
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        # Ours begin with the word, those of Python end with it.
        raise Failed(next((line for line in said if line.startswith("error")), said[-1] if said else f"exit code {done.returncode}")[:200], done.stdout)
    return done.stdout


def lines(text):
    """Its lines of JSON, but for one that was broken off."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]


def python(script, *arguments, seconds_most):
    """Lines of a script."""
    return lines(child([sys.executable, script, *arguments], seconds_most))


class Scene:
    """One graph."""

    def __init__(self, graph, binary, seconds_most):
        self.graph, self.binary, self.seconds_most = graph, os.path.abspath(binary), seconds_most
        self.known = {}
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def once(self, key, make):
        """What it made, or the failure that it met, the first time."""
        if key not in self.known:
            try:
                self.known[key] = make(), None
            except Failed as error:
                self.known[key] = None, error
        made, error = self.known[key]
        if error:
            raise error
        return made

    def data_set(self, form):
        """Writes the graph down, under a name that the catalogue does not know."""
        return self.once(form, lambda: self.write(form))

    def write(self, form):
        name = f"ruler_{form}_" + self.graph.lower().replace("-", "_")
        child([sys.executable, "-c", WRITE, self.graph, self.path / "raw" / name, form], self.seconds_most)
        return name

    def ours(self, pipeline, settings, form="full"):
        """Runs a pipeline; gives the folders of its plan and its run."""
        return self.once((pipeline, settings, form), lambda: self.run(pipeline, settings, form))

    def prepare(self, wanted, form="full"):
        """All that several runs of these pipelines and settings need, side by side: with another seed, so that the runs themselves are still to be
        done. What fails here fails again where it is asked for."""
        missing = [(pipeline, settings) for pipeline, settings in wanted if (pipeline, settings, form) not in self.known]
        if len(missing) < 2:
            return
        try:
            self.data_set(form)
        except Failed:
            return
        with concurrent.futures.ThreadPoolExecutor() as threads:
            for pipeline, settings in missing:
                threads.submit(self.run, pipeline, (*settings, "run.seed=1"), form)

    def run(self, pipeline, settings, form):
        command = [self.binary, "pipeline", pipeline, "--device", "cuda", "--store", self.path / "store", "--data", self.path / "raw", "--format", "json"]
        for setting in (f"dataset={self.data_set(form)}", "ingest.symmetrize=false", "ingest.duplicates=keep", *settings):
            command += ["--set", setting]
        made = {}
        for line in lines(child(command, self.seconds_most)):
            made.update({artifact["kind"]: pathlib.Path(artifact["path"]) for artifact in line.get("artifacts", [])})
        if "plan" not in made or "run" not in made:
            raise Failed("the pipeline named no plan or no run")
        return made["plan"], made["run"]

    def own(self, name, program, pipeline, settings, form):
        """The same with a program of the benchmark's own."""
        folder = self.path / "own" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(program)
        (folder / f"{name}.yaml").write_text(f"pipeline: {name}\ndataset: {self.data_set(form)}\n{pipeline}")
        return self.ours(folder / f"{name}.yaml", settings, form)


def record(run):
    """What a run says of itself."""
    return json.loads((run / "record.json").read_text())


def plan(folder):
    """The page of a plan."""
    return json.loads((folder / "plan.json").read_text())


def geometric_mean(values):
    """Of positive numbers."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def shown(value, digits=3):
    """A number, or a dash."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def ratio(theirs, mine):
    """How many times as fast ours is."""
    return theirs / mine if theirs and mine and mine > 0 else None
