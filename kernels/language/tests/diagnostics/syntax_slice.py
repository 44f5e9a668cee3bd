def program(v):
    v.h = v.x[:8]
    return v.h
