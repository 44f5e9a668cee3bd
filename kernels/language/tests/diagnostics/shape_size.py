def program(v):
    return linear(v.x, (1000000, 1000000))
