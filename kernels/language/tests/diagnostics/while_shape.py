def program(v):
    v.h = 0.0
    while change(v.h) > 0.001:
        v.h = v.h + v.x
    return v.h
