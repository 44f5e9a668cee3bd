def program(v):
    v.h = (d := v.degree) + 1
    return v.h
