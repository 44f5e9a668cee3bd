def program(v):
    v.a = v.id
    while change(v.a) > 0:
        v.a = min(v.a, min(u.a for u in v.nbs))
    return v.a
