def program(v):
    return sum(sum(e.w * f.w for f in v.inedges) for e in v.inedges)
