"""Epochs of training on one GPU beside PyG's best form, in the same run. Warploom's epoch measures all parts and takes a step; PyG's takes a step.

usage: python3 tests/bench/gpu.py [--warploom BIN] [--out FOLDER] [--graphs a,b] [--programs gcn,gin,gat]
Needs a GPU of NVIDIA, torch, PyG and NVRTC. Graphs are stand-ins with the counts of the named sets, ours for us and the ruler's for PyG
(kernels/device/lab/rulers/gpu_baseline.py), without dropout, so that one forward pass serves measurement and step on both sides.
Writes README.md and results.json into FOLDER.
"""
import argparse, datetime, glob, json, math, os, subprocess, sys, tempfile

# our data set: the ruler's graph
GRAPHS = {
    "cora": "cora", "citeseer": "citeseer", "pubmed": "pubmed", "ppi": "ppi",
    "artist": "artist", "com-amazon": "com-amazon", "soc-BlogCatalog": "soc-BlogCatalog", "amazon0505": "amazon0505",
    "amazon0601": "amazon0601", "ogbn-arxiv": "arxiv",
}
SETTINGS = {
    "gcn": ["plan.set.drop=0.0"],
    "gin": ["plan.set.drop=0.0"],
    "gat": ["plan.set.drop=0.0", "plan.set.drop_shares=0.0", "run.keep=last"],
}
EPOCHS = 40


def ours(binary, program, graph, store):
    settings = [f"dataset={graph}", f"run.epochs={EPOCHS}", *SETTINGS[program]]
    command = [binary, "pipeline", f"pipelines/{program}.yaml", "--device", "cuda", "--store", store, "--data", os.path.join(store, "raw")]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": next((line for line in done.stderr.splitlines() if line.startswith("error")), "no word")}
    newest = max(glob.glob(os.path.join(store, "run-v1", "*", "record.json")), key=os.path.getmtime)
    record = json.load(open(newest))
    return {"ms": record["seconds_step"] * 1e3, "launches_us": {name: seconds * 1e6 for name, seconds in record["seconds_by_launch"].items()}}


def peers(graphs):
    command = [sys.executable, "kernels/device/lab/rulers/gpu_baseline.py", "train", "--graphs", ",".join(GRAPHS[graph] for graph in graphs)]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    best = {}
    for line in (json.loads(line) for line in lines if line.startswith("{")):
        if line["what"] == "epoch" and "train_ms" in line:
            key = (line["graph"], line["model"])
            best.setdefault(key, {})[line["form"]] = line["train_ms"]
            if "train_graph_ms" in line:
                best[key]["captured"] = line["train_graph_ms"]
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--warploom", default="target/release/warploom")
    parser.add_argument("--out", default="target/bench-gpu")
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--programs", default="gcn,gin,gat")
    given = parser.parse_args()
    graphs, programs = given.graphs.split(","), given.programs.split(",")
    os.makedirs(given.out, exist_ok=True)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    device = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    best = peers(graphs)
    rows = []
    with tempfile.TemporaryDirectory() as store:
        for graph in graphs:
            for program in programs:
                pyg, mine = best.get((GRAPHS[graph], program), {}), ours(given.warploom, program, graph, store)
                rows.append({"graph": graph, "program": program, "pyg": pyg, **mine})
                print(graph, program, {**{key: round(value, 3) for key, value in pyg.items()}}, round(mine.get("ms", math.nan), 4), mine.get("error", ""), flush=True)
    write(given.out, device, rows)


def write(folder, device, rows):
    json.dump({"device": device, "date": str(datetime.date.today()), "rows": rows}, open(os.path.join(folder, "results.json"), "w"), indent=1)
    lines = [f"# {datetime.date.today()}, one {device}", "", "Made by `tests/bench/gpu.py`; details in `results.json`. Milliseconds an epoch.", ""]
    lines += ["| graph | program | Warploom | PyG, best of its forms | times as fast | captured by hand | times as fast |", "|---|---|---|---|---|---|---|"]
    ratios = {}
    for row in rows:
        if "ms" not in row or not row["pyg"]:
            lines.append(f"| {row['graph']} | {row['program']} | {row.get('error', '')} | | | | |")
            continue
        plain = min(value for form, value in row["pyg"].items() if form != "captured")
        captured = row["pyg"].get("captured")
        ratios.setdefault(row["program"], []).append(plain / row["ms"])
        beside = f"{captured:.3f} | {captured / row['ms']:.2f}" if captured else "- | -"
        lines.append(f"| {row['graph']} | {row['program']} | {row['ms']:.4f} | {plain:.3f} | {plain / row['ms']:.2f} | {beside} |")
    lines.append("")
    for program, values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        lines.append(f"- {program}: {mean:.2f} times as fast as PyG in geometric mean, at least {min(values):.2f}")
    open(os.path.join(folder, "README.md"), "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
