"""Tall-skinny products in f32, rows x inner x wide: forward y = x W^T and the weight's gradient dW = dy^T x, beside the best of cuBLAS and the
time to read x once.

Ours is a program of linear layers one after the other, of which the first is measured; on a GPU a launch makes nothing but its product, and
what does more says so. Forward: `seconds_by_launch` of a run with `run.passes`, 20 in a captured graph. Gradient: `seconds_by_launch` of a
training, the lesser of two: one launch in the second epoch between two events, which makes it longer by the gap between launches (about
1.3 us); other launches of the backward pass go before it, so that it does not wait for the host. cuBLAS: all that its heuristics return and
cublasGemmEx, 20 in a captured graph (cublaslt_best.cu), x also with rows padded to 4 numbers.
Promises that every product was compared with float64: cuBLAS on rows here and there, its gradients whole, ours by the scores that come of it
and by the step that the weight took; what is wrong is no figure. Never flushes the second cache: where operands fit, that is marked.
The shapes are its own, on a path of as many nodes: it is measured once, beside the first graph that is asked for.
"""
import ctypes, itertools, json, math, os, pathlib, shutil, sys, tempfile

from . import scene as scenes
from .scene import Failed, HERE, RULER, geometric_mean, plan, ratio, record, shown

# Most important first; those with the same x stand together, so that it is written once.
SHAPES = ("410236x96x16", "410236x96x64", "410236x96x8", "410236x64x64", "410236x64x22", "1890931x66x16", "2708x1433x16", "410236x32x32", "102559x256x256",
          "102559x512x512")
# Features of up to 3 GB.
LARGE = ("334925x89x16", "232965x602x16", "716847x300x16", "2449029x100x16", "410236x500x16", "580768x1323x16")
CLASSES = 4
EPOCHS = (3, 4)
PASSES = 21
# A product that is further than this from float64, of its largest value, is wrong: by the bits that are multiplied.
WRONG = {"f32": 1e-4, "tf32": 1e-2}
DIRECTIONS = ("forward", "gradient")
# Rows below which launches are too short to run while the host prepares those behind them: a wide layer goes before the gradient.
FEW_ROWS, BALLAST = 50_000, 1024
PROGRAM = '''def products(v, wide=16, ballast=0):
    "A product, and what makes classes of it."
    v.h = linear(v.x, wide, bias=False)
    if ballast:
        v.h = linear(v.h, ballast, bias=False)
    return linear(v.h, v.classes, bias=False)
'''
PIPELINE = """pipeline: products
dataset: rows
ingest: {symmetrize: false, duplicates: keep}
reorder: {method: none}
plan: {program: products.py}
"""
# Runs a function of this file in a process of its own.
ALONE = f"import sys; sys.path.insert(0, {str(HERE.parent)!r}); from on_gpu import products; getattr(products, sys.argv[1])(*sys.argv[2:])"


def shapes(text):
    """Of the command line."""
    return [tuple(map(int, shape.split("x"))) for shape in (text.split(",") if isinstance(text, str) else text)]


def alone(function, *arguments, seconds_most):
    return scenes.lines(scenes.child([sys.executable, "-c", ALONE, function, *arguments], seconds_most))


def measure(scene, given):
    if scene.graph != given.graphs[0]:
        return
    asked = given.shapes or shapes(SHAPES + (LARGE if given.large else ()))
    built, problem = library(given.out)
    try:
        known = alone("theirs", built, *("x".join(map(str, shape)) for shape in asked), seconds_most=scene.seconds_most)
    except Failed as error:
        known, problem = scenes.lines(error.said), problem or str(error)
    about = next((line for line in known if line["what"] == "device"), {})
    for (rows, inner), same in itertools.groupby(asked, lambda shape: shape[:2]):
        with tempfile.TemporaryDirectory(dir=scene.path) as folder:
            for shape in same:
                mine = ours(scene.binary, folder, shape, seconds_most=scene.seconds_most)
                for direction in DIRECTIONS:
                    theirs = [line for line in known if line["what"] == "product" and (line["shape"], line["direction"]) == ("x".join(map(str, shape)), direction)]
                    yield row_of(shape, direction, about, (theirs, problem), mine[direction])


