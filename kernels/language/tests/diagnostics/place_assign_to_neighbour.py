def program(v):
    for u in v.innbs:
        u.h = 1
    return v.h
