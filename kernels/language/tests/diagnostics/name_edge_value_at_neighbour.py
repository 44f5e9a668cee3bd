def program(v):
    v.h = v.x
    return sum(u.w * u.h for u in v.innbs)
