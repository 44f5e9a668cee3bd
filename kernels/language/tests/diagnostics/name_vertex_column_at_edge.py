def program(v):
    v.h = v.x
    return sum(e.h for e in v.inedges)
