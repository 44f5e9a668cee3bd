def program(v):
    v.h = v.degree
    return fold(join, [u.h for u in v.innbs], 0)

def join(a, b):
    return a + b * v.h
