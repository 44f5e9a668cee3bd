"""GAT step beside gat_probe, captured. usage: bench_gat.py [--graphs a,b] [--shapes 8x8,1x32] [--limit s]"""
import argparse
from lab import *
import gat_probe
from bench_spmm import thresholds

def items(cache, side, rowptr, col, e, l, b, minb, f):
    key = (side, *thresholds(e, l, b, minb, f))
    if key not in cache: cache[key] = Items(rowptr, col, None, *key[1:], 0)
    return cache[key]

class Step:
    """One direction: kernel arguments for one configuration."""
    def __init__(self, p, defs, h, c, slice_, b, minb, rounds, arrays):
        l = slice_ * c // 4; per_block = 8 * (32 // l); slices = h // slice_
        self.fn = kernel("gat.cu", "gat", f"HEADS={h} WIDTH={c} SLICE={slice_} B={b} MINB={minb}{defs}")
        singles = p.count_longer(2 * b)
        if rounds <= 0: rounds = int(max(1, min(4, (p.light - singles) / (SMS * minb * per_block * 2))))
        self.rounds = rounds
        self.partial = torch.empty(max(p.slots, 1) * (2 * h * c // 4 + h) * 4, device="cuda"); self.arrived = torch.zeros(max(p.cuts, 1) * slices, dtype=torch.int32, device="cuda")
        self.grid = (p.blocks + -(-p.warps // 8) + -(-singles // per_block) + -(-(p.light - singles) // (per_block * rounds)), slices)
        packed = np.array([P(t) for t in arrays], dtype=np.uint64)
        self.args = (Packed(packed), P(p.col), P(p.offset), P(p.target), U(p.items), U(p.blocks), U(p.warps), U(singles), U(rounds), P(self.partial), P(p.cut), P(self.arrived))
    def __call__(self, s): self.fn(self.grid, (256,), self.args)

def Packed(a):
    dt = np.dtype([(f"p{i}", np.uint64) for i in range(a.size)])
    return a.view(dt)[0]                                            # a numpy void scalar: passed by value

def main():
    a = argparse.ArgumentParser()
    a.add_argument("--graphs", default="check,cora,artist,com-amazon,soc-BlogCatalog,arxiv,DD,amazon0505,yelp,reddit,products"); a.add_argument("--shapes", default="8x8,1x32")
    a.add_argument("--limit", type=float, default=200); a.add_argument("--out", default="gat.jsonl")
    a = a.parse_args(); log = Log(a.out); log(**device_line())
    shapes = [tuple(map(int, s.split("x"))) for s in a.shapes.split(",")]
    mod = cupy.RawModule(code=gat_probe.SOURCE, options=("--std=c++17",), name_expressions=[f"{k}<{h}, {c}>" for h, c in shapes for k in ("forward", "forward_join", "local", "backward", "backward_join")])
    TS = torch.cuda.ExternalStream(STREAM.ptr)
    for name in a.graphs.split(","):
        if time.time() - T0 > a.limit: print("out of time at", name); break
        if name == "check":                                         # hubs both ways, parallel edges, rows of no edge
            n = 2003; src = torch.randint(0, n, (60000,), device="cuda"); dst = torch.randint(0, n - 50, (60000,), device="cuda"); dst[:9000] = 17; src[9000:18000] = 23
        else: src, dst, n = base.graph(name)
        e = src.numel(); rp, col, brp, bcol = gat_probe.both_ways(src, dst, n); cache = {}
        for h, c in shapes:
            d = h * c
            z, right, dout, av = torch.randn(n, d, device="cuda"), torch.randn(n, h, device="cuda"), torch.randn(n, d, device="cuda"), torch.randn(h, c, device="cuda") / c ** 0.5
            left = (z.view(n, h, c) * av).sum(-1).contiguous()
            zero = lambda *s: torch.full(s, float("nan"), device="cuda")
            out, pos, lse, share, dz, dleft, dright, record = zero(n, d), zero(n, d), zero(n, h), zero(n, h), zero(n, d), zero(n, h), zero(n, h), torch.empty(n, h, 4, device="cuda")
            best_p = None
            for cut in (64, 256, 1024):
                p = gat_probe.Probe(mod, rp, col, brp, bcol, h, c, cut)
                def fgo(s):
                    with torch.cuda.stream(TS): p.forward(z, left, right)
                def bgo(s):
                    with torch.cuda.stream(TS): p.backward(dout, z, left, right)
                f, b = timed(fgo), timed(bgo)
                if best_p is None or f + b < best_p[0] + best_p[1]:
                    best_p = (f, b, cut); want = [t.clone() for t in (p.out, p.dz, p.dleft, p.dright)]
                del p
            truth = "probe"
            if e * d < 2.5e8:
                truth = "float64"
                exact = gat_probe.reference(src, dst, n, z, left, right, dout, h, c)
                perr = [((x - y).abs().max() / y.abs().max()).item() for x, y in zip(want, exact)]
                want = [t.float() for t in exact]; del exact; torch.cuda.empty_cache()
            else: perr = None
            err = lambda got, w: ((got - w).abs().max() / w.abs().max()).item()
            shapes_s = [(8, 4, 4), (8, 4, 3), (8, 8, 3), (4, 4, 4), (8, 2, 5), (8, 4, 5)] if h == 8 else [(1, 4, 4), (1, 4, 3), (1, 8, 3), (1, 2, 5)]
            res_f, res_b = [], []
            def fwd(slice_, b, minb, f, rounds=0, defs=""):
                it = items(cache, "f", rp, col, e, slice_ * c // 4, b, minb, f)
                st = Step(it, defs, h, c, slice_, b, minb, rounds, (out, pos, lse, share, z, z, left, right, av, record))
                out.fill_(float("nan")); t = timed(st); er = err(out, want[0]); one = out.clone(); torch.cuda.synchronize()
                with STREAM: st(STREAM)
                STREAM.synchronize(); same = torch.equal(one, out)
                log(what="gat_forward", graph=name, heads=h, width=c, ms=t, err=er, truth=truth, same_bits=same, slice=slice_, b=b, minb=minb, f=f, rounds=st.rounds, defs=defs, blocks=it.blocks, warps=it.warps, cuts=it.cuts)
                if not er < 1e-5 or not same: print("WRONG forward", name, h, slice_, b, minb, f, defs, er, same); return
                res_f.append((t, slice_, b, minb, f, st.rounds, defs, er))
            def bwd(slice_, b, minb, f, rounds=0, defs=""):
                it = items(cache, "b", brp, bcol, e, slice_ * c // 4, b, minb, f)
                st = Step(it, " BACKWARD=1" + defs, h, c, slice_, b, minb, rounds, (dz, pos, dleft, share, dout, z, left, right, av, record))
                loc = kernel("gat.cu", "gat_local", f"HEADS={h} WIDTH={c}")
                def go(s):
                    loc((-(-n * d // 4 // 256),), (256,), (P(record), P(dright), P(dout), P(out), P(pos), P(share), P(right), P(lse), U(n)))
                    st(s)
                dz.fill_(float("nan")); dleft.fill_(float("nan")); dright.fill_(float("nan")); t = timed(go); er = [err(dz, want[1]), err(dleft, want[2]), err(dright, want[3])]; one = dz.clone(); torch.cuda.synchronize()
                with STREAM: go(STREAM)
                STREAM.synchronize(); same = torch.equal(one, dz)
                log(what="gat_backward", off=None, graph=name, heads=h, width=c, ms=t, err=er, truth=truth, same_bits=same, slice=slice_, b=b, minb=minb, f=f, rounds=st.rounds, defs=defs, blocks=it.blocks, warps=it.warps, cuts=it.cuts)
                def off(got, w): return int(((got - w).abs() > 1e-5 * w.abs().max()).sum())          # leaky's kink: a score within rounding of 0 may fall either way
                bad = off(dz, want[1]) + off(dleft, want[2]) + off(dright, want[3]); allowed = 4 + int(e * h * 2e-6)
                if not (all(v == v for v in er) and bad <= allowed) or not same: print("WRONG backward", bad, allowed, name, h, slice_, b, minb, f, defs, er, same); return
                res_b.append((t, slice_, b, minb, f, st.rounds, defs, max(er)))
            precompile([("gat.cu", "gat", f"HEADS={h} WIDTH={c} SLICE={s} B={b} MINB={m}{df}") for s, b, m in shapes_s for df in ("", " OWN_LEFT=1", " BACKWARD=1")])
            for s, b, m in shapes_s:
                fwd(s, b, m, 0.5); fwd(s, b, m, 0.5, 0, " OWN_LEFT=1")
            if not res_f: continue
            for f in (0.125, 0.25, 1.0): _, s, b, m, _, _, df, _ = min(res_f); fwd(s, b, m, f, 0, df)
            for r in (1, 2, 4): _, s, b, m, f, _, df, _ = min(res_f); fwd(s, b, m, f, r, df)
            _, s, b, m, f, r, df, _ = min(res_f); fwd(s, b, m, f, r, df + " HINTS=1"); fwd(s, b, m, f, r, df + " FAST=0"); fwd(s, b, m, f, r, df + " HINTS=1 FAST=0")
            bf = min(res_f); fwd(*bf[1:7])                         # leaves the state of the best for backward
            for s, b, m in shapes_s: bwd(s, b, m, 0.5)
            if not res_b: continue
            for f in (0.125, 0.25, 1.0): _, s, b, m, _, _, df, _ = min(res_b); bwd(s, b, m, f, 0, df)
            for r in (1, 2, 4): _, s, b, m, f, _, df, _ = min(res_b); bwd(s, b, m, f, r, df)
            _, s, b, m, f, r, df, _ = min(res_b); bwd(s, b, m, f, r, df + " HINTS=1"); bwd(s, b, m, f, r, df + " FAST=0")
            bf, bb = min(res_f), min(res_b)
            loc = kernel("gat.cu", "gat_local", f"HEADS={h} WIDTH={c}")
            tl = timed(lambda s: loc((-(-n * d // 4 // 256),), (256,), (P(record), P(dright), P(dout), P(out), P(pos), P(share), P(right), P(lse), U(n))))
            log(what="best", graph=name, heads=h, width=c, forward_ms=bf[0], forward=bf[1:7], forward_err=bf[7], backward_ms=bb[0], backward=bb[1:7], backward_err=bb[7], local_ms=tl, truth=truth, probe=best_p, probe_err=perr)
            print(f"{time.time()-T0:4.0f}s {name:12} {h}x{c} fwd {bf[0]:.4f} probe {best_p[0]:.4f} ({best_p[0]/bf[0]:.2f}x) {bf[1:7]} {bf[7]:.0e} | bwd {bb[0]:.4f} (local {tl:.4f}) probe {best_p[1]:.4f} ({best_p[1]/bb[0]:.2f}x) {bb[1:7]} {bb[7]:.0e} {truth}", flush=True)
            del z, out, pos, dz, record, want
            torch.cuda.empty_cache()
        del src, dst, rp, col, brp, bcol, cache; torch.cuda.empty_cache()
    print("wall", time.time() - T0)

if __name__ == "__main__":
    main()
