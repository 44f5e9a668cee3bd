def program(v):
    v.a = v.id
    while changed(v.a):
        v.best = min(u.a for u in v.nbs)
        v.a = min(v.a, v.best)
    return v.best
