"""Trains one model of PyG on one graph of ours on the CPU, in one form of its adjacency, in a process of its own.

Promises the median seconds of a step after those for warming up, the loss of every step before it is taken, and the largest resident
memory, with what the process held when all libraries were loaded and nothing else. What does not change between steps (normalised
weights, the sorted or compressed form and its transpose) is made once, outside what is timed. The first start writes the
initial parameters under our names, and every later one reads them.

usage: pyg_epoch.py GRAPH_FOLDER MODEL FORM STEPS THREADS INIT.safetensors DTYPE STEP_SIZE      MODEL: gcn, gin, gat; FORM: edge_index, sorted, csr; DTYPE: f32, f64
"""
import json, pathlib, sys, time

import numpy, pyarrow as pa, pyarrow.parquet as parquet, torch
from safetensors.torch import load_file, save_file
from torch_geometric import EdgeIndex
from torch_geometric.nn import GATConv, GCNConv, GINConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_torch_csr_tensor

HIDDEN, GIN_HIDDEN, LAYERS, HEADS, HEAD = 16, 64, 5, 8, 8


def resident_peak():
    """Largest resident bytes so far."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


class Gcn(torch.nn.Module):
    """Two layers, normalised outside."""

    def __init__(self, width, classes):
        super().__init__()
        self.first, self.second = GCNConv(width, HIDDEN, normalize=False), GCNConv(HIDDEN, classes, normalize=False)

    def forward(self, x, *adjacency):
        return self.second(self.first(x, *adjacency).relu(), *adjacency)

    def named(self):
        for number, layer in enumerate([self.first, self.second]):
            yield f"gcn.gcn.0.linear.{number}.weight", layer.lin.weight
            yield f"gcn.gcn.0.bias.{number}", layer.bias


class Gin(torch.nn.Module):
    """Five layers of two products each."""

    def __init__(self, width, classes):
        super().__init__()
        widths = [width] + [GIN_HIDDEN] * LAYERS
        outs = [GIN_HIDDEN] * (LAYERS - 1) + [classes]
        mlps = [torch.nn.Sequential(torch.nn.Linear(into, GIN_HIDDEN), torch.nn.ReLU(), torch.nn.Linear(GIN_HIDDEN, out)) for into, out in zip(widths, outs)]
        self.layers = torch.nn.ModuleList(GINConv(mlp, train_eps=True) for mlp in mlps)

    def forward(self, x, *adjacency):
        for number, layer in enumerate(self.layers):
            x = layer(x, adjacency[0])
            x = x if number == LAYERS - 1 else x.relu()
        return x

    def named(self):
        for number, layer in enumerate(self.layers):
            yield f"gin.gin.0.param.{number}", layer.eps
            for ours, theirs in [(0, 0), (1, 2)]:
                yield f"gin.gin.0.mlp.{number}.{ours}.weight", layer.nn[theirs].weight
                yield f"gin.gin.0.mlp.{number}.{ours}.bias", layer.nn[theirs].bias


class Gat(torch.nn.Module):
    """Two layers of attention, eight heads and one; loops are in the graph."""

    def __init__(self, width, classes):
        super().__init__()
        self.first = GATConv(width, HEAD, heads=HEADS, add_self_loops=False)
        self.second = GATConv(HEADS * HEAD, classes, heads=1, concat=False, add_self_loops=False)

    def forward(self, x, *adjacency):
        return self.second(torch.nn.functional.elu(self.first(x, adjacency[0])), adjacency[0])

    def named(self):
        for number, layer in enumerate([self.first, self.second]):
            ours = f"gat.attend.{number}"
            yield f"{ours}.linear.0.weight", layer.lin.weight
            yield f"{ours}.param.0", layer.att_src
            yield f"{ours}.param.1", layer.att_dst
            yield f"{ours}.bias.0", layer.bias


MODELS = {"gcn": Gcn, "gin": Gin, "gat": Gat}


def adjacency_of(form, model, index, nodes):
    """What the layers are given: an adjacency, and weights where they are apart."""
    weight = None
    if model == "gcn":
        index, weight = gcn_norm(index, None, nodes, add_self_loops=False)
    if form == "csr":
        return to_torch_csr_tensor(index.flip(0), weight, size=(nodes, nodes)), None
    if form == "sorted":
        order = torch.from_numpy(numpy.lexsort((index[0].numpy(), index[1].numpy())))
        index = EdgeIndex(index[:, order], sparse_size=(nodes, nodes), sort_order="col").fill_cache_()
        return index, None if weight is None else weight[order]
    return index, weight


def features_of(folder):
    """Rows of features; sparse ones become dense, as PyG's layers take them."""
    dense = folder / "features.arrow"
    if dense.exists():
        rows = pa.ipc.open_file(pa.memory_map(str(dense))).read_all().column(0).chunk(0)
        return torch.tensor(rows.values.to_numpy().reshape(len(rows), -1).copy())
    rows = pa.ipc.open_file(pa.memory_map(str(folder / "features-sparse.arrow"))).read_all().column(0).chunk(0)
    width = json.loads((folder / "manifest.json").read_text())["counts"]["feature_columns"]
    counts = numpy.diff(rows.offsets.to_numpy())
    entries = rows.values
    x = torch.zeros(len(rows), width, dtype=torch.float32)
    row = torch.from_numpy(numpy.repeat(numpy.arange(len(rows)), counts))
    x[row, torch.from_numpy(entries.field("index").to_numpy().astype(numpy.int64))] = torch.from_numpy(entries.field("value").to_numpy().copy())
    return x


