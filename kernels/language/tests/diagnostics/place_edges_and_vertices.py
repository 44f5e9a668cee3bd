def program(v):
    score = [e.w for e in v.inedges]
    v.h = score * v.degree
    return v.h
