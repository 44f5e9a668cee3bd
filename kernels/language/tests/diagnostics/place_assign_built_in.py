def program(v):
    v.x = linear(v.x, 16)
    return v.x
