def program(v):
    v.h = cat(v.x, v.x)
    return v.h
