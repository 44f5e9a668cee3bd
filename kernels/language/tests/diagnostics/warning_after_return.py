def program(v):
    return v.degree
    v.h = v.x
