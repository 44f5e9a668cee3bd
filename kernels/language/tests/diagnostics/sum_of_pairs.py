def program(v):
    return sum((e.w, 1) for e in v.inedges)
