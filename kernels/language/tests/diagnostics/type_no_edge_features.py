def program(v):
    return sum(e.x for e in v.inedges)
