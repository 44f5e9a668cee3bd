def program(v):
    b = bias()
    return linear(v.x, 16)
