def program(v):
    return sum(message(v, u.degree) for u in v.innbs)

def message(v, x):
    v.m = x
    return v.m
