def program(v):
    v.h = linear(v.x, 16)
    v.h = v.x
    return v.h
