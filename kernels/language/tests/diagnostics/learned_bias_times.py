def program(v):
    return linear(v.x, 16) * bias()