def row_of(shape, direction, about, theirs, mine):
    theirs, problem = theirs
    rows, inner, wide = shape
    row = {"graph": " x ".join(map(str, shape)), "direction": direction, **mine}
    for line in theirs:
        row.update({key: value for key, value in line.items() if key not in ("what", "shape", "direction")})
    if problem and not theirs:
        row["problem"] = problem
    if "TBps" in about:
        row["copy_TBps"] = about["TBps"]
        row["read_us"] = 4 * rows * inner / about["TBps"] / 1e6
        row["limit_us"] = 4 * rows * (inner + wide) / about["TBps"] / 1e6
        row["is_cached"] = 4 * rows * (inner + wide) < about["cache_bytes"]
        if row.get("us"):
            row["share"] = row["limit_us"] / row["us"]
    return row


def ours(binary, folder, shape, device="cuda", seconds_most=300):
    """Microseconds of each direction, and how far it is from float64; or what failed."""
    try:
        return measured(binary, pathlib.Path(folder), shape, device, seconds_most)
    except Failed as error:
        return {direction: {"error": str(error)} for direction in DIRECTIONS}


def measured(binary, folder, shape, device, seconds_most):
    rows, inner, wide = shape
    if not (folder / "raw").exists():
        (folder / "products.py").write_text(PROGRAM)
        (folder / "products.yaml").write_text(PIPELINE)
        alone("write", folder / "raw/rows", rows, inner, seconds_most=seconds_most)
    ballast = BALLAST if rows < FEW_ROWS else 0
    # A step that changes weights by about as much as they are; with a layer more, steps so long would grow.
    pace = math.sqrt(rows) / (64 if ballast else 2)
    of_shape = (f"plan.set.wide={wide}", f"plan.set.ballast={ballast}")
    train = (*of_shape, f"run.optimizer={{sgd: {{lr: {pace}}}}}", "run.keep=last")
    run = lambda *settings: started(binary, folder, settings, device, seconds_most)
    trained = [run(*train, f"run.epochs={epochs}") for epochs in EPOCHS]
    applied = run(*of_shape, "run.mode=infer", f"run.init={trained[0][1] / 'parameters.safetensors'}", f"run.passes={PASSES}")
    forward, backward = launch_of(applied[0], "forward"), launch_of(trained[0][0], "backward")
    spent = [record(folder)["seconds_by_launch"] for _, folder in trained]
    found = {
        "forward": {"us": record(applied[1])["seconds_by_launch"].get(forward["launch"], 0) * 1e6, **forward},
        "gradient": {"us": min(of_run.get(backward["launch"], 0) for of_run in spent) * 1e6, **backward},
    }
    scenes.child([binary, "export", f"run/{applied[1].name}", "--store", folder / "store", "--as", "npy", "--force", "-o", folder / "out"], seconds_most)
    different = alone("difference", folder, trained[0][1], trained[1][1], pace, seconds_most=seconds_most)[0]
    return {direction: judged(of_direction, different[direction], "f32") for direction, of_direction in found.items()}


def judged(figures, difference, bits):
    """With the figure only if the product was right, and took time."""
    figures["difference"] = difference
    if not difference < WRONG[bits]:
        figures["error"], figures["us"] = f"wrong by {difference:.1e}", None
    elif not figures["us"]:
        figures["error"], figures["us"] = "no time was taken", None
    return figures


def started(binary, folder, settings, device, seconds_most):
    """Runs the pipeline; gives the folders of its plan and its run."""
    command = [binary, "pipeline", folder / "products.yaml", "--device", device, "--store", folder / "store", "--data", folder / "raw", "--format", "json"]
    for setting in settings:
        command += ["--set", setting]
    made = {}
    for line in scenes.lines(scenes.child(command, seconds_most)):
        made.update({artifact["kind"]: pathlib.Path(artifact["path"]).resolve() for artifact in line.get("artifacts", [])})
    if "plan" not in made or "run" not in made:
        raise Failed("the pipeline named no plan or no run")
    return made["plan"], made["run"]


