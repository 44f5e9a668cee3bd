def program(v):
    v.h = v.x
    v.h[0] = 1
    return v.h
