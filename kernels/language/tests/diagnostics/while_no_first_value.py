def program(v):
    while changed(v.a):
        v.a = min(u.id for u in v.nbs)
    return v.a
