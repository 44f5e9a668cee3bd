def program(v):
    return sum(v.x, axis=1)
