"""Neighbour sum by ranges of sources (a launch for each range, out += ), for tables far above L2. usage: bench_blocks.py graph:d:b:minb,... """
from lab import *
from bench_spmm import thresholds
log = Log("blocks.jsonl"); log(**device_line())
for case in sys.argv[1].split(","):
    name, d, b, minb = case.split(":"); d, b, minb = int(d), int(b), int(minb); l = d // 4
    src, dst, n = base.graph(name); rowptr, col = base.csr(src, dst, n); e = col.numel()
    x = torch.randn(n, d, device="cuda"); import warnings; warnings.simplefilter("ignore")
    ref = (torch.sparse_csr_tensor(rowptr.long(), col.long(), torch.ones(e, dtype=torch.double, device="cuda"), (n, n)) @ x.double()).float(); scale = ref.abs().max()
    probe = Probe([d]); pt = probe.time(name, rowptr, col, x, ref, scale)
    out = torch.empty(n, d, device="cuda")
    for nb in (1, 2, 3, 4, 6, 8):
        steps = []
        for i in range(nb):
            lo, hi = n * i // nb, n * (i + 1) // nb
            keep = (src >= lo) & (src < hi)
            rp, c = base.csr(src[keep], dst[keep], n)
            for_e = c.numel()
            p = Items(rp, c, None, *thresholds(for_e, l, b, minb, 0.125), 0, drop_empty=i > 0)
            singles = p.count_longer(2 * b); per_block = 8 * (32 // l); rounds = int(max(1, min(4, (p.light - singles) / (SMS * minb * per_block * 2))))
            fn = kernel("neighbour_sum.cu", "neighbour_sum", f"D={d} SLICE={d} L={l} Q=1 B={b} MINB={minb}" + (" HINTS=1" if nb > 1 else " HINTS=0") + (" ADD=1" if i else ""))
            partial = torch.empty(max(p.slots, 1), d, device="cuda"); arrived = torch.zeros(max(p.cuts, 1), dtype=torch.int32, device="cuda")
            grid = p.blocks + -(-p.warps // 8) + -(-singles // per_block) + -(-(p.light - singles) // (per_block * rounds))
            steps.append((fn, grid, (P(out), P(x), P(p.col), 0, P(p.offset), P(p.target), U(p.items), U(p.blocks), U(p.warps), U(singles), U(rounds), P(partial), P(p.cut), P(arrived)), p, partial, arrived))
        def go(s):
            for fn, grid, args, *_ in steps: fn((grid, 1), (256,), args)
        out.fill_(float("nan")); t = timed(go); err = ((out - ref).abs().max() / scale).item()
        one = out.clone(); torch.cuda.synchronize()
        with STREAM: go(STREAM)
        STREAM.synchronize(); same = bool(torch.equal(one, out)); del one
        log(what="blocks", graph=name, d=d, b=b, minb=minb, ranges=nb, ms=t, err=err, same_bits=same, probe_ms=pt[0])
        print(f"{time.time()-T0:4.0f}s {name} D={d} B={b} MINB={minb} ranges {nb}: {t:.4f} probe {pt[0]:.4f} err {err:.1e} {same}", flush=True)
        del steps
    del src, dst, rowptr, col, x, ref, out; torch.cuda.empty_cache()
