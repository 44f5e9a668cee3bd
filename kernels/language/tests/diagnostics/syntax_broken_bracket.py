def program(v):
    v.h = linear(v.x, 16
    return v.h
