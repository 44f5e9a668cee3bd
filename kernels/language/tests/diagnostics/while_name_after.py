def program(v):
    v.a = v.id
    while changed(v.a):
        best = min(u.a for u in v.nbs)
        v.a = min(v.a, best)
    return best
