def program(v):
    if v.degree > 3:
        v.h = 1
    else:
        v.h = 0
    return v.h
