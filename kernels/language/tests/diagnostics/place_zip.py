def program(v):
    score = [e.w for e in v.inedges]
    return sum(a * e.w for a, e in zip(score, v.outedges))
