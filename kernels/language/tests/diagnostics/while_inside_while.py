def program(v):
    v.a = v.id
    v.b = 0.0
    while changed(v.a):
        v.a = min(v.a, min(u.a for u in v.nbs))
        while change(v.b) > 0.1:
            v.b = v.b / 2
    return v.a
