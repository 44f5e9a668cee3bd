def program(v):
    return sum(v.x)
