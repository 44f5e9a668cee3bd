"""batch.py: what batch jobs cost, on a Slurm on loopback: `python3 batch.py WARPLOOM [DATASET]` as root, after `tests/slurm/cluster.sh install`.

Prints seconds and calls of `sbatch` of submitting 1,000 pipelines over a cached graph, seconds of `warploom status` with 6,000 tasks that have
ended, and of a task that finds its output in the store, beside a job that does nothing. Medians of five, in seconds by the clock.
"""
import json, os, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTER = f"{HERE}/../slurm/cluster.sh"


def timed(command, environment, times=5, setup=lambda: None):
    took = []
    for _ in range(times):
        setup()
        began = time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        took.append(time.monotonic() - began)
        assert done.returncode == 0, done.stderr
    return statistics.median(took), done.stdout


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def sweep(folder, name, dataset, hidden, seeds):
    return write(f"{folder}/{name}.yaml", f"dataset: {dataset}\nplan: {{program: {HERE}/../../pipelines/programs/gcn.py}}\nrun: {{epochs: 2}}\n"
                 f"matrix: {{plan.set.hidden: {list(hidden)}, run.seed: {list(seeds)}}}\n")


def submissions(program, folder, dataset, environment):
    store = ["--store", f"{folder}/store", "--data", f"{folder}/raw"]
    submit = ["--site", "slurm", "--real=no", "--format", "json"] + store
    file = sweep(folder, "thousand", dataset, range(1, 11), range(100))
    subprocess.run([program, "pipeline", file, "--set", "matrix.run.seed=[0]", "--set", "matrix.plan.set.hidden=[1]", "--quiet"] + store,
                   env=environment, check=True, capture_output=True)

    def cancel():
        listed = subprocess.run([program, "status", "--format", "json"] + store, env=environment, capture_output=True, text=True).stdout
        for line in listed.splitlines():
            subprocess.run([program, "cancel", json.loads(line)["submission"]] + store, env=environment, capture_output=True)

    # Nothing runs meanwhile.
    subprocess.run(["scontrol", "update", "NodeName=wl[1-3]", "State=DRAIN", "Reason=bench"], env=environment, check=True)
    took, said = timed([program, "submit", file] + submit, environment, setup=cancel)
    said = json.loads(said.splitlines()[0])
    print(f"submitting {said['pipelines']} pipelines, {said['jobs']} jobs, {said['hits']} in the store: {took:.2f} s, {len(said['arrays'])} calls of sbatch")
    cancel()
    subprocess.run(["scontrol", "update", "NodeName=wl[1-3]", "State=RESUME"], env=environment, check=True)
    return store


def status(program, folder, dataset, environment, store):
    file = sweep(folder, "six", dataset, range(1, 7), range(1, 1001))
    said = subprocess.run([program, "submit", file, "--site", "slurm", "--real=no", "--workflow", "snakemake", "--format", "json"] + store,
                          env=environment, capture_output=True, text=True, check=True).stdout
    name = json.loads(said.splitlines()[0])["submission"]
    events = f"{folder}/store/submissions/{name}/events"
    lines = "".join(json.dumps(line) + "\n" for line in [
        {"time": "2026-11-29T12:00:00.000Z", "event": "start", "job": "12_3", "host": "node17", "process": 4711},
        {"time": "2026-11-29T12:00:01.000Z", "event": "stage", "stage": "run", "key": "0" * 32, "status": "built", "seconds": 1.5, "why": "not in the store yet"},
        {"time": "2026-11-29T12:00:01.000Z", "event": "end", "seconds": 1.6, "exit": 0}])
    tasks = 0
    for line in json.loads(subprocess.run([program, "status", "last", "--format", "json"] + store, env=environment, capture_output=True,
                                          text=True).stdout.join(["[", "]"]).replace("\n{", ",\n{")):
        if line["stage"] == "run" and line["array"]:
            write(f"{events}/{line['array']}-{line['task']}.jsonl", lines)
            tasks += 1
    took, _ = timed([program, "status", name] + store, environment)
    print(f"status of {tasks} tasks that have ended: {took:.3f} s")


def cached_task(program, folder, dataset, environment, store):
    file = sweep(folder, "one", dataset, [1], [7])
    said = subprocess.run([program, "submit", file, "--site", "slurm", "--real=no", "--wait", "--format", "json", "--with", "prepare.cpus=1",
                           "--with", "run.cpus=1"] + store, env=environment, capture_output=True, text=True, check=True).stdout
    name = json.loads(said.splitlines()[0])["submission"]
    array = json.loads(said.splitlines()[0])["arrays"][-1]["array"]
    script = f"{folder}/store/submissions/{name}/array-{array}.sh"
    task = dict(environment, WARPLOOM_TASK="0")
    of_script, _ = timed(["bash", script], task, 21)
    of_shell, _ = timed(["bash", "-c", "true & wait $!"], task, 21)
    by_slurm = dict(environment, SLURM_JOB_ID="1")
    verified, _ = timed([program, "task", os.path.dirname(script), "--array", str(array), "--number", "0"], by_slurm, 21)
    print(f"a task that finds its output: {verified * 1e3:.1f} ms; its script {of_script * 1e3:.1f} ms, of which a shell that waits {of_shell * 1e3:.1f} ms")


def main(program, dataset="amazon0505"):
    program = os.path.abspath(program)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.mkdir(f"{folder}/raw")
        environment = dict(os.environ, SLURM_LOOPBACK_DIR=f"{folder}/slurm", BASE_PORT="23000", SLURM_CONF=f"{folder}/slurm/slurm.conf")
        subprocess.run([CLUSTER, "start"], env=environment, check=True)
        try:
            store = submissions(program, folder, dataset, environment)
            status(program, folder, dataset, environment, store)
            cached_task(program, folder, dataset, environment, store)
        finally:
            subprocess.run([CLUSTER, "stop"], env=environment)


main(*sys.argv[1:])
