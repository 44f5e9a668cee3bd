def program(v):
    for e in v.inedges:
        v.total = e.w
    return v.total
