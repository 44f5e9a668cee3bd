"""Ours on one GPU beside others, in the same run and on the same graphs: epochs and inference beside PyG's forms, sums over neighbours beside a
plain kernel and cuSPARSE, attention and whole epochs beside plain kernels, and the share of what the memory allows; what saving a state costs; tall-skinny products
beside cuBLAS; and graph analytics beside our CPU and CuPy.

usage: python3 tests/bench/gpu.py [--warploom BIN] [--out FOLDER] [--graphs a,b] [--sets c,d] [--parts epochs,sums] [--programs gcn,gin,gat,sage]
                                  [--widths 16,22] [--order rabbit] [--shapes 410236x96x16,...] [--large] [--timeout SECONDS]
Needs a GPU of NVIDIA, torch, PyG and NVRTC; cupy for the plain kernels, nvcc for cuSPARSE and cuBLAS, pyarrow for real sets: what is missing is a
row's problem. The graphs are those of tests/bench/rulers/gpu_baseline.py, with the counts of the named sets, features and classes as many as
theirs; they are written down as arrays, which Warploom takes in as anybody's. The sets are real ones, by their names in the catalogue, of the folder
`data` of WARPLOOM_SHARED (`real/cora` in the tables). Without either option both are measured, with one of them what it names. The part `products`
reads no graph: its shapes are measured once, beside the first.
Writes README.md and results.json into FOLDER, anew after each part of each graph.
"""
import argparse, datetime, json, os, pathlib, subprocess, time, traceback

from on_gpu import analytics, attention, epochs, inference, limit, probe, products, saving, sums
from on_gpu.scene import REAL, RealScene, Scene

GRAPHS = "cora,citeseer,pubmed,ppi,PROTEINS_full,OVCAR-8H,Yeast,DD,TWITTER-Partial,SW-620H,artist,com-amazon,soc-BlogCatalog,amazon0505,amazon0601,arxiv"
# Of one relation each; the others of WARPLOOM_SHARED/data have several, or a few dozen nodes.
SETS = ("cora,cora_ml,uai2010,actor,minesweeper,amazon-photo,prone-wikipedia,prone-ppi,ogbl-ddi,email-Enron,soc-Epinions1,soc-Slashdot0902,ca-HepTh,as20graph,p2p-Gnutella31,"
        "road-NY,road-california,cnr-2000,dblp-2010,uk-2007-05@100000,ENZYMES,PROTEINS_full,Mutagenicity,DBLP_v1,COLLAB,DD")
ORDERS = ("none", "auto", "degree", "rabbit", "metis")
PARTS = {"epochs": epochs, "inference": inference, "sums": sums, "attention": attention, "probe": probe, "limit": limit, "saving": saving, "products": products, "analytics": analytics}


def names(known):
    """A list of names, of which all are known."""
    def read(text):
        asked = text.split(",")
        unknown = [name for name in asked if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}, found {', '.join(unknown)}")
        return asked
    return read


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--warploom", default="target/release/warploom")
    parser.add_argument("--out", default="target/bench-gpu")
    parser.add_argument("--graphs", help=f"of the rulers: {GRAPHS}")
    parser.add_argument("--sets", help=f"real ones: {SETS}")
    parser.add_argument("--parts", type=names(PARTS), default=list(PARTS))
    parser.add_argument("--programs", type=names(epochs.SETTINGS), default=list(epochs.SETTINGS))
    parser.add_argument("--widths", type=lambda text: [int(width) for width in text.split(",")], default=sums.WIDTHS, help="of the sums")
    parser.add_argument("--order", choices=ORDERS, help="how ours is reordered, once for all its runs; others have the graph as it is [default: as the pipelines say: epochs auto, sums none]")
    parser.add_argument("--shapes", type=products.shapes, help="of the products, rows x inner x wide")
    parser.add_argument("--large", action="store_true", help="more products, of features of up to 3 GB")
    parser.add_argument("--timeout", type=int, default=300, help="seconds that a child may take")
    given = parser.parse_args()
    if given.graphs is None and given.sets is None:
        given.graphs, given.sets = GRAPHS, SETS
    listed = lambda text: [name for name in (text or "").split(",") if name]
    given.graphs = [*listed(given.graphs), *(REAL + name for name in listed(given.sets))]
    return given


def device():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return "unknown device"


def told(row):
    """The figures of a row, in a line."""
    return " ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items() if isinstance(value, (str, int, float)))


def main():
    given = arguments()
    os.makedirs(given.out, exist_ok=True)
    results = {"device": device(), "date": str(datetime.date.today()), "order": given.order, "seconds": {}, "rows": []}
    for graph in given.graphs:
        with (RealScene if graph.startswith(REAL) else Scene)(graph, given.warploom, given.timeout, order=given.order) as scene:
            for part in given.parts:
                begun = time.perf_counter()
                try:
                    for row in PARTS[part].measure(scene, given):
                        results["rows"].append({"part": part, **row})
                        print(part, told(row), flush=True)
                except Exception as error:
                    traceback.print_exc()
                    results["rows"].append({"part": part, "graph": graph, "broken": f"{type(error).__name__}: {error}"[:200]})
                seconds = time.perf_counter() - begun
                results["seconds"].setdefault(part, {})[graph] = round(seconds, 1)
                print(f"{part} {graph}: {seconds:.1f} s", flush=True)
                write(given.out, results)


def write(folder, results):
    folder = pathlib.Path(folder)
    (folder / "results.json").write_text(json.dumps(results, indent=1))
    page = [f"# {results['date']}, one {results['device']}", "", "Made by `tests/bench/gpu.py`; details in `results.json`." + (f" Ours is reordered: {results['order']}." if results["order"] else "")]
    for part, module in PARTS.items():
        rows = [row for row in results["rows"] if row["part"] == part]
        broken = [f"- {row['graph']}: {row['broken']}" for row in rows if "broken" in row]
        whole = [row for row in rows if "broken" not in row]
        if rows:
            page += ["", f"## {part}", "", *(module.table(whole) if whole else []), *broken, f"- took {sum(results['seconds'].get(part, {}).values()):.0f} s"]
    (folder / "README.md").write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main()
