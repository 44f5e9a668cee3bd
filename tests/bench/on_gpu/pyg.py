"""PyG's forms of SAGE-64 in training, and of GCN-16 and GIN-5x64 in inference, on a graph of the ruler: edge index, CSR, SparseTensor where
torch_sparse is, and each of them captured by hand in a CUDA graph where that can be.

usage: python3 pyg.py train|infer GRAPH  -> one JSON line per model and form
Inference is the mean of 200 passes, of fewer where these take longer than 2 seconds.
"""
import json, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rulers"))
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv, GINConv, SAGEConv
from torch_geometric.utils import to_torch_csc_tensor
import gpu_baseline as ruler

PASSES, SECONDS = 200, 2.0


class GCN(torch.nn.Module):
    def __init__(self, columns, hidden, classes):
        super().__init__()
        self.first, self.second = GCNConv(columns, hidden, cached=True), GCNConv(hidden, classes, cached=True)

    def forward(self, x, edges):
        return self.second(self.first(x, edges).relu(), edges)


class GIN(torch.nn.Module):
    def __init__(self, columns, hidden, classes):
        super().__init__()
        widths = [columns, hidden, hidden, hidden, hidden]
        self.layers = torch.nn.ModuleList([GINConv(self.mlp(width, hidden, classes if k == 4 else hidden)) for k, width in enumerate(widths)])

    @staticmethod
    def mlp(columns, hidden, out):
        return torch.nn.Sequential(torch.nn.Linear(columns, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, out))

    def forward(self, x, edges):
        for layer in self.layers[:-1]:
            x = layer(x, edges).relu()
        return self.layers[-1](x, edges)


class SAGE(torch.nn.Module):
    def __init__(self, columns, hidden, classes):
        super().__init__()
        self.first, self.second = SAGEConv(columns, hidden), SAGEConv(hidden, classes)

    def forward(self, x, edges):
        return self.second(self.first(x, edges).relu(), edges)


def captured(work):
    """The work in a CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def mean(work):
    """Milliseconds of one in the mean, and of how many."""
    each = ruler.timed(work, warm=3, reps=3)
    passes = max(3, min(PASSES, int(1e3 * SECONDS / each)))
    begun, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begun.record()
    for _ in range(passes):
        work()
    ended.record()
    torch.cuda.synchronize()
    return begun.elapsed_time(ended) / passes, passes


def forms(source, target, nodes):
    """The edges in each form, made when it is asked for."""
    index = torch.stack([source, target])
    yield "edge_index", lambda: index
    yield "csr", lambda: to_torch_csc_tensor(index, size=(nodes, nodes)).t()
    try:
        from torch_sparse import SparseTensor
    except ImportError:
        return
    yield "SparseTensor", lambda: SparseTensor(row=target, col=source, sparse_sizes=(nodes, nodes))


def train(model, x, y, edges, row):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, capturable=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x, edges), y).backward()
        optimizer.step()

    torch.cuda.reset_peak_memory_stats()
    row["ms"] = ruler.timed(step, reps=10)
    row["peak_MiB"] = torch.cuda.max_memory_allocated() >> 20
    try:
        row["captured_ms"] = ruler.timed(captured(step).replay, reps=10)
    except Exception as error:
        row["captured_error"] = str(error)[:80]


def infer(model, x, y, edges, row):
    model.eval()
    with torch.no_grad():
        row["ms"], row["passes"] = mean(lambda: model(x, edges))
        try:
            row["captured_ms"], _ = mean(captured(lambda: model(x, edges)).replay)
        except Exception as error:
            row["captured_error"] = str(error)[:80]


def main():
    what, name = sys.argv[1:]
    models = {"train": [("sage", SAGE, 64)], "infer": [("gcn", GCN, 16), ("gin", GIN, 64)]}[what]
    source, target, nodes = ruler.graph(name)
    _, edges, columns, classes, _ = ruler.SHAPES[name]
    x = torch.randn(nodes, columns, device="cuda")
    y = torch.randint(0, classes, (nodes,), device="cuda")
    for model, make, hidden in models:
        for form, given in forms(source, target, nodes):
            row = dict(what=what, graph=name, model=model, form=form)
            # Rows of edges that would not fit, as in the ruler.
            if form == "edge_index" and edges * max(hidden, columns if model != "gcn" else 0) * 4 > 30e9:
                ruler.out(**row, error="too large")
                continue
            try:
                torch.manual_seed(0)
                (train if what == "train" else infer)(make(columns, hidden, classes).cuda(), x, y, given(), row)
            except Exception as error:
                row["error"] = str(error)[:120]
            ruler.out(**row)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
