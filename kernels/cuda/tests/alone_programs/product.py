def product(v, hidden=8):
    "Products over all other edges, of one relation too."
    v.h = linear(v.x, hidden)
    v.p = prod(tanh(u.h) for u in v.innbs) + prod(1 + e.w * e.dst.h for e in v.outedges if e.dst.degree > 1)
    v.q = sum(prod(u.h for u in v.innbs[r]) for r in v.graph.relations)
    return linear(v.p + v.q, v.classes)
