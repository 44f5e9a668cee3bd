def program(v):
    total = 0
    v.a = v.id
    while changed(v.a):
        total = total + 1
        v.a = min(v.a, min(u.a for u in v.nbs))
    return v.a, total
