def program(v):
    return hindex(e.w for e in v.inedges)
