"""A graph on one GPU, of the rulers or real, with a store of its own, and how programs of ours and of others are started on it.

Promises that nothing raises because a child failed: what went wrong is the row's `error`. Never times anything by itself.
"""
import concurrent.futures, json, math, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULER = ROOT / "tests/bench/rulers"
HERE = pathlib.Path(__file__).resolve().parent
# Of a bare graph.
FEATURES = 16
# In front of the name of a real set, so that it is not taken for the ruler's graph of that name.
REAL = "real/"
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
    """One graph of the rulers, features and classes as many as the named set has; written down as arrays, which Warploom takes in as anybody's."""

    # Of arrays: the edges are as they are.
    AS_IT_IS = ("ingest.symmetrize=false", "ingest.duplicates=keep")

    def __init__(self, graph, binary, seconds_most, device="cuda", order=None):
        self.graph, self.binary, self.seconds_most, self.device = graph, os.path.abspath(binary), seconds_most, device
        # How ours is reordered, whatever pipelines say; none: as they say.
        self.order = order
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

    def taken(self, form):
        """The data set of a form, and the settings that take it in; where it is no data set yet it is written down, under a name that the catalogue
        does not know."""
        return self.once(form, lambda: (self.write(form), self.AS_IT_IS))

    def write(self, form):
        name = f"ruler_{form}_" + self.graph.lower().replace("-", "_")
        child([sys.executable, "-c", WRITE, self.graph, self.path / "raw" / name, form], self.seconds_most)
        return name

    def beside(self, script, *arguments):
        """Lines of a script of others, which finds the graph by its name."""
        return python(script, *arguments, seconds_most=self.seconds_most)

    def shape(self, known):
        """Nodes, edges, numbers that a node's features are, and classes, and what else the rulers know of it."""
        return known[self.graph]

    def ours(self, pipeline, settings, form="full"):
        """Runs a pipeline; gives the folders of its plan and its run."""
        made = self.once((pipeline, settings, form), lambda: self.run(pipeline, settings, form))
        return made["plan"], made["run"]

    def prepare(self, wanted, form="full"):
        """All that several runs of these pipelines and settings need, side by side: with another seed, so that the runs themselves are still to be
        done. What fails here fails again where it is asked for."""
        missing = [(pipeline, settings) for pipeline, settings in wanted if (pipeline, settings, form) not in self.known]
        if len(missing) < 2:
            return
        try:
            self.taken(form)
        except Failed:
            return
        with concurrent.futures.ThreadPoolExecutor() as threads:
            for pipeline, settings in missing:
                threads.submit(self.run, pipeline, (*settings, "run.seed=1"), form)

    def run(self, pipeline, settings, form):
        """Folders of what a pipeline made, by kind."""
        name, taking = self.taken(form)
        command = [self.binary, "pipeline", pipeline, "--device", self.device, "--store", self.path / "store", "--format", "json"]
        for folder in self.folders():
            command += ["--data", folder]
        # What is only taken in needs no order.
        ordered = (f"reorder.method={self.order}",) if self.order and form != "set" else ()
        for setting in (f"dataset={name}", *taking, *ordered, *settings):
            command += ["--set", setting]
        made = {}
        for line in lines(child(command, self.seconds_most)):
            made.update({artifact["kind"]: pathlib.Path(artifact["path"]) for artifact in line.get("artifacts", [])})
        if "plan" not in made or "run" not in made:
            raise Failed("the pipeline named no plan or no run")
        return made

    def folders(self):
        """Where data sets are."""
        return [self.path / "raw"]

    def own(self, name, program, pipeline, settings, form):
        """The same with a program of the benchmark's own."""
        return self.ours(self.written(name, program, pipeline, form), settings, form)

    def written(self, name, program, pipeline, form):
        """The file of a pipeline of the benchmark's own, beside its program."""
        folder = self.path / "own" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(program)
        (folder / f"{name}.yaml").write_text(f"pipeline: {name}\ndataset: {self.taken(form)[0]}\n{pipeline}")
        return folder / f"{name}.yaml"


class RealScene(Scene):
    """One set of WARPLOOM_SHARED/data, by its name in the catalogue. Where its nodes have features and classes it is learned from as it is; else, and
    where a form wants others, its edges are written down as arrays. Whoever is measured beside has the edges as they were taken in, each once and
    without weights, and rows of random numbers, as many as the set has: their time does not depend on what the numbers are."""

    SHARED = pathlib.Path(os.environ.get("WARPLOOM_SHARED", ROOT.parent / "shared")) / "data"
    TAKING = ("ingest.weights=drop",)
    # Takes the set in; what it makes of it is not looked at.
    PROGRAM = '''def taken(v):
    "How many edges come in."
    v.one = 1.0
    return sum(u.one for u in v.innbs)
'''
    PIPELINE = """ingest: {duplicates: merge}
reorder: {method: none}
plan: {program: taken.py}
"""

    def folders(self):
        return [self.path / "raw", self.SHARED]

    def set(self):
        """Its name in the catalogue."""
        return self.graph.removeprefix(REAL)

    def taken(self, form):
        if form == "set" or form == "full" and self.about()["learns"]:
            return self.set(), self.TAKING
        return super().taken(form)

    def write(self, form):
        name = f"real_{form}_" + "".join(letter if letter.isalnum() else "_" for letter in self.set().lower())
        child([sys.executable, HERE / "real_graph.py", "write", self.artifact(), form, self.path / "raw" / name], self.seconds_most)
        return name

    def artifact(self):
        """The folder of the graph as it was taken in."""
        if not self.SHARED.is_dir():
            raise Failed(f"there is no {self.SHARED}: set WARPLOOM_SHARED")
        file = self.once("written", lambda: self.written("taken", self.PROGRAM, self.PIPELINE, "set"))
        return self.once("taken in", lambda: self.run(file, (), "set"))["graph"]

    def peers(self):
        """The folder of what others find it in."""
        return self.once("peers", lambda: self.path / "raw" / self.write("peers"))

    def about(self):
        return json.loads((self.peers() / "shape.json").read_text())

    def beside(self, script, *arguments):
        return python(HERE / "real_graph.py", "beside", self.peers(), script, *arguments, seconds_most=self.seconds_most)

    def shape(self, known):
        about = self.about()
        return about["nodes"], about["edges"], about["numbers"], about["classes"], "real"


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