def start(net, path, degree):
    """Sets the initial parameters: those of the file, or drawn ones that become the file."""
    if not path.exists():
        with torch.no_grad():
            for name, tensor in net.named():
                # Five sums over many neighbours would leave what f32 can hold: rows of GIN begin as means do.
                if isinstance(net, Gin) and name.endswith(".0.weight"):
                    tensor /= 1 + degree
        save_file({name: tensor.detach().clone().contiguous() for name, tensor in net.named()}, path)
        return
    known = load_file(path)
    with torch.no_grad():
        for name, tensor in net.named():
            tensor.copy_(known[name].reshape(tensor.shape))  # from f32, whatever the net has


def main():
    folder, model, form, steps, threads, init = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), pathlib.Path(sys.argv[6])
    torch.set_num_threads(threads)
    torch.set_default_dtype({"f32": torch.float32, "f64": torch.float64}[sys.argv[7]])
    torch.manual_seed(3)
    libraries = resident_peak()
    edges = parquet.read_table(folder / "edges.parquet")
    index = torch.tensor(numpy.stack([edges.column(name).to_numpy().astype(numpy.int64) for name in ("source", "target")]))
    nodes = parquet.read_table(folder / "nodes.parquet")
    y = torch.tensor(nodes.column("label").to_numpy(zero_copy_only=False).astype(numpy.int64))
    train = torch.tensor(numpy.array([split[0] == 1 for split in nodes.column("split").to_pylist()]))
    x = features_of(folder).to(torch.get_default_dtype())
    del edges, nodes
    net = MODELS[model](x.shape[1], int(y.max()) + 1)
    start(net, init, index.shape[1] / len(x))
    adjacency = adjacency_of(form, model, index, len(x))
    del index
    optimizer = torch.optim.Adam(net.parameters(), lr=float(sys.argv[8]))
    seconds, losses = [], []
    for _ in range(steps):
        begun = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x, *adjacency)[train], y[train])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begun)
    timed = sorted(seconds[min(3, steps // 2):])
    print(json.dumps({"seconds": timed[len(timed) // 2], "losses": losses, "bytes_peak": resident_peak(), "bytes_of_libraries": libraries,
                      "nodes": len(x), "width": x.shape[1], "classes": int(y.max()) + 1}))


main()
