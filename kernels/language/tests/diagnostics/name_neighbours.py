def program(v):
    return sum(u.h for u in v.neighbors)
