"""The plain kernels and cuSPARSE in captured graphs: neighbour sums and attention steps, each many times in one graph.

usage: python3 plain.py sums GRAPH WIDTHS LIBRARY  |  attention GRAPH SHAPES   -> one JSON line per case
Sums are of spmm_probe.py (widths of 4 times a power of two, unweighted; the best of its cuts) and of cuSPARSE with everything kept
(cusparse_cached.cu as LIBRARY, with weights; `-` for none). Each is compared with float64 sums of some rows before it is timed.
"""
import ctypes, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rulers"))
import torch
import gpu_baseline as ruler

AT_ONCE = 10
CUTS = (64, 256, 1024)


def in_graph(work):
    """Microseconds of one."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(AT_ONCE):
            work()
    return 1e3 * ruler.timed(graph.replay, warm=1, reps=10, budget=0.5) / AT_ONCE


def wrong(out, x, rowptr, col, values=None):
    """Relative error of some rows: the longest, and those of every so many."""
    degree = rowptr[1:] - rowptr[:-1]
    rows = torch.unique(torch.cat([degree.argmax()[None], torch.arange(0, degree.numel(), max(1, degree.numel() // 50), device="cuda")])).tolist()
    worst = 0.0
    for row in rows:
        here = slice(int(rowptr[row]), int(rowptr[row + 1]))
        terms = x[col[here].long()].double()
        if values is not None:
            terms = terms * values[here, None].double()
        worst = max(worst, ((out[row].double() - terms.sum(0)).abs().max() / terms.abs().sum(0).max().clamp(min=1e-9)).item() if terms.numel() else out[row].abs().max().item())
    return worst


def probe_sum(module, width, x, rowptr, col, cut, cupy, spmm_probe):
    """Calls the probe's kernel; and what it writes."""
    first, length, target, split, start, parts = spmm_probe.items(rowptr, cut)
    out, partial = torch.zeros_like(x), torch.empty(max(parts, 1), width, device="cuda")
    sums, joins = module.get_function(f"items_sum<{width}>"), module.get_function(f"split_rows<{width}>")
    lanes, count, rows = min(32, width // 4), first.numel(), split.numel()
    of = lambda *tensors: tuple(tensor.data_ptr() for tensor in tensors)

    def work():
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            sums(((count * lanes + 255) // 256,), (256,), (*of(out, partial, x, col, first, length, target), cupy.int32(count)))
            if rows:
                joins((rows,), (min(width // 4, 64),), (*of(out, partial, split, start), cupy.int32(rows)))

    work.keeps = (first, length, target, split, start, partial)
    return work, out


def by_probe(widths, rowptr, col, x_of):
    import cupy, spmm_probe
    widths = [width for width in widths if width in (16, 32, 64, 128, 256)]
    names = [f"{kernel}<{width}>" for width in widths for kernel in ("items_sum", "split_rows")]
    module = cupy.RawModule(code=spmm_probe.SOURCE, options=("--std=c++17",), name_expressions=names)
    found = {}
    for width in widths:
        x, best = x_of(width), None
        for cut in CUTS:
            work, out = probe_sum(module, width, x, rowptr, col, cut, cupy, spmm_probe)
            work()
            us, error = in_graph(work), wrong(out, x, rowptr, col)
            if best is None or us < best["probe_us"]:
                best = {"probe_us": us, "probe_cut": cut, "probe_error": error}
        found[width] = best
    return found


def by_cusparse(library, algorithm, width, x, rowptr, col, values):
    """Microseconds, whether captured, and the error."""
    nodes = rowptr.numel() - 1
    out, plan, workspace = torch.zeros_like(x), ctypes.c_void_p(), ctypes.c_size_t()
    pointer = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
    arguments = (nodes, nodes, ctypes.c_longlong(col.numel()), pointer(rowptr), pointer(col), pointer(values), pointer(x), pointer(out), width, 0, algorithm, 1)
    torch.cuda.synchronize()
    status = library.csc_create(*arguments, ctypes.byref(plan), ctypes.byref(workspace)) or library.csc_mul(plan)
    if status:
        raise RuntimeError(f"cuSPARSE algorithm {algorithm} at {width}: status {status}")
    error = wrong(out, x, rowptr, col, values)

    def work():
        status = library.csc_enqueue(plan, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if status:
            raise RuntimeError(f"status {status}")

    try:
        return in_graph(work), True, error
    except Exception:
        torch.cuda.synchronize()
        milliseconds = ctypes.c_float()
        library.csc_enqueue(plan, None)
        status = library.csc_run(plan, ctypes.c_double(100.0), ctypes.byref(milliseconds))
        if status:
            raise RuntimeError(f"cuSPARSE algorithm {algorithm} at {width}: status {status}")
        return 1e3 * milliseconds.value, False, error
    finally:
        torch.cuda.synchronize()
        library.csc_destroy(plan)


def sums(name, widths, library):
    source, target, nodes = ruler.graph(name)
    rowptr, col = ruler.csr(source, target, nodes)
    del source, target
    draw = torch.Generator(device="cuda").manual_seed(2)
    x_of = lambda width: torch.randn(nodes, width, generator=draw, device="cuda")
    values = torch.rand(col.numel(), generator=draw, device="cuda").add_(0.5)
    widths = [int(width) for width in widths.split(",")]
    try:
        probe = by_probe(widths, rowptr, col, x_of)
    except Exception as error:
        probe = {width: {"probe_problem": str(error)[:120]} for width in widths}
    loaded = None if library == "-" else ctypes.CDLL(library)
    for width in widths:
        row = dict(what="sum", graph=name, width=width, edges=col.numel(), nodes=nodes, **probe.get(width, {}))
        x = x_of(width)
        for algorithm in (2, 3) if loaded else ():
            try:
                us, captured, error = by_cusparse(loaded, algorithm, width, x, rowptr, col, values)
                row.update({f"cusparse_{algorithm}_us": us, f"cusparse_{algorithm}_captured": captured, f"cusparse_{algorithm}_error": error})
            except Exception as error:
                row[f"cusparse_{algorithm}_problem"] = str(error)[:120]
        ruler.out(**row)
        del x
        torch.cuda.empty_cache()


def attention(name, shapes):
    import cupy, gat_probe
    shapes = [tuple(map(int, shape.split("x"))) for shape in shapes.split(",")]
    kernels = ("forward", "forward_join", "local", "backward", "backward_join")
    module = cupy.RawModule(code=gat_probe.SOURCE, options=("--std=c++17",), name_expressions=[f"{kernel}<{h}, {c}>" for h, c in shapes for kernel in kernels])
    source, target, nodes = ruler.graph(name)
    sides = gat_probe.both_ways(source, target, nodes)
    del source, target
    for heads, width in shapes:
        errors = gat_probe.check(module, heads, width)
        z, left, right, gradient = (torch.randn(nodes, columns, device="cuda") for columns in (heads * width, heads, heads, heads * width))
        best = None
        for cut in CUTS:
            probe = gat_probe.Probe(module, *sides, heads, width, cut)
            forward, backward = in_graph(lambda: probe.forward(z, left, right)), in_graph(lambda: probe.backward(gradient, z, left, right))
            if best is None or forward + backward < best[0] + best[1]:
                best = (forward, backward, cut)
            del probe
        ruler.out(what="attention", graph=name, heads=heads, width=width, probe_forward_us=best[0], probe_backward_us=best[1], probe_cut=best[2], probe_errors=errors)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    {"sums": sums, "attention": attention}[sys.argv[1]](*sys.argv[2:])
