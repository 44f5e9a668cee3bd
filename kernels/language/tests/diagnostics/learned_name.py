def program(v):
    return linear(v.x, 16, name="first layer")