def launch_of(planned, part):
    """The one launch of a part that reads x, and how many values it makes."""
    body = plan(planned)["launches"]["body"]
    launches = body["iterate"].get("finish", []) if "iterate" in body else body["train"][part]
    reading = [launch for launch in launches if reads(launch["operation"], "x")]
    if len(reading) != 1:
        raise Failed(f"{len(reading)} launches of {part} read x")
    steps = reading[0]["operation"].get("fused", {}).get("steps", [])
    return {"launch": reading[0]["name"], "makes": max(len(steps), 1)}


def reads(value, buffer):
    """Whether an operation reads a buffer."""
    if isinstance(value, dict):
        return value.get("buffer") == buffer or any(reads(inner, buffer) for inner in value.values())
    return isinstance(value, list) and any(reads(inner, buffer) for inner in value)


def library(folder):
    """cuBLAS's ruler as a library, built once; `-` and why, where it cannot be."""
    built = pathlib.Path(folder).resolve() / "libcublaslt_best.so"
    if built.exists():
        return str(built), None
    compiler = shutil.which("nvcc") or next((path for path in ("/usr/local/cuda/bin/nvcc",) if os.path.exists(path)), None)
    if compiler is None:
        return "-", "there is no nvcc"
    command = [compiler, "-O3", "-std=c++17", "-Xcompiler", "-fPIC", "-shared", RULER / "cublaslt_best.cu", "-o", built]
    try:
        # Where there is nothing to link with, torch's own are found when the library is loaded.
        try:
            scenes.child([*command, "-lcublasLt", "-lcublas"], 300)
        except Failed:
            scenes.child(command, 300)
    except Failed as error:
        return "-", str(error)
    return str(built), None


# What follows runs in processes of its own, with numpy or torch.


def write(folder, rows, inner):
    """A path of so many nodes, with features and classes; all nodes are trained on."""
    import numpy
    folder, rows, inner = pathlib.Path(folder), int(rows), int(inner)
    folder.mkdir(parents=True)
    draw = numpy.random.default_rng(1)
    numpy.savez(folder / "edges.npz", edge_index=numpy.stack([numpy.arange(rows - 1), numpy.arange(1, rows)]), num_nodes=rows)
    numpy.save(folder / "features.npy", draw.standard_normal((rows, inner), dtype=numpy.float32))
    numpy.save(folder / "labels.npy", draw.integers(0, CLASSES, rows))
    numpy.save(folder / "train_mask.npy", numpy.ones(rows, dtype=bool))


def weights(run):
    """Of the layers in their order, in float64."""
    import numpy
    raw = (pathlib.Path(run) / "parameters.safetensors").read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:begin])
    found = []
    for name in sorted(name for name in head if name.endswith(".weight")):
        first, end = head[name]["data_offsets"]
        found.append(numpy.frombuffer(raw[begin + first : begin + end], numpy.float32).reshape(head[name]["shape"]).astype(float))
    return found


def difference(folder, before, after, pace):
    """Of our scores, and of the step that the first weight took: the largest, over the largest value."""
    # Threads that wait for each other take longer than one on products so narrow.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy
    folder, layers, later = pathlib.Path(folder), weights(before), weights(after)
    x, label = numpy.load(folder / "raw/rows/features.npy", mmap_mode="r"), numpy.load(folder / "raw/rows/labels.npy")
    scores = numpy.load(folder / "out/predictions.scores.npy")
    gradient, apart, largest = numpy.zeros_like(layers[0]), 0.0, 0.0
    for first in range(0, len(x), 1 << 14):
        here = slice(first, first + (1 << 14))
        rows = x[here].astype(float)
        result = rows
        for weight in layers:
            result = result @ weight.T
        apart, largest = max(apart, numpy.abs(scores[here] - result).max()), max(largest, numpy.abs(result).max())
        share = numpy.exp(result - result.max(1, keepdims=True))
        share /= share.sum(1, keepdims=True)
        share[numpy.arange(len(share)), label[here]] -= 1
        for weight in layers[:0:-1]:
            share = share @ weight
        gradient += share.T @ rows / len(x)
    step = (layers[0] - later[0]) / float(pace)
    print(json.dumps({"forward": apart / largest, "gradient": numpy.abs(step - gradient).max() / numpy.abs(gradient).max()}))


