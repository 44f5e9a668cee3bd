"""Neighbour sum beside the probe and cuSPARSE, all captured. usage: bench_spmm.py --graphs a,b --dims 16,32 [--weighted] [--order planted] [--limit seconds] [--out file]"""
import argparse
from lab import *

def configs(d):
    """(defs, lanes, quads, in flight, blocks an SM)"""
    c = []
    def k(slice_, l, q, b, minb, extra=""): c.append((f"D={d} SLICE={slice_} L={l} Q={q} B={b} MINB={minb}{extra}", slice_, l, q, b, minb))
    if d in (16, 32, 64, 128, 256):
        if d == 16: k(16, 4, 1, 4, 6, " J=4"); k(16, 4, 1, 8, 5, " J=4"); k(16, 4, 1, 4, 6, " J=2"); k(16, 4, 1, 4, 6); k(16, 4, 1, 8, 4); k(16, 4, 1, 16, 3); k(16, 4, 1, 16, 4); k(16, 4, 1, 8, 5)
        if d == 32: k(32, 8, 1, 4, 6, " J=2"); k(32, 8, 1, 8, 4, " J=2"); k(32, 8, 1, 4, 6); k(32, 8, 1, 8, 4); k(32, 8, 1, 16, 3); k(32, 8, 1, 8, 5)
        if d == 64: k(64, 16, 1, 4, 6); k(64, 16, 1, 8, 4); k(64, 16, 1, 16, 3); k(32, 8, 1, 8, 4); k(64, 16, 1, 8, 5); k(32, 8, 1, 4, 6, " J=2")
        if d == 128: k(128, 32, 1, 4, 6); k(128, 32, 1, 8, 4); k(128, 32, 1, 16, 3); k(64, 16, 1, 8, 4); k(32, 8, 1, 8, 4); k(128, 32, 1, 8, 5)
        if d == 256: k(256, 32, 2, 4, 4); k(256, 32, 2, 8, 2); k(128, 32, 1, 8, 4); k(64, 16, 1, 8, 4); k(32, 8, 1, 8, 4); k(32, 8, 1, 4, 6); k(32, 8, 1, 4, 6, " J=2")
    elif d == 24: k(24, 6, 1, 6, 5); k(24, 8, 1, 8, 5)
    elif d == 40: k(40, 10, 1, 5, 5); k(40, 5, 2, 5, 4); k(40, 16, 1, 8, 5)
    elif d == 48: k(48, 12, 1, 6, 5); k(48, 6, 2, 6, 4); k(48, 16, 1, 8, 5)
    elif d == 100: k(100, 32, 1, 8, 4); k(100, 25, 1, 5, 6); k(100, 32, 1, 4, 6)
    elif d == 124: k(124, 32, 1, 8, 4); k(124, 32, 1, 4, 6)
    return c

ODD = {24: 22, 40: 39, 48: 47, 100: 100, 124: 121}                # padded width: true width

