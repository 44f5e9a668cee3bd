def hits(v, tolerance=1e-6):
    "Hubs and authorities (Kleinberg 1999); each sums to 1."
    v.hub = 1 / v.graph.nodes
    while change(v.hub) > tolerance:
        v.authority = shared(v, sum(u.hub for u in v.innbs))
        v.hub = shared(v, sum(u.authority for u in v.outnbs))
    v.authority = shared(v, sum(u.hub for u in v.innbs))
    return v.hub, v.authority

def shared(v, x):
    "The value as a part of its sum over all vertices; 0 where that is 0."
    total = pool_sum(x)
    return where(total > 0, x / total, 0)
