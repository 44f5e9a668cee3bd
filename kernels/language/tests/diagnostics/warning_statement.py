def program(v):
    v.h = v.x
    relu(v.h)
    return v.h
