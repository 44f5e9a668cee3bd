def program(v):
    v.a = v.id
    v.b = 0
    while changed(v.b):
        v.a = min(v.a, min(u.a for u in v.nbs))
    return v.a