class Product(ctypes.Structure):
    """As cublaslt_best.cu has it."""
    _fields_ = [*((name, ctypes.c_int64) for name in ("rows", "inner", "wide", "stride")), ("gradient", ctypes.c_int32), ("tf32", ctypes.c_int32),
                *((name, ctypes.c_void_p) for name in ("x", "other", "out", "workspace")), ("workspace_bytes", ctypes.c_uint64),
                ("times", ctypes.c_int32), ("replays", ctypes.c_int32), ("seconds_most", ctypes.c_double)]


class Best(ctypes.Structure):
    """As cublaslt_best.cu has it."""
    _fields_ = [("lt_us", ctypes.c_double), ("gemm_us", ctypes.c_double), *((name, ctypes.c_int32) for name in ("returned", "tried", "layout", "index", "split"))]


WORKSPACE = 64 << 20
# Of one search; there are up to eight for a shape.
SECONDS_MOST = 0.4


def theirs(built, *asked):
    """Prints the rate of a copy and the bytes of the second cache; then the best of cuBLAS for each shape and direction."""
    sys.path.insert(0, str(RULER))
    import torch
    import gpu_baseline as ruler
    source = torch.empty(1 << 28, device="cuda").normal_()
    target = torch.empty_like(source)
    rate = 2 * source.numel() * 4 / ruler.timed(lambda: target.copy_(source)) / 1e9
    ruler.out(what="device", TBps=rate, cache_bytes=getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0))
    del source, target
    if built == "-":
        return
    for name in ("cublasLt", "cublas"):
        try:
            ctypes.CDLL(f"lib{name}.so.{torch.version.cuda.split('.')[0]}", mode=ctypes.RTLD_GLOBAL)
        except OSError:
            pass
    loaded = ctypes.CDLL(built)
    for shape, direction in itertools.product(asked, DIRECTIONS):
        row = {"what": "product", "shape": shape, "direction": direction}
        try:
            row.update(of_shape(loaded, tuple(map(int, shape.split("x"))), direction))
        except Exception as error:
            row["problem"] = str(error)[:120]
        ruler.out(**row)
        torch.cuda.empty_cache()


