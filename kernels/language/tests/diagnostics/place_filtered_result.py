def program(v):
    return [e.w for e in v.inedges if e.w > 0]
