def program(v):
    return fold(max, [e.w for e in v.inedges], 0)
