def program(v):
    v.h = reshape(v.x, (5, 3))
    return sum(v.h, axis=0)
