"""What every benchmark stands on: how programs of ours are started, where things lie, how peers and files are opened.

Promises that peers and our programs have the same number of threads and the same graph; never times anything by itself, but for
`measured`, which times a whole program.
"""
import importlib, json, math, os, pathlib, shutil, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
HERE = pathlib.Path(__file__).resolve().parent
THREADS = min(2, os.cpu_count())
WORK = pathlib.Path(os.environ.get("BENCH_DIR", ROOT / "target/bench"))
# Real files, where this machine has them; a set without is made up, and says so.
SHARED = pathlib.Path(os.environ.get("WARPLOOM_SHARED", ROOT.parent / "shared")) / "data"
STAGES = ["ingest", "extract", "reorder", "partition", "plan", "run"]


class Skip(Exception):
    """A peer or a resource is missing."""


def warploom(*arguments, store, data=None, check=True):
    """Starts the front door with JSON output; returns its lines."""
    command = [RELEASE / "warploom", *arguments, "--store", store, "--data", data or WORK / "raw", "--threads", str(THREADS), "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{command} -> {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def by_stages(pipeline, name, *settings, store=None, again=("plan", "run"), first="ingest", last="run", seconds_most=None):
    """Runs the stages one by one, each a process of its own; those in `again` are made anew. Gives the line of each stage; raises
    `subprocess.TimeoutExpired` where one takes longer than `seconds_most`.

    A run of its own process has a memory of its own. Runs that were made before are taken away first: a forced run that makes the same
    bytes keeps what was there, with the times of then.
    """
    common = ["--pipeline", f"pipelines/{pipeline}.yaml", "--set", f"dataset={name}", *(part for setting in settings for part in ("--set", setting))]
    common += ["--store", store or WORK / "store", "--data", WORK / "raw", "--data", SHARED, "--threads", str(THREADS), "--real=no", "--format", "json", "--no-progress", "--quiet"]
    lines = {}
    for stage in STAGES[STAGES.index(first) : STAGES.index(last) + 1]:
        if stage == "run" and stage in again:
            for earlier in pathlib.Path(store or WORK / "store").glob("run-v*"):
                shutil.rmtree(earlier)
        command = [RELEASE / f"warploom-{stage}", *common, *(["--force"] if stage in again else [])]
        done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=seconds_most, env={**os.environ, "WARPLOOM_CATALOG": str(HERE / "catalog")})
        if done.returncode != 0:
            raise RuntimeError(f"{command} -> {done.returncode}\n{done.stderr}")
        lines[stage] = json.loads(done.stdout.splitlines()[-1])
    return lines


def made_by(lines, stage, kind):
    """Folder of an artifact of a stage."""
    return artifact(list(lines.values()), stage, kind)


def record_of(lines):
    """What the run says of itself."""
    return json.loads((made_by(lines, "run", "run") / "record.json").read_text())


def geometric_mean(values):
    """Of positive numbers."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def no_network(name):
    """Marks a data set as tried, so that no benchmark touches a network."""
    folder = WORK / "raw" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".absent").write_text("benchmarks use the stand-in\n")


def gcn(store, *more):
    """The pipeline that all figures on the amazon0505 stand-in share."""
    no_network("amazon0505")
    return warploom("pipeline", "pipelines/gcn.yaml", "--set", "dataset=amazon0505", "--set", "plan.set.drop=0", "--real=no", *more, store=store)


def artifact(lines, stage, kind):
    line = next(line for line in lines if line.get("stage") == stage)
    return pathlib.Path(next(a["path"] for a in line["artifacts"] if a["kind"] == kind))


def modules(*names):
    """Imports peers, or skips."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise Skip(f"{error}; set PEERS to a virtual environment that has it")


def arrow(path):
    """A column of an Arrow file as numpy, without a copy."""
    import pyarrow as pa
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    return table.column(0).chunk(0)


def write_safetensors(path, arrays):
    """Float32 arrays in the format of safetensors."""
    header, body = {}, b""
    for name, array in arrays.items():
        data = array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


# Started by a small process: what a program's memory is counted from is that of the process it was forked from.
WATCH = "import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:]); _, status, usage = os.wait4(child.pid, 0); print(usage.ru_maxrss, file=sys.stderr); sys.exit(os.waitstatus_to_exitcode(status))"


def measured(command):
    """Runs a program; its lines of JSON, its own seconds, and its largest resident memory in bytes."""
    done = subprocess.run([sys.executable, "-S", "-E", "-c", WATCH, *map(str, command)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command} -> {done.returncode}\n{done.stderr}")
    begun = time.perf_counter()
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    seconds = time.perf_counter() - begun
    return [json.loads(line) for line in done.stdout.splitlines()], seconds, int(done.stderr.split()[-1]) * 1024
