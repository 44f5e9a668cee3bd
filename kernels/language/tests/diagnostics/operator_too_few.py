def program(v):
    return linear(v.x)
