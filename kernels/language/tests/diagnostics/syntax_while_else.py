def program(v):
    v.a = v.id
    while changed(v.a):
        v.a = min(v.a, min(u.a for u in v.nbs))
    else:
        v.a = v.id
    return v.a
