"""claims.py: what processes cost that start at once over one empty store: `python3 claims.py WARPLOOM [COUNT [DATASET]]`.

Prints the stages that were built, and CPU seconds (user and system): of one process alone, of one that finds all in the store, of all
together, and what is left of these for building, as a share of the first.
"""
import json, os, subprocess, sys, tempfile, time

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines/pagerank.yaml")


def start(program, dataset, folder, store):
    command = [program, "pipeline", FILE, "--set", f"dataset={dataset}", "--threads", "1", "--format", "json",
               "--store", f"{folder}/{store}", "--data", f"{folder}/raw", "--no-progress"]
    out = tempfile.TemporaryFile()
    return subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL), out


def end(started):
    """CPU seconds, and the stages that it built."""
    process, out = started
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.args
    out.seek(0)
    lines = [json.loads(line) for line in out.read().decode().splitlines()]
    return usage.ru_utime + usage.ru_stime, [line["stage"] for line in lines if line.get("status") == "built"]


def main(program, count=50, dataset="random-150000-1500000"):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/raw")
        alone = sorted(end(start(program, dataset, folder, f"alone-{number}"))[0] for number in range(3))[1]
        hits = sorted(end(start(program, dataset, folder, "alone-0"))[0] for _ in range(5))[2]
        began = time.monotonic()
        ended = [end(started) for started in [start(program, dataset, folder, "shared") for _ in range(count)]]
        wall = time.monotonic() - began
    together = sum(seconds for seconds, _ in ended)
    built = sorted(stage for _, stages in ended for stage in stages)
    idle = sorted(seconds for seconds, stages in ended if not stages)
    builders = sum(seconds for seconds, stages in ended if stages)
    print(f"one process {alone:.2f} s CPU, one that finds all {hits:.3f} s, {count} at once {together:.2f} s in {wall:.1f} s")
    print(f"stages built: {len(built)} ({', '.join(built)})")
    print(f"building, without what {count - 1} that find all take: {together - (count - 1) * hits:.2f} s, {(together - (count - 1) * hits) / alone:.3f} times one")
    print(f"processes that built something: {builders:.2f} s, {builders / alone:.3f} times one")
    if idle:
        print(f"a process that only waited: {idle[len(idle) // 2]:.3f} s CPU (median of {len(idle)}), {idle[-1]:.3f} at most")


main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
