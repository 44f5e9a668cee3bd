def program(v):
    v.a = v.id
    while True:
        v.a = min(v.a, min(u.a for u in v.nbs))
    return v.a
