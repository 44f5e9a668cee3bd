"""A small run of every kernel and every tier, for compute-sanitizer."""
from lab import *
import gat_probe
torch.manual_seed(1)
n, e = 1003, 20000
src = torch.randint(0, n, (e,), device="cuda"); dst = torch.randint(0, n - 20, (e,), device="cuda"); dst[:3000] = 17; dst[3000:3300] = 5
rp, col, brp, bcol = gat_probe.both_ways(src, dst, n)
p = Items(rp, col, None, 16, 64, 512, 0)
print("items", p.items, p.blocks, p.warps, p.cuts)
for d, defs, l in ((16, "L=4 B=8", 4), (24, "L=6 B=6", 6), (100, "L=32 B=8", 32), (128, "L=32 B=4", 32), (128, "SLICE=32 L=8 B=8", 8), (256, "L=32 Q=2 B=4", 32)):
    x = torch.randn(n, d, device="cuda"); out = torch.full((n, d), float("nan"), device="cuda")
    ref = torch.zeros(n, d, device="cuda", dtype=torch.double).index_add(0, dst, x.double()[src])
    sl = 4 if "SLICE" in defs else 1; per = 8 * (32 // l); s = p.count_longer(16); r = 3
    partial = torch.empty(p.slots, d, device="cuda"); arrived = torch.zeros(p.cuts * sl, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    kernel("neighbour_sum.cu", "neighbour_sum", f"D={d} {defs}")((p.blocks + -(-p.warps // 8) + -(-s // per) + -(-(p.light - s) // (per * r)), sl), (256,),
        (P(out), P(x), P(p.col), 0, P(p.offset), P(p.target), U(p.items), U(p.blocks), U(p.warps), U(s), U(r), P(partial), P(p.cut), P(arrived)))
    torch.cuda.synchronize(); print(d, defs, ((out - ref).abs().max() / ref.abs().max()).item(), "left", int(arrived.abs().sum()))
n, k, m = 1003, 89, 16; ld = 92
x = torch.zeros(n, ld, device="cuda"); x[:, :k] = torch.randn(n, k, device="cuda"); w = torch.randn(k, m, device="cuda"); dz = torch.randn(n, m, device="cuda"); y = torch.empty(n, m, device="cuda"); dw = torch.empty(k, m, device="cuda")
torch.cuda.synchronize()
fn = kernel("skinny_forward.cu", "skinny_forward", "NT=2 COLUMNS=16 DEPTH=2 WARPS=4"); sh = 3 * 2 * 2 * 1024 + 4 * 2048 * 2; fn.max_dynamic_shared_size_bytes = sh
fn((16,), (128,), (P(y), P(x), P(w), 0, 0, U(n), U(k), U(ld // 4), U(m)), shared_mem=sh); torch.cuda.synchronize()
print("forward", (y - x[:, :k].double() @ w.double()).abs().max().item())
for share in (0, 1):
    fn = kernel("skinny_gradient.cu", "skinny_gradient", f"NT=2 CT=1 WC=3 WR=4 DEPTH=4 SHARE={share}"); sh = 4 * (4 * (3 * 64 + 32) if share else 12 * (64 + 32)) * 16; fn.max_dynamic_shared_size_bytes = sh
    run = 128; blocks = -(-n // run); partial = torch.empty(blocks, k, m, device="cuda")
    fn((blocks,), (384,), (P(partial), P(x), P(dz), U(n), U(k), U(ld // 4), U(run)), shared_mem=sh)
    kernel("skinny_gradient.cu", "skinny_join", f"NT=2 CT=1 WC=3 WR=4 DEPTH=4 SHARE={share}")((-(-k * m // 32),), (256,), (P(dw), P(partial), U(k * m), U(blocks))); torch.cuda.synchronize()
    print("gradient", (dw - x[:, :k].double().t() @ dz.double()).abs().max().item())