def of_shape(loaded, shape, direction):
    """The best by the bits that are multiplied."""
    import torch
    rows, inner, wide = shape
    draw = torch.Generator(device="cuda").manual_seed(3)
    stride = -(-inner // 4) * 4
    padded = torch.zeros(rows, stride, device="cuda")
    padded[:, :inner] = torch.randn(rows, inner, generator=draw, device="cuda")
    forms = [padded] if stride == inner else [padded[:, :inner].contiguous(), padded]
    other = torch.randn(*((rows, wide) if direction == "gradient" else (wide, inner)), generator=draw, device="cuda")
    out = torch.empty(*((wide, inner) if direction == "gradient" else (rows, wide)), device="cuda")
    workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")
    found = {}
    for bits, form in itertools.product(WRONG, forms):
        product = Product(rows, inner, wide, form.shape[1], direction == "gradient", bits == "tf32", form.data_ptr(), other.data_ptr(), out.data_ptr(),
                          workspace.data_ptr(), WORKSPACE, 20, 3, SECONDS_MOST)
        best = Best()
        torch.cuda.synchronize()
        status = loaded.clb_best(ctypes.byref(product), ctypes.byref(best))
        if status:
            found[f"{bits}_problem"] = f"status {status}"
            continue
        figures = {f"{bits}_us": min(best.lt_us, best.gemm_us), f"{bits}_difference": apart(out, form[:, :inner], other, direction), f"{bits}_stride": form.shape[1],
                   f"{bits}_by": "cublasGemmEx" if best.gemm_us < best.lt_us else f"number {best.index} of layout {best.layout}, split in {best.split}"}
        figures.update({f"{bits}_{name}": value for name, value in (("lt_us", best.lt_us), ("gemm_us", best.gemm_us)) if math.isfinite(value)})
        figures.update({f"{bits}_returned": best.returned, f"{bits}_tried": best.tried})
        if not figures[f"{bits}_difference"] < WRONG[bits]:
            found[f"{bits}_problem"] = f"wrong by {figures[f'{bits}_difference']:.1e}"
        elif figures[f"{bits}_us"] < found.get(f"{bits}_us", math.inf):
            found.update(figures)
    return found


def apart(out, x, other, direction):
    """The largest difference from float64 over the largest value: of rows here and there, or of the whole gradient."""
    import torch
    if direction == "forward":
        rows = torch.unique(torch.linspace(0, len(x) - 1, 4096, device="cuda", dtype=torch.float64).long())
        out, wanted = out[rows], x[rows].double() @ other.double().T
    else:
        wanted = sum(other[first : first + (1 << 17)].double().T @ x[first : first + (1 << 17)].double() for first in range(0, len(x), 1 << 17))
    return ((out.double() - wanted).abs().max() / wanted.abs().max()).nan_to_num(math.inf).item()


def table(rows):
    page = ["Microseconds of one product, rows x inner x wide. cuBLAS: the best of what cublasLt's heuristics return and of cublasGemmEx. The gradient of ours is one launch between two",
            "events, longer by the gap between launches (about 1.3 us) than in a graph as all others are. Share: x and the narrow rows once at the rate of a copy, of the time of ours;",
            "with * all of that fits the second cache, which nobody flushes: there the share says little.", ""]
    page += ["| shape | direction | ours | cuBLAS f32 | over ours | TF32 | over ours | time to read x | share of the limit |", "|---|---|---|---|---|---|---|---|---|"]
    ratios, shares, behind, rates = {}, {}, [], set()
    for row in rows:
        us = row.get("us")
        compared = {"cuBLAS f32": ratio(row.get("f32_us"), us), "cuBLAS TF32": ratio(row.get("tf32_us"), us)}
        for other, value in compared.items():
            if value:
                ratios.setdefault((row["direction"], other), []).append((value, row["graph"]))
                if value < 1:
                    behind.append(f"{row['graph']} {row['direction']}: {value:.2f} of {other}")
        if row.get("share") and not row["is_cached"]:
            shares.setdefault(row["direction"], []).append((row["share"], row["graph"]))
        rates.update({round(row["copy_TBps"], 2)} if "copy_TBps" in row else ())
        share = shown(row.get("share"), 2) + ("*" if row.get("is_cached") else "")
        cells = [shown(us, 1) if us else row.get("error", "-")]
        for bits, value in zip(("f32", "tf32"), compared.values()):
            problem = row.get(f"{bits}_problem") or row.get("problem") or "-"
            cells += [shown(row[f"{bits}_us"], 1) if f"{bits}_us" in row else problem, shown(value, 2)]
        page.append(f"| {row['graph']} | {row['direction']} | {' | '.join(cells)} | {shown(row.get('read_us'), 1)} | {share} |")
    return [*page, "", *closing(rows, ratios, shares, rates), *([f"- behind: {'; '.join(behind)}"] if behind else [])]


def closing(rows, ratios, shares, rates):
    page = [f"- a copy: {', '.join(map(str, sorted(rates)))} TB/s"] if rates else []
    for (direction, other), values in ratios.items():
        least, where = min(values)
        page.append(f"- {direction}: {geometric_mean(value for value, _ in values):.2f} times as fast as {other} in geometric mean, at least {least:.2f} ({where})")
    for direction, values in shares.items():
        least, where = min(values)
        page.append(f"- {direction}: {geometric_mean(value for value, _ in values):.2f} of the limit in geometric mean where operands do not fit the second cache, at least {least:.2f} ({where})")
    for key, whose in (("difference", "ours"), ("f32_difference", "cuBLAS f32"), ("tf32_difference", "cuBLAS TF32")):
        known = [row[key] for row in rows if key in row]
        page += [f"- largest difference from float64, of the largest value: {whose} {max(known):.1e}"] if known else []
    more = [f"{row['graph']} {row['direction']} ({row['launch']}: {row['makes']} values)" for row in rows if row.get("makes", 1) > 1]
    return page + ([f"- launches that make more than the product: {'; '.join(more)}"] if more else [])
