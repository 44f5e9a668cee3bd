def program(v):
    return sum(f(u) for u in v.innbs)

def f(u):
    return u.degree
