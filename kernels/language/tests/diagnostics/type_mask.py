def program(v):
    return sum(e.w for e in v.inedges if e.src.degree)
