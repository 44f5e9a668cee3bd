def zoo(v, widths=(8, 4), slope=0.2, mode="mean", k=3):
    "Uses each operator once or more."
    v.a, v.b = linear(v.x, 6), mlp(v.x, widths)
    v.h = layer_norm(v.a) + batch_norm(v.a) + bias(name="shift")
    for e in v.inedges:
        e.score = dot(e.src.h, e.dst.h) * e.w
        e.score += leaky_relu(e.score, slope)
    share = softmax(e.score for e in v.inedges if e.type == 0 or e.src.id != e.dst.id)
    v.c = sum(a * e.src.h for a, e in zip(share, v.inedges))
    v.d = mean(u.h for u in v.outnbs) if mode == "mean" else max(u.h for u in v.outnbs)
    v.g = logsumexp(u.h for u in v.nbs) + prod(tanh(u.h) for u in v.innbs) + min(u.h for u in v.innbs if u.degree > 1)
    v.n = count(u for u in v.innbs if u.kind in (0, 2)) + hindex(u.degree for u in v.nbs) + mode_of(v)
    v.q = any(0 < u.age <= 40.5 for u in v.innbs) and not all(u.id < v.id for u in v.innbs)
    v.m = max((u.age for u in v.innbs), default=v.age)
    v.t = fold(join, [e.w for e in v.outedges], 0)
    v.s = sum(sum(u.h * 0.5 for u in v.innbs[r]) for r in v.graph.relations)
    v.p = pool_mean(v.h) + pool_sum(v.h) / v.graph.size + pool_max(v.h)
    v.r = concat(flatten(reshape(v.h, (2, 3))), v.b, v.n, axis=-1)
    v.z = sum(softmax(v.r, axis=0) * norm(v.r), axis=0) + logsumexp(v.r, axis=-1) + mean(v.r, axis=0) + max(v.r, axis=0)
    v.w = where(v.q, clamp(v.m, 0, 1), abs(-v.t)) ** 2 + v.r[..., 1] // 2 - v.degree % 3 + min(v.m, inf) * pi
    v.y = sum(common_neighbors(u, v) for u in v.innbs) + sum(k * i for i in range(k)) + len(widths)
    v.e = sum(embedding(e.type, 6) for e in v.inedges) + embedding(v.id, 6) + v.h @ param((6, 6), init="normal")
    v.f = gelu(elu(silu(softplus(sigmoid(square(exp(log(sqrt(rsqrt(v.z))))))))))
    return v.c + v.d + v.g + v.s + v.p + v.e, v.w + v.y + floor(v.f) + int(v.z), dropout(v.h, 0.5), [e.score for e in v.inedges]

def mode_of(v):
    return mode(u.kind for u in v.innbs)

def join(a, b):
    return a + b if a > b else max(a, b)
