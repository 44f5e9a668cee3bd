def gin(v, hidden=64, layers=5, graphs=False, norm=False, drop=0.0):
    "Graph isomorphism network (Xu et al. 2019): scores of vertices, or with graphs=True of graphs, from the sum over their vertices."
    v.h = v.x
    for k in range(layers):
        scored = k == layers - 1 and not graphs
        v.z = (1 + param((), init="zero")) * v.h + sum(u.h for u in v.innbs)
        v.h = mlp(v.z, (hidden, v.classes if scored else hidden))
        if norm and not scored:
            v.h = batch_norm(v.h)
        if not scored:
            v.h = dropout(relu(v.h), drop)
    return linear(pool_sum(v.h), v.classes) if graphs else v.h
