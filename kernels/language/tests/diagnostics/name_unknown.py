def program(v, hidden=16):
    v.h = linear(v.x, hiden)
    return v.h
