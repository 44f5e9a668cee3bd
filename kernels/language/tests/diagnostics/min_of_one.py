def program(v):
    v.a = v.degree
    return min(v.a)
