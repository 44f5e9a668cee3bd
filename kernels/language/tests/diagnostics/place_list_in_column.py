def program(v):
    v.score = [e.w for e in v.inedges]
    return v.score
