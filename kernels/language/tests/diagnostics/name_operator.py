def program(v):
    v.h = lienar(v.x, 16)
    return v.h
