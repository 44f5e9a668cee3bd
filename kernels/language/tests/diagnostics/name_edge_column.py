def program(v):
    return sum(e.weight * e.src.degree for e in v.inedges)
