"""Epochs of training on one GPU beside PyG's best form, in the same run and on the same graphs.

usage: python3 tests/bench/gpu.py [--warploom BIN] [--out FOLDER] [--graphs a,b] [--programs gcn,gin,gat]
Needs a GPU of NVIDIA, torch, PyG and NVRTC. The graphs are those of kernels/device/lab/rulers/gpu_baseline.py, with the counts of the named
sets, features and classes as many as theirs; they are written down as arrays, which Warploom takes in as anybody's. Without dropout, so that
one forward pass serves measurement and step: Warploom's epoch measures all parts and takes a step, PyG's takes a step.
Writes README.md and results.json into FOLDER.
"""
import argparse, datetime, glob, json, math, os, subprocess, sys, tempfile

RULER = "kernels/device/lab/rulers"
GRAPHS = "cora,citeseer,pubmed,ppi,PROTEINS_full,DD,TWITTER-Partial,OVCAR-8H,artist,com-amazon,soc-BlogCatalog,amazon0505,amazon0601,arxiv"
SETTINGS = {
    "gcn": ["plan.set.drop=0.0"],
    "gin": ["plan.set.drop=0.0"],
    "gat": ["plan.set.drop=0.0", "plan.set.drop_shares=0.0", "run.keep=last"],
}
EPOCHS = 40
# A graph of the ruler, as arrays.
WRITE = f"""
import os, sys
sys.path.insert(0, "{RULER}")
import numpy, torch
import gpu_baseline as ruler
name, folder = sys.argv[1:]
os.makedirs(folder)
source, target, nodes = ruler.graph(name)
_, _, columns, classes, _ = ruler.SHAPES[name]
numpy.savez(os.path.join(folder, "edges.npz"), edge_index=torch.stack([source, target]).cpu().numpy(), num_nodes=nodes)
draw = torch.Generator(device=source.device).manual_seed(1)
numpy.save(os.path.join(folder, "features.npy"), torch.randn(nodes, columns, generator=draw, device=source.device).cpu().numpy())
numpy.save(os.path.join(folder, "labels.npy"), torch.randint(0, classes, (nodes,), generator=draw, device=source.device).cpu().numpy())
"""


def ours(binary, program, graph, folder):
    store, raw = os.path.join(folder, "store"), os.path.join(folder, "raw")
    settings = [f"dataset={data_set(graph)}", "ingest.symmetrize=false", "ingest.duplicates=keep", f"run.epochs={EPOCHS}", *SETTINGS[program]]
    command = [binary, "pipeline", f"pipelines/{program}.yaml", "--device", "cuda", "--store", store, "--data", raw]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": next((line for line in done.stderr.splitlines() if line.startswith("error")), "no word")}
    newest = max(glob.glob(os.path.join(store, "run-v1", "*", "record.json")), key=os.path.getmtime)
    record = json.load(open(newest))
    launches = {name: seconds * 1e6 for name, seconds in record["seconds_by_launch"].items()}
    return {"ms": record["seconds_step"] * 1e3, "MiB": record["bytes_peak"] / 2**20, "launches_us": launches}


def data_set(graph):
    """A name that the catalogue does not know."""
    return "ruler_" + graph.lower().replace("-", "_")


def peers(graph):
    command = [sys.executable, f"{RULER}/gpu_baseline.py", "train", "--graphs", graph]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    best = {}
    for line in (json.loads(line) for line in lines if line.startswith("{")):
        if line["what"] == "epoch" and "train_ms" in line:
            of_model = best.setdefault(line["model"], {"ms": {}, "MiB": math.inf})
            of_model["ms"][line["form"]] = line["train_ms"]
            of_model["MiB"] = min(of_model["MiB"], line["peak_MiB"])
            if "train_graph_ms" in line:
                of_model["captured"] = line["train_graph_ms"]
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--warploom", default="target/release/warploom")
    parser.add_argument("--out", default="target/bench-gpu")
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--programs", default="gcn,gin,gat")
    given = parser.parse_args()
    os.makedirs(given.out, exist_ok=True)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    device = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    rows = []
    for graph in given.graphs.split(","):
        best = peers(graph)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", WRITE, graph, os.path.join(folder, "raw", data_set(graph))], check=True)
            for program in given.programs.split(","):
                pyg, mine = best.get(program, {}), ours(given.warploom, program, graph, folder)
                rows.append({"graph": graph, "program": program, "pyg": pyg, **mine})
                print(graph, program, {form: round(value, 3) for form, value in pyg.get("ms", {}).items()}, round(mine.get("ms", math.nan), 4), mine.get("error", ""), flush=True)
        write(given.out, device, rows)


def write(folder, device, rows):
    with open(os.path.join(folder, "results.json"), "w") as out:
        json.dump({"device": device, "date": str(datetime.date.today()), "rows": rows}, out, indent=1)
    lines = [f"# {datetime.date.today()}, one {device}", "", "Made by `tests/bench/gpu.py`; details in `results.json`. Milliseconds an epoch; memory of the device.", ""]
    lines += ["| graph | program | Warploom | PyG, best of its forms | times as fast | captured by hand | times as fast | memory, of PyG's |", "|---|---|---|---|---|---|---|---|"]
    ratios = {}
    for row in rows:
        if "ms" not in row or not row["pyg"]:
            lines.append(f"| {row['graph']} | {row['program']} | {row.get('error') or round(row['ms'], 4)} | | | | | |")
            continue
        plain, captured = min(row["pyg"]["ms"].values()), row["pyg"].get("captured")
        ratios.setdefault(row["program"], []).append(plain / row["ms"])
        beside = f"{captured:.3f} | {captured / row['ms']:.2f}" if captured else "- | -"
        memory = f"{row['MiB']:.0f} MiB, {row['MiB'] / row['pyg']['MiB']:.2f}"
        lines.append(f"| {row['graph']} | {row['program']} | {row['ms']:.4f} | {plain:.3f} | {plain / row['ms']:.2f} | {beside} | {memory} |")
    lines.append("")
    for program, values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        lines.append(f"- {program}: {mean:.2f} times as fast as PyG in geometric mean, at least {min(values):.2f}")
    with open(os.path.join(folder, "README.md"), "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