def rule(n, e, d, near):
    """The schedule without measuring: (slice, L, Q, B, MINB), f, window, rounds (0: by the number of items), extra, ranges of sources."""
    mean, mb = e / max(n, 1), n * d * 4 / 2**20
    f = 2.0 if e < 4e6 else 0.5                                     # small graphs: long rows alone are no problem, pieces cost more than they save
    if d not in (16, 32, 64, 128, 256):
        if d >= 100: c = (d, 32, 1, 4, 6) if d == 124 else (d, 25, 1, 5, 6)
        else: c = {24: (24, 6, 1, 6, 5), 40: (40, 10, 1, 5, 5), 48: (48, 6, 2, 6, 4)}[d]
        return c, f, 1 if near > 0.5 and mb > 15 else 0, max(1, min(8, round(32 / mean))) if near > 0.5 and mb > 15 else 0, " HINTS=0", 1
    if near > 0.5 and mb > 15:                                      # neighbours are near in the order of ids: keep that order (sorted by degree only within windows)
        if d <= 32: return (d, d // 4, 1, 4, 6), f, 256, max(1, min(2, round(32 / mean))), "", 1
        if d == 64: return (64, 16, 1, 4, 6), f, 256, max(1, min(4, round(32 / mean))), " HINTS=0", 1
        return {128: (128, 32, 1, 4, 6), 256: (256, 32, 2, 4, 4)}[d], f, 1, max(1, min(8, round(32 / mean))), " HINTS=0", 1
    if d == 16:
        ranges = max(1, round(mb / 40)) if mean >= 40 and mb > 100 else 1
        if ranges > 1: return (16, 4, 1, 16, 3), 0.125, 0, 0, " HINTS=0", ranges
        if n < 20000: return (16, 4, 1, 4, 6), f, 0, 0, " HINTS=0", 1
        if mean >= 20 or (mean >= 12 and e < 4e6): return (16, 4, 1, 16, 4 if e < 4e6 else 3), f, 0, 0, " HINTS=0", 1
        if mean >= 12: return (16, 4, 1, 4, 6), f, 0, 1, " J=2 HINTS=0", 1
        return ((16, 4, 1, 8, 4), f, 0, 0, " HINTS=0", 1) if mb <= 12 else ((16, 4, 1, 4, 6), f, 0, 0, "" if mb <= 100 else " J=2 HINTS=0", 1)
    if d == 32:
        ranges = max(1, round(mb / 100)) if mean >= 40 and mb > 200 else 1
        if ranges > 1: return (32, 8, 1, 8, 4), 0.125, 0, 0, " HINTS=0", ranges
        return ((32, 8, 1, 8, 4), f, 0, 0, " J=2 HINTS=0", 1) if mean >= 10 else ((32, 8, 1, 4, 6), f, 0, 0, "", 1)
    if mb <= 10 and d == 256: return ((256, 32, 2, 8, 2) if mean >= 200 else (256, 32, 2, 4, 4)), f if mean < 200 else 1.0, 0, 0, " HINTS=0", 1
    if mean >= 200: s = min(d, 128) if mb <= 80 else 64             # dense: L2's rate is the bound, L1 hits count
    elif mb <= 60: s = min(d, 128)                                  # the table stays in L2 as it is
    else: s = 32 if mean >= 16 or n * 128 <= 100 * 2**20 else 64    # columns in slices: the slice stays in L2, or misses less
    if mean < 200 and s == d: return (s, s // 4, 1, 4, 6), f, 0, 0, " HINTS=0", 1
    return (s, s // 4, 1, 8, 5 if s == 128 and mean >= 200 else 4), f, 0, 0, " HINTS=0", 1

def thresholds(e, l, b, minb, f):
    chunk = max(b, l)
    blocks = SMS * minb; warps = blocks * 8; groups = warps * (32 // l)
    t_group = int(min(1024, max(2 * b, f * e / groups)))
    t_warp = int(min(8192, max(t_group, 2 * b * (32 // l), f * e / warps)))
    if 32 // l == 1: t_warp = t_group
    cap = int(min(1 << 20, max(t_warp, 8 * chunk * (32 // l), f * e / blocks)))
    return t_group, t_warp, cap

def main():
    a = argparse.ArgumentParser()
    a.add_argument("--graphs", default="cora,artist,com-amazon,soc-BlogCatalog,arxiv,ddi,amazon0505,DD,yelp,reddit,products")
    a.add_argument("--dims", default="16,32,64,128,256"); a.add_argument("--weighted", action="store_true"); a.add_argument("--order", default="shuffled")
    a.add_argument("--limit", type=float, default=500); a.add_argument("--out", default="spmm.jsonl"); a.add_argument("--no-rivals", action="store_true")
    a.add_argument("--rule-only", action="store_true"); a.add_argument("--fs", default="0.125,1,2"); a.add_argument("--windows", default="1,256")
    a = a.parse_args(); a.fs = [float(v) for v in a.fs.split(",")]; a.windows = [int(v) for v in a.windows.split(",") if v]
    log = Log(a.out); log(**device_line())
    dims = list(map(int, a.dims.split(",")))
    lib = cusparse(); probe = Probe([d for d in dims if d in (16, 32, 64, 128, 256)])
    for name in a.graphs.split(","):
        if time.time() - T0 > a.limit: print("out of time before", name); break
        src, dst, n = base.graph(name)
        if a.order == "planted":
            both = planted(name, src, dst, n)
            if both is None: continue
            src, dst = both
        rowptr, col = base.csr(src, dst, n); e = col.numel(); del src, dst
        val = torch.rand(e, device="cuda") + 0.5 if a.weighted else None
        ones = val if a.weighted else torch.ones(e, device="cuda")
        import warnings; warnings.simplefilter("ignore")
        A64 = torch.sparse_csr_tensor(rowptr.long(), col.long(), ones.double(), (n, n))
        plans = {}
        near = float(((col.long() - torch.repeat_interleave(torch.arange(n, device="cuda"), (rowptr[1:] - rowptr[:-1]).long())).abs() <= 256).float().mean())
        def plan(*key):
            if key not in plans:
                if len(plans) > (6 if e > 5e7 else 40): plans.pop(next(iter(plans)))
                plans[key] = Items(rowptr, col, val, *key)
            return plans[key]
        for d in dims:
            if time.time() - T0 > a.limit: print("out of time at", name, d); break
            if (n * d * 4 * 8 > 1.2e11) or e * d > 6e10: continue
            x = torch.randn(n, d, device="cuda"); ref64 = A64 @ x.double(); ref = ref64.float(); del ref64
            scale = ref.abs().max()
            out = torch.empty(n, d, device="cuda")
            results = []
            def run(cfg, f, window, rounds=0, extra=""):
                defs, slice_, l, q, b, minb = cfg
                key = (*thresholds(e, l, b, minb, f), window)
                p = plan(*key)
                fn = kernel("neighbour_sum.cu", "neighbour_sum", defs + (" WEIGHTED=1" if a.weighted else "") + extra)
                partial = torch.empty(max(p.slots, 1), d, device="cuda"); slices = d // slice_
                arrived = torch.zeros(max(p.cuts, 1) * slices, dtype=torch.int32, device="cuda")
                per_warp = 32 // l
                chunk = max(b, l); per_block = 8 * per_warp
                singles = p.count_longer(2 * b) if rounds != -1 else 0             # light items longer than this take a group alone
                if rounds <= 0: rounds = int(max(1, min(4, (p.light - singles) / (SMS * minb * 8 * per_warp * 2))))
                grid = p.blocks + -(-p.warps // 8) + -(-singles // per_block) + -(-(p.light - singles) // (per_block * rounds))
                args = (P(out), P(x), P(p.col), P(p.val), P(p.offset), P(p.target), U(p.items), U(p.blocks), U(p.warps), U(singles), U(rounds), P(partial), P(p.cut), P(arrived))
                go = lambda s: fn((grid, slices), (256,), args)
                out.fill_(float("nan"))
                t = timed(go)
                err = ((out - ref).abs().max() / scale).item()
                first = out.clone(); torch.cuda.synchronize()
                with STREAM: go(STREAM)
                STREAM.synchronize(); same = bool(torch.equal(first, out)); del first
                r = dict(what="sum", graph=name, order=a.order, d=d, weighted=a.weighted, ms=t, err=err, same_bits=same, defs=defs + extra, f=f, window=window, rounds=rounds, t=key[:3], blocks=p.blocks, warps=p.warps, cuts=p.cuts)
                log(**r)
                if not err < 2e-5 or not same: print("WRONG", r)
                else: results.append((t, cfg, f, window, rounds, extra))
                return t
            (sl, l_, q_, b_, m_), rf, rw, rr, rx, ranges = rule(n, e, d, near)
            rcfg = (f"D={d} SLICE={sl} L={l_} Q={q_} B={b_} MINB={m_}", sl, l_, q_, b_, m_)
            def run_ranges(nb):
                """A launch for each range of sources."""
                steps = []
                row_of = torch.repeat_interleave(torch.arange(n, device="cuda"), (rowptr[1:] - rowptr[:-1]).long())
                for i in range(nb):
                    keep = (col >= n * i // nb) & (col < n * (i + 1) // nb)
                    rp, c = base.csr(col[keep].long(), row_of[keep], n)
                    p = Items(rp, c, val[keep] if val is not None else None, *thresholds(c.numel(), l_, b_, m_, rf), 0, drop_empty=i > 0)
                    singles = p.count_longer(2 * b_); per_block = 8 * (32 // l_); rounds = int(max(1, min(4, (p.light - singles) / (SMS * m_ * per_block * 2))))
                    fn = kernel("neighbour_sum.cu", "neighbour_sum", rcfg[0] + " HINTS=1" + (" WEIGHTED=1" if a.weighted else "") + (" ADD=1" if i else ""))
                    partial = torch.empty(max(p.slots, 1), d, device="cuda"); arrived = torch.zeros(max(p.cuts, 1), dtype=torch.int32, device="cuda")
                    grid = p.blocks + -(-p.warps // 8) + -(-singles // per_block) + -(-(p.light - singles) // (per_block * rounds))
                    steps.append((fn, grid, (P(out), P(x), P(p.col), P(p.val), P(p.offset), P(p.target), U(p.items), U(p.blocks), U(p.warps), U(singles), U(rounds), P(partial), P(p.cut), P(arrived)), p, partial, arrived))
                def go(s):
                    for fn, grid, args, *_ in steps: fn((grid, 1), (256,), args)
                out.fill_(float("nan")); t = timed(go); err = ((out - ref).abs().max() / scale).item(); one = out.clone(); torch.cuda.synchronize()
                with STREAM: go(STREAM)
                STREAM.synchronize(); same = bool(torch.equal(one, out))
                log(what="sum", graph=name, order=a.order, d=d, weighted=a.weighted, ms=t, err=err, same_bits=same, defs=rcfg[0] + f" RANGES={nb}", f=rf, window=0, rounds=0, t=[], blocks=0, warps=0, cuts=0)
                if not err < 2e-5 or not same: print("WRONG ranges", name, d, nb, err, same); return 1e9
                results.append((t, rcfg, rf, 0, 0, f" RANGES={nb}")); return t
            by_rule = run_ranges(ranges) if ranges > 1 else run(rcfg, rf, rw, rr, rx)
            if not a.rule_only:
                cs = configs(d)
                for c in cs: run(c, 0.5, 0, 0, " HINTS=0")
                plain = [r for r in results if "RANGES" not in r[5]]
                best = min(plain); run(best[1], best[2], best[3], best[4], best[5].replace(" HINTS=0", "") if "HINTS=0" in best[5] else best[5] + " HINTS=0")
                def top(): return min(r for r in results if "RANGES" not in r[5])
                for f in a.fs: best = top(); run(best[1], f, best[3], 0, best[5])
                for r in (1, 2, 4, 8):
                    best = top()
                    if r != best[4]: run(best[1], best[2], best[3], r, best[5])
                if near > 0.2 or a.order == "planted":
                    for w in (1, 256):
                        best = top(); run(best[1], best[2], w, best[4], best[5])
                        for c in (cs[0], cs[1]):
                            if best[1] != c: run(c, best[2], w, 4, " HINTS=0")
            best = min(results); best = (*best[:4], best[5], best[4])
            row = dict(what="best", graph=name, order=a.order, d=d, weighted=a.weighted, ms=best[0], defs=best[1][0] + best[4], f=best[2], window=best[3], rounds=best[5], rule_ms=by_rule, rule=[rcfg[0], rf, rw, rr, rx, ranges], near=near)
            rivals = ""
            if not a.no_rivals:
                if d in (16, 32, 64, 128, 256) and not a.weighted:
                    pt = probe.time((name, a.order), rowptr, col, x, ref, scale); row.update(probe_ms=pt[0], probe_cut=pt[1], probe_err=pt[2])
                    rivals += f" probe {pt[0]:.4f} ({pt[0]/best[0]:.2f}x, rule {pt[0]/by_rule:.2f})"
                xo = x if d not in ODD or ODD[d] == d else torch.randn(n, ODD[d], device="cuda")
                for alg in (2, 3):
                    t, why = cusparse_time(lib, rowptr, col, ones, xo, out, alg)
                    row[f"cusparse{alg}_ms"] = t
                    if why: row[f"cusparse{alg}_note"] = why
                cs_ = min(v for v in (row["cusparse2_ms"], row["cusparse3_ms"]) if v)
                rivals += f" cusp {cs_:.4f} ({cs_/best[0]:.2f}x, rule {cs_/by_rule:.2f})"
            mb = n * d * 4 / 2**20
            if d in spmm_probe.GATHER:
                limit = max(e * d * 4 / spmm_probe.gather_tbps(d, mb) / 1e9, (4 * e + 8.0 * n * d) / 4.28e9); row.update(limit_ms=limit); rivals += f" lim {limit/best[0]:.2f}"
            log(**row)
            print(f"{time.time()-T0:4.0f}s {name:12} {d:3} {best[0]:.4f} rule {by_rule:.4f}{rivals} | {best[1][0].replace('D=%d ' % d, '')}{best[4]} f={best[2]} w={best[3]} r={best[5]}", flush=True)
            del x, ref, out
        del A64, plans; torch.cuda.empty_cache()
    print("wall", time.time() - T0)

if __name__ == "__main__":
    main()
