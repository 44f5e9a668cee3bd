"""Tall-skinny products beside cuBLAS (cublas and cublasLt through torch, f32) and skinny_probe, all captured. usage: bench_skinny.py [--cases rowsxcolsxM,...] [--limit s]"""
import argparse
from lab import *
import skinny_probe
from cupy.cuda import driver

TS = None
def torch_go(f):
    def go(s):
        with torch.cuda.stream(TS): f()
    return go

def occupancy(fn, threads, shared):
    fn.max_dynamic_shared_size_bytes = shared
    return driver.occupancyMaxActiveBlocksPerMultiprocessor(fn.kernel.ptr if hasattr(fn, "kernel") else fn.ptr, threads, shared)

def main():
    global TS
    a = argparse.ArgumentParser()
    a.add_argument("--cases", default="410236x96x16,1890931x66x16,580768x1323x16,334925x89x16,232965x602x16,2449029x100x16,716847x300x16,169343x128x16,410236x96x8,410236x96x32,410236x96x64,169343x128x64,334925x89x64,716847x300x64,232965x602x64,2449029x100x64,580768x1323x64,580768x1323x32,232965x602x32,410236x16x24,2449029x16x48,410236x64x64")
    a.add_argument("--limit", type=float, default=200); a.add_argument("--out", default="skinny.jsonl"); a.add_argument("--quick", action="store_true")
    a = a.parse_args(); log = Log(a.out); log(**device_line())
    torch.backends.cuda.matmul.allow_tf32 = False
    TS = torch.cuda.ExternalStream(STREAM.ptr)
    pm = cupy.RawModule(code=skinny_probe.SOURCE, options=("--std=c++17",), name_expressions=[f"gradient<{g}>" for g in (1, 2, 3, 4)])
    pf, pj = pm.get_function("forward"), pm.get_function("join"); pf.max_dynamic_shared_size_bytes = 200 * 1024
    for case in a.cases.split(","):
        if time.time() - T0 > a.limit: print("out of time at", case); break
        n, k, m = map(int, case.split("x")); nt = -(-m // 8); ld = -(-k // 4) * 4; m8 = nt * 8
        padded = torch.zeros(n, ld, device="cuda"); padded[:, :k] = torch.randn(n, k, device="cuda"); x = padded[:, :k].contiguous() if ld != k else padded
        w = torch.randn(k, m, device="cuda"); dz = torch.zeros(n, m8, device="cuda"); dz[:, :m] = torch.randn(n, m, device="cuda"); dzm = dz[:, :m].contiguous()
        torch.backends.cuda.preferred_blas_library("cublas")
        want = torch.cat([x[i:i + 262144].double() @ w.double() for i in range(0, n, 262144)])
        wantg = sum(x[i:i + 262144].double().t() @ dzm[i:i + 262144].double() for i in range(0, n, 262144))
        for _ in range(3):                                          # seen: a float64 product of torch that is off by everything; ask again until f32 agrees
            torch.cuda.synchronize()
            if ((x @ w - want).abs().max() / want.abs().max()).item() < 1e-3 and ((x.t() @ dzm - wantg).abs().max() / wantg.abs().max()).item() < 1e-3: break
            print("reference off, again", case); log(what="reference_off", case=case)
            want = torch.cat([x[i:i + 262144].double() @ w.double() for i in range(0, n, 262144)])
            wantg = sum(x[i:i + 262144].double().t() @ dzm[i:i + 262144].double() for i in range(0, n, 262144))
        limit = (n * k * 4 + n * m * 4) / 4.28e9
        y = torch.empty(n, m8, device="cuda"); yb = torch.empty(n, m, device="cuda"); gb = torch.empty(k, m, device="cuda"); dw = torch.empty(k, m8, device="cuda")
        res = {}
        for lib in ("cublas", "cublaslt"):
            torch.backends.cuda.preferred_blas_library(lib)
            with torch.cuda.stream(TS): torch.mm(x, w, out=yb); torch.mm(x.t(), dzm, out=gb)
            torch.cuda.synchronize()
            res[lib] = (timed(torch_go(lambda: torch.mm(x, w, out=yb))), timed(torch_go(lambda: torch.mm(x.t(), dzm, out=gb))))
        cb = tuple(min(res[l][i] for l in res) for i in (0, 1))
        cerr = ((yb - want).abs().max() / want.abs().max()).item(); cgerr = ((gb - wantg).abs().max() / wantg.abs().max()).item()
        torch.backends.cuda.preferred_blas_library("cublas")
        # forward
        best = None
        kb = -(-k // 16)
        def forward(rt, pre, warps, depth, extra="", jobs=None):
            nonlocal best
            shared = -(-k // 32) * 2 * nt * 512 * (1 + pre) + warps * rt * 2048 * depth
            if shared > 226 * 1024: return
            defs = f"NT={nt} COLUMNS={m} RT={rt} DEPTH={depth} WARPS={warps} PRESPLIT={pre}{extra}"
            if jobs is not None: jobs.append(("skinny_forward.cu", "skinny_forward", defs)); return
            fn = kernel("skinny_forward.cu", "skinny_forward", defs); per = occupancy(fn, warps * 32, shared)
            if per < 1: return
            grid = min(SMS * per, -(-n // (16 * rt * warps)))
            go = lambda s: fn((grid,), (warps * 32,), (P(y), P(padded), P(w), 0, 0, U(n), U(k), U(ld // 4), U(m8)), shared_mem=shared)
            y.fill_(float("nan")); t = timed(go, budget=0.01)
            err = ((y[:, :m] - want).abs().max() / want.abs().max()).item()
            log(what="skinny_forward", rows=n, columns=k, m=m, ms=t, err=err, defs=defs, per_sm=per, shared=shared, limit_ms=limit)
            if not err < 5e-6: print("WRONG forward", defs, err); return
            if best is None or t < best[0]: best = (t, defs, per, err, (rt, pre, warps, depth), extra)
        pres = (1,) if kb * nt * 1024 < 20000 else (1, 0) if kb * nt * 1024 < 160000 else (0,)
        def forwards(jobs=None):
            for rt in ((1, 2) if nt >= 4 else (1,)):
                for pre in pres:
                    for warps in (8, 16) if kb * nt * 512 > 60000 else (8, 12, 16) if nt == 8 else (8, 4):
                        for depth in ((2, 3, 4, 6) if nt <= 2 else (2, 3, 4)):
                            forward(rt, pre, warps, depth, "", jobs)
        jobs = []; forwards(jobs); precompile(jobs); forwards()
        if best:
            for extra in (' AHEAD=""',): forward(*best[4], best[5].split(' AHEAD')[0] + extra)
        if best:                                                     # the fused form: relu(scale * (x w) + bias)
            rt, pre, warps, depth = best[4]; scale_, bias_ = torch.rand(n, device="cuda") + 0.5, torch.randn(m8, device="cuda")
            shared = -(-k // 32) * 2 * nt * 512 * (1 + pre) + warps * rt * 2048 * depth
            fn = kernel("skinny_forward.cu", "skinny_forward", best[1] + " SCALE=1 BIAS=1 RELU=1"); per = occupancy(fn, warps * 32, shared)
            y.fill_(float("nan"))
            te = timed(lambda s: fn((min(SMS * per, -(-n // (16 * rt * warps))),), (warps * 32,), (P(y), P(padded), P(w), P(scale_), P(bias_), U(n), U(k), U(ld // 4), U(m8)), shared_mem=shared), budget=0.01)
            we = (want * scale_[:, None].double() + bias_[:m].double()).relu(); ee = ((y[:, :m] - we).abs().max() / we.abs().max()).item(); del we
            log(what="skinny_fused", rows=n, columns=k, m=m, ms=te, err=ee)
            print(f"   fused {te:.4f} err {ee:.1e}", end=" ")
        # gradient
        bestg = None; G = -(-ld // 32)
        def gradient(ct, wc, wr, depth, extra="", jobs=None):
            nonlocal bestg
            th = wc * wr * 32
            shared = max(depth * (wr * (wc * ct * 64 + 16 * nt) if 'SHARE=1' in extra else wc * wr * (ct * 64 + 16 * nt)) * 16, wc * ct * 32 * nt * 32)
            if shared > 226 * 1024: return
            defs = f"NT={nt} CT={ct} WC={wc} WR={wr} DEPTH={depth}{extra}"
            if jobs is not None: jobs.append(("skinny_gradient.cu", "skinny_gradient", defs)); return
            fn = kernel("skinny_gradient.cu", "skinny_gradient", defs); jn = kernel("skinny_gradient.cu", "skinny_join", defs)
            per = occupancy(fn, th, shared)
            if per < 1: return
            blocks = SMS * per; run = -(-(-(-n // blocks)) // (8 * wr)) * 8 * wr; blocks = -(-n // run)
            partial = torch.full((blocks, k, m8), float("nan"), device="cuda")
            def go(s):
                fn((blocks,), (th,), (P(partial), P(padded), P(dz), U(n), U(k), U(ld // 4), U(run)), shared_mem=shared)
                jn((-(-k * m8 // 32),), (256,), (P(dw), P(partial), U(k * m8), U(blocks)))
            dw.fill_(float("nan")); t = timed(go, budget=0.01); one = dw.clone(); torch.cuda.synchronize()
            with STREAM: go(STREAM)
            STREAM.synchronize(); same = torch.equal(one, dw)
            err = ((dw[:, :m] - wantg).abs().max() / wantg.abs().max()).item()
            log(what="skinny_gradient", rows=n, columns=k, m=m, ms=t, err=err, same_bits=same, defs=defs, per_sm=per, shared=shared, limit_ms=limit)
            if not err < 1e-5 or not same: print("WRONG gradient", defs, err, cgerr, same); return
            if bestg is None or t < bestg[0]: bestg = (t, defs, per, err, (ct, wc, wr, depth), extra)
        def gradients(jobs=None):
            for ct in (1, 2, 3, 4):
                if ct * nt > 16: continue
                wc = -(-G // ct)
                if wc > 16 or (ct > G): continue
                for wr in sorted({max(1, 8 // wc), max(1, 12 // wc), max(1, 16 // wc)}):
                    if wc * wr > 16: continue
                    for depth in ((3, 4, 6) if nt <= 2 else (3, 4)):
                        for sh in (("", " SHARE=1") if wc > 1 and nt >= 4 else ("",)): gradient(ct, wc, wr, depth, sh, jobs)
        jobs = []; gradients(jobs); precompile(jobs); gradients()
        if bestg:
            for extra in (' AHEAD=""',): gradient(*bestg[4], bestg[5].split(' AHEAD')[0] + extra)
        pr = (None, None)
        if m == 16:
            groups = min(4, -(-k // 32)); tiles = -(-k // (groups * 32)); grad = pm.get_function(f"gradient<{groups}>")
            runs = max(1, min(SMS * 4 // tiles, -(-n // 64))); run = -(-(-(-n // runs)) // 64) * 64; runs = -(-n // run)
            partial = torch.empty(runs, k, 16, device="cuda"); sh = -(-k // 16) * 1024; per_sm = max(1, min(6, 200 * 1024 // sh)); I = np.int32
            def pg(s):
                grad((runs, tiles), (256,), (P(partial), P(padded), P(dz), I(n), I(k), I(ld // 4), I(run))); pj((-(-k * 16 // 32),), (256,), (P(dw), P(partial), I(k * 16), I(runs)))
            pr = (timed(lambda s: pf((min(SMS * per_sm, -(-n // 128)),), (256,), (P(y), P(padded), P(w), I(n), I(k), I(ld // 4)), shared_mem=sh)), timed(pg))
        row = dict(what="best", rows=n, columns=k, m=m, limit_ms=limit, cublas=res["cublas"], cublaslt=res["cublaslt"], cublas_err=cerr, cublas_gradient_err=cgerr, probe=pr)
        if best: row.update(forward_ms=best[0], forward=best[1], forward_per_sm=best[2], forward_err=best[3])
        if bestg: row.update(gradient_ms=bestg[0], gradient=bestg[1], gradient_per_sm=bestg[2], gradient_err=bestg[3])
        log(**row)
        f = lambda v: f"{v:.4f}" if v else "-"
        print(f"{time.time()-T0:4.0f}s {case:16} lim {limit:.4f} | fwd {f(best and best[0])} ({limit/best[0] if best else 0:.2f}) cublas {cb[0]:.4f} probe {f(pr[0])} {best and best[1]} x{best and best[2]} {best[3] if best else 0:.1e} | grad {f(bestg and bestg[0])} ({limit/bestg[0] if bestg else 0:.2f}) cublas {cb[1]:.4f} probe {f(pr[1])} {bestg and bestg[1]} x{bestg and bestg[2]}", flush=True)
        del x, padded, want, wantg, y, dz, yb
        torch.cuda.empty_cache()
    print("wall", time.time() - T0)

if __name__ == "__main__":
    main()
