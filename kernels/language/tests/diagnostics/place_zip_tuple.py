def program(v):
    return sum(a * e.w for a, e in zip((1, 2), v.inedges))
