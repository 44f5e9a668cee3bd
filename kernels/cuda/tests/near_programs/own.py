def own(v, width=5):
    "Sums over edges of rows that have some of their own to read before them."
    v.z = tanh(linear(v.x, width))
    v.h = v.z * param(()) + sum(u.z for u in v.innbs)
    v.k = tanh(v.h * v.z + sum(e.w * e.src.h for e in v.inedges))
    return linear(v.k, v.classes)
