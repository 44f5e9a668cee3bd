"""A superstep of PageRank with CuPy: a sparse matrix times a vector, on a graph of the rulers made symmetric, without self loops and double edges.

usage: python3 cupy_ranks.py GRAPH STEPS      one line of JSON: milliseconds of a superstep, the mean of STEPS
"""
import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rulers"))
import gpu_baseline as ruler


def main(name, steps):
    import cupy, cupyx.scipy.sparse as sparse
    source, target, nodes = ruler.graph(name)
    source, target = cupy.asarray(source), cupy.asarray(target)
    apart = source != target
    source, target = cupy.concatenate([source[apart], target[apart]]), cupy.concatenate([target[apart], source[apart]])
    both = cupy.unique(target.astype(cupy.int64) * nodes + source)
    target, source = (both // nodes).astype(cupy.int32), (both % nodes).astype(cupy.int32)
    matrix = sparse.csr_matrix((cupy.ones(both.size, cupy.float32), (target, source)), (nodes, nodes))
    degree = cupy.maximum(cupy.bincount(source, minlength=nodes), 1).astype(cupy.float32)
    ranks = cupy.full(nodes, 1 / nodes, cupy.float32)
    step = lambda: cupy.float32(0.15 / nodes) + cupy.float32(0.85) * (matrix @ (ranks / degree))
    step()
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(steps):
        step()
    end.record()
    end.synchronize()
    ruler.out(form="cupy", edges=int(both.size), ms=cupy.cuda.get_elapsed_time(start, end) / steps)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
