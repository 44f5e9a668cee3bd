def appnp(v, hidden=64, steps=10, alpha=0.1, drop=0.0, drop_edges=0.0):
    "Predict, then propagate by personalised PageRank (Gasteiger, Bojchevski & Guennemann 2019); alpha is the chance to go back."
    degree = sum(e.w for e in v.inedges)
    v.scale = where(degree > 0, rsqrt(degree), 0)
    v.h = relu(linear(dropout(v.x, drop), hidden))
    v.first = linear(dropout(v.h, drop), v.classes)
    v.z = v.first
    for k in range(steps):
        near = v.scale * sum(dropout(e.w, drop_edges) * e.src.scale * e.src.z for e in v.inedges)
        v.z = (1 - alpha) * near + alpha * v.first
    return v.z
