"""Shared: compile, capture, time, plan of items."""
import ctypes, json, os, sys, time
import numpy as np, torch, cupy
HERE = os.path.dirname(os.path.abspath(__file__)); ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "rulers"))
import gpu_baseline as base
import spmm_probe
T0 = time.time()
OUT = os.environ.get("OUT", "/tmp")
SMS = 132
STREAM = cupy.cuda.Stream(non_blocking=True)
P = lambda t: t.data_ptr() if t is not None else 0
U = np.uint32

_mods = {}
def kernel(file, name, defs):
    key = (file, defs)
    if key not in _mods:
        src = open(os.path.join(ROOT, "kernels", file)).read()
        _mods[key] = cupy.RawModule(code=src, options=("--std=c++17",) + tuple(f"-D{d}" for d in defs.split()))
    return _mods[key].get_function(name)

def precompile(jobs):
    """Compile in threads; jobs: (file, name, defs)."""
    from concurrent.futures import ThreadPoolExecutor
    def one(j):
        cupy.cuda.Device(0).use()
        try: kernel(*j)
        except Exception as ex: print("compile", j, str(ex)[:300])
    with ThreadPoolExecutor(14) as pool: list(pool.map(one, {j for j in jobs if (j[0], j[2]) not in _mods}))

def timed(go, est_hint=None, budget=0.03, min_n=5):
    """Median ms of one go(stream) inside a captured CUDA graph of several, back to back."""
    torch.cuda.synchronize()
    with STREAM:
        go(STREAM); STREAM.synchronize()
        a, b = cupy.cuda.Event(), cupy.cuda.Event()
        a.record(STREAM); go(STREAM); b.record(STREAM); b.synchronize()
        est = cupy.cuda.get_elapsed_time(a, b)
        reps = max(1, min(20, int(0.6 / max(est, 0.005))))
        STREAM.begin_capture()
        for _ in range(reps): go(STREAM)
        g = STREAM.end_capture()
        g.launch(STREAM); STREAM.synchronize()
        ts, t0 = [], time.time()
        while len(ts) < min_n or (time.time() - t0 < budget and len(ts) < 50):
            a.record(STREAM); g.launch(STREAM); b.record(STREAM); b.synchronize()
            ts.append(cupy.cuda.get_elapsed_time(a, b) / reps)
            if time.time() - t0 > 1.0: break
        ts.sort()
    return ts[len(ts) // 2]

class Log:
    def __init__(self, name): self.f = open(os.path.join(OUT, name), "a")
    def __call__(self, **kw): self.f.write(json.dumps(kw) + "\n"); self.f.flush()

def device_line():
    import subprocess
    drv = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    return dict(what="device", date=time.strftime("%Y-%m-%d %H:%M:%S"), device=drv, torch=torch.__version__, cuda=torch.version.cuda, cupy=cupy.__version__, nvrtc=str(cupy.cuda.nvrtc.getVersion()))

def planted(name, src, dst, n):
    """Undo the shuffle of gpu_baseline.graph."""
    if base.SHAPES[name][4] == "batch": return None
    g = torch.Generator(device="cuda").manual_seed(7); m = src.numel()
    for _ in range(2): torch.rand(m, generator=g, device="cuda")
    torch.randint(0, 128, (m,), generator=g, device="cuda"); torch.rand(m, generator=g, device="cuda")
    perm = torch.randperm(n, generator=g, device="cuda"); inv = torch.empty_like(perm); inv[perm] = torch.arange(n, device="cuda")
    src, dst = inv[src], inv[dst]
    key = (dst * n + src).sort()[0]
    return key % n, key // n

class Items:
    """The work list: block items (pieces of at most cap edges) first, then warp items, then lane-group items; each class by falling length, light ones within windows of rows."""
    def __init__(self, rowptr, col, val, t_group, t_warp, cap, window, drop_empty=False):
        r = rowptr.long(); deg = r[1:] - r[:-1]; n = deg.numel()
        heavy = torch.nonzero(deg > t_warp).flatten()
        pieces = (deg[heavy] + cap - 1) // cap
        size = (deg[heavy] + pieces - 1) // pieces if heavy.numel() else deg[heavy]
        hrow = torch.repeat_interleave(torch.arange(heavy.numel(), device="cuda"), pieces)
        start = torch.cumsum(pieces, 0) - pieces
        k = torch.arange(hrow.numel(), device="cuda") - start[hrow]
        first = r[:-1][heavy][hrow] + k * size[hrow]
        length = torch.minimum(size[hrow], deg[heavy][hrow] - k * size[hrow]).clamp(min=0)
        is_cut = pieces[hrow] > 1
        slot = torch.cumsum(is_cut.long(), 0) - 1
        target = torch.where(is_cut, -1 - slot, heavy[hrow])
        o = torch.argsort(length, descending=True, stable=True)
        bf, bl, bt = first[o], length[o], target[o]
        crow = torch.nonzero(pieces > 1).flatten()                       # cut rows
        cstart = torch.cumsum(pieces[crow], 0) - pieces[crow]
        rec = torch.stack([heavy[crow], cstart, pieces[crow], torch.arange(crow.numel(), device="cuda")], 1)
        self.cut = torch.repeat_interleave(rec, pieces[crow], 0).to(torch.int32).contiguous()
        self.slots, self.cuts = self.cut.shape[0], crow.numel()
        mid = torch.nonzero((deg > t_group) & (deg <= t_warp)).flatten()
        mid = mid[torch.argsort(deg[mid], descending=True, stable=True)]
        light = torch.nonzero((deg <= t_group) & (deg > 0) if drop_empty else deg <= t_group).flatten()
        key = -deg[light] if not window else (light // window) * (t_group + 1) + (t_group - deg[light])
        light = light[torch.argsort(key, stable=True)]
        rows = torch.cat([mid, light])
        first = torch.cat([bf, r[:-1][rows]]); length = torch.cat([bl, deg[rows]]); target = torch.cat([bt, rows])
        self.items, self.blocks, self.warps = first.numel(), bf.numel(), mid.numel()
        off = torch.zeros(self.items + 1, dtype=torch.long, device="cuda"); off[1:] = torch.cumsum(length, 0)
        self.rows = torch.repeat_interleave(torch.arange(self.items, device="cuda"), length) if False else None
        idx = torch.repeat_interleave(first - off[:-1], length) + torch.arange(col.numel(), device="cuda")
        assert int(off[-1]) == col.numel()
        self.col = col[idx].contiguous(); self.val = val[idx].contiguous() if val is not None else None
        self.offset = off.to(torch.int32); self.target = target.to(torch.int32).contiguous()
        self.light = light.numel()
        self.light_deg, self.window = deg[light], window
    def count_longer(self, length):
        """Light items before the first one of at most `length` edges (all of them stand first, if there is no window)."""
        if self.window: return 0
        return int((self.light_deg > length).sum())

def cusparse():
    so = os.environ.get("CSC_SO", "/tmp/libcusparse_cached.so")
    lib = ctypes.CDLL(so)
    lib.csc_create.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_longlong] + [ctypes.c_void_p] * 5 + [ctypes.c_int] * 4 + [ctypes.c_void_p] * 2
    lib.csc_enqueue.argtypes = [ctypes.c_void_p] * 2; lib.csc_destroy.argtypes = [ctypes.c_void_p]
    lib.csc_run.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    return lib

def cusparse_time(lib, rowptr, col, val, x, out, alg):
    n, d = x.shape
    plan, wb = ctypes.c_void_p(), ctypes.c_size_t()
    torch.cuda.synchronize()
    e = lib.csc_create(n, n, col.numel(), P(rowptr), P(col), P(val), P(x), P(out), d, 0, alg, 1, ctypes.byref(plan), ctypes.byref(wb))
    if e: return None, f"create {e}"
    try:
        def go(s):
            e = lib.csc_enqueue(plan, s.ptr)
            assert e == 0, e
        try: return timed(go), None
        except Exception as ex:
            ms = ctypes.c_float(); e = lib.csc_run(plan, 30.0, ctypes.byref(ms))
            return (ms.value if not e else None), f"not captured: {str(ex)[:50]}"
    finally: lib.csc_destroy(plan)

class Probe:
    """spmm_probe's kernel, captured."""
    def __init__(self, dims):
        names = [f"items_sum<{d}>" for d in dims] + [f"split_rows<{d}>" for d in dims]
        self.mod = cupy.RawModule(code=spmm_probe.SOURCE, options=("--std=c++17",), name_expressions=names)
        self.cache = {}
    def plan(self, key, rowptr, cut):
        if self.cache.get("graph") != key: self.cache = {"graph": key}
        if cut not in self.cache: self.cache[cut] = spmm_probe.items(rowptr, cut)
        return self.cache[cut]
    def time(self, key, rowptr, col, x, ref, scale, cuts=(64, 256, 1024)):
        n, d = x.shape; best = None
        k1, k2 = self.mod.get_function(f"items_sum<{d}>"), self.mod.get_function(f"split_rows<{d}>")
        for cut in cuts:
            first, length, target, srow, start, parts = self.plan(key, rowptr, cut)
            out = torch.full((n, d), float("nan"), device="cuda"); partial = torch.empty(max(parts, 1), d, device="cuda")
            lanes = 32 if d >= 128 else d // 4; count, rows = first.numel(), srow.numel()
            def go(s):
                k1(((count * lanes + 255) // 256,), (256,), (P(out), P(partial), P(x), P(col), P(first), P(length), P(target), np.int32(count)))
                if rows: k2((rows,), (min(max(d // 4, 1), 64),), (P(out), P(partial), P(srow), P(start), np.int32(rows)))
            t = timed(go); err = ((out - ref).abs().max() / scale).item()
            if best is None or t < best[0]: best = (t, cut, err)
        return best
